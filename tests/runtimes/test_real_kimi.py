"""The folder rules with the real Kimi Code in the workspace (R-2.345): `-m real`, as `test_real.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.runtimes.test_real import PLACES, environment, programs, pytestmark, server, settle
from tests.web.serving import Frame, Serving, Visitor, serving

__all__ = ["programs", "pytestmark", "server"]
SECRET = "what-only-the-other-tool-knows"


class World:
    """A workspace in which one program answers, beside the memory of another tool."""

    def __init__(self, name: str, top: Path, visitor: Visitor) -> None:
        self.name, self.top, self.visitor = name, top, visitor
        self.home = top / "data/home"

    def talk(self) -> str:
        """The id of a new conversation with the program."""
        conversation = self.visitor.conversation()
        chosen = {"providerId": f"{self.name}-cli", "modelId": "default"}
        assert self.visitor.ask("PATCH", f"/api/v1/conversations/{conversation}", chosen).status_code == 200
        return conversation

    def say(self, conversation: str, call: dict[str, Any]) -> list[Frame]:
        """What is told while its model makes that call with the program's own tool."""
        said = self.visitor.say(conversation, f"CALL[[{json.dumps(call)}]]")
        return self.visitor.until_done(conversation, said["cursor"])

    def call(self, tool: str, **args: Any) -> str:
        """The page of a new conversation with one such call."""
        conversation = self.talk()
        frames = self.say(conversation, {"tool": tool, "args": args})
        assert SECRET not in json.dumps([frame.json for frame in frames if isinstance(frame.json, dict)])
        shown = self.visitor.ask("GET", f"/conversations/{conversation}", accept="text/html", accept_language="en").text
        assert SECRET not in shown
        return shown


def world_of(name: str, programs: Path, server: str, top: Path) -> Iterator[World]:
    place = programs / PLACES[name]
    if not place.is_dir() or find_wall("auto", Places(top, top)).wall is None:
        pytest.skip(f"{name} is not installed there, or no wall works here")
    home = top / "data/home"
    settle(home, server, name)
    (home / ".claude").mkdir()
    (home / ".claude/memory.md").write_text(SECRET)
    path = environment(programs, server, name)["PATH"]
    with serving(top / "data", PATH=path) as made, Visitor(made.url) as visitor:
        _own(made, visitor)
        yield World(name, top, visitor)


@pytest.fixture(scope="module")
def world(programs: Path, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from world_of("kimi", programs, server, tmp_path_factory.mktemp("kimi"))


def _own(made: Serving, visitor: Visitor) -> None:
    visitor.client.timeout = 120
    visitor.become_owner(made.token)


@pytest.mark.parametrize("command", ["grep -r only {home}", "find / -name memory.md", "tar cf all.tar {home}"])
def test_a_search_above_the_memory_of_another_tool_is_refused(world: World, command: str) -> None:
    page = world.call("bash|shell", command=command.format(home=world.home))
    assert "Search too broad: the folder also contains another tool&#39;s memory" in page
    assert "FAKE-ANSWER: the answer is 42." in page, "it goes on with the reason"


@pytest.mark.parametrize("command", ["cat {home}/.claude/memory.md", "cd {home} && cat .claude/memory.md"])
def test_a_command_that_names_it_is_refused(world: World, command: str) -> None:
    page = world.call("bash|shell", command=command.format(home=world.home))
    assert "no call can open" in page
    assert "FAKE-ANSWER: the answer is 42." in page, "it goes on with the reason"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("grep", {"pattern": "only", "path": "{home}", "output_mode": "content"}),
        ("grep", {"pattern": "only", "path": "{home}/.claude", "output_mode": "content"}),
        ("read|readfile", {"path": "{home}/.claude/memory.md"}),
        ("glob", {"pattern": "**/memory.md", "path": "{home}"}),
    ],
)
def test_its_own_tools_do_not_ask_so_the_wall_hides_it_and_the_turn_ends(
    world: World, tool: str, args: dict[str, str]
) -> None:
    page = world.call(tool, **{name: value.format(home=world.home) for name, value in args.items()})
    assert "Kimi Code went past a rule and was stopped" in page


def test_its_isolation_is_confirmed(world: World) -> None:
    found = world.visitor.ask("POST", "/api/v1/model/providers/kimi-cli/isolation/verify").json()
    assert (found["status"], [each["id"] for each in found["checks"] if not each["passed"]]) == ("verified", [])
