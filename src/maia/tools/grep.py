"""The Grep tool: lines of files that match a regular expression, or the files, or how many lines in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.tools import paths, searching
from maia.tools.arguments import Parameter, Parameters
from maia.tools.glob import FOLDER_ALIASES
from maia.tools.prompt import load_spec
from maia.tools.search.engine import find_rg, search
from maia.tools.search.query import Found, Line, Query
from maia.tools.threads import in_thread

Output: TypeAlias = Literal["content", "files", "count"]

MAX_LINE_CHARS: Final = 500
MAX_CHARS: Final = 40_000
MAX_CONTEXT: Final = 20
DEFAULT_RESULTS: Final[dict[Output, int]] = {"content": 100, "files": 200, "count": 200}
"""Matching lines, or files, that are shown unless the call asks for another number."""

PARAMETERS: Final = Parameters(
    (
        Parameter("pattern", "string", required=True, aliases=("regex", "query", "search")),
        Parameter("path", "string", "file or folder", aliases=(*FOLDER_ALIASES, "file", "file_path")),
        Parameter("glob", "string", "only these files, as `*.ts`", aliases=("include", "file_pattern")),
        Parameter("output_mode", "string", "default content", aliases=("mode",), choices=("content", "files", "count")),
        Parameter("ignore_case", "boolean", aliases=("-i", "case_insensitive")),
        Parameter("context", "integer", "lines around a match", aliases=("-C", "-A", "-B", "context_lines"), minimum=0),
        Parameter("multiline", "boolean", aliases=("-U",)),
        Parameter("max_results", "integer", aliases=("head_limit", "limit", "max_count"), minimum=1),
    )
)


@dataclass(frozen=True, slots=True)
class GrepArgs:
    """`context` is lines before and after; `max_results` counts matching lines, or files."""

    pattern: str
    path: str
    glob: str
    output: Output
    ignore_case: bool
    context: int
    multiline: bool
    max_results: int


class GrepTool:
    """Searches what stands in files."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("Grep", PARAMETERS)

    def parse(self, arguments: JsonObject) -> GrepArgs:
        if arguments.get("output_mode") in ("files_with_matches", "files_with_match"):
            arguments = {**arguments, "output_mode": "files"}
        values = PARAMETERS.read(arguments)
        searching.refuse_empty("pattern", values["pattern"])
        output: Output = values["output_mode"] or "content"
        return GrepArgs(
            values["pattern"],
            values["path"] or ".",
            values["glob"] or "",
            output,
            bool(values["ignore_case"]),
            min(values["context"] or 0, MAX_CONTEXT),
            bool(values["multiline"]),
            values["max_results"] or DEFAULT_RESULTS[output],
        )

    def needs(self, args: GrepArgs, launch: Path) -> tuple[Need, ...]:
        return paths.needed("Grep", args.path, launch)

    def preview(self, args: GrepArgs) -> str:
        where = "" if args.path == "." else args.path
        return "  ".join(part for part in (args.pattern, where, args.glob) if part)

    def lock_key(self, args: GrepArgs, launch: Path) -> str | None:
        return None

    async def proposal(self, args: GrepArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: GrepArgs, hands: Hands) -> ToolResult:
        place = searching.place_of("Grep", args.path, hands)
        query = Query(
            str(place.root),
            args.output,
            place.start,
            args.glob if not place.start else "",
            args.pattern,
            args.ignore_case,
            args.context,
            args.multiline,
        )
        found = await search(query, rg=find_rg(hands.launch))
        return await in_thread(lambda: _show(args, found, place, hands))


@dataclass(frozen=True, slots=True)
class _Page:
    """The rows that are shown, how many results they are, and how many there are in all."""

    rows: list[str]
    shown: int
    total: int
    paths: list[str] = field(default_factory=list[str])


def _show(args: GrepArgs, found: Found, place: searching.Place, hands: Hands) -> ToolResult:
    say = hands.say
    allowed = searching.Allowed(hands, "Grep", reads=True)
    page = _PAGES[args.output](args, found, place, hands, allowed)
    rows = page.rows or [say("tool.grep.none")]
    if page.total > page.shown:
        rows.append(say("tool.grep.more", n=page.total, shown=page.shown))
    rows += searching.notes(found, allowed, hands)
    data: JsonObject = {"shown": page.shown, "total": page.total, "cut": found.cut, "engine": found.engine}
    key = "tool.matches" if args.output == "content" else "tool.files"
    return ToolResult("\n".join(rows), summary=say(key, n=page.total), data=data)


def _content(args: GrepArgs, found: Found, place: searching.Place, hands: Hands, allowed: searching.Allowed) -> _Page:
    """Each file's path above its lines: `12:` matches, `13-` stands beside a match."""
    rows: list[str] = []
    shown, total, chars = 0, 0, 0
    for path in found.paths:
        has_room = shown < args.max_results and chars < MAX_CHARS
        if not allowed(place.root / path, shown=has_room):
            continue
        lines = found.lines[path]
        total += sum(line.matches for line in lines)
        if has_room:
            came, count = _file_rows(lines, args.max_results - shown, MAX_CHARS - chars, bool(args.context), hands)
            rows += [("\n" if rows else "") + place.shown(path, hands.launch), *came]
            shown += count
            chars += sum(map(len, came))
    return _Page(rows, shown, total)


def _file_rows(lines: list[Line], room: int, chars: int, gaps: bool, hands: Hands) -> tuple[list[str], int]:
    """The rows of one file with at most `room` matches, and how many matches they are."""
    rows: list[str] = []
    shown, last = 0, 0
    for line in lines:
        if (line.matches and shown == room) or chars < 0:
            break
        if gaps and last and line.number > last + 1:
            rows.append("--")
        rows.append(_row(line, hands))
        chars -= len(rows[-1])
        shown += line.matches
        last = line.number
    return rows, shown


def _row(line: Line, hands: Hands) -> str:
    cut = hands.say("tool.grep.line_cut") if len(line.text) > MAX_LINE_CHARS else ""
    return f"{line.number}{':' if line.matches else '-'}{line.text[:MAX_LINE_CHARS]}{cut}"


def _files(args: GrepArgs, found: Found, place: searching.Place, hands: Hands, allowed: searching.Allowed) -> _Page:
    """Newest first, as Glob does."""
    return _names(args, searching.newest_first(place.root, found.paths), place, hands, allowed)


def _count(args: GrepArgs, found: Found, place: searching.Place, hands: Hands, allowed: searching.Allowed) -> _Page:
    page = _names(args, found.paths, place, hands, allowed)
    rows = [f"{row}:{found.counts[path]}" for row, path in zip(page.rows, page.paths, strict=True)]
    return replace(page, rows=rows)


def _names(args: GrepArgs, found: list[str], place: searching.Place, hands: Hands, allowed: searching.Allowed) -> _Page:
    """The paths that may be shown, as many as were asked for."""
    kept: list[str] = []
    total = 0
    for path in found:
        has_room = len(kept) < args.max_results
        if allowed(place.root / path, shown=has_room):
            total += 1
            if has_room:
                kept.append(path)
    return _Page([place.shown(path, hands.launch) for path in kept], len(kept), total, kept)


_PAGES: Final[dict[Output, Callable[[GrepArgs, Found, searching.Place, Hands, searching.Allowed], _Page]]] = {
    "content": _content,
    "files": _files,
    "count": _count,
}
