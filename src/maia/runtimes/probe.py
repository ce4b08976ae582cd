"""Asks a program that was found for its version, inside the wall and its own home."""

from __future__ import annotations

import asyncio
import re

from maia.core.runtime import ProgramStart, StartProgram

SECONDS = 30.0
_LINES = 20
_VERSION = r"\d+\.\d+(?:\.\d+)?(?:[-+.\w]*)?"


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
