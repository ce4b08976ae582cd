"""The Glob tool: files by the pattern of their name, newest first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.tools import paths, searching
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.search.engine import find_rg, search
from maia.tools.search.globs import WILD, split_base
from maia.tools.search.query import Found, Query
from maia.tools.threads import in_thread

MAX_FILES: Final = 200
FOLDER_ALIASES: Final = ("folder", "directory", "dir", "cwd", "root")

PARAMETERS: Final = Parameters(
    (
        Parameter("pattern", "string", required=True, aliases=("glob", "glob_pattern", "query")),
        Parameter("path", "string", "folder, default the working folder", aliases=FOLDER_ALIASES),
    )
)


@dataclass(frozen=True, slots=True)
class GlobArgs:
    """A pattern relative to a folder; leading folders of the pattern without a wildcard are part of `path`."""

    pattern: str
    path: str
    given: str


class GlobTool:
    """Names files; never opens one."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("Glob", PARAMETERS)

    def parse(self, arguments: JsonObject) -> GlobArgs:
        values = PARAMETERS.read(arguments)
        given = values["pattern"].strip()
        searching.refuse_empty("pattern", given)
        base, pattern = split_base(given)
        folder = values["path"] or "."
        if not base:
            return GlobArgs(pattern, folder, given)
        return GlobArgs(f"/{pattern}", os.path.join(folder, base), given)  # the slash: not at any depth below

    def needs(self, args: GlobArgs, launch: Path) -> tuple[Need, ...]:
        return paths.needed("Glob", args.path, launch)

    def preview(self, args: GlobArgs) -> str:
        return args.given if args.path == "." or args.pattern.startswith("/") else f"{args.pattern} ({args.path})"

    def lock_key(self, args: GlobArgs, launch: Path) -> str | None:
        return None

    async def proposal(self, args: GlobArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: GlobArgs, hands: Hands) -> ToolResult:
        place = searching.place_of("Glob", args.path, hands)
        named = (
            None
            if not WILD.isdisjoint(args.pattern)
            else await in_thread(lambda: _named(place.root, args.pattern.lstrip("/")))
        )
        if named is not None:
            root, pattern = named
            if pattern:
                return await in_thread(lambda: _show(Found("python", [pattern]), searching.Place(root), hands))
            place, query = searching.Place(root), Query(str(root), "list")
        else:
            query = Query(str(place.root), "list", place.start, args.pattern if not place.start else "")
        found = await search(query, rg=find_rg(hands.launch))
        return await in_thread(lambda: _show(found, place, hands))


def _named(root: Path, pattern: str) -> tuple[Path, str] | None:
    """A pattern without wildcards that names a folder (all of it is meant) or a file, ignored or not."""
    path = root / pattern
    if os.path.isdir(path):
        return Path(os.path.realpath(path)), ""
    return (root, pattern) if os.path.isfile(path) else None


def _show(found: Found, place: searching.Place, hands: Hands) -> ToolResult:
    say = hands.say
    allowed = searching.Allowed(hands, "Glob", reads=False)
    shown: list[str] = []
    total = len(found.paths)
    for path in searching.newest_first(place.root, found.paths):
        if len(shown) == MAX_FILES:
            break
        if allowed(place.root / path):
            shown.append(place.shown(path, hands.launch))
    total -= allowed.denied
    rows = [*(shown or [say("tool.glob.none")])]
    if total > len(shown):
        rows.append(say("tool.glob.more", n=total - len(shown)))
    rows += searching.notes(found, allowed, hands)
    data: JsonObject = {"files": len(shown), "total": total, "cut": found.cut, "engine": found.engine}
    return ToolResult("\n".join(rows), summary=say("tool.files", n=total), data=data)
