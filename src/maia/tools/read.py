"""The Read tool: numbered lines of a text file of any size, or the entries of a folder."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem
from maia.core.fileread import open_regular, read_regular
from maia.core.filetext import decode, is_binary, kind_of, sniff_encoding
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.tools import paths
from maia.tools.arguments import PATH_ALIASES, Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.readlog import known_data, state_of
from maia.tools.threads import in_thread

MAX_LINES: Final = 2000
MAX_LINE_CHARS: Final = 2000
MAX_CHARS: Final = 60_000
"""What one Read returns at most, in code points."""
WHOLE_BYTES: Final = 10 * 1024 * 1024
"""Bigger files are streamed: their lines are not counted and their content is known by size and time only."""
MAX_ENTRIES: Final = 200
_SECONDS: Final = 30.0
_MAX_CUT: Final = 1 << 27
"""Characters of one line after which its end is no longer looked for."""
_CHUNK: Final = 1 << 18

PARAMETERS: Final = Parameters(
    (
        Parameter("path", "string", required=True, aliases=PATH_ALIASES),
        Parameter("offset", "integer", "first line, from 1", aliases=("start", "start_line", "line"), minimum=0),
        Parameter("limit", "integer", "number of lines", aliases=("lines", "num_lines", "max_lines"), minimum=1),
    )
)


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """`offset` is the first line wanted, from 1; `limit` a number of lines."""

    path: str
    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class Page:
    """Lines `first` to `first + len(lines) - 1`. `ended` says that the file ends with them; `passed` lines came by."""

    first: int
    lines: tuple[tuple[str, int], ...]
    ended: bool
    passed: int

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


class ReadTool:
    """Shows a file to the model, and notes that the session knows it."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("Read", PARAMETERS)

    def parse(self, arguments: JsonObject) -> ReadArgs:
        values = PARAMETERS.read(arguments)
        return ReadArgs(values["path"], values["offset"] or 1, values["limit"] or MAX_LINES)

    def needs(self, args: ReadArgs, launch: Path) -> tuple[Need, ...]:
        return paths.needed("Read", args.path, launch)

    def preview(self, args: ReadArgs) -> str:
        if args.offset == 1 and args.limit == MAX_LINES:
            return args.path
        return f"{args.path}:{args.offset}-{args.offset + args.limit - 1}"

    def lock_key(self, args: ReadArgs, launch: Path) -> str | None:
        return paths.lock_of(args.path, launch)

    async def proposal(self, args: ReadArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: ReadArgs, hands: Hands) -> ToolResult:
        path = paths.resolved("Read", args.path, hands)
        stop = threading.Event()
        return await in_thread(lambda: _read(path, args, hands, stop), stop)


def _read(path: Path, args: ReadArgs, hands: Hands, stop: threading.Event) -> ToolResult:
    try:
        paths.refuse_special(path, args.path)
        if os.path.isdir(path):
            return _list(path, hands)
        return _read_file(path, args, hands, stop)
    except FileNotFoundError:
        raise paths.missing("Read", args.path, hands) from None
    except OSError as problem:
        raise paths.as_problem(problem, args.path) from None


def _read_file(path: Path, args: ReadArgs, hands: Hands, stop: threading.Event) -> ToolResult:
    fd = open_regular(path)
    with open(fd, "rb") as file:
        head = os.pread(fd, 8192, 0)
        stat = os.fstat(fd)
        if is_binary(head):
            raise _binary(args.path, head, stat.st_size)
        if stat.st_size <= WHOLE_BYTES:
            data, stat = read_regular(path, 2 * WHOLE_BYTES)
            hands.reads.note(path, state_of(stat, data))
            text = decode(data).text
            total = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
            page = take_page(_slices(text), args.offset, args.limit, stop)
        else:
            hands.reads.note(path, state_of(stat, None))
            total = None
            page = take_page(_decoded(file, head), args.offset, args.limit, stop)
    return _show(path, args, page, total, hands)


