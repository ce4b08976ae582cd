"""A program at its place, ready to be started: what every driver needs of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from maia.core.runtime import ProgramProcess, ProgramStart, StartProgram
from maia.runtimes.patience import Patience
from maia.runtimes.programs import Program


@dataclass(frozen=True, slots=True)
class Launch:
    """`start_of` makes of further arguments how it is started; `start_program` starts it."""

    program: Program
    start_of: Callable[[tuple[str, ...]], ProgramStart]
    start_program: StartProgram
    patience: Patience = field(default_factory=Patience)

    async def process(self, *arguments: str) -> ProgramProcess:
        """A process of the program. Raises `MaiaError` where it cannot be started."""
        return await self.start_program(self.start_of(arguments))
