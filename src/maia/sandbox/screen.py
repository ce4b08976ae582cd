"""Runs an agent program on a terminal of its own: in the wall like every one, its whole tree ended with it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem, system_words
from maia.core.runtime import ProgramGone, ProgramStart
from maia.core.screens import Size
from maia.sandbox import tree
from maia.sandbox.confined import Wall
from maia.sandbox.kin import Kin
from maia.sandbox.start import Begun, begin, stands
from maia.sandbox.threshold import STARTS
from maia.sandbox.wall import WallFound, last_words

_READ: Final = 1 << 15
_LOOK: Final = 0.2
"""Seconds after which a silent program is looked at: one that left something behind holds its terminal open."""
_GRACE: Final = 0.7
_OWN: Final = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for name in sys.argv[1].split():
    signal.signal(getattr(signal, name), signal.SIG_IGN)
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""In front of the wall. Only the first process of a session can make a terminal its own, by which it is told of sizes
and of keys; and what is ignored stays so in what it executes."""

_HEARS: Final = """
import os, signal, sys
for name in (*sys.argv[1].split(), "SIGPIPE", "SIGXFSZ"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as problem:
    sys.exit(f"{sys.argv[2]}: {problem.strerror}")
"""
"""In front of the program, behind the wall; Python itself ignores two more."""

_KEYS: Final = "SIGINT SIGQUIT SIGTSTP"
"""What Ctrl+C, Ctrl+\\ and Ctrl+Z send to all that is on the terminal: to bubblewrap too, with which the program would
end before it has heard anything. So the wall ignores them, and what runs in it does not."""


class ScreenPrograms:
    """Starts programs on terminals. `find_wall` as for `PipedPrograms`: a program never runs without a wall."""

    def __init__(self, find_wall: Callable[[Path], WallFound]) -> None:
        self._find_wall = find_wall

    async def start(self, start: ProgramStart, size: Size) -> ScreenProgram:
        """Start a program. Raises `ToolProblem` where no wall works, `ProgramGone` where it cannot be started."""
        found = await asyncio.to_thread(self._find_wall, start.home)
        if found.wall is None:
            reason = found.notice.values.get("reason", "") if found.notice else ""
            raise ToolProblem("runtime.no_wall", reason=reason)
        said = ""
        for _ in range(STARTS):
            program = _begin(found.wall, start, size)
            try:
                if await stands(program.begun):
                    return program
            except asyncio.CancelledError:
                program.give_up()
                raise
            said = program.give_up()
        raise ProgramGone("runtime.not_started", program=start.argv[0], problem=said)


def _begin(wall: Wall, start: ProgramStart, size: Size) -> ScreenProgram:
    ours, theirs = pty.openpty()
    mark = os.urandom(8).hex()
    try:
        os.set_blocking(ours, False)
        _set_size(ours, size)
        confined = wall.confine(_python(_HEARS, _KEYS, *start.argv), start.folder)
        env, through = {**start.env, tree.MARK: mark}, _python(_OWN, _KEYS)
        begun = begin(confined, start.folder, env, stdin=theirs, stdout=theirs, stderr=theirs, through=through)
    except (OSError, ValueError) as problem:
        os.close(ours)
        words = system_words(problem) if isinstance(problem, OSError) else str(problem)
        raise ProgramGone("runtime.not_started", program=start.argv[0], problem=words) from None
    finally:
        os.close(theirs)
    return ScreenProgram(begun, mark, ours)


def _python(code: str, *words: str) -> Sequence[str]:
    return (sys.executable, "-I", "-S", "-c", code, *words)


def _set_size(handle: int, size: Size) -> None:
    bounded = size.bounded()
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", bounded.rows, bounded.columns, 0, 0))


class ScreenProgram:
    """A started program (`core.screens.Screen`)."""

    def __init__(self, begun: Begun, mark: str, ours: int) -> None:
        self.begun: Final = begun
        self._kin = Kin(begun, mark)
        self._ours = ours
        self._is_open = True

    async def read(self) -> bytes:
        while self._is_open:
            try:
                return os.read(self._ours, _READ)
            except BlockingIOError:
                if await self._readable() or self.begun.popen.poll() is None:
                    continue
                return b""
            except OSError:  # nobody has it open any more
                await self._kin.ends(_GRACE)
                return b""
        return b""

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest and self._is_open:
            try:
                rest = rest[os.write(self._ours, rest) :]
            except BlockingIOError:
                await self._writable()
            except OSError:
                return

    def resize(self, size: Size) -> None:
        if self._is_open:
            with suppress(OSError):
                _set_size(self._ours, size)

    async def stop(self) -> int | None:
        """As when a terminal's window is closed: SIGHUP, and soon after it SIGKILL."""
        ended_itself = self.begun.popen.poll() is not None
        try:
            if self._kin.living():
                self._kin.signal(signal.SIGHUP)
                await self._kin.ends(_GRACE, whole=True)
        finally:
            self._kin.signal(signal.SIGKILL)
            await asyncio.shield(self._kin.ends(_GRACE))
            self._close()
        return self.begun.popen.returncode if ended_itself else None

    def give_up(self) -> str:
        """End what is only a wall yet; why it could not be put up, as far as it said so."""
        self.begun.popen.kill()
        self.begun.popen.wait()
        said = b""
        with suppress(OSError):
            said = os.read(self._ours, _READ)
        self._close()
        return last_words(said.decode("utf-8", "replace"), self.begun.popen.returncode)

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._ours)
            loop.remove_writer(self._ours)
            os.close(self._ours)
            self.begun.close()

    async def _readable(self) -> bool:
        """Whether something came in a while."""
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._ours, came.set)
        try:
            async with asyncio.timeout(_LOOK):
                await came.wait()
        except TimeoutError:
            return False
        finally:
            if self._is_open:
                loop.remove_reader(self._ours)
        return True

    async def _writable(self) -> None:
        loop, can = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._ours, can.set)
        try:
            async with asyncio.timeout(_LOOK):
                await can.wait()
        except TimeoutError:
            return
        finally:
            if self._is_open:
                loop.remove_writer(self._ours)