def _show(path: Path, args: ReadArgs, page: Page, total: int | None, hands: Hands) -> ToolResult:
    say = hands.say
    data = known_data(path, hands.reads)
    if total == 0:
        return ToolResult(say("tool.read.empty"), summary=say("tool.lines", n=0), data=data)
    if not page.lines:
        raise ToolProblem("tool.read.beyond", path=args.path, offset=args.offset, total=page.passed)
    rows = [
        f"{page.first + n}\t{line}" + (say("tool.line_cut", n=cut) if cut else "")
        for n, (line, cut) in enumerate(page.lines)
    ]
    if not page.ended:
        key = "tool.read.more" if total is not None else "tool.read.more_unknown"
        rows.append(say(key, first=page.first, last=page.last, total=total, next=page.last + 1))
    data |= {"first": page.first, "last": page.last, "total": total}
    return ToolResult("\n".join(rows), summary=say("tool.lines", n=len(page.lines)), data=data)


def take_page(chunks: Iterator[str], offset: int, limit: int, stop: threading.Event) -> Page:
    """At most `limit` lines from line `offset` on, each with the number of its characters that were left out.

    `chunks` are pieces of a text whose lines end with LF. Memory stays bounded whatever the length of a line.
    """
    deadline = time.monotonic() + _SECONDS
    number, used = 1, 0
    lines: list[tuple[str, int]] = []
    line, cut, is_open = "", 0, False
    for chunk in chunks:
        if stop.is_set() or time.monotonic() > deadline or cut > _MAX_CUT:
            if not lines and not line:
                raise ToolProblem("tool.read.too_slow", line=number)
            return Page(offset, tuple(lines) or ((line, cut),), ended=False, passed=number)
        start, number = _skip(chunk, number, offset)
        if start < 0:
            is_open = not chunk.endswith("\n")
            continue
        *ended, rest = chunk[start:].split("\n")
        for piece in ended:
            line, cut = _grow(line, cut, piece)
            used += len(line) + 8
            if lines and (len(lines) >= limit or used > MAX_CHARS):
                return Page(offset, tuple(lines), ended=False, passed=number)
            lines.append((line, cut))
            line, cut = "", 0
            number += 1
        line, cut = _grow(line, cut, rest)
        is_open = bool(line)
        if line and len(lines) >= limit:
            break
    if line and lines and (len(lines) >= limit or used + len(line) > MAX_CHARS):
        return Page(offset, tuple(lines), ended=False, passed=number)
    if line:
        lines.append((line, cut))
    return Page(offset, tuple(lines), ended=True, passed=number - (0 if is_open else 1))


def _skip(chunk: str, number: int, offset: int) -> tuple[int, int]:
    """Where line `offset` goes on in `chunk` (-1: not here), and the line number reached."""
    if number >= offset:
        return 0, number
    ends = chunk.count("\n")
    if number + ends < offset:
        return -1, number + ends
    start = 0
    for _ in range(offset - number):
        start = chunk.index("\n", start) + 1
    return start, offset


def _grow(line: str, cut: int, piece: str) -> tuple[str, int]:
    room = MAX_LINE_CHARS - len(line)
    return line + piece[:room], cut + max(0, len(piece) - room)


def _slices(text: str) -> Iterator[str]:
    return (text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK))


def _decoded(file: io.BufferedReader, head: bytes) -> Iterator[str]:
    encoding = sniff_encoding(head)
    wrapper = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline=None)
    try:
        while chunk := wrapper.read(_CHUNK):
            yield chunk
    finally:
        wrapper.detach()  # the file is closed by whoever opened it


def _binary(shown: str, head: bytes, size: int) -> ToolProblem:
    kind = kind_of(head)
    if kind.endswith("image"):
        return ToolProblem("tool.read.image", path=shown, kind=kind, size=size)
    return ToolProblem("tool.read.binary", path=shown, kind=kind or "?", size=size)


def _list(folder: Path, hands: Hands) -> ToolResult:
    """The entries of a folder, folders first, without those that a rule denies."""
    with os.scandir(folder) as found:
        entries = sorted((not entry.is_dir(), entry.name) for entry in found)
    named: list[str] = []
    for is_file, name in entries:
        if len(named) == MAX_ENTRIES:
            break
        if hands.allowed(Need("Read", "path", str(folder / name))).verdict is not Verdict.DENY:
            named.append(paths.readable(name) + ("" if is_file else "/"))
    note = hands.say("tool.read.folder", path=paths.shown(folder, hands.launch), shown=len(named), n=len(entries))
    return ToolResult("\n".join([note, *named]), summary=hands.say("tool.entries", n=len(entries)))
