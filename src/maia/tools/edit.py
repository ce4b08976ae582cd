"""The Edit tool: replaces one span of a file and leaves every other byte as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem, UnsafeText
from maia.core.filetext import Change, FileText, to_lf
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.tools import files, match, paths
from maia.tools.arguments import PATH_ALIASES, Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.readlog import known_data
from maia.tools.threads import in_thread

_AROUND: Final = 4
_MAX_SNIPPET_LINES: Final = 60
_MAX_LINE_CHARS: Final = 500

PARAMETERS: Final = Parameters(
    (
        Parameter("path", "string", required=True, aliases=PATH_ALIASES),
        Parameter("old_string", "string", required=True, aliases=("old", "old_str", "old_text", "search", "find")),
        Parameter(
            "new_string", "string", required=True, aliases=("new", "new_str", "new_text", "replace", "replacement")
        ),
        Parameter("replace_all", "boolean", aliases=("all", "global")),
    )
)


@dataclass(frozen=True, slots=True)
class EditArgs:
    """One replacement, in LF."""

    path: str
    old: str
    new: str
    replace_all: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    path: Path
    before: files.Existing
    old: FileText
    text: FileText
    data: bytes
    changes: tuple[Change, ...]
    count: int
    tolerant: bool


class EditTool:
    """Changes a part of a file that the session has read."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("Edit", PARAMETERS)

    def parse(self, arguments: JsonObject) -> EditArgs:
        values = PARAMETERS.read(arguments)
        old, new = to_lf(values["old_string"]), to_lf(values["new_string"])
        if not old:
            raise ToolProblem("tool.edit.empty_old", path=values["path"])
        if old == new:
            raise ToolProblem("tool.edit.same", path=values["path"])
        return EditArgs(values["path"], old, new, bool(values["replace_all"]))

    def needs(self, args: EditArgs, launch: Path) -> tuple[Need, ...]:
        return paths.needed("Edit", args.path, launch)

    def preview(self, args: EditArgs) -> str:
        return args.path

    def lock_key(self, args: EditArgs, launch: Path) -> str | None:
        return paths.lock_of(args.path, launch)

    async def proposal(self, args: EditArgs, hands: Hands) -> tuple[Block, ...]:
        plan = await in_thread(lambda: _plan(args, hands))
        return (files.diff_block(paths.shown(plan.path, hands.launch), plan.old.text, plan.text.text),)

    async def run(self, args: EditArgs, hands: Hands) -> ToolResult:
        return await in_thread(lambda: _edit(args, hands))


def _plan(args: EditArgs, hands: Hands) -> _Plan:
    path = paths.resolved("Edit", args.path, hands)
    before = files.load(path, args.path)
    if before is None:
        raise paths.missing("Edit", args.path, hands)
    files.check_known(before, hands)
    text = files.text_of(before)
    old, new, found = _locate(text.text, args)
    if not found:
        raise _not_found(text.text, args, hands)
    if len(found) > 1 and not args.replace_all:
        lines = ", ".join(str(match.line_of(text.text, place.start)) for place in found[:20])
        raise ToolProblem("tool.edit.several", path=args.path, count=len(found), lines=lines)
    places = match.apart(found)
    changes = [change for place in places for change in match.edit_changes(text.text, place, old, new)]
    if not changes:
        raise ToolProblem("tool.edit.same", path=args.path)
    try:
        edited = text.splice(changes)
    except UnsafeText as problem:
        raise ToolProblem(problem.key, path=args.path, **problem.values) from None
    data = files.encoded(edited, args.path)
    tolerant = places[0].tab_width is not None
    return _Plan(path, before, text, edited, data, tuple(changes), len(places), tolerant)


def _locate(text: str, args: EditArgs) -> tuple[str, str, list[match.Match]]:
    """The old and new text that fit, with where the old one stands."""
    if found := match.locate(text, args.old):
        return args.old, args.new, found
    if args.old.endswith("\n") and text.endswith(args.old[:-1]):  # the file's last line has no end
        new = args.new.removesuffix("\n")
        return args.old[:-1], new, [match.Match(len(text) - len(args.old) + 1, len(text))]
    if plain := match.without_numbers(args.old, args.new):
        return *plain, match.locate(text, plain[0]) if plain[0] else []
    return args.old, args.new, []


def _not_found(text: str, args: EditArgs, hands: Hands) -> ToolProblem:
    near = match.nearest(text, args.old)
    if not near:
        return ToolProblem("tool.edit.not_found", path=args.path)
    rows = [f"{place.line}\t{place.text[:_MAX_LINE_CHARS]}" for place in near]
    if near[0].expected is not None:
        rows[0] += "\n" + hands.say("tool.edit.expected", line=near[0].line, text=near[0].expected[:_MAX_LINE_CHARS])
    return ToolProblem("tool.edit.not_found_near", path=args.path, near="\n".join(rows))


def _edit(args: EditArgs, hands: Hands) -> ToolResult:
    plan = _plan(args, hands)
    shown = paths.shown(plan.path, hands.launch)
    files.save(plan.path, args.path, plan.before, plan.data, hands)
    said = [hands.say("tool.edit.done", n=plan.count, path=shown)]
    if plan.tolerant:
        said.append(hands.say("tool.edit.tolerant"))
    said.append(snippet(plan.text.text, plan.changes, hands))
    came, went = files.changed_lines(plan.old.text, plan.text.text)
    return ToolResult(
        "\n".join(said),
        summary=f"+{came} −{went}",
        blocks=(files.diff_block(shown, plan.old.text, plan.text.text),),
        data={**known_data(plan.path, hands.reads), "replaced": plan.count, "bytes": len(plan.data)},
    )


def snippet(text: str, changes: tuple[Change, ...], hands: Hands) -> str:
    """The numbered lines around the first change, as they are now."""
    start = changes[0].start
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    first = max(1, match.line_of(text, start) - _AROUND)
    height = changes[0].text.count("\n") + 1 + 2 * _AROUND
    rows: list[str] = []
    for number, line in enumerate(lines[first - 1 : first - 1 + min(height, _MAX_SNIPPET_LINES)], first):
        cut = len(line) - _MAX_LINE_CHARS
        rows.append(f"{number}\t{line[:_MAX_LINE_CHARS]}" + (hands.say("tool.line_cut", n=cut) if cut > 0 else ""))
    return "\n".join(rows)
