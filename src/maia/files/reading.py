"""Looks into a file in a process of its own, which is ended when it takes too long or is not wanted any more."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import maia
from maia.core.filetext import decode
from maia.files.kinds import HEAD_BYTES, UNKNOWN, FileKind, sniff
from maia.files.reader import LOCKED, WALL_SECONDS

MOST_CHARS: Final = 400_000
"""Characters of a file's text that are kept."""
_MOST_OUTPUT: Final = 32_000_000
_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); from maia.files.reader import main; sys.exit(main(sys.argv[2], {}))"
)
_HOME: Final = str(Path(maia.__file__).resolve().parents[1])

Problem: TypeAlias = Literal["", "locked", "no_text", "no_picture"]
"""Why less is known of a file than of others of its kind."""


@dataclass(frozen=True, slots=True)
class Picture:
    """`width` and `height` as it is looked at; `sent` is what models get, `thumbnail` a WebP for pages."""

    width: int
    height: int
    sent: bytes
    sent_type: str
    thumbnail: bytes


@dataclass(frozen=True, slots=True)
class Look:
    """What a file is. `text` is None where none was read; `is_cut`: it has more than is kept."""

    kind: FileKind
    media_type: str
    text: str | None = None
    is_cut: bool = False
    problem: Problem = ""
    picture: Picture | None = None


async def look(path: Path) -> Look:
    """Look into a file of ours; a file that cannot be read is one of kind `other`. Raises `OSError`."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    guess = sniff(head)
    match guess.kind:
        case "text":
            return await asyncio.to_thread(_text, path)
        case "image":
            return _pictured(guess.media_type, *await _run("picture", path))
        case "document":
            return _read(guess.media_type, *await _run("pdf" if "pdf" in guess.media_type else "archive", path))
        case "other":
            return Look("other", guess.media_type)


def _text(path: Path) -> Look:
    with path.open("rb") as file:
        data = file.read(MOST_CHARS * 4 + 1)
        is_cut = bool(file.read(1))
    text = decode(data).text.replace("\x00", "\ufffd")
    return Look("text", "text/plain", text[:MOST_CHARS], is_cut or len(text) > MOST_CHARS)


def _pictured(media_type: str, code: int, out: bytes) -> Look:
    head, _, rest = out.partition(b"\n")
    if code:
        return Look("other", UNKNOWN, problem="no_picture")
    told = json.loads(head)
    size = int(told["sent"])
    picture = Picture(int(told["width"]), int(told["height"]), rest[:size], str(told["type"]), rest[size:])
    return Look("image", media_type, picture=picture)


def _read(guessed: str, code: int, out: bytes) -> Look:
    """What was written before an end by force counts: it is the beginning of the text."""
    head, _, rest = out.partition(b"\n")
    media_type = head.decode("ascii", "replace") or guessed
    if code == LOCKED:
        return Look("document", media_type, problem="locked")
    text = rest.decode("utf-8", "ignore").replace("\x00", "\ufffd")[:MOST_CHARS]
    if not head:
        return Look("other", guessed)
    if not any(line and not line.startswith("# ") for line in text.splitlines()):
        return Look("document", media_type, problem="no_text")
    return Look("document", media_type, text, is_cut=code != 0)


async def _run(kind: str, path: Path) -> tuple[int, bytes]:
    """How the process ended, negative where it was ended, and what it wrote."""
    with path.open("rb") as file:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-c",
            _START.format(MOST_CHARS),
            _HOME,
            kind,
            stdin=file,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"LANG": "C.UTF-8"},
            start_new_session=True,
        )
    assert process.stdout is not None
    out = bytearray()
    try:
        async with asyncio.timeout(WALL_SECONDS):
            while len(out) < _MOST_OUTPUT and (part := await process.stdout.read(65_536)):
                out += part
            if len(out) < _MOST_OUTPUT:
                return await process.wait(), bytes(out)
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())
    return -signal.SIGKILL, bytes(out)
