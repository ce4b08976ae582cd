"""What goes on by itself is no freer than who began it, and goes on for nobody who may not work here."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from maia.core.agent import AgentRules
from maia.core.events import Notice, ToolCallFinished, TurnEnded, TurnStarted, WireAnswer, WireEvent
from maia.core.messages import AssistantMessage, TextPart
from maia.core.requests import ModelRequest
from maia.core.submission import Submission
from maia.database.users import User
from maia.workspace.colleagues import Role
from maia.workspace.delegating.runs import How
from maia.workspace.problems import NotAllowed
from maia.workspace.records import ConversationRow
from tests.workspace.test_approvals import POKE, events_of, person, turn
from tests.workspace.test_delegation import IRIS, MOLE, OWL, Played, Stage, Theatre, agent, ask, play

POKED: list[tuple[str, dict[str, Any]]] = [("Poke", POKE)]


class Supervised(Theatre):
    """As the check it says no."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        if request.system and request.system[0].name == "background":
            yield WireAnswer(AssistantMessage((TextPart("DENY\nno"),), request.model, "played"), "end", "stop")
            return
        async for event in super().stream(request):
            yield event


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder}/maia.db"


async def run(
    stage: Stage, row: ConversationRow, text: str = "Go", owner: User | None = None, system: str = ""
) -> None:
    """A run that nobody looks on, to the end of its first turn."""
    own = stage.workspace._turns  # pyright: ignore[reportPrivateUsage] - what begins background runs is inside
    how = How("background", attended=False, system=system)
    await own.submit(row, (owner or stage.user).id, Submission(text), how=how)
    async with asyncio.timeout(10):
        await own.ended(row.id)


async def settled(stage: Stage, row: ConversationRow) -> None:
    """What was begun by a decision is over."""
    own = stage.workspace._turns  # pyright: ignore[reportPrivateUsage] - what begins background runs is inside
    async with asyncio.timeout(10):
        await own.paused.settled()
        await own.ended(row.id)


def opens(title: str, message: str, **more: str) -> tuple[str, dict[str, Any]]:
    return "create_sub_conversation", {"title": title, "message": message, **more}


# Rules of agents above -----------------------------------------------------------------------------------------------

CAGED = agent(
    "caged", "main", tools=("Poke", "create_sub_conversation"), rules=AgentRules(deny=("Bash",), allow=("Write",))
)
ASKING = agent("asking", rules=AgentRules(ask=("Read(a)",)))


@pytest.mark.parametrize(
    ("plays", "who", "role"),
    [
        pytest.param(
            {"Go": [[opens("Free", "sing")], "So."]},
            "sing",
            Role(None, CAGED.definition.tools, 20, (CAGED.definition,)),
            id="a plain thread",
        ),
        pytest.param(
            {"Go": [[("assign_task", {"agent": "iris", "task": "sing"})], "So."]},
            "sing",
            Role(IRIS.definition, None, 20, (CAGED.definition,)),
            id="a card",
        ),
        pytest.param(
            {"Go": [[ask("asking", "dig")], "So."], "dig": [[opens("Deep", "sing")], "So."]},
            "sing",
            Role(None, None, 20, (ASKING.definition, CAGED.definition)),
            id="below two of them",
        ),
        pytest.param(
            {"Go": [[opens("Between", "dig")], "So."], "dig": [[opens("Deep", "sing")], "So."]},
            "sing",
            Role(None, CAGED.definition.tools, 20, (CAGED.definition,)),
            id="below a plain thread",
        ),
    ],
)
def test_the_denials_of_every_agent_above_hold_in_what_is_opened(
    tmp_path: Path, plays: dict[str, list[Played]], who: str, role: Role
) -> None:
    wire = Theatre(**plays, **{who: ["La."]})
    sung = wire.hold(who)
    sung.set()

    async def tell(stage: Stage) -> None:
        row = await stage.new(fields={"agent": "caged"})
        await turn(stage.workspace, stage.user, row)
        async with asyncio.timeout(10):
            await wire.reached[who].wait()
        assert stage.roles[-1] == role

    play(url_of(tmp_path), tmp_path, wire, tell, (CAGED, ASKING, IRIS))


