"""The Write tool: a new file, or the whole new content of one, in the file's own encoding and line ends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem, UnsafeText
from maia.core.filetext import FileText, from_raw
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.tools import files, paths
from maia.tools.arguments import PATH_ALIASES, Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.readlog import known_data
from maia.tools.threads import in_thread

CONTENT_ALIASES: Final = (
    "contents", "text", "file_text", "file_content", "file_contents", "data", "body", "code", "new_content", "value",
)  # fmt: skip
"""What models call `content` (T5.02)."""

PARAMETERS: Final = Parameters(
    (
        Parameter("path", "string", required=True, aliases=PATH_ALIASES),
        Parameter("content", "text", required=True, aliases=CONTENT_ALIASES),
    ),
    keys="tool.write_argument",
)


@dataclass(frozen=True, slots=True)
class WriteArgs:
    """The whole new content of one file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """What would be written. `text` is None when the file already has the content."""

    path: Path
    before: files.Existing | None
    old: str
    text: FileText
    data: bytes


class WriteTool:
    """Writes a file, never one that the session does not know."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("Write", PARAMETERS)

    def parse(self, arguments: JsonObject) -> WriteArgs:
        values = PARAMETERS.read(arguments)
        return WriteArgs(values["path"], values["content"])

    def needs(self, args: WriteArgs, launch: Path) -> tuple[Need, ...]:
        return paths.needed("Write", args.path, launch)

    def preview(self, args: WriteArgs) -> str:
        return args.path

    def lock_key(self, args: WriteArgs, launch: Path) -> str | None:
        return paths.lock_of(args.path, launch)

    async def proposal(self, args: WriteArgs, hands: Hands) -> tuple[Block, ...]:
        plan = await in_thread(lambda: _plan(args, hands))
        return (files.diff_block(paths.shown(plan.path, hands.launch), plan.old, plan.text.text),)

    async def run(self, args: WriteArgs, hands: Hands) -> ToolResult:
        return await in_thread(lambda: _write(args, hands))


def _plan(args: WriteArgs, hands: Hands) -> _Plan:
    path = paths.resolved("Write", args.path, hands)
    before = files.load(path, args.path)
    if before is None:
        text = from_raw(args.content)
        return _Plan(path, None, "", text, files.encoded(text, args.path))
    files.check_known(before, hands)
    old = files.text_of(before)
    try:
        text = old.rewritten(args.content)
    except UnsafeText as problem:
        raise ToolProblem(problem.key, path=args.path, **problem.values) from None
    return _Plan(path, before, old.text, text, files.encoded(text, args.path))


def _write(args: WriteArgs, hands: Hands) -> ToolResult:
    plan = _plan(args, hands)
    shown = paths.shown(plan.path, hands.launch)
    lines = plan.text.text.count("\n") + (0 if plan.text.text.endswith("\n") or not plan.text.text else 1)
    if plan.before and plan.before.data == plan.data:
        return ToolResult(hands.say("tool.write.same", path=shown), summary=hands.say("tool.unchanged"))
    files.save(plan.path, args.path, plan.before, plan.data, hands)
    block = files.diff_block(shown, plan.old, plan.text.text)
    data = {**known_data(plan.path, hands.reads), "created": plan.before is None, "bytes": len(plan.data)}
    if plan.before is None:
        said = hands.say("tool.write.created", n=lines, path=shown)
        return ToolResult(said, summary=hands.say("tool.lines", n=lines), blocks=(block,), data=data)
    came, went = files.changed_lines(plan.old, plan.text.text)
    said = hands.say("tool.write.replaced", n=lines, path=shown)
    return ToolResult(said, summary=f"+{came} −{went}", blocks=(block,), data=data)
