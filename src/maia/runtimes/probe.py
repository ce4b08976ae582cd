"""Asks a program that was found for its version, inside the wall and its own home: by an option or a greeting."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final

from maia.core.runtime import ProgramGone, ProgramStart, StartProgram
from maia.runtimes.rpc import read_object
from maia.runtimes.values import table, text

SECONDS = 30.0
_LINES = 20
GREETING: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}
_VERSION = r"\d+\.\d+(?:\.\d+)?(?:[-+.\w]*)?"


def is_older(version: str, than: str) -> bool:
    """Whether a version is of an older series: a smaller first number, or a smaller second one of a 0.x."""
    one, other = ([int(part) for part in re.findall(r"\d+", text)[:2]] for text in (version, than))
    counted = 1 if other[:1] != [0] else 2
    return one[:counted] < other[:counted]


async def greeted_version(start_program: StartProgram, start: ProgramStart, seconds: float = SECONDS) -> str | None:
    """What an agent of the Agent Client Protocol says of itself when it is greeted; None when it does not in time.

    Raises `MaiaError` when it cannot be started.
    """
    process = await start_program(start)
    try:
        async with asyncio.timeout(seconds):
            await process.write(json.dumps(GREETING, separators=(",", ":")))
            while (line := await process.read_line()) is not None:
                message = read_object(line)
                if message is not None and message.get("id") == GREETING["id"]:
                    info = table(table(message.get("result")).get("agentInfo"))
                    return text(info.get("version")) or None
    except (TimeoutError, ProgramGone):
        return None
    finally:
        await process.stop("now")
    return None


async def version_of(start_program: StartProgram, start: ProgramStart, seconds: float = SECONDS) -> str | None:
    """What it says of itself, None when it says none in time. Raises `MaiaError` when it cannot be started."""
    process = await start_program(start)
    try:
        process.end_input()
        async with asyncio.timeout(seconds):
            for _ in range(_LINES):
                line = await process.read_line()
                if line is None:
                    break
                if found := re.search(_VERSION, line):
                    return found.group()
    except TimeoutError:
        return None
    finally:
        await process.stop("now")
    found = re.search(_VERSION, process.said)
    return found.group() if found else None
