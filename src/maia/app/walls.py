"""The walls of agent programs as the workspace asks about them (`workspace.models.isolation.Walls`)."""

from __future__ import annotations

import asyncio

from maia.app.isolation import Trialist, sandbox_status
from maia.app.runtimes import Yard
from maia.app.supply import is_signed_in, program_of
from maia.core.errors import MaiaError
from maia.core.reason import Reason
from maia.runtimes.programs import Program, installed
from maia.sandbox.wall import WallFound
from maia.workspace.models.isolation import FileSandbox, Tried

BY_ITSELF = "claude-code"
"""Confirms before each turn what it would be asked here (N-03.03)."""


class ProgramWalls:
    """Of one server. `yard` is where its programs run, outside any conversation."""

    def __init__(self, yard: Yard, trialist: Trialist) -> None:
        self._yard = yard
        self._trialist = trialist
        self._sandbox: FileSandbox | None = None

    @property
    def file_sandbox(self) -> FileSandbox:
        """Looked for once; blocks for some 20 ms then."""
        if self._sandbox is None:
            self._sandbox = self._found()
        return self._sandbox

    def tried(self, provider_id: str) -> Tried | None:
        program = program_of(provider_id)
        return self._trialist.last(program) if program else None

    def is_signed_in(self, provider_id: str) -> bool:
        program = program_of(provider_id)
        return program is not None and is_signed_in(program, self._yard)

    def may_be_tried(self, provider_id: str) -> bool:
        program = program_of(provider_id)
        return program is not None and program.name != BY_ITSELF

    async def try_now(self, provider_id: str) -> Tried:
        program = program_of(provider_id)
        if program is None:
            raise MaiaError("isolation.no_program", name=provider_id)
        return await self._tried(program)

    async def _tried(self, program: Program) -> Tried:
        path = installed(program, self._yard.env)
        yard = await asyncio.to_thread(self._trialist.outside, self._yard)
        return await self._trialist.confirmed(program, path, yard, again=True)

    def _found(self) -> FileSandbox:
        try:
            found = self._yard.wall(self._yard.folders.config / "runtimes")
        except MaiaError as problem:  # commands have no network, so no program runs
            reason = Reason(problem.key, problem.values)
            found = WallFound(None, reason)
        return FileSandbox(sandbox_status(found), found.notice, self._yard.cli_sandbox)
