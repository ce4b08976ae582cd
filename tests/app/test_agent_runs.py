"""Agents in runs: found by nickname, shown with the real model, refused where their model is unknown (C6.03, C6.05)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from maia.core.errors import MaiaError
from maia.core.runs import RunInfo, RunWish
from tests.e2e.test_agents import CHAOS
from tests.fakes import FakeLlm, fake_llm
from tests.runs.hosted import Place

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    place = Place.new(tmp_path)
    yield place
    place.kill_hosts()
    assert "Traceback" not in place.log()


def put(place: Place, name: str, text: str) -> None:
    file = place.home / ".maia" / "agents" / name / "AGENT.md"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")


def done(place: Place, llm: FakeLlm, *wishes: RunWish) -> list[RunInfo]:
    async def run() -> list[RunInfo]:
        place.settings(llm)
        async with place.front() as runs:
            started = [await runs.start(wish) for wish in wishes]
            for info in started:
                async for _ in runs.follow(info.run_id):
                    pass
            return [await runs.info(info.run_id) for info in started]

    return asyncio.run(run())


def test_two_agents_run_at_once_each_as_itself(place: Place) -> None:
    put(place, "chaos", CHAOS)
    put(place, "calm", CHAOS.replace("🔥 The Chaos Prophet", "Calm").replace("FAILS", "HOLDS"))
    with fake_llm(models="tiny,big-sonnet-4", delay=0.2) as llm:
        infos = done(place, llm, RunWish("go", agent="The chaos prophet"), RunWish("go", agent="calm", model="tiny"))
        told = {body["model"]: str(body["messages"][0]) for body in llm.chats()}
    assert [(info.agent, info.nickname, info.model, info.outcome) for info in infos] == [
        ("chaos", "🔥 The Chaos Prophet", "big-sonnet-4", "finished"),
        ("calm", "Calm", "tiny", "finished"),
    ]
    assert ("FAILS" in told["big-sonnet-4"], "HOLDS" in told["tiny"], "FAILS" in told["tiny"]) == (True, True, False)


def test_an_unknown_model_of_an_agent_is_an_error_in_a_run(place: Place) -> None:
    put(place, "chaos", CHAOS)
    with fake_llm(models="tiny") as llm:
        (info,) = done(place, llm, RunWish("go", agent="chaos"))
        assert llm.chats() == []
    assert (info.state, info.outcome) == ("ended", "failed")
    assert info.failure is not None


def test_an_unknown_agent_does_not_begin(place: Place) -> None:
    put(place, "chaos", CHAOS)
    with fake_llm() as llm, pytest.raises(MaiaError) as caught:
        done(place, llm, RunWish("go", agent="chaso"))
    assert caught.value.key == "agents.unknown_near"


@pytest.mark.parametrize("agent", ["", "calm"])
def test_what_an_agent_may_not_do_nobody_else_does_for_it(place: Place, agent: str) -> None:
    put(place, "chaos", CHAOS.replace("model: sonnet\n", ""))
    put(
        place,
        "calm",
        CHAOS.replace("The Chaos Prophet", "Calm").replace("model: sonnet\n", "").replace("[Read, Grep]", "[Bash]"),
    )
    (place.work / "made.txt").write_text("as it was")
    wish = RunWish("go", agent=agent)
    with fake_llm("tool", tool_name="Bash", tool_args='{"command": "rm made.txt"}') as llm:
        place.options = replace(place.options, allow=("Bash",))
        (sent,) = done(place, llm, replace(wish, identity="agent:chaos"))
        assert (sent.outcome, (place.work / "made.txt").exists()) == ("finished", True)
        (own,) = done(place, llm, wish)
        assert (own.outcome, (place.work / "made.txt").exists()) == ("finished", False)


def test_an_agent_that_is_no_more_has_nothing_done(place: Place) -> None:
    with fake_llm() as llm, pytest.raises(MaiaError) as caught:
        done(place, llm, RunWish("go", identity="agent:gone"))
    assert caught.value.key == "runs.no_caller"
