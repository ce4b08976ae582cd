"""Reads the files and folders that a request names with `@` (T4.02): what goes with it, and what to tell the user."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from maia.core.errors import system_words
from maia.core.events import Notice
from maia.core.fileread import digest, read_bounded
from maia.core.filetext import decode, is_binary
from maia.core.submission import Attachment, Submission
from maia.core.text import cut_middle
from maia.i18n.formats import size
from maia.terminal.line import Candidate, Mention, Range, Text


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of a file, characters of a file and of a message, entries of a folder (T4.02)."""

    file_bytes: int = 2_000_000
    file_chars: int = 50_000
    message_chars: int = 150_000
    entries: int = 2_000


@dataclass(frozen=True, slots=True)
class Joined:
    """A request with its attachments, and the notices to show before it is sent."""

    submission: Submission
    notices: tuple[Notice, ...] = ()


@dataclass(slots=True)
class _Join:
    """What was read so far. `seen` holds device, inode and lines, so that a file goes once under any of its names."""

    limits: Limits
    lang: str
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    notices: list[Notice] = field(default_factory=list[Notice])
    seen: set[tuple[int, int, Range | None]] = field(default_factory=set[tuple[int, int, "Range | None"]])
    chars: int = 0
    left_out: list[str] = field(default_factory=list[str])

    def warn(self, key: str, **values: object) -> None:
        self.notices.append(Notice("warn", key, values))


def join_files(typed: Text, launch: Path, home: Path, *, lang: str = "en", limits: Limits | None = None) -> Joined:
    """Read what the mentions name, in order, from the launch folder. The text itself is never changed.

    A mention that names nothing stays text, with a warning when it looks like a path. Never raises: what cannot be
    read is said. Blocks on no device: only regular files and folders are opened.
    """
    join = _Join(limits or Limits(), lang)
    for mention in typed.mentions:
        found = _resolve(mention, launch, home)
        if found is None:
            first = _meant(mention)
            if mention.quoted or looks_like_path(first, launch):
                join.warn("term.attach.missing", path=first)
            continue
        _add(*found, join)
    if join.left_out:
        join.warn("term.attach.left_out", n=len(join.left_out), paths=", ".join(join.left_out))
    return Joined(Submission(typed.text, tuple(join.attachments)), tuple(join.notices))


def _meant(mention: Mention) -> str:
    """The reading that a person most likely meant: without the sentence's punctuation, without the line numbers."""
    return mention.candidates[-1].path


# Finding -----------------------------------------------------------------------------------------------------------


def _resolve(mention: Mention, launch: Path, home: Path) -> tuple[Candidate, Path, os.stat_result] | None:
    """The first reading that names something that exists."""
    for candidate in mention.candidates:
        for path in _spellings(candidate.path, launch, home):
            try:
                return candidate, path, path.stat()
            except (OSError, ValueError):  # ValueError: a NUL in the name
                continue
    return None


def _spellings(written: str, launch: Path, home: Path) -> Iterator[Path]:
    """The path as written, then as other systems spell the same name.

    macOS decomposes accents (NFD) and puts U+202F before AM and PM in the names of screenshots.
    """
    if written == "~" or written.startswith("~/"):
        base, rest = home, written[2:]
    else:
        base, rest = launch, written
    yield base / rest
    if rest.isascii() and not (" AM" in rest or " PM" in rest):
        return
    for form in ("NFC", "NFD"):
        for spelling in (rest, rest.replace(" AM", "\u202fAM").replace(" PM", "\u202fPM")):
            if normalize(form, spelling) != rest:
                yield base / normalize(form, spelling)
    yield base / rest.replace("'", "’")


_KNOWN_ENDINGS = (
    " bat c cc cfg cpp cs css csv env gif go gz h hpp html ini ipynb java jpeg jpg js json jsonl jsx kt lock log lua "
    "md mjs pdf php png po ps1 py rb rs rst scss sh sql svg swift tar toml ts tsx txt vue xml yaml yml zip "
)
"""Endings of names that are files and not people or packages, each between two spaces."""


