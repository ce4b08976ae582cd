"""What a command prints, as bytes in any pieces, becomes bounded text for the model and a file with the whole of it."""

from __future__ import annotations

import codecs
import os
import re
import time
from functools import cache
from pathlib import Path
from typing import BinaryIO, Final

from maia.core.text import cut_middle

FILE_CAP: Final = 50_000_000
"""Bytes of a command's output that are kept in its file; what comes after is counted only."""

KEPT_SECONDS: Final = 7 * 86_400.0
"""How long such a file is kept."""

_LINE_CAP: Final = 8_192
_ESCAPE_CAP: Final = 4_096


@cache
def _escape() -> re.Pattern[str]:
    """A whole escape sequence (ECMA-48): control sequences, strings ended by BEL or ST, and the short ones.

    What begins like one and is none loses its first character only.
    """
    return re.compile(
        r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
        r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
        r"|\x1b[ -/]*[0-OQ-WYZ`-~\\]"
        r"|\x1b|\x9b"
    )


@cache
def _begun_escape() -> re.Pattern[str]:
    """The same, where the text ends before the sequence does."""
    return re.compile(r"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[\]PX^_][^\x07\x1b\x9c]*\x1b?|\x1b[ -/]*)\Z")


class _Stripper:
    """Takes escape sequences out of text that comes in pieces; a sequence cut by a piece's end is held back."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        self._held = ""
        if "\x1b" not in text and "\x9b" not in text:
            return text
        begun = _begun_escape().search(text, max(0, len(text) - _ESCAPE_CAP))
        if begun:
            text, self._held = text[: begun.start()], begun.group()
        return _escape().sub("", text)

    def finish(self) -> str:
        held, self._held = self._held, ""
        return held.replace("\x1b", "").replace("\x9b", "")


def fold_line(line: str) -> str:
    """What a terminal would show of one line in the end: returned and rubbed-out characters are gone.

    The line comes without its line feed; a carriage return before it is the line end of another system.
    """
    if "\b" in line:
        line = _rub_out(line)
    if "\r" not in line:
        return line
    return line.rstrip("\r").rpartition("\r")[2]


def _rub_out(line: str) -> str:
    kept: list[str] = []
    for char in line:
        if char != "\b":
            kept.append(char)
        elif kept and kept[-1] != "\r":
            kept.pop()
    return "".join(kept)


def fold_lines(text: str) -> str:
    """`fold_line` for each line of a text."""
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(fold_line(line) for line in text.split("\n"))


class _Folder:
    """Folds lines that come in pieces; the last line is held back until it ends or grows too long to be progress."""

    def __init__(self) -> None:
        self._line = ""

    def feed(self, piece: str) -> str:
        text = self._line + piece
        end = text.rfind("\n") + 1
        done, self._line = fold_lines(text[:end]), text[end:]
        if len(self._line) > _LINE_CAP:
            _, returned, rest = self._line.rpartition("\r")
            if len(rest) > _LINE_CAP:
                return done + self.finish()
            self._line = returned + rest
        return done

    def finish(self) -> str:
        line, self._line = self._line, ""
        return fold_line(line)


class _Saved:
    """The file with the whole output, opened when it is first needed. A full disk ends it without a word."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None
        self._room = FILE_CAP
        self.path: Path | None = None

    @property
    def full(self) -> bool:
        return self._room <= 0

    def write(self, text: str) -> None:
        if self._folder is None or self.full:
            return
        data = text.encode("utf-8", "replace")
        try:
            if self._file is None:
                self.path, self._file = _new_file(self._folder)
            self._file.write(data[: self._room])
        except OSError:
            self.drop()
            return
        self._room -= len(data)
        if self.full:
            self.close()

    def drop(self) -> None:
        """Forget the file: what it holds could pass for the whole output."""
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.path = None
        self._folder = None

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            try:
                file.close()
            except OSError:
                self.drop()


def _new_file(folder: Path) -> tuple[Path, BinaryIO]:
    """A file of one's own, readable by nobody else. Files of old outputs go, so that they do not fill the disk."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in folder.glob("output-*.txt"):
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            old.unlink(missing_ok=True)
    path = folder / f"output-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}.txt"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return path, os.fdopen(handle, "wb", buffering=0)


class Output:
    """Collects what a command prints: memory stays within some times `max_chars`, whatever comes.

    `feed` takes bytes and returns the new text without escape sequences, for somebody who watches; `finish` returns
    what was still held back. Bytes that are not UTF-8 become U+FFFD, and a character is never cut by a piece's end.
    """

    def __init__(self, max_chars: int, folder: Path | None) -> None:
        self._max_chars = max_chars
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stripper = _Stripper()
        self._folder = _Folder()
        self._saved = _Saved(folder)
        self._head: list[str] = []
        self._head_chars = 0
        self._tail = ""
        self.total_chars = 0

    def feed(self, data: bytes) -> str:
        seen = self._stripper.feed(self._decoder.decode(data))
        self._add(self._folder.feed(seen))
        return seen

    def finish(self) -> str:
        """Call once, when nothing more comes; closes the file."""
        seen = self._stripper.feed(self._decoder.decode(b"", final=True)) + self._stripper.finish()
        self._add(self._folder.feed(seen) + self._folder.finish())
        self._saved.close()
        return seen

    @property
    def past_file(self) -> bool:
        """Nothing of what still comes will be kept but the last characters."""
        return self._saved.full

    @property
    def saved(self) -> Path | None:
        return self._saved.path

    @property
    def text(self) -> str:
        """The output, its middle left out beyond `max_chars`."""
        kept = "".join((*self._head, self._tail[-self._max_chars :]))
        dropped = self.total_chars - len(kept)
        return cut_middle(kept, self._max_chars, lambda cut: f"\n[… {cut + dropped} characters left out …]\n").text

    def _add(self, text: str) -> None:
        if not text:
            return
        room = self._max_chars - self._head_chars
        if self.total_chars + len(text) > self._max_chars:
            if self.total_chars <= self._max_chars:
                self._saved.write("".join(self._head))
            self._saved.write(text)
        self.total_chars += len(text)
        if room > 0:
            self._head.append(text[:room])
            self._head_chars += len(self._head[-1])
        if len(text) > room:
            self._tail += text[room:]
            if len(self._tail) > 4 * self._max_chars:
                self._tail = self._tail[-self._max_chars :]
