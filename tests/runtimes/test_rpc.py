"""Calls to and from a program end, whatever either side does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from maia.core.jsonvalue import JsonObject
from maia.core.runtime import ProgramGone
from maia.runtimes.rpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Rpc, RpcError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Line:
    """A program at the other end: it says what is put in, and keeps what it is told."""

    said = ""

    def __init__(self) -> None:
        self.says: asyncio.Queue[str | None] = asyncio.Queue()
        self.told: list[JsonObject] = []

    async def write(self, line: str) -> None:
        self.told.append(json.loads(line))

    def end_input(self) -> None:
        pass

    async def read_line(self) -> str | None:
        return await self.says.get()

    async def stop(self, how: str = "gently") -> int | None:
        del how
        return 0


def broken(*_: Any) -> Any:
    raise ZeroDivisionError


@pytest.mark.parametrize("last", [None, '{"method": "update", "params": {}}'], ids=["it ends", "it cannot be heard"])
async def test_when_nothing_is_heard_any_more_who_waits_hears_of_it(last: str | None) -> None:
    line = Line()
    rpc = Rpc(line, broken, broken)
    serving = asyncio.create_task(rpc.serve())
    waiting = asyncio.create_task(rpc.call("ask", {}))
    await asyncio.sleep(0)
    line.says.put_nowait(last)
    with pytest.raises(ProgramGone):
        await asyncio.wait_for(waiting, 10)
    await asyncio.gather(serving, return_exceptions=True)
    with pytest.raises(ProgramGone):
        await rpc.call("again", {})


ANSWERS = [
    pytest.param(RpcError(METHOD_NOT_FOUND, "no"), {"code": METHOD_NOT_FOUND, "message": "no"}, id="not served"),
    pytest.param(ZeroDivisionError(), {"code": INTERNAL_ERROR, "message": "ZeroDivisionError"}, id="a defect"),
]


@pytest.mark.parametrize(("raised", "told"), ANSWERS)
async def test_a_call_of_the_program_is_always_answered(raised: Exception, told: JsonObject) -> None:
    async def answer(_method: str, _params: JsonObject) -> JsonObject:
        raise raised

    line = Line()
    rpc = Rpc(line, answer, broken)
    line.says.put_nowait('{"id": 7, "method": "ask", "params": {}}')
    line.says.put_nowait(None)
    await rpc.serve()
    for _ in range(3):
        await asyncio.sleep(0)
    assert line.told == [{"jsonrpc": "2.0", "id": 7, "error": told}]
