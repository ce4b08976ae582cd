from pathlib import Path

import pytest

from maia.core.events import ApprovalRequested, ToolCallFinished
from maia.core.permission import Answer, Verdict
from tests.engine.doubles import FakeJudge, FakeTool, FakeWire, call, call_answer, conversation, play, text_answer

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


CALLS = {
    "a": ("Poke", "a"),
    "b": ("Poke", "b"),
    "r": ("Read", "r"),
    "f": ("Free", "f"),
    "1": ("Free", "1"),
    "2": ("Free", "2"),
}


@pytest.mark.parametrize(
    ("made", "answer", "asked", "skipped"),
    [
        pytest.param("aaaaaa", "once", 2, 4, id="one-call"),
        pytest.param("aaaaaa", "no", 2, 4, id="one-that-is-refused"),
        pytest.param("abababababab", "once", 5, 7, id="two-in-turns"),
        pytest.param("arararar", "once", 2, 2, id="looking-between"),
        pytest.param("aa1aa2aa", "once", 6, 0, id="something-new-between"),
        pytest.param("afafafa", "once", 3, 1, id="the-same-change-between"),
    ],
)
async def test_a_person_is_asked_about_one_exact_call_twice_a_turn(
    tmp_path: Path, made: str, answer: str, asked: int, skipped: int
) -> None:
    steps = enumerate(CALLS[each] for each in made)
    wire = FakeWire(*(call_answer(call(name, f"c{n}", path=path)) for n, (name, path) in steps))
    results = iter(range(99))
    tools = [FakeTool(name, lambda _args, _hands: f"result {next(results)}") for name in ("Poke", "Free", "Read")]
    judge = FakeJudge(Poke=Verdict.ASK, Free=Verdict.ALLOW, Read=Verdict.ALLOW)
    talk = conversation(tmp_path, wire, *tools, judge=judge)
    async for _ in talk.open():
        pass
    given = Answer("once") if answer == "once" else Answer("no", "not now")
    events = await play(talk, "go", lambda event: given if isinstance(event, ApprovalRequested) else None)
    assert len([each for each in events if isinstance(each, ApprovalRequested)]) == asked
    told = [each.text for each in events if isinstance(each, ToolCallFinished) and each.status == "skipped"]
    assert told == ["turn.asked_before tool=Poke"] * skipped


async def test_the_next_turn_may_ask_again(tmp_path: Path) -> None:
    again = [call_answer(call("Poke", f"c{n}", path="a")) for n in range(3)]
    wire = FakeWire(*again, text_answer("done"), *again, text_answer("done"))
    talk = conversation(tmp_path, wire, FakeTool("Poke"), judge=FakeJudge())
    async for _ in talk.open():
        pass
    for _turn in range(2):
        events = await play(talk, "go", lambda event: Answer("once") if isinstance(event, ApprovalRequested) else None)
        assert len([each for each in events if isinstance(each, ApprovalRequested)]) == 2
