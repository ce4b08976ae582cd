"""The CurrentModel tool: which model answers at the time of the call (T5.05)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.tools.arguments import Parameters
from maia.tools.prompt import load_spec

PARAMETERS: Final = Parameters(())


@dataclass(frozen=True, slots=True)
class CurrentModelArgs:
    """Nothing: the tool has no parameter."""


class CurrentModelTool:
    """Says the model's name, without asking anybody."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("CurrentModel", PARAMETERS)

    def parse(self, arguments: JsonObject) -> CurrentModelArgs:
        PARAMETERS.read(arguments)
        return CurrentModelArgs()

    def needs(self, args: CurrentModelArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("CurrentModel", "none"),)

    def preview(self, args: CurrentModelArgs) -> str:
        return ""

    def lock_key(self, args: CurrentModelArgs, launch: Path) -> str | None:
        return None

    async def proposal(self, args: CurrentModelArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: CurrentModelArgs, hands: Hands) -> ToolResult:
        model = hands.current_model()
        return ToolResult(model, summary=model, data={"model": model})
