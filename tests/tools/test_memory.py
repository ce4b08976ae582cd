import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from maia.app.memories import memory_tools
from maia.core.errors import ArgumentProblem, ToolProblem
from maia.core.memories import Found, MemoryEntry
from maia.core.permission import Need
from maia.core.results import ToolResult
from maia.memory.problems import MemoryProblem
from maia.tools.memory_search import MAX_CHARS, MemorySearchTool
from maia.tools.memory_store import MemoryStoreTool
from tests.tools.doubles import FRENCH, call, hands_at

NOW = 1_796_049_596.25
OWL = MemoryEntry("id1", "The owl\x1b sleeps.", NOW, ("birds", "night"))
FOX = MemoryEntry("id2", "The fox runs.", NOW)


@dataclass
class Notebook:
    """A `Memory` that keeps what it was asked."""

    entries: tuple[MemoryEntry, ...] = ()
    asked: list[object] = field(default_factory=list[object])
    problem: MemoryProblem | None = None

    async def store(self, text: str, tags: Sequence[str] = (), source: str = "") -> MemoryEntry:
        self._note("store", text, tuple(tags), source)
        return MemoryEntry("id9", text.replace("SECRET", "…"), NOW, tuple(tags), source)

    async def search(self, query: str, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[Found]:
        self._note("search", query, limit, tuple(tags))
        return [Found(entry, 1.0, "words") for entry in self.entries]

    async def recent(self, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[MemoryEntry]:
        self._note("recent", limit, tuple(tags))
        return self.entries

    async def forget(self, entry_id: str) -> bool:
        raise AssertionError(entry_id)

    async def aclose(self) -> None:
        return

    def _note(self, *asked: object) -> None:
        self.asked.append(asked)
        if self.problem:
            raise self.problem


def test_a_text_is_kept_with_its_session(tmp_path: Path) -> None:
    notebook = Notebook()
    result = call(MemoryStoreTool(notebook), hands_at(tmp_path, session="s1"), content="An owl.", tags='["a", "b"]')
    assert result == ToolResult("Kept as id9.", summary="id9", data={"id": "id9", "tags": ["a", "b"]})
    assert notebook.asked == [("store", "An owl.", ("a", "b"), "s1")]


def test_the_model_is_told_of_a_masked_key(tmp_path: Path) -> None:
    result = call(MemoryStoreTool(Notebook()), hands_at(tmp_path), text="my SECRET")
    assert result.text == "Kept as id9.\nWhat looked like a key was masked."


def test_entries_are_shown_with_id_date_and_tags_and_cannot_act(tmp_path: Path) -> None:
    notebook = Notebook((OWL, FOX))
    result = call(MemorySearchTool(notebook), hands_at(tmp_path, say=FRENCH), query=" owl ", limit="500", tag=["night"])
    assert result == ToolResult(
        "[id1] 2026-11-30 14:39 UTC #birds #night\nThe owl␛ sleeps.\n\n[id2] 2026-11-30 14:39 UTC\nThe fox runs.",
        summary="2 notes",
        data={"entries": ["id1", "id2"]},
    )
    assert notebook.asked == [("search", "owl", 50, ("night",))]


def test_without_a_query_the_newest_are_shown(tmp_path: Path) -> None:
    notebook = Notebook((FOX,))
    call(MemorySearchTool(notebook), hands_at(tmp_path))
    assert notebook.asked == [("recent", 10, ())]


def test_nothing_found_is_no_error(tmp_path: Path) -> None:
    result = call(MemorySearchTool(Notebook()), hands_at(tmp_path), query="owl")
    assert result == ToolResult("Nothing in the memory matches.", summary="0 entries")


def test_long_entries_share_the_room_of_one_answer(tmp_path: Path) -> None:
    notebook = Notebook(tuple(MemoryEntry(f"id{n}", "x" * 100_000, NOW) for n in range(50)))
    text = call(MemorySearchTool(notebook), hands_at(tmp_path), query="x").text
    assert len(text) < MAX_CHARS + 50 * 40
    assert text.count("characters left out") == 50


@pytest.mark.parametrize("tool", [MemoryStoreTool(Notebook()), MemorySearchTool(Notebook())], ids=["store", "search"])
def test_only_rules_that_name_the_tool_stand_in_its_way(tool: MemoryStoreTool, tmp_path: Path) -> None:
    assert tool.needs(tool.parse({"text": "x"}), tmp_path) == (Need(tool.spec.name, "none"),)


def test_whose_memory_it_is_is_no_argument() -> None:
    for tool in (MemoryStoreTool(Notebook()), MemorySearchTool(Notebook())):
        assert set(tool.spec.parameters["properties"]) <= {"text", "query", "limit", "tags"}


def test_bad_arguments_list_what_came() -> None:
    tool = MemoryStoreTool(Notebook())
    with pytest.raises(ArgumentProblem) as caught:
        tool.parse({"note": "x"})
    assert caught.value.values["received"] == "{note: string(1)}"
    for arguments in ({"text": " "}, {"text": "x", "tags": [1]}):
        with pytest.raises(ToolProblem):
            tool.parse(arguments)


def test_a_memory_that_fails_gives_an_error_result_and_ends_no_turn(tmp_path: Path) -> None:
    notebook = Notebook(problem=MemoryProblem("memory.busy", path="/x"))
    for tool in memory_tools(notebook):
        with pytest.raises(ToolProblem) as caught:
            asyncio.run(tool.run(tool.parse({"text": "x"}), hands_at(tmp_path)))
        assert (caught.value.key, caught.value.values) == ("memory.busy", {"path": "/x"})
