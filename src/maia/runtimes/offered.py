"""Asks a program which models it offers without any call to a model: by its greeting, or a session that says nothing.

Claude Code answers its `initialize` request with them (2.1.332); an agent of the Agent Client Protocol lists them with
a new session, as `models` or as the option `model`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.runtime import ProgramGone, ProgramProcess, ProgramStart, StartProgram
from maia.runtimes.probe import GREETING
from maia.runtimes.programs import Program
from maia.runtimes.rpc import read_object
from maia.runtimes.values import rows, table, text, whole

SECONDS: Final = 90.0
"""A fresh home is filled first, which takes some programs a minute."""

LONG_WINDOW: Final = 1_000_000
_LONG: Final = re.compile(r"\(1M context\)|\[1m\]", re.IGNORECASE)
_ASKING: Final = "maia-models"


MOST: Final = 500
"""Models of one program; what it says beyond is left out."""
LONGEST_NAME: Final = 200
LARGEST_WINDOW: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One model under the name by which the program takes it. `real_id` and `window` are None where it does not say."""

    id: str
    name: str
    real_id: str | None = None
    window: int | None = None


async def offered_models(
    program: Program, start_program: StartProgram, start: ProgramStart, seconds: float = SECONDS
) -> tuple[OfferedModel, ...]:
    """What it offers; nothing where it cannot be asked, or says nothing in time.

    Raises `MaiaError` where it cannot be started, or ended before it answered.
    """
    if program.speaks == "codex-exec":
        return ()
    process = await start_program(start)
    try:
        async with asyncio.timeout(seconds):
            if program.speaks == "claude-code":
                return fitting(told_at_greeting(await _greeted(process)))
            return fitting(told_with_session(await _session(process, start)))
    except TimeoutError:
        return ()
    finally:
        await process.stop("now")


async def _greeted(process: ProgramProcess) -> JsonObject:
    request: JsonObject = {"subtype": "initialize", "hooks": {}}
    await _write(process, {"type": "control_request", "request_id": _ASKING, "request": request})
    while True:
        response = table((await _read(process)).get("response"))
        if response.get("request_id") == _ASKING:
            return table(response.get("response"))


async def _session(process: ProgramProcess, start: ProgramStart) -> JsonObject:
    await _write(process, GREETING)
    await _answer_to(process, 1)
    params: JsonObject = {"cwd": str(start.folder), "mcpServers": []}
    await _write(process, {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": params})
    return await _answer_to(process, 2)


async def _answer_to(process: ProgramProcess, number: int) -> JsonObject:
    while True:
        message = await _read(process)
        if message.get("id") == number and "method" not in message:
            return table(message.get("result"))


async def _write(process: ProgramProcess, message: JsonObject) -> None:
    await process.write(json.dumps(message, separators=(",", ":")))


async def _read(process: ProgramProcess) -> JsonObject:
    """The next message. Raises `ProgramGone` at the end of the output."""
    while (line := await process.read_line()) is not None:
        if (message := read_object(line)) is not None:
            return message
    raise ProgramGone("runtime.gone")


# What was told -------------------------------------------------------------------------------------------------------


def fitting(told: Iterable[OfferedModel]) -> tuple[OfferedModel, ...]:
    """Those that can be kept and shown, whatever else the program says: plain names, a window that a model may have."""
    plain = (each for each in told if all(map(_is_plain, (each.id, each.name, each.real_id or "-"))))
    sane = (each if (each.window or 0) <= LARGEST_WINDOW else replace(each, window=None) for each in plain)
    return tuple(islice(sane, MOST))


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name.isprintable()


def told_at_greeting(response: JsonObject) -> Iterator[OfferedModel]:
    """The models of Claude Code's answer to `initialize`."""
    for each in rows(response.get("models")):
        if name := text(each.get("value")):
            yield _offered(name, text(each.get("displayName")), text(each.get("resolvedModel")))


def told_with_session(made: JsonObject) -> Iterator[OfferedModel]:
    """The models of a new session of the protocol."""
    listed = rows(table(made.get("models")).get("availableModels"))
    for each in listed:
        if name := text(each.get("modelId")):
            yield _offered(name, text(each.get("name")), "", whole(table(each.get("_meta")).get("contextLimit")))
    options = () if listed else (each for each in rows(made.get("configOptions")) if each.get("id") == "model")
    for each in (choice for option in options for choice in rows(option.get("options"))):
        if name := text(each.get("value")):
            yield _offered(name, text(each.get("name")))


def _offered(name: str, shown: str, real_id: str = "", window: int = 0) -> OfferedModel:
    """One entry; only one that is offered as its long variant has the long window (R-2.101)."""
    is_long = _LONG.search(f"{name} {shown}") is not None
    return OfferedModel(name, shown or name, real_id or None, window or (LONG_WINDOW if is_long else None))
