"""Runs commands: the real implementation of `core.ports.Processes` (T5.03)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem
from maia.core.ports import ProcessEnd
from maia.core.reason import Reason
from maia.sandbox.child import Child, Live, Start
from maia.sandbox.confined import Confined, Wall
from maia.sandbox.environment import command_environment, hide_own_environment
from maia.sandbox.output import Output
from maia.sandbox.threshold import STARTS
from maia.sandbox.wall import WallFound, hint_for, last_words

_LONGEST_ARGUMENT: Final = 120_000
"""Bytes of one argument that Linux takes, with a margin (MAX_ARG_STRLEN is 131,072)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One command to run, shell or not. `keep` lets go on what it leaves in the background after a normal end."""

    argv: Sequence[str]
    cwd: Path
    timeout: float
    max_chars: int
    on_output: Callable[[str], None] | None = None
    env: Mapping[str, str] | None = None
    sandboxed: bool = True
    stop: asyncio.Event | None = None
    keep: bool = False
    save: bool = True
    secrets_too: bool = False


@cache
def shell_program() -> str:
    """`bash` where it is, since models write for it; else the POSIX shell."""
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), "/bin/sh")


def shell_words(command: str) -> Sequence[str]:
    """The words that run a shell command line."""
    return (shell_program(), "-c", command)


class LocalProcesses:
    """Runs commands on this machine, each in a session of its own, in the wall when one is there.

    `saved_outputs` is the folder for outputs beyond the asked limit. `find_wall` is called once, in a thread, when the
    first sandboxed command comes; its notice goes to `on_notice`. `shown` names withheld variables that commands get
    all the same (the person's setting).

    What a command leaves in the background is stopped when it ends, so that nothing of the agent's runs unseen: the
    same with and without a wall.
    """

    def __init__(
        self,
        saved_outputs: Path,
        find_wall: Callable[[], WallFound],
        *,
        on_notice: Callable[[Reason], None] | None = None,
        environment: Mapping[str, str] | None = None,
        shown: Collection[str] = (),
    ) -> None:
        self._saved_outputs = saved_outputs
        self._find_wall = find_wall
        self._on_notice = on_notice
        self._environment = os.environ if environment is None else environment
        self._shown = frozenset(shown)
        self._found: asyncio.Future[WallFound] | None = None

    async def shell(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float,
        max_chars: int,
        on_output: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        sandboxed: bool = True,
    ) -> ProcessEnd:
        """Run a shell command line. Raises `ToolProblem` where a required sandbox is missing."""
        return await self.run(Job(shell_words(command), cwd, timeout, max_chars, on_output, env, sandboxed))

    async def program(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        timeout: float,
        max_chars: int,
        on_output: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        sandboxed: bool = True,
    ) -> ProcessEnd:
        """Run a program without a shell. Raises `ToolProblem` where a required sandbox is missing."""
        return await self.run(Job(argv, cwd, timeout, max_chars, on_output, env, sandboxed))

    async def run(self, job: Job) -> ProcessEnd:
        """Run a job to its end. Cancelling stops the tree first, then raises `asyncio.CancelledError`.

        Where a place came, went or changed its kind while the wall was put up, it is put up again with what is there
        now; at last the end is `not_started`. A command that was started is never started again.
        """
        wall = await self._wall() if job.sandboxed else None
        return await self._attempt(job, wall, asyncio.get_running_loop().time(), STARTS - 1)

    async def _attempt(self, job: Job, wall: Wall | None, began: float, more: int) -> ProcessEnd:
        """Start the job and see it to its end; where the wall could not be put up, at most `more` times again."""
        loop = asyncio.get_running_loop()
        output = Output(job.max_chars, self._saved_outputs if job.save else None)
        live = Live(job.on_output) if job.on_output is not None else None
        try:
            with _script(job.argv) as (argv, handles):
                child = Child(self._start(job, argv, handles, wall), output, live)
        except (OSError, ValueError) as problem:
            return _not_started(_words(problem), loop.time() - began)
        leftovers = 0
        code: int | None = None
        try:
            state = await child.ended(job.timeout, job.stop)
            if state == "exited":
                leftovers = await child.settle(keep=job.keep)
            else:
                await child.stop()
        except asyncio.CancelledError:
            await _stop_whatever_comes(child)
            raise
        finally:
            code = child.close()
            child.show(output.finish())
            if live is not None:
                live.close()
        ended_itself = state == "exited"
        if ended_itself and not child.begun.is_behind_wall and more:
            return await self._attempt(job, wall, began, more - 1)
        if ended_itself and (not child.begun.is_behind_wall or child.begun.is_refused):
            return _not_started(last_words(output.text, code), loop.time() - began)
        return ProcessEnd(
            state,
            code if ended_itself else None,
            output.text,
            output.total_chars,
            output.saved,
            loop.time() - began,
            leftovers=leftovers,
            hint=hint_for(wall, output.text) if wall and ended_itself and code else None,
        )

    def _start(self, job: Job, argv: Sequence[str], handles: tuple[int, ...], wall: Wall | None) -> Start:
        mark = os.urandom(8).hex()
        shown = self._environment if job.secrets_too else self._shown
        env = command_environment(self._environment, job.env, mark=mark, cwd=str(job.cwd), shown=shown)
        confined = Confined(argv) if wall is None else wall.confine(argv, job.cwd)
        return Start(confined, job.cwd, env, mark, handles)

    async def _wall(self) -> Wall | None:
        if self._found is None:
            self._found = asyncio.ensure_future(self._look_for_wall())
        found = await asyncio.shield(self._found)
        if found.wall is None and found.required:
            raise ToolProblem("sandbox.required", reason=found.notice.values.get("reason", "") if found.notice else "")
        return found.wall

    async def _look_for_wall(self) -> WallFound:
        found = await asyncio.to_thread(self._find_wall)
        if found.wall is None:
            hide_own_environment()
        if found.notice is not None and self._on_notice is not None:
            self._on_notice(found.notice)
        return found


@contextmanager
def _script(argv: Sequence[str]) -> Generator[tuple[Sequence[str], tuple[int, ...]]]:
    """A shell command too long for an argument is read from memory; anything else stays as it is."""
    is_long = len(argv) == 3 and argv[1] == "-c" and len(argv[2].encode()) > _LONGEST_ARGUMENT
    if not is_long or not hasattr(os, "memfd_create"):
        yield argv, ()
        return
    with os.fdopen(os.memfd_create("command"), "wb") as script:
        script.write(argv[2].encode())
        script.flush()
        yield (argv[0], f"/dev/fd/{script.fileno()}"), (script.fileno(),)


async def _stop_whatever_comes(child: Child) -> None:
    """Stop the tree although the task is being cancelled; a second cancel makes it quick."""
    stopping = asyncio.ensure_future(child.stop())
    try:
        await asyncio.shield(stopping)
    except asyncio.CancelledError:
        stopping.cancel()
        child.kill()


def _not_started(problem: str, duration: float) -> ProcessEnd:
    return ProcessEnd("not_started", None, "", 0, None, duration, problem)


def _words(problem: OSError | ValueError) -> str:
    if isinstance(problem, OSError):
        where = f": {problem.filename}" if problem.filename else ""
        return f"{problem.strerror or problem}{where}"
    return str(problem)
