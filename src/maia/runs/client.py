"""The port `Runs` for a front: runs begin in a host that outlives it, and are read and steered from anywhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from maia.core.codec import load_value, to_json
from maia.core.errors import RunProblem, system_words
from maia.core.jsonvalue import JsonValue
from maia.core.permission import Answer
from maia.core.runs import RunInfo, RunNote, RunWish
from maia.runs.control import PATIENCE, STOP_PATIENCE, Line, Op
from maia.runs.notes import NoteReader
from maia.runs.store import RunStore

FIRST_WAIT: Final = 0.02
LONGEST_WAIT: Final = 0.2
"""Seconds between two looks at notes that do not grow."""
_AT_A_TIME: Final = 100
"""Notes of a long past that are read before others get their turn."""

Launch = Callable[[], Awaitable[tuple[str, Line]]]
"""Starts a host: its name and a line to it. Raises `RunProblem`."""


class HostedRuns:
    """Port `Runs`. The host of this front is started with its first run, or by `warm`; `aclose` leaves it at work."""

    def __init__(self, store: RunStore, launch: Launch) -> None:
        self._store = store
        self._launch = launch
        self._starting = asyncio.Lock()
        self._own: tuple[str, Line] | None = None

    async def warm(self) -> None:
        """Have the host there before the first run needs it. Raises `RunProblem`."""
        await self._host()

    async def start(self, wish: RunWish) -> RunInfo:
        """Begin; returns at once. Raises `MaiaError` where it cannot begin."""
        own = await self._host()
        try:
            info = await own[1].ask("start", wish=to_json(wish))
        except RunProblem as problem:
            if problem.key != "runs.host_gone":
                raise
            info = await (await self._host(instead_of=own))[1].ask("start", wish=to_json(wish))
        return load_value(RunInfo, info)

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunNote]:
        """The notes after that number, those to come included, until the run is over. Raises `RunProblem`."""
        reader = NoteReader(self._store.notes(run_id), after)
        wait = FIRST_WAIT
        while True:
            is_over = self._store.is_over(run_id)  # before the notes are read: what is there then is all
            seen = 0
            try:
                for seen, note in enumerate(reader.read(), 1):
                    yield note
                    if seen % _AT_A_TIME == 0:
                        await asyncio.sleep(0)
            except OSError as error:
                raise RunProblem("runs.unreadable", run=run_id, problem=system_words(error)) from error
            if is_over:
                return
            wait = FIRST_WAIT if seen else min(wait * 1.5, LONGEST_WAIT)
            await asyncio.sleep(wait)

    async def info(self, run_id: str) -> RunInfo:
        """How the run stands. Raises `RunProblem`."""
        return await asyncio.to_thread(self._store.info, run_id)

    async def listed(self, identity: str | None = None, limit: int = 100) -> Sequence[RunInfo]:
        """Newest first; of one identity where given. Raises `RunProblem` where the store cannot be read."""
        return await asyncio.to_thread(self._store.listed, identity, limit)

    async def answer(self, run_id: str, approval_id: str, answer: Answer) -> bool:
        """Answer an approval; False where it waits no more. Raises `RunProblem`."""
        if self._store.is_over(run_id):
            return False
        return bool(await self._ask(run_id, "answer", PATIENCE, approval=approval_id, answer=to_json(answer)))

    async def stop(self, run_id: str) -> RunInfo:
        """Stop it with everything it started; one that is over stays as it is. Raises `RunProblem`."""
        if self._store.is_over(run_id):
            return self._store.info(run_id)
        try:
            return load_value(RunInfo, await self._ask(run_id, "stop", STOP_PATIENCE))
        except RunProblem:
            if self._store.is_over(run_id):  # the host ended meanwhile
                return self._store.info(run_id)
            raise

    async def aclose(self) -> None:
        """Let go of the runs; they go on."""
        if self._own is not None:
            await self._own[1].aclose()
            self._own = None

    # Inside

    async def _host(self, instead_of: tuple[str, Line] | None = None) -> tuple[str, Line]:
        """This front's host; another one where that ended, or ends just now."""
        async with self._starting:
            own = self._own
            if own is not None and (own is instead_of or not own[1].is_open):
                self._own = None
                await own[1].aclose()
            if self._own is None:
                self._own = await self._launch()
            return self._own

    async def _ask(self, run_id: str, op: Op, patience: float, **fields: JsonValue) -> JsonValue:
        """Ask the host of that run, whichever front started it."""
        name = self._store.record(run_id).host
        if self._own is not None and self._own[0] == name and self._own[1].is_open:
            return await self._own[1].ask(op, patience, run=run_id, **fields)
        place = self._store.host(name)
        try:
            line = await Line.over(place.connect(), place.card().word)
        except (OSError, ValueError):
            raise RunProblem("runs.host_gone") from None
        async with contextlib.aclosing(line):
            return await line.ask(op, patience, run=run_id, **fields)
