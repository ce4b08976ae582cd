"""The process that looks into a file from outside: its text or its picture on standard output, then it is gone.

It gets the file as its standard input, no environment, and limits on time and memory that it puts on itself first. It
catches little: where a file breaks it, it ends, and what it wrote until then counts.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Iterator
from typing import IO, Final

CPU_SECONDS: Final = 20
WALL_SECONDS: Final = 40
MOST_MEMORY: Final = 2_000_000_000
LOCKED, NOTHING, CUT = 3, 4, 5
"""How it ends where it does not end well: a password is asked for, there is no text or picture, there is more text."""


def main(kind: str, most_chars: int) -> int:
    """Look into standard input as a `picture`, a `pdf` or an `archive`; how it ended."""
    _limit()
    out = sys.stdout.buffer
    if kind == "picture":
        return _picture(out)
    pieces = _pdf() if kind == "pdf" else _archive()
    return _write(pieces, out, most_chars)


def _limit() -> None:
    signal.alarm(WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform == "linux":  # elsewhere the number is not kept to, or counts what is only reserved
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _write(pieces: Iterator[str], out: IO[bytes], most_chars: int) -> int:
    """The media type on a line, then the text as it comes: what was found before an end by force is not lost."""
    media_type = next(pieces, None)
    if media_type is None:
        return NOTHING
    out.write(media_type.encode() + b"\n")
    written, has_words = 0, False
    for piece in pieces:
        part = piece[: most_chars - written]
        out.write(part.encode("utf-8", "replace"))
        out.flush()
        written += len(part)
        has_words = has_words or (not part.startswith("# ") and bool(part.strip()))
        if written >= most_chars:
            return CUT
    return 0 if has_words else NOTHING


def _pdf() -> Iterator[str]:
    from pypdf import PasswordType, PdfReader

    document = PdfReader(sys.stdin.buffer)
    yield "application/pdf"
    if document.is_encrypted and document.decrypt("") is PasswordType.NOT_DECRYPTED:
        raise SystemExit(LOCKED)
    for number, page in enumerate(document.pages, 1):
        yield f"# {number}\n"
        yield page.extract_text().strip() + "\n\n"


def _archive() -> Iterator[str]:
    from zipfile import ZipFile

    from maia.files.office import open_document

    with ZipFile(sys.stdin.buffer) as archive:
        media_type, pieces = open_document(archive)
        yield media_type
        yield from pieces


def _picture(out: IO[bytes]) -> int:
    from maia.files.pictures import NoPicture, prepare

    try:
        made = prepare(sys.stdin.buffer)
    except NoPicture:
        return NOTHING
    told = {"width": made.width, "height": made.height, "type": made.media_type, "sent": len(made.sent)}
    out.write(json.dumps(told).encode() + b"\n" + made.sent + made.thumbnail)
    out.flush()
    return 0
