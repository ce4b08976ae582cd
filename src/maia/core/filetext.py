"""File bytes as text and back without loss: encoding, byte order mark and every line end stay the file's own.

The text that a model and a tool see ends its lines with LF only. `splice` replaces spans of that view and leaves each
byte outside them untouched, so a file with mixed line ends keeps them (decisions §9, mistral-vibe#674, kimi-cli#2191).
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from maia.core.errors import UnsafeText

Encoding: TypeAlias = Literal[
    "utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252", "latin-1"
]

_MARKS: Final[tuple[tuple[bytes, Encoding], ...]] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, longest first where one begins another."""

_MARK_OF: Final[dict[Encoding, bytes]] = {encoding: mark for mark, encoding in _MARKS}
_UNMARKED: Final[tuple[Encoding, ...]] = ("utf-8", "cp1252", "latin-1")

_SNIFF_BYTES: Final = 8192
_MAX_MATCHED_LINES: Final = 20_000
"""Changed lines beyond this are taken as one block: matching them takes time that grows with the square."""
_ODD_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))

_KINDS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG\r\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"II*\x00", "TIFF image"),
    (b"MM\x00*", "TIFF image"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf", "7z"),
    (b"\x7fELF", "ELF"),
    (b"MZ", "Windows executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"\x00asm", "WebAssembly"),
    (b"SQLite format 3", "SQLite"),
    (b"OggS", "Ogg"),
    (b"ID3", "MP3"),
    (b"fLaC", "FLAC"),
    (b"wOF", "WOFF font"),
    (b"\xd0\xcf\x11\xe0", "MS Office"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """Replace `[start, end)` of the LF view by `text`, whose lines end with LF."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FileText:
    """A decoded file: `raw` has the line ends of the disk, `text` is the same with LF only."""

    raw: str
    text: str
    encoding: Encoding

    def encode(self) -> bytes:
        """The bytes of the file. Raises `UnsafeText` for a character that its encoding does not have."""
        codec = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
        try:
            return _MARK_OF.get(self.encoding, b"") + self.raw.encode(codec)
        except UnicodeEncodeError as problem:
            line = self.raw.count("\n", 0, problem.start) + 1
            found = f"U+{ord(self.raw[problem.start]):04X}"
            raise UnsafeText("tool.unsafe_text", encoding=self.encoding, character=found, line=line) from None

    def splice(self, changes: Sequence[Change]) -> FileText:
        """The file with `changes` made, which are in order and do not overlap.

        A new line end copies the one it takes the place of, else the nearest one before it, else the next one.
        Raises `UnsafeText` where a lone CR and a lone LF would meet and become one line end.
        """
        pairs = _crlf_positions(self.raw)
        raw_changes: list[Change] = []
        for change in changes:
            start = change.start + bisect_left(pairs, change.start)
            end = change.end + bisect_left(pairs, change.end)
            raw_changes.append(Change(start, end, _with_ends(change.text, self.raw, start, end)))
        spliced = from_raw(_replaced(self.raw, raw_changes), self.encoding)
        if "\r" in self.raw and spliced.text != _replaced(self.text, changes):
            raise UnsafeText("tool.unsafe_line_ends")
        return spliced

    def rewritten(self, text: str) -> FileText:
        """The file with the whole new content `text`: the lines that stay keep their own line ends."""
        new = to_lf(text)
        if not self.text:
            return from_raw(text, self.encoding)
        ends = line_ends(self.raw)
        if len(ends) <= 1:
            end = next(iter(ends), "\n")
            return from_raw(new if end == "\n" else new.replace("\n", end), self.encoding)
        return self.splice(line_changes(self.text, new))


def decode(data: bytes) -> FileText:
    """The text of a file. Never fails: what is no Unicode is read as cp1252, or latin-1 where cp1252 has holes."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return from_raw(data[len(mark) :].decode("utf-8" if encoding == "utf-8-sig" else encoding), encoding)
            except UnicodeDecodeError:
                continue
    for encoding in _UNMARKED[:-1]:
        try:
            return from_raw(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return from_raw(data.decode("latin-1"), "latin-1")


def from_raw(raw: str, encoding: Encoding = "utf-8") -> FileText:
    """A `FileText` from text that has its real line ends."""
    return FileText(raw, to_lf(raw), encoding)


def to_lf(text: str) -> str:
    """CRLF and lone CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line_ends(raw: str) -> frozenset[str]:
    """Which of LF, CRLF and CR end lines in `raw`."""
    return frozenset(re.findall("\r\n|\r|\n", raw)) if "\r" in raw else frozenset({"\n"} if "\n" in raw else ())


def sniff_encoding(head: bytes) -> str:
    """The codec to show a file with that is too big to be decoded whole, from its first bytes."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "utf-8")


def is_binary(head: bytes) -> bool:
    """Whether bytes from the start of a file are no text: a NUL without a byte order mark, or many odd controls."""
    head = head[:_SNIFF_BYTES]
    if any(head.startswith(mark) for mark, _ in _MARKS):
        return False
    if b"\x00" in head or head.startswith(b"%PDF"):
        return True
    odd = len(head) - len(head.translate(None, _ODD_CONTROLS))
    return odd * 20 > len(head)


def kind_of(head: bytes) -> str:
    """What a binary file is, in the words that name it everywhere (`PNG image`, `ZIP`), empty when unknown."""
    if head[:4] == b"RIFF":
        return "WebP image" if head[8:12] == b"WEBP" else "RIFF"
    if head[4:8] == b"ftyp":
        return "MP4"
    return next((kind for magic, kind in _KINDS if head.startswith(magic)), "")


def line_changes(old: str, new: str) -> list[Change]:
    """The changes that make `new` of `old`, both with LF, line by line and then trimmed to the characters.

    Lines that are equal on both sides are in no change.
    """
    return [change for change in _line_blocks(old, new) if change.start != change.end or change.text]


def _line_blocks(old: str, new: str) -> list[Change]:
    old_lines, new_lines = split_lines(old), split_lines(new)
    head = shared_start(old_lines, new_lines)
    tail = shared_start(old_lines[head:][::-1], new_lines[head:][::-1])
    starts = [0]
    for line in old_lines:
        starts.append(starts[-1] + len(line))
    old_middle = old_lines[head : len(old_lines) - tail]
    new_middle = new_lines[head : len(new_lines) - tail]
    if len(old_middle) + len(new_middle) > _MAX_MATCHED_LINES:
        whole = Change(starts[head], starts[len(old_lines) - tail], "".join(new_middle))
        return [_trimmed(old, whole)]
    blocks: list[Change] = []
    for tag, a, b, c, d in SequenceMatcher(None, old_middle, new_middle).get_opcodes():
        if tag != "equal":
            text = "".join(new_middle[c:d])
            blocks.append(_trimmed(old, Change(starts[head + a], starts[head + b], text)))
    return blocks


def split_lines(text: str) -> list[str]:
    """Lines of an LF text with their ends; joined they are the text. Unlike `splitlines`, only LF ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    ended = [line + "\n" for line in lines]
    return [*ended, last] if last else ended


def _replaced(text: str, changes: Sequence[Change]) -> str:
    pieces: list[str] = []
    done = 0
    for change in changes:
        pieces += (text[done : change.start], change.text)
        done = change.end
    return "".join((*pieces, text[done:]))


def shared_start(a: Sequence[str], b: Sequence[str]) -> int:
    """How many items (or characters) two sequences have in common from their start."""
    length = min(len(a), len(b))
    return next((n for n in range(length) if a[n] != b[n]), length)


def _trimmed(old: str, change: Change) -> Change:
    """The change without the characters that it has in common with what it replaces, at both ends."""
    before = old[change.start : change.end]
    head = shared_start(before, change.text)
    tail = shared_start(before[head:][::-1], change.text[head:][::-1])
    return Change(change.start + head, change.end - tail, change.text[head : len(change.text) - tail])


def _crlf_positions(raw: str) -> list[int]:
    """Where, in the LF view, the line ends stand that are CRLF on disk: each makes the view one shorter."""
    if "\r\n" not in raw:
        return []
    return [found.start() - n for n, found in enumerate(re.finditer("\r\n", raw))]


_END = re.compile("\r\n|\r|\n")


def _with_ends(text: str, raw: str, start: int, end: int) -> str:
    """`text` with the line ends that fit the place `raw[start:end]` that it takes."""
    if "\n" not in text or "\r" not in raw:
        return text
    replaced = _END.findall(raw[start:end])
    default = replaced[-1] if replaced else _nearest_end(raw, start)
    parts = text.split("\n")
    ends = [*replaced[: len(parts) - 1], *([default] * (len(parts) - 1 - len(replaced)))]
    return "".join(part + line_end for part, line_end in zip(parts, [*ends, ""], strict=True))


def _nearest_end(raw: str, position: int) -> str:
    at = max(raw.rfind("\n", 0, position), raw.rfind("\r", 0, position))
    if at >= 0:
        return "\r\n" if raw[at] == "\n" and raw[at - 1 : at] == "\r" else raw[at]
    found = _END.search(raw, position)
    return found.group() if found else "\n"
