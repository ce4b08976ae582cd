"""A program with a bridge: its tools are tried before a turn, and each of its calls of one is one row."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from maia.core.errors import MaiaError
from maia.core.events import ToolOutput
from maia.core.jsonvalue import JsonObject
from maia.core.requests import ToolSpec
from maia.core.results import ToolResult
from maia.core.runtime import (
    Desk,
    Permit,
    ProgramCall,
    ProgramEnd,
    ProgramEvent,
    ProgramProcess,
    ProgramResult,
    ProgramTask,
    Runtime,
)
from maia.runtimes.bridge import Bridge
from maia.runtimes.launching import Launch
from maia.runtimes.lending import VERSIONS
from maia.runtimes.rpc import read_object
from maia.runtimes.values import rows, table, text

_TRY_SECONDS: Final = 15.0
_ANNOUNCED_SECONDS: Final = 1.0
"""How long a call that came over the bridge waits for the program to tell of it: what it said before comes first."""
_log: Final = logging.getLogger("maia.runtimes")


class BridgedRuntime:
    """A driver (`core.runtime.Runtime`) and the way of lent tools to its program (`core.runtime.Bridge`)."""

    def __init__(self, runtime: Runtime, launch: Launch) -> None:
        self._runtime = runtime
        self._launch = launch
        self._bridge: Bridge | None = None

    @property
    def name(self) -> str:
        return self._runtime.name

    async def open(self, tools: Sequence[ToolSpec]) -> bool:
        if self._bridge is not None:
            if self._bridge.is_open and self._bridge.tools == tuple(tools):
                return True
            await self._shut()
        if not tools:
            return False
        try:
            self._bridge = Bridge(tools)
            await self._bridge.listen()
            if await asyncio.wait_for(self._reaches(self._bridge), _TRY_SECONDS):
                return True
            problem = "answered otherwise"
        except (MaiaError, OSError, TimeoutError) as error:
            problem = error.key if isinstance(error, MaiaError) else type(error).__name__
        except BaseException:
            await self._shut()
            raise
        _log.warning("tools do not reach %s: %s", self.name, problem)
        await self._shut()
        return False

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        bridge = self._bridge
        if bridge is None or not task.tools:
            return await self._runtime.turn(task, desk)
        bridged = BridgedDesk(desk, frozenset(spec.name for spec in bridge.tools))
        try:
            end = await self._runtime.turn(replace(task, server=bridge.begin(bridged)), bridged)
            return replace(end, came=bridge.is_known)
        finally:
            await bridge.end()

    async def aclose(self) -> None:
        try:
            await self._runtime.aclose()
        finally:
            await self._shut()

    # Inside

    async def _shut(self) -> None:
        bridge, self._bridge = self._bridge, None
        if bridge is not None:
            await bridge.close()

    async def _reaches(self, bridge: Bridge) -> bool:
        """Greet the server and ask for its tools as the program will: from inside its wall, by the same relay."""
        server = bridge.begin(None)
        process = await self._launch.server(server)
        try:
            greeting: JsonObject = {
                "protocolVersion": VERSIONS[0],
                "capabilities": {},
                "clientInfo": {"name": "maia", "version": "1"},
            }
            await _asked(process, "initialize", greeting)
            await process.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            listed = rows((await _asked(process, "tools/list", {})).get("tools"))
        finally:
            await process.stop("gently")
            await bridge.end()
        return [text(tool.get("name")) for tool in listed] == [spec.name for spec in bridge.tools]


async def _asked(process: ProgramProcess, method: str, params: JsonObject) -> JsonObject:
    """The result of a call, empty where there is none. Raises `ProgramGone`."""
    await process.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))
    while (line := await process.read_line()) is not None:
        message = read_object(line) or {}
        if message.get("id") == method:
            return table(message.get("result"))
    return {}


class BridgedDesk:
    """The desk, at which a call of a lent tool counts once: as it came over the bridge.

    The program tells of the same call, too, and may ask about it; that the call came is what the gate judges. Only what
    it tells of a call that never came is shown as it tells it.
    """

    def __init__(self, desk: Desk, names: frozenset[str]) -> None:
        self._desk = desk
        self._names = names
        self._told: dict[str, ProgramCall] = {}
        self._came: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._news = asyncio.Event()

    def tell(self, event: ProgramEvent) -> None:
        match event:
            case ProgramCall() if event.lent in self._names:
                self._announced(event)
            case ToolOutput() if event.call_id in self._told:
                return
            case ProgramResult() if (call := self._told.pop(event.call_id, None)) is not None:
                if self._came[call.lent]:
                    self._came[call.lent] -= 1
                    return
                self._waiting[call.lent] -= 1
                self._desk.tell(replace(call, call=replace(call.call, name=call.lent)))
                self._desk.tell(event)
            case _:
                self._desk.tell(event)

    async def permit(self, call: ProgramCall) -> Permit:
        if call.lent not in self._names:
            return await self._desk.permit(call)
        self._announced(call)
        return Permit(True)

    async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
        if name in self._names:
            await self._announcement(name)
            self._came[name] += 1
        theirs = next((call.own or call.call.name for call in self._told.values() if call.lent == name), own)
        return await self._desk.use(name, arguments, theirs)

    # Inside

    def _announced(self, call: ProgramCall) -> None:
        if call.call.call_id not in self._told:
            self._told[call.call.call_id] = call
            self._waiting[call.lent] += 1
            self._news.set()

    async def _announcement(self, name: str) -> None:
        """Wait until the program told of such a call, so that what it said before it stands before it."""
        until = asyncio.get_running_loop().time() + _ANNOUNCED_SECONDS
        while not self._waiting[name] and (left := until - asyncio.get_running_loop().time()) > 0:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), left)
            except TimeoutError:
                return
        self._waiting[name] = max(0, self._waiting[name] - 1)