def test_without_the_definition_of_an_agent_above_nobody_answers(tmp_path: Path) -> None:
    wire, known = Theatre(Go=[[opens("Free", "sing")], "So."], sing=["La."]), [CAGED]

    async def tell(stage: Stage) -> None:
        row = await stage.new(fields={"agent": "caged"})
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        await stage.ended(child.id)
        known.clear()
        assigned = await stage.workspace.staff.of(await stage.row(child.id))
        assert assigned.missing == "caged"

    class Known:
        def __iter__(self) -> Any:
            return iter(known)

    play(url_of(tmp_path), tmp_path, wire, tell, Known())


# People who were switched off ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", ["archived", "a guest by now"])
def test_nothing_goes_on_in_the_name_of_who_may_not_work_here_any_more(
    database_url: str, tmp_path: Path, off: str
) -> None:
    wire = Theatre(Go=[POKED, "Never."])

    async def tell(stage: Stage) -> None:
        noor = await person(stage.workspace, "user")
        row = await stage.workspace.create(noor, "", "en")
        await run(stage, row, owner=noor)
        if off == "archived":
            await stage.workspace.people.archive(stage.user, noor.id)
        else:
            await stage.workspace.people.set_role(stage.user, noor.id, "guest")
        (waiting,) = await stage.workspace.approvals.listed(stage.user, decided=False)
        await stage.workspace.approvals.decide(stage.user, waiting.id, "approved")
        await settled(stage, row)
        notices = await events_of(stage.workspace, row, Notice)
        assert [each.key for each in notices] == ["autonomy.not_resumed", "people.works_no_more"]
        assert "people.works_no_more" in (await stage.workspace.approvals.one(stage.user, waiting.id)).problem
        own = stage.workspace._turns  # pyright: ignore[reportPrivateUsage] - what begins background runs is inside
        with pytest.raises(NotAllowed):
            await own.begin(row, "On with it", How("background", attended=False))
        (ended,) = (await events_of(stage.workspace, row, TurnEnded))[1:]
        assert (ended.outcome, ended.failure.code) == ("failed", "people.works_no_more")

    assert play(database_url, tmp_path, wire, tell).ran == []


# The lock ------------------------------------------------------------------------------------------------------------


def test_denials_are_counted_over_all_that_one_conversation_delegated(database_url: str, tmp_path: Path) -> None:
    wire = Supervised(
        Go=[[ask("mole", "dig")], [ask("owl", "fly")], POKED, [ask("mole", "again")], "So."],
        dig=[POKED, "No."],
        fly=[POKED, "No."],
        again=["Never."],
        Later=[POKED, "No."],
    )
    made: list[str] = []

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        made.extend([row.id, (await stage.children(row))[0].id])
        keys = [each.reason.key for each in await stage.told(row) if each.reason is not None]
        assert keys == ["turn.check", "autonomy.tools_locked"]
        assert [each.key for each in await events_of(stage.workspace, row, Notice)] == ["autonomy.locked_out"]

    async def later(stage: Stage) -> None:
        child = await stage.row(made[1])
        wire.parts["dig"] = [POKED, "No."]
        await turn(stage.workspace, stage.user, child, "Later")
        finished = (await events_of(stage.workspace, child, ToolCallFinished))[-1]
        assert finished.reason.key == "autonomy.tools_locked", "below as well, and over a restart"

    play(database_url, tmp_path, wire, tell)
    assert play(database_url, tmp_path, wire, later).ran == []


# The prompt of the first message -------------------------------------------------------------------------------------


def test_a_run_that_goes_on_keeps_the_prompt_of_its_message_and_what_it_delegates_has_none_of_it(
    tmp_path: Path,
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], POKED, "Done."], dig=["Dug."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row, system="Say it in verse.")
        (waiting,) = await stage.workspace.approvals.listed(stage.user, decided=False)
        await stage.workspace.approvals.decide(stage.user, waiting.id, "approved")
        await settled(stage, row)
        begun = await events_of(stage.workspace, row, TurnStarted)
        assert [(each.resumes, each.system) for each in begun] == [(0, "Say it in verse."), (1, "Say it in verse.")]
        told = [(name, [each.text for each in request.system]) for name, request in wire.seen]
        assert [texts for name, texts in told if name == "Go"] == [["Say it in verse."]] * 3
        assert all("Say it in verse." not in text for name, texts in told if name == "dig" for text in texts)

    play(url_of(tmp_path), tmp_path, wire, tell, (MOLE, OWL))
