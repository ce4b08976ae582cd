"""What a person was shown beside "always" is what is saved, and what is told of it afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from maia.core.events import ApprovalRequested, Event, Notice
from maia.core.messages import ToolCallPart
from maia.core.permission import Answer, Need
from maia.core.ports import Hands
from maia.core.tool import AnyTool
from maia.engine.approvals import Approvals
from maia.engine.gate import Gate
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from tests.engine.doubles import KeyWords

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class _Tool:
    def __init__(self, *needs: Need) -> None:
        self._needs = needs

    def needs(self, _args: object, _launch: Path) -> tuple[Need, ...]:
        return self._needs

    def preview(self, _args: object) -> str:
        return ""

    async def proposal(self, _args: object, _hands: Hands) -> tuple[object, ...]:
        return ()


class _Hands:
    def __init__(self, launch: Path) -> None:
        self.launch = launch


async def shown_saved_and_told(folder: Path, *needs: Need) -> tuple[str | None, str, str]:
    judge = RuleJudge(Place(folder, folder / "home"), allow=["Read(**)"])
    approvals = Approvals()
    seen: list[Event] = []

    def emit(event: Event) -> None:
        seen.append(event)
        if isinstance(event, ApprovalRequested):
            approvals.answer(event.approval_id, Answer("always"))

    gate = Gate(judge, approvals, KeyWords(), emit)
    call = ToolCallPart("1", "Bash", {})
    tool, hands = cast("AnyTool", _Tool(*needs)), cast("Hands", _Hands(folder))
    assert await gate.pass_or_refuse(call, tool, None, hands) is None
    settings = json.loads((folder / ".maia" / "settings.json").read_text())
    shown = next(event.proposed for event in seen if isinstance(event, ApprovalRequested))
    told = next(str(event.values["rule"]) for event in seen if isinstance(event, Notice))
    return shown, ", ".join(settings["permissions"]["allow"]), told


async def test_of_a_compound_line_the_rule_for_the_asking_part_is_shown_saved_and_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    found = await shown_saved_and_told(tmp_path, Need("Bash", "command", "cd sub && frob --now"))
    assert found == ("Bash(frob --now)",) * 3


async def test_of_several_needs_only_those_that_ask_are_shown_saved_and_told(tmp_path: Path) -> None:
    needs = (Need("Read", "path", "a.py"), Need("Write", "path", "b.py"), Need("Bash", "command", "ls -la"))
    assert await shown_saved_and_told(tmp_path, *needs) == ("Write(b.py), Bash(ls *)",) * 3
