"""The process that runs runs: takes requests over its socket, lets so many work at once, ends when nobody needs it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Container
from typing import Final, TypeAlias, TypeVar

from maia.core.codec import UnreadableEvent, load_value, to_json
from maia.core.errors import MaiaError, RunProblem
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.permission import Answer
from maia.core.reason import Reason
from maia.core.runs import RunInfo, RunWish
from maia.runs.control import MAX_LINE, dump_line, dump_problem, load_line
from maia.runs.hostplace import is_own_user
from maia.runs.live import Limits, LiveRun, Prepared
from maia.runs.record import Record
from maia.runs.store import RunStore, new_id

Prepare: TypeAlias = Callable[[RunWish], Prepared]
"""Makes a wish ready. Raises `MaiaError` where it cannot be: unknown agent, folder not allowed…"""

IDLE_SECONDS: Final = 5.0
_T = TypeVar("_T")


class RunHost:
    """The runs of one process."""

    def __init__(self, name: str, store: RunStore, prepare: Prepare, limits: Limits) -> None:
        self._name = name
        self._store = store
        self._prepare = prepare
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.at_once)
        self._runs: dict[str, LiveRun] = {}
        self._is_closing = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs, waits or is still to be written down."""
        for run_id, run in tuple(self._runs.items()):
            if run.ended.is_set() and (run.is_saved or run.save()):
                del self._runs[run_id]
        return not self._runs

    def start(self, wish: RunWish) -> RunInfo:
        """Begin a run, or put it in the queue. Raises `MaiaError` where it cannot begin."""
        if self._is_closing:
            raise RunProblem("runs.host_gone")
        going = sum(not run.ended.is_set() for run in self._runs.values())
        if going >= self._limits.at_once + self._limits.queued:
            raise RunProblem("runs.queue_full", limit=self._limits.queued)
        prepared = self._prepare(wish)
        now = time.time()
        info = RunInfo(
            run_id=new_id(now),
            task=wish.task,
            state="queued",
            started=round(now, 3),
            agent=prepared.agent,
            nickname=prepared.nickname,
            runner=prepared.runner,
            model=wish.model,
            folder=prepared.folder,
            session=prepared.session,
            identity=wish.identity,
        )
        record = Record(self._name, wish, info)
        self._store.create(record)
        run = self._runs[info.run_id] = LiveRun(record, prepared, self._store, self._limits)
        run.begin(self._slots)
        return info

    async def stop(self, run_id: str) -> RunInfo:
        """End a run and say how it ended. Raises `RunProblem`."""
        run = self._runs.get(run_id)
        if run is None:
            return self._store.info(run_id)
        await run.stop()
        return run.info()

    def info(self, run_id: str) -> RunInfo:
        """How a run stands, also where that could not be written down. Raises `RunProblem`."""
        run = self._runs.get(run_id)
        return self._store.info(run_id) if run is None else run.info()

    def answer(self, run_id: str, approval_id: str, answer: Answer) -> bool:
        run = self._runs.get(run_id)
        return run is not None and run.answer(approval_id, answer)

    async def close(self) -> None:
        """Stop what runs, in order."""
        self._is_closing = True
        why = Reason("runs.host_stopped")
        await asyncio.gather(*(run.stop(why) for run in self._runs.values() if not run.ended.is_set()))
        for run in self._runs.values():
            if not run.is_saved:
                run.save()


class HostDoor:
    """Lets fronts in over a listening socket."""

    def __init__(self, host: RunHost, word: str) -> None:
        self._host = host
        self._word = word
        self._connections: set[asyncio.Task[None]] = set()
        self._left = time.monotonic()

    async def serve(self, listening: socket.socket, stop: asyncio.Event, idle: float = IDLE_SECONDS) -> None:
        """Answer requests until `stop`, or until nothing runs and nobody has been there for `idle` seconds."""
        server = await asyncio.start_unix_server(self._let_in, sock=listening, limit=MAX_LINE)
        try:
            while not stop.is_set() and not self._is_left_alone(idle):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(1.0, idle / 4)):
                        await stop.wait()
            server.close()
            await self._host.close()
        finally:
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    def _is_left_alone(self, idle: float) -> bool:
        if self._connections or not self._host.is_idle:
            self._left = time.monotonic()
        return time.monotonic() - self._left >= idle

    def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not is_own_user(writer.get_extra_info("socket")):
            writer.close()
            return
        task = asyncio.create_task(self._talk(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers: set[asyncio.Task[None]] = set()
        try:
            while data := await reader.readline():
                request = load_line(data)
                if not hmac.compare_digest(str(request.get("word")).encode(), self._word.encode()):
                    return
                task = asyncio.create_task(self._answer(request, writer))
                answers.add(task)
                task.add_done_callback(answers.discard)
        except (OSError, ValueError):
            return  # whoever says something else is no front
        finally:
            await asyncio.gather(*answers, return_exceptions=True)  # what was asked is done, whoever still listens
            writer.close()

    async def _answer(self, request: JsonObject, writer: asyncio.StreamWriter) -> None:
        answer: JsonObject = {"id": request.get("id")}
        try:
            answer["value"] = await _op(request)(self._host, request)
        except MaiaError as problem:
            answer["problem"] = dump_problem(problem)
        except Exception as error:  # a defect of ours: told to whoever asks, and whole in the log
            traceback.print_exception(error, file=sys.stderr)
            answer["problem"] = dump_problem(RunProblem("runs.defect", problem=f"{type(error).__name__}: {error}"))
        with contextlib.suppress(OSError):
            writer.write(dump_line(answer))
            await writer.drain()


async def _start(host: RunHost, request: JsonObject) -> JsonValue:
    return to_json(host.start(_value(RunWish, request, "wish")))


async def _stop(host: RunHost, request: JsonObject) -> JsonValue:
    return to_json(await host.stop(_text(request, "run")))


async def _answered(host: RunHost, request: JsonObject) -> JsonValue:
    return host.answer(_text(request, "run"), _text(request, "approval"), _value(Answer, request, "answer"))


async def _info(host: RunHost, request: JsonObject) -> JsonValue:
    return to_json(host.info(_text(request, "run")))


_Do: TypeAlias = Callable[[RunHost, JsonObject], Awaitable[JsonValue]]
_OPS: dict[str, _Do] = {
    "start": _start,
    "stop": _stop,
    "answer": _answered,
    "info": _info,
}


def _op(request: JsonObject) -> _Do:
    return _OPS[_text(request, "op", _OPS)]


def _text(request: JsonObject, name: str, choices: Container[str] | None = None) -> str:
    text = request.get(name)
    if not isinstance(text, str) or (choices is not None and text not in choices):
        raise RunProblem("runs.bad_request", problem=name)
    return text


def _value(cls: type[_T], request: JsonObject, name: str) -> _T:
    try:
        return load_value(cls, request.get(name))
    except UnreadableEvent as error:
        raise RunProblem("runs.bad_request", problem=str(error)) from error