def looks_like_path(written: str, launch: Path) -> bool:
    """Whether somebody who wrote this surely meant a file.

    `src/x.ts`, `./x`, `~/x`, `notes.md` do; `@Override`, `@scope/pkg`, `@jean.dupont` do not. A folder in front that
    exists decides for a path.
    """
    if written.startswith(("/", "./", "../", "~/")):
        return len(written) > 2
    if any(char in written for char in "()'\"=<>{}|@"):
        return False
    head, slash, tail = written.rpartition("/")
    stem, dot, ending = tail.rpartition(".")
    if slash:
        named = bool(dot and stem and ending.isalnum() and not ending.isdigit())
        return named or (bool(head) and (launch / head.split("/")[0]).is_dir())
    return bool(dot and stem) and f" {ending.lower()} " in _KNOWN_ENDINGS


# Reading -----------------------------------------------------------------------------------------------------------


def _add(candidate: Candidate, path: Path, found: os.stat_result, join: _Join) -> None:
    key = (found.st_dev, found.st_ino, candidate.lines)
    if key in join.seen or (found.st_dev, found.st_ino, None) in join.seen:
        return
    join.seen.add(key)
    shown = candidate.path
    if join.chars >= join.limits.message_chars:
        join.left_out.append(shown)
    elif stat.S_ISDIR(found.st_mode):
        _add_folder(shown, path, join)
    elif stat.S_ISREG(found.st_mode):
        _add_file(shown, path, candidate.lines, found, join)
    else:
        join.warn("term.attach.special", path=shown)


def _add_file(shown: str, path: Path, lines: Range | None, found: os.stat_result, join: _Join) -> None:
    limit = join.limits.file_bytes
    try:
        data = read_bounded(path, limit)
    except OSError as problem:
        if problem.errno == errno.EFBIG:
            join.warn("term.attach.too_big", path=shown, size=size(max(found.st_size, limit), join.lang))
        else:
            join.warn("term.attach.unreadable", path=shown, problem=system_words(problem))
        return
    if is_binary(data):
        join.warn("term.attach.binary", path=shown)
        return
    text = decode(data).text
    if lines is not None:
        chosen, total = _chosen(text, lines)
        if chosen is None:
            join.warn("term.attach.no_such_lines", path=shown, first=lines[0], total=total)
            return
        text, shown = chosen, f"{shown}:{lines[0]}" + (f"-{lines[1]}" if lines[1] > lines[0] else "")
    _keep(Attachment("file", shown, text, path=str(path) if lines is None else "", digest=digest(data)), join)


def _chosen(text: str, lines: Range) -> tuple[str | None, int]:
    """The lines asked for, None when the first of them does not exist; and how many lines there are."""
    parts = text.split("\n")
    total = len(parts) - (1 if parts[-1] == "" else 0)
    first, last = lines
    return ("\n".join(parts[first - 1 : last]), total) if first <= total else (None, total)


def _keep(whole: Attachment, join: _Join) -> None:
    """Add what fits of an attachment; one that is cut no longer counts as seen whole."""
    shown, cut = whole.source, cut_middle(whole.text, join.limits.file_chars)
    room = join.limits.message_chars - join.chars
    kept, cut_chars = cut.text, cut.cut_chars
    if len(kept) > room:
        last = cut_middle(whole.text, room)
        kept, cut_chars = last.text[:room], last.cut_chars
        join.warn("term.attach.over_total", path=shown)
    elif cut_chars:
        join.warn("term.attach.cut", path=shown, n=cut_chars)
    join.chars = join.limits.message_chars if len(cut.text) > room else join.chars + len(kept)
    join.attachments.append(Attachment(whole.kind, shown, kept, cut_chars) if cut_chars else whole)


def _add_folder(shown: str, path: Path, join: _Join) -> None:
    try:
        names, more = _entries(path, join.limits.entries)
    except OSError as problem:
        join.warn("term.attach.unreadable", path=shown, problem=system_words(problem))
        return
    text = "\n".join([*names, f"[… {more} more entries left out …]"] if more else names)
    _keep(Attachment("folder", shown, text), join)


def _entries(path: Path, limit: int) -> tuple[list[str], int]:
    """The sorted names in a folder, folders with a `/`; beyond `limit` they are only counted."""
    names: list[str] = []
    total = 0
    with os.scandir(path) as entries:
        for entry in entries:
            total += 1
            if total <= limit:
                names.append(entry.name + ("/" if _is_folder(entry) else ""))
    return sorted(names), max(0, total - limit)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
