"""Runs an agent program that is talked to by lines: always in the wall, its whole tree ended with it (decisions §9)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

from maia.core.errors import ToolProblem, system_words
from maia.core.runtime import ProgramGone, ProgramStart
from maia.core.secret import Secret
from maia.core.text import cut_middle
from maia.sandbox import tree
from maia.sandbox.confined import Confined, Wall
from maia.sandbox.kin import Kin
from maia.sandbox.start import Begun, begin, stands
from maia.sandbox.threshold import STARTS
from maia.sandbox.wall import WallFound, last_words

LONGEST_LINE: Final = 64 << 20
"""Bytes of one line. Half a megabyte happens (Qwen Code); a line beyond this is no message."""

_SAID_BYTES: Final = 16_384
_READ: Final = 1 << 16
_INPUT_GRACE: Final = 0.5
"""Seconds in which a program may end by itself after its input ended."""
_TERM_GRACE: Final = 2.0
_SHORTEST_SECRET: Final = 8


class PipedPrograms:
    """Starts programs. `find_wall` is asked for each start, in a thread, with the program's own home as writable.

    A program does not run without a wall, whatever the settings say of commands: not all of them ask before they act.
    Only `bare` ones do, which the person allowed where the kernel offers no wall.
    """

    def __init__(self, find_wall: Callable[[Path], WallFound], *, bare: bool = False) -> None:
        self._find_wall = find_wall
        self._bare = bare

    async def start(self, start: ProgramStart) -> PipedProgram:
        """Start a program. Raises `ToolProblem` where no wall works, `ProgramGone` where it cannot be started."""
        found = await asyncio.to_thread(self._find_wall, start.home)
        if found.wall is None and not self._bare:
            reason = found.notice.values.get("reason", "") if found.notice else ""
            raise ToolProblem("runtime.no_wall", reason=reason)
        mark = os.urandom(8).hex()
        said = ""
        for _ in range(STARTS):
            begun = _begin(found.wall, start, {**start.env, tree.MARK: mark})
            if await _stands(begun):
                program = PipedProgram(begun, mark, start.secrets)
                await program.connect()
                return program
            said = _given_up(begun)
        raise ProgramGone("runtime.not_started", program=start.argv[0], problem=said)


def _begin(wall: Wall | None, start: ProgramStart, env: Mapping[str, str]) -> Begun:
    pipe = subprocess.PIPE
    try:
        confined = wall.confine(start.argv, start.folder) if wall else Confined(start.argv)
        return begin(confined, start.folder, env, stdin=pipe, stdout=pipe, stderr=pipe)
    except (OSError, ValueError) as problem:
        words = system_words(problem) if isinstance(problem, OSError) else str(problem)
        raise ProgramGone("runtime.not_started", program=start.argv[0], problem=words) from None


async def _stands(begun: Begun) -> bool:
    try:
        return await stands(begun)
    except asyncio.CancelledError:
        _given_up(begun)
        raise


def _given_up(begun: Begun) -> str:
    """End what is only a wall yet; returns why it could not be put up."""
    begun.popen.kill()
    _, said = begun.popen.communicate()
    begun.close()
    return last_words(said.decode("utf-8", "replace"), begun.popen.returncode)


class PipedProgram:
    """A started program (`core.runtime.ProgramProcess`)."""

    def __init__(self, begun: Begun, mark: str, secrets: Mapping[str, Secret]) -> None:
        self._begun = begun
        self._popen = begun.popen
        self._kin = Kin(begun, mark)
        self._masks = [
            (value.reveal().encode(), f"[{name}]".encode())
            for name, value in secrets.items()
            if len(value.reveal()) >= _SHORTEST_SECRET
        ]
        self._said = b""
        self._out = asyncio.StreamReader(limit=LONGEST_LINE)
        self._transports: list[asyncio.BaseTransport] = []
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Join its three pipes to the loop."""
        loop = asyncio.get_running_loop()
        popen = self._popen
        out, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._out), _given(popen.stdout))
        err = asyncio.StreamReader()
        err_transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(err), _given(popen.stderr))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), _given(popen.stdin)
        )
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)
        self._transports = [out, err_transport, transport]
        self._listening = asyncio.create_task(self._listen(err))

    async def _listen(self, err: asyncio.StreamReader) -> None:
        while data := await err.read(_READ):
            self._said = (self._said + data)[-_SAID_BYTES:]

    async def write(self, line: str) -> None:
        if self._writer is None or self._writer.is_closing():
            raise ProgramGone("runtime.gone")
        try:
            self._writer.write(line.encode("utf-8", "replace") + b"\n")
            await self._writer.drain()
        except (ConnectionError, RuntimeError):
            raise ProgramGone("runtime.gone") from None

    def end_input(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def read_line(self) -> str | None:
        try:
            line = await self._out.readuntil(b"\n")
        except asyncio.IncompleteReadError as rest:
            if not rest.partial:
                return None
            line = rest.partial
        except (asyncio.LimitOverrunError, OSError):
            return None
        return self._masked(line).decode("utf-8", "replace").rstrip("\r\n")

    @property
    def said(self) -> str:
        return cut_middle(self._masked(self._said).decode("utf-8", "replace").strip(), 4_000).text

    def _masked(self, data: bytes) -> bytes:
        for value, name in self._masks:
            data = data.replace(value, name)
        return data

    async def stop(self, how: Literal["gently", "now"] = "gently") -> int | None:
        """End the tree: nothing more to read, then SIGTERM, then SIGKILL. Cancelled meanwhile, it is killed at once."""
        self.end_input()
        ended_itself = False
        try:
            if how == "gently":
                ended_itself = await self._kin.ends(_INPUT_GRACE)
                if not ended_itself or self._kin.living():
                    self._kin.signal(signal.SIGTERM)
                    await self._kin.ends(_TERM_GRACE, whole=True)
            self._kin.signal(signal.SIGKILL)
            if self._listening is not None:  # its last words say why it ended
                await asyncio.wait({self._listening}, timeout=_INPUT_GRACE)
        finally:
            self._kin.signal(signal.SIGKILL)
            self._close()
        code = self._popen.returncode
        return code if ended_itself else None

    def _close(self) -> None:
        for transport in self._transports:
            transport.close()
        if self._listening is not None:
            self._listening.cancel()
        with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: even SIGKILL waits
            self._popen.wait(_INPUT_GRACE)
        self._begun.close()


def _given(pipe: object) -> object:
    """A pipe that was asked for. Raises `ProgramGone` where the system gave none."""
    if pipe is None:
        raise ProgramGone("runtime.gone")
    return pipe
