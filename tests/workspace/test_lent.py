"""The memory tools in the hands of an agent program: three look-ups an answer, of its conversation's memory alone."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.core.events import Answered, ToolCallFinished
from maia.core.jsonvalue import JsonObject
from maia.engine.setup import Bound, Config
from maia.engine.toolset import Toolset
from maia.runtimes.bridged import BridgedRuntime
from tests.runtimes.doubles import runtime
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on
from tests.workspace.test_approvals import events_of, person, turn
from tests.workspace.test_memories import AskingWire, benched, delivered, results

SEARCH = ("memory_search", {"query": "importer", "scope": "everybody", "conversation_id": "another", "user": "noah"})
"""Arguments that would widen what is looked through, were they listened to."""


class Lending(PlayedModels):
    """The scripted program in place of a model. `loses` leaves it without a way to our tools."""

    def __init__(
        self, folder: Path, calls: list[tuple[str, JsonObject]], scenario: str = "lent", *, loses: bool = False
    ) -> None:
        super().__init__(PlayedWire([]))
        self.folder, self.scenario, self.loses = folder, "text" if loses else scenario, loses
        folder.mkdir(exist_ok=True)
        (folder / "calls.json").write_text(json.dumps(calls))

    async def bind(self, name: str, why: Any) -> Bound:
        program: BridgedRuntime = runtime(self.folder, "acp", self.scenario, model_var="FAKE_MODEL")
        bridge = Lost() if self.loses else program
        return Bound(name, "played", None, why, runtime=program, bridge=bridge)


class Lost:
    """A bridge that does not reach the program."""

    async def open(self, tools: Any) -> bool:
        return not tools


def played(kind: str, folder: Path, calls: list[tuple[str, JsonObject]]) -> PlayedModels:
    return Lending(folder, calls) if kind == "program" else PlayedModels(AskingWire(*([each] for each in calls)))


@pytest.mark.parametrize("kind", ["endpoint", "program"])
def test_three_look_ups_an_answer_are_shared_whoever_answers(database_url: str, tmp_path: Path, kind: str) -> None:
    async def story() -> None:
        calls: list[tuple[str, JsonObject]] = [SEARCH, ("memory_search", {"query": "zzz"}), *[SEARCH] * 2]
        models = played(kind, tmp_path / "agent", calls)
        async with workspace_on(database_url, tmp_path, models, bench=benched(models)) as (workspace, user):
            noah = await person(workspace, "member")
            await workspace.memories.add(user.id, "The importer keeps its chunks for a week")
            await workspace.memories.add(noah.id, "The importer of Noah is a secret")
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            found = await results(workspace, row)
            assert [each.status for each in found] == ["succeeded", "succeeded", "succeeded", "failed"]
            assert "keeps its chunks" in found[0].text
            assert "Noah" not in "".join(each.text for each in found)
            assert "3" in found[3].text
            told = await delivered(workspace, row)
            assert told["lookups"] == {"calls": 3, "limit": 3, "items": 2}
            await turn(workspace, user, row)  # each new message begins anew
            assert [each.status for each in await results(workspace, row)][4:5] in (["succeeded"], [])

    asyncio.run(story())


def test_a_program_that_can_look_gets_what_a_model_with_tools_gets(tmp_path: Path) -> None:
    async def story(scenario: str, *, loses: bool = False) -> JsonObject:
        models = Lending(tmp_path / "agent", [SEARCH], scenario, loses=loses)
        name = f"{scenario}-{loses}"
        url = f"sqlite:///{tmp_path}/{name}.db"
        async with workspace_on(url, tmp_path / name, models, bench=benched(models)) as (
            workspace,
            user,
        ):
            for n in range(6):
                await workspace.memories.add(user.id, f"Importer fact number {n}")
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row, "What of the importer?")
            return await delivered(workspace, row)

    reached, lost = asyncio.run(story("lent")), asyncio.run(story("text", loses=True))
    assert (reached["recall"]["expanded"], reached["lookups"]) == (2, {"calls": 1, "limit": 3, "items": 6})
    assert (lost["recall"]["expanded"], lost["lookups"]) == (4, None)
    assert asyncio.run(story("text"))["lookups"] is None, "it never came for them"


def test_an_agents_list_of_tools_holds_for_a_program_too(tmp_path: Path) -> None:
    async def story() -> None:
        models = Lending(tmp_path / "agent", [("memory_store", {"text": "Kept"}), SEARCH], "lent_quietly")

        def bench(folder: Path) -> Any:
            made = benched(models)(folder)
            judge = made.configure().judge
            return replace(
                made, configure=lambda: Config(judge, {}, (), (), (), 50, toolset=Toolset(frozenset({"Read"})))
            )

        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            found: list[ToolCallFinished] = await results(workspace, row)
            assert [each.status for each in found] == ["refused", "succeeded"]
            answers = await events_of(workspace, row, Answered)
            assert "I have memory_search, memory_expand." in str(answers)

    asyncio.run(story())
