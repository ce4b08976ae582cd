"""JSON-RPC 2.0 by lines with a program: calls out, calls in, and a memory of when it was last heard."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import cast

from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.runtime import ProgramGone, ProgramProcess

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """The program answered a call with an error: its code, its words, and what else it said."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.data = data


Answering = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Answers a call of the program; raises `RpcError` for one that is not served."""


class Rpc:
    """One connection. `serve` reads until the program's output ends; then every open call raises `ProgramGone`."""

    def __init__(self, process: ProgramProcess, answer: Answering, hear: Callable[[str, JsonObject], None]) -> None:
        self._process = process
        self._answer = answer
        self._hear = hear
        self._ids = itertools.count(1)
        self._open: dict[int, asyncio.Future[JsonValue]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self.last_heard = asyncio.get_running_loop().time()
        self.garbage = 0
        self.is_over = False

    async def call(self, method: str, params: JsonObject) -> JsonObject:
        """Call and wait. Raises `RpcError`, `ProgramGone`."""
        number = next(self._ids)
        future: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._open[number] = future
        try:
            if self.is_over:
                raise ProgramGone("runtime.gone")
            await self._send({"id": number, "method": method, "params": params})
            result = await future
        finally:
            self._open.pop(number, None)
        return cast(JsonObject, result) if isinstance(result, dict) else {}

    async def notify(self, method: str, params: JsonObject) -> None:
        """Tell without waiting for an answer. Raises `ProgramGone`."""
        await self._send({"method": method, "params": params})

    async def serve(self) -> None:
        """Read what comes until there is no more, or until it cannot be taken: nobody waits on after that.

        Lines that are no messages are passed by; `garbage` counts those after the last message.
        """
        try:
            while (line := await self._process.read_line()) is not None:
                self._heard(line)
        finally:
            self.is_over = True
            for future in self._open.values():
                if not future.done():
                    future.set_exception(ProgramGone("runtime.gone"))

    def _heard(self, line: str) -> None:
        self.last_heard = asyncio.get_running_loop().time()
        message = read_object(line)
        if message is None:
            self.garbage += bool(line.strip())
            return
        self.garbage = 0
        self._take(message)

    async def drop_answers(self) -> None:
        """Give up what is still being answered, since the turn it belongs to is over; the program is told so."""
        tasks = tuple(self._answering)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def is_answering(self) -> bool:
        """Whether the program waits for us, not we for it."""
        return bool(self._answering)

    def _take(self, message: JsonObject) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            params = message.get("params")
            given = cast(JsonObject, params) if isinstance(params, dict) else {}
            if number is None:
                self._hear(method, given)
                return
            task = asyncio.create_task(self._reply(number, method, given))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
            return
        future = self._open.get(number) if isinstance(number, int) else None
        if future is None or future.done():
            return
        error = message.get("error")
        if isinstance(error, dict):
            future.set_exception(_error(cast(JsonObject, error)))
        else:
            future.set_result(message.get("result"))

    async def _reply(self, number: JsonValue, method: str, params: JsonObject) -> None:
        try:
            body: JsonObject = {"result": await self._answer(method, params)}
        except RpcError as error:
            body = {"error": {"code": error.code, "message": error.message}}
        except Exception as error:  # a defect of ours must not leave the program waiting for ever
            body = {"error": {"code": INTERNAL_ERROR, "message": type(error).__name__}}
        try:
            await self._send({"id": number, **body})
        except ProgramGone:
            return

    async def _send(self, message: JsonObject) -> None:
        await self._process.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")))


def _error(error: JsonObject) -> RpcError:
    code = error.get("code")
    return RpcError(code if isinstance(code, int) else 0, str(error.get("message", "")), error.get("data"))


def read_object(line: str) -> JsonObject | None:
    """The JSON object that a line is, None for anything else."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = read_json(line)
    except ValueError:
        return None
    return cast(JsonObject, value) if isinstance(value, dict) else None
