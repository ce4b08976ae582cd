"""The folder rules with the real Kilo Code in the workspace (R-2.345): `-m real`, as `test_real.py`.

OpenCode, of which it is made, asks in the same way: whether a call may leave the folder, then about the call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtimes.test_real import programs, pytestmark, server
from tests.runtimes.test_real_kimi import World, world_of

__all__ = ["programs", "pytestmark", "server"]


@pytest.fixture(scope="module")
def world(programs: Path, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from world_of("kilo", programs, server, tmp_path_factory.mktemp("kilo"))


@pytest.mark.parametrize(
    ("tool", "args", "told"),
    [
        ("bash", {"command": "grep -r only {home}"}, "Search too broad"),
        ("bash", {"command": "cat {home}/.claude/memory.md"}, "no call can open"),
        ("bash", {"command": "cd {home} && cat .claude/memory.md"}, "no call can open"),
        ("grep", {"pattern": "only", "path": "{home}"}, "Search too broad"),
        ("read", {"filePath": "{home}/.claude/memory.md"}, "Search too broad"),
        ("glob", {"pattern": "**/memory.md", "path": "{home}"}, "Search too broad"),
    ],
)
def test_what_leads_to_the_memory_of_another_tool_is_refused_with_the_reason(
    world: World, tool: str, args: dict[str, str], told: str
) -> None:
    page = world.call(tool, **{name: value.format(home=world.home) for name, value in args.items()})
    assert told in page
    assert "Approval required" not in page, "nobody could approve it"


def test_a_command_that_leaves_the_folder_is_approved_once_for_both_of_its_questions(world: World) -> None:
    call: dict[str, Any] = {"tool": "bash", "args": {"command": f"cat {world.top}/outside.txt"}}
    (world.top / "outside.txt").write_text("seen from outside")
    conversation = world.talk()
    world.say(conversation, call)
    (waiting,) = world.visitor.ask("GET", "/api/v1/approvals").json()["approvals"]
    assert (waiting["tool"], waiting["arguments"]) == ("Bash", call["args"])
    world.visitor.ask("POST", f"/api/v1/approvals/{waiting['id']}", {"decision": "approve"})
    told = json.dumps([frame.data for frame in world.say(conversation, call)])
    assert "seen from outside" in told
    assert world.visitor.ask("GET", "/api/v1/approvals").json()["approvals"] == []


def test_its_isolation_is_confirmed(world: World) -> None:
    found = world.visitor.ask("POST", "/api/v1/model/providers/kilo-cli/isolation/verify").json()
    assert (found["status"], [each["id"] for each in found["checks"] if not each["passed"]]) == ("verified", [])
