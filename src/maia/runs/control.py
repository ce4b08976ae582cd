"""What a front and a host say to each other: JSON lines over the host's socket, each request with its answer.

A request is `{"id": 1, "word": "…", "op": "start", …}`, its answer `{"id": 1, "value": …}` or `{"id": 1, "problem":
{"kind": "RunProblem", "key": "…", "values": {…}}}`. Answers come in any order. `Line` is the asking end.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from maia.core import errors
from maia.core.errors import MaiaError, RunProblem
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject, JsonValue

Op: TypeAlias = Literal["start", "stop", "answer", "info"]

MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes of one message; the task of a run is the only long thing in it."""
PATIENCE: Final = 10.0
"""Seconds in which a host must answer; stopping may take longer, since commands get time to end."""
STOP_PATIENCE: Final = 30.0


def dump_line(message: JsonObject) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def load_line(data: bytes) -> JsonObject:
    """The message of a line. Raises `ValueError` for what is none."""
    message = read_json(data)
    if not isinstance(message, dict):
        raise ValueError("a message is a JSON object")
    return cast(JsonObject, message)


def plain_values(values: Mapping[str, Any]) -> JsonObject:
    """Values of words as JSON can hold them."""
    return {name: v if isinstance(v, (str, int, float, bool)) or v is None else str(v) for name, v in values.items()}


def dump_problem(problem: MaiaError) -> JsonObject:
    return {"kind": type(problem).__name__, "key": problem.key, "values": plain_values(problem.values)}


def load_problem(data: JsonObject) -> MaiaError:
    """The error that the other side had; one of a kind that is not known here is a plain `MaiaError`."""
    kind = getattr(errors, str(data.get("kind")), MaiaError)
    if not (isinstance(kind, type) and issubclass(kind, MaiaError)) or kind is errors.ModelFailed:
        kind = MaiaError
    return kind(str(data.get("key")), **cast(JsonObject, data.get("values") or {}))


class Line:
    """A connection to a host. Many may ask at once; every one gets its own answer, or a `RunProblem`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, word: str) -> None:
        self._reader = reader
        self._writer = writer
        self._word = word
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def over(cls, connection: socket.socket, word: str) -> Line:
        """A line over a connected socket. Raises `OSError`."""
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MAX_LINE)
        return cls(reader, writer, word)

    @property
    def is_open(self) -> bool:
        return not self._listening.done()

    async def ask(self, op: Op, patience: float = PATIENCE, **fields: JsonValue) -> JsonValue:
        """The host's answer. Raises its `MaiaError`, and `RunProblem` where it is gone or silent for `patience`."""
        number = next(self._ids)
        data = dump_line({"id": number, "word": self._word, "op": op, **fields})
        if len(data) > MAX_LINE:
            raise RunProblem("runs.too_long", limit=MAX_LINE // (1024 * 1024))
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if not self.is_open:
                raise RunProblem("runs.host_gone")
            async with asyncio.timeout(patience):
                self._writer.write(data)
                await self._writer.drain()
                answer: JsonObject = await future
        except TimeoutError:
            raise RunProblem("runs.host_silent", seconds=round(patience)) from None
        except OSError:
            raise RunProblem("runs.host_gone") from None
        finally:
            del self._waiting[number]
            if future.done() and not future.cancelled():
                future.exception()  # taken, also where the wait was given up before
        if (problem := answer.get("problem")) is not None:
            raise load_problem(cast(JsonObject, problem))
        return answer.get("value")

    async def aclose(self) -> None:
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _listen(self) -> None:
        try:
            while data := await self._reader.readline():
                answer = load_line(data)
                future = self._waiting.get(cast(int, answer.get("id")))
                if future is not None and not future.done():
                    future.set_result(answer)
        except (OSError, ValueError):
            pass  # told below: such a host is as good as gone
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(RunProblem("runs.host_gone"))
