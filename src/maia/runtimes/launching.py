"""A program at its place, ready to be started: what every driver needs of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from maia.core.runtime import ProgramProcess, ProgramStart, StartProgram, ToolServer
from maia.runtimes.patience import Patience
from maia.runtimes.programs import Program


@dataclass(frozen=True, slots=True)
class Launch:
    """`start_of` makes of further arguments how it is started; `start_program` starts it."""

    program: Program
    start_of: Callable[[tuple[str, ...]], ProgramStart]
    start_program: StartProgram
    patience: Patience = field(default_factory=Patience)

    async def process(self, *arguments: str, server: ToolServer | None = None) -> ProgramProcess:
        """A process of the program, which may open that server. Raises `MaiaError` where it cannot be started."""
        start = self.start_of(arguments)
        return await self.start_program(start if server is None else _with_word(start, server))

    async def server(self, server: ToolServer) -> ProgramProcess:
        """A process of a server of tools, in the wall of the program, with none of its keys. Raises `MaiaError`."""
        start = self.start_of(())
        bare = replace(start, argv=server.argv, env={"PATH": start.env.get("PATH", "")}, secrets={})
        return await self.start_program(_with_word(bare, server))


def _with_word(start: ProgramStart, server: ToolServer) -> ProgramStart:
    words = {name: secret.reveal() for name, secret in server.env.items()}
    return replace(start, env={**start.env, **words}, secrets={**start.secrets, **server.env})
