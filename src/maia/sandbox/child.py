"""One running command: its pipe, its end, and how its whole tree is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.sandbox import tree
from maia.sandbox.confined import Confined
from maia.sandbox.output import Output, fold_lines
from maia.sandbox.start import begin

End: TypeAlias = Literal["exited", "timed_out", "interrupted"]

TERM_GRACE: Final = 2.0
"""Seconds between SIGTERM and SIGKILL (T5.03)."""

PIPE_GRACE: Final = 0.3
"""Seconds after the command's own end in which processes it left may still write or finish (pi#9460)."""

LEFTOVER_GRACE: Final = 0.5
"""Seconds between SIGTERM and SIGKILL for what was left in the background."""

_READ: Final = 1 << 18
_POLL: Final = 0.02
_STOP_POLL: Final = 0.05
_SLOW_READ: Final = 0.002


@dataclass(frozen=True, slots=True)
class Start:
    """How to start a command. `handles` are open files it gets.

    Where it is contained, its first process is the wall, which gets no SIGTERM, so that it has time to end well.
    """

    confined: Confined
    cwd: Path
    env: Mapping[str, str]
    mark: str
    handles: tuple[int, ...] = ()


class Child:
    """A started command. Use: `ended`, then `stop` or `settle`, and always `close`."""

    def __init__(self, start: Start, output: Output, live: Live | None) -> None:
        """Start the command. Raises OSError or ValueError where it cannot be started."""
        self._loop = asyncio.get_running_loop()
        self._output = output
        self._live = live
        self._mark = start.mark
        self._pipe, write_end = os.pipe()
        try:
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, _READ)
            null = subprocess.DEVNULL
            self.begun = begin(
                start.confined,
                start.cwd,
                start.env,
                stdin=null,
                stdout=write_end,
                stderr=write_end,
                handles=start.handles,
            )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(write_end)
        self._popen = self.begun.popen
        self._held = ""
        self._is_stolen = False
        self._pid = self._popen.pid
        self._pipe_name = f"pipe:[{os.fstat(self._pipe).st_ino}]"
        self._since = tree.start_of(self._pid)
        self._over: asyncio.Future[End] = self._loop.create_future()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._pidfd: int | None = None
        self._pause: asyncio.TimerHandle | None = None
        os.set_blocking(self._pipe, False)
        self._loop.add_reader(self._pipe, self._read)
        self._watch()

    # What happens to it

    def _watch(self) -> None:
        """Know its end without reaping it: until then its number cannot be given to another process."""
        try:
            self._pidfd = os.pidfd_open(self._pid)
        except (OSError, AttributeError):  # an old kernel, or no Linux
            self._look()
        else:
            self._loop.add_reader(self._pidfd, self._set_over, "exited")

    def _look(self) -> None:
        if self._has_exited():
            self._set_over("exited")
        elif not self._over.done():
            self._loop.call_later(_POLL, self._look)

    def _has_exited(self) -> bool:
        if self._popen.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # somebody waits for every child of this process
            self._is_stolen = True
            return True

    def _set_over(self, end: End) -> None:
        if self._pidfd is not None and end == "exited":
            self._loop.remove_reader(self._pidfd)
        if not self._over.done():
            self._over.set_result(end)

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._pipe)
            if not self._drained.done():
                self._drained.set_result(None)
            return
        self.show(self._output.feed(data))
        if self._output.past_file:  # it prints for ever: leave the processor to others
            self._loop.remove_reader(self._pipe)
            self._pause = self._loop.call_later(_SLOW_READ, self._loop.add_reader, self._pipe, self._read)

    def show(self, text: str) -> None:
        """Show what it printed; what the wall says for itself, before the command runs, is held back."""
        if self._live is None:
            return
        self._held += text
        if self._held and self.begun.is_behind_wall:
            self._live.push(self._held)
            self._held = ""

    # What is done with it

    async def ended(self, timeout: float, stop: asyncio.Event | None) -> End:
        """Wait until it ends, until `timeout` seconds are over, or until `stop` is set."""
        clock = self._loop.call_later(max(0.0, timeout), self._set_over, "timed_out")
        asked = self._loop.create_task(stop.wait()) if stop is not None else None
        if asked is not None:
            asked.add_done_callback(lambda task: None if task.cancelled() else self._set_over("interrupted"))
        try:
            return await asyncio.shield(self._over)
        finally:
            clock.cancel()
            if asked is not None:
                asked.cancel()

    async def settle(self, *, keep: bool) -> int:
        """After it ended by itself: read what is left, stop what it left behind; returns how many those were.

        With `keep` they go on, and what they still print is thrown away.
        """
        until = self._loop.time() + PIPE_GRACE
        if await self._is_drained(PIPE_GRACE) and self.begun.contained:
            return 0
        left = await self._left(until)
        if left and not keep:
            tree.signal_all(left, signal.SIGTERM)
            if left_still := await self._left(self._loop.time() + LEFTOVER_GRACE):
                tree.signal_all(left_still, signal.SIGKILL)
            await self._is_drained(PIPE_GRACE)
        if keep and not self._drained.done():
            self._hand_over_pipe()
        return len(left)

    async def stop(self) -> None:
        """Stop the whole tree: SIGTERM, two seconds, SIGKILL; then read what is left."""
        self._signal(signal.SIGTERM)
        for _ in range(round(TERM_GRACE / _STOP_POLL)):
            await asyncio.sleep(_STOP_POLL)
            if self._has_exited() and not self._tree():
                break
        self.kill()
        await self._is_drained(PIPE_GRACE)

    def kill(self) -> None:
        """SIGKILL for the whole tree, at once."""
        self._signal(signal.SIGKILL)

    def close(self) -> int | None:
        """Give everything back, whatever happened before; returns the exit code as a shell shows it (128 + signal).

        None where nobody knows it: somebody else waited for it, or it has not ended even so.
        """
        if not self._has_exited():
            self.kill()
        for handle in (self._pipe, self._pidfd):
            if handle is not None and handle >= 0:
                self._loop.remove_reader(handle)
                os.close(handle)
        self._pipe, self._pidfd = -1, None
        if self._pause is not None:
            self._pause.cancel()
        with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: even SIGKILL waits
            self._popen.wait(LEFTOVER_GRACE)
        self._over.cancel()
        self._drained.cancel()
        self.begun.close()
        code = self._popen.returncode
        if code is None or self._is_stolen:
            return None
        return 128 - code if code < 0 else code

    def _signal(self, what: signal.Signals) -> None:
        found = self._tree()
        if not self.begun.contained:
            tree.send_group(self._pid, what)
            tree.signal_all(found, what)
        elif what == signal.SIGKILL:
            tree.signal_all(found, what)
            tree.send(self._pid, what)
        else:
            tree.signal_all([process for process in found if process.pid != self._pid], what)

    def _tree(self) -> list[tree.Process]:
        return tree.started_by(self._pid, self._since, self._mark, self._pipe_name)

    async def _left(self, until: float) -> list[tree.Process]:
        """Who is still there at the time `until` of the loop, once the command itself has ended."""
        found = self._tree()
        while found and self._loop.time() < until:
            await asyncio.sleep(_POLL)
            found = self._tree()
        return found

    async def _is_drained(self, grace: float) -> bool:
        """Wait for the end of the pipe, at most `grace` seconds: a process that holds it may live for ever."""
        await asyncio.wait({self._drained}, timeout=grace)
        return self._drained.done()

    def _hand_over_pipe(self) -> None:
        """Keep reading for what goes on in the background: a closed pipe would end it at its next word."""
        pipe, loop = os.dup(self._pipe), self._loop
        os.set_blocking(pipe, False)

        def discard() -> None:
            try:
                over = not os.read(pipe, _READ)
            except BlockingIOError:
                return
            except OSError:
                over = True
            if over:
                loop.remove_reader(pipe)
                os.close(pipe)

        loop.add_reader(pipe, discard)


class Live:
    """Shows output while it comes: at once, then at most 20 times a second, and once a second after a great deal.

    Of more than 4,000 characters between two showings only the last are shown; progress lines are folded.
    """

    PAUSE: Final = 0.05
    LONG_PAUSE: Final = 1.0
    CHUNK: Final = 4_000
    GREAT_DEAL: Final = 200_000

    def __init__(self, show: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._show = show
        self._waiting = ""
        self._shown = 0
        self._timer: asyncio.TimerHandle | None = None

    def push(self, text: str) -> None:
        if not text:
            return
        self._waiting += text
        if len(self._waiting) > 16 * self.CHUNK:
            self._waiting = self._waiting[-self.CHUNK :]
        if self._timer is None:
            self._flush()

    def _flush(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        text, self._waiting = fold_lines(self._waiting[-self.CHUNK :]), ""
        self._shown += len(text)
        pause = self.PAUSE if self._shown < self.GREAT_DEAL else self.LONG_PAUSE
        self._timer = self._loop.call_later(pause, self._flush)
        if text:
            self._show(text)

    def close(self) -> None:
        """Show what waits; nothing is shown after."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()
        if self._timer is not None:
            self._timer.cancel()
