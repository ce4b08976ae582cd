"""Rows of tool calls: a mark, the name, what it does, what came of it, and what it showed (§7 to §9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from maia.core.jsonvalue import JsonObject
from maia.core.results import Block, DiffBlock, TextBlock, TodoBlock, TodoItem, ToolStatus
from maia.i18n.formats import number, seconds
from maia.terminal.colours import Look, Style
from maia.terminal.diff import compare, diff_lines, stat
from maia.terminal.spans import Line, Span, cell_width, clean, clean_row, clip, line, prefix, spread, width_of, wrap

if TYPE_CHECKING:
    from maia.terminal.words import Words

CallState: TypeAlias = Literal["queued", "running", "waiting"] | ToolStatus

MARKS: Mapping[CallState, tuple[str, Style]] = {
    "queued": ("▸", "muted"),
    "running": ("▸", "status"),
    "waiting": ("?", "status"),
    "succeeded": ("✓", "ok"),
    "failed": ("✗", "failed"),
    "refused": ("⊘", "failed"),
    "skipped": ("»", "muted"),
    "unknown": ("~", "status"),
    "pending": ("◷", "status"),
}
"""One shape a state (§2)."""

_DURATION_CELLS = 9
_WITH_DURATION = 60
"""From this width on a row has a duration and keeps its summary on the same row."""
_OUTPUT_HEAD, _OUTPUT_TAIL = 4, 6
_SHELL_HEAD, _SHELL_TAIL = 100, 200
_OUTPUT_LINE = 1_000
_OUTPUT_KEPT = 16_384
"""Characters of a running call's output that are kept for the live rows."""
SHELL = "!"
"""The name under which a `!` command runs: the user's own command, whose output is shown at length."""


@dataclass(slots=True)
class Call:
    """One call as far as it is known. `shown` are blocks that the log already has above its question."""

    call_id: str
    name: str
    preview: str = ""
    state: CallState = "queued"
    summary: str = ""
    duration: float | None = None
    text: str = ""
    blocks: tuple[Block, ...] = ()
    shown: tuple[Block, ...] = ()
    data: JsonObject = field(default_factory=dict[str, object])
    output: str = ""

    def heard(self, text: str) -> None:
        """Output of the running call; only its end is kept."""
        self.output = (self.output + text)[-_OUTPUT_KEPT:]

    @property
    def open(self) -> bool:
        return self.state in ("queued", "running", "waiting")


def preview_of(arguments: JsonObject) -> str:
    """What to show of a call whose tool gave no preview: its first text argument."""
    return next((value for value in arguments.values() if isinstance(value, str) and value.strip()), "")


def call_lines(call: Call, look: Look, say: Words) -> list[Line]:
    """The row of a call, then what it showed. Never wider than the screen."""
    if look.screen_reader:
        return _spoken(call, look, say)
    return [*row_lines(call, look, say), *_body(call, look, say)]


def live_lines(call: Call, look: Look, say: Words, output_rows: int = 3) -> list[Line]:
    """The row of an open call with the last rows of its output so far."""
    rows = row_lines(call, look, say)
    tail = clean(call.output.rstrip("\n")).split("\n")[-output_rows:] if call.output.strip() else []
    return rows + [clip(_gutter(look) + line(Span(look.text(text), "muted")), look.width) for text in tail]


def row_lines(call: Call, look: Look, say: Words) -> list[Line]:
    """`✓ Read  src/a.py      412 lignes    0,1 s`, on two rows where one has not enough room."""
    mark, style = MARKS[call.state]
    head = line(Span(look.text(mark), style), " ", Span(look.text(clean_row(call.name)), "tool"))
    preview = look.text(clean_row(call.preview))
    left = (*head, Span("  "), Span(preview, "muted")) if preview else head
    summary = look.text(clean_row(_outcome(call, look, say)))
    if summary == preview:
        summary = ""  # said once is enough
    if look.width < _WITH_DURATION:
        return _narrow(left, summary, call, look)
    if call.duration is None or call.state not in ("succeeded", "failed", "unknown"):
        return [spread(left, line(Span(summary, _summary_style(call))), look.width)]
    duration = look.text(seconds(call.duration, say.lang)).rjust(_DURATION_CELLS)
    needed = width_of(head) + 2 + min(cell_width(preview), 24) + 2 + cell_width(summary) + cell_width(duration)
    if summary and needed > look.width:
        return [spread(left, line(Span(duration, "muted")), look.width), *_below(summary, call, look)]
    right = line(Span(summary, _summary_style(call)), Span(duration, "muted"))
    return [spread(left, right, look.width)]


def _narrow(left: Line, summary: str, call: Call, look: Look) -> list[Line]:
    if not summary:
        return [clip(left, look.width)]
    if call.state == "succeeded" and width_of(left) + 2 + cell_width(summary) <= look.width:
        return [spread(left, line(Span(summary, "muted")), look.width)]
    return [clip(left, look.width), *_below(summary, call, look)]


def _below(summary: str, call: Call, look: Look) -> list[Line]:
    return [clip(line("  ", Span(summary, _summary_style(call))), look.width)]


def _summary_style(call: Call) -> Style:
    return "failed" if call.state in ("failed", "refused") else "muted"


def _outcome(call: Call, look: Look, say: Words) -> str:
    """The word of the state where it is not a success, then the tool's own summary."""
    summary = call.summary or _stat_of(call)
    if call.state in ("queued", "running", "waiting", "succeeded"):
        return summary
    code = call.data.get("exitCode", call.data.get("exit_code"))
    if look.width < _WITH_DURATION and call.state == "failed" and isinstance(code, int):
        summary = say("term.call.exit_code_short", code=code)
    word = say(f"term.call.{call.state}")
    return f"{word} · {summary}" if summary else word


def _stat_of(call: Call) -> str:
    changes = [compare(block.before, block.after) for block in call.blocks if isinstance(block, DiffBlock)]
    return stat(sum(c.added for c in changes), sum(c.removed for c in changes)) if changes else ""


# What a call showed ------------------------------------------------------------------------------------------------


def _body(call: Call, look: Look, say: Words) -> list[Line]:
    blocks = tuple(block for block in call.blocks if block not in call.shown)
    rows = [row for block in blocks for row in block_lines(block, look, say, whole=call.name == SHELL)]
    if rows or call.blocks:
        return rows
    if call.name == SHELL:
        return output_lines(call.text or call.output, look, say, _SHELL_HEAD, _SHELL_TAIL)
    if call.state == "failed":
        said = call.text.rstrip().removesuffix(f"[{call.summary}]")  # the row says it already
        return output_lines(said, look, say, _OUTPUT_HEAD, _OUTPUT_TAIL)
    return []


def block_lines(block: Block, look: Look, say: Words, *, whole: bool = False) -> list[Line]:
    """A display block of a result or of a proposal, bounded."""
    match block:
        case DiffBlock():
            return diff_lines(block, look, say)
        case TodoBlock():
            return [row for item in block.items for row in _todo(item, look)]
        case TextBlock() if whole:
            return output_lines(block.text, look, say, _SHELL_HEAD, _SHELL_TAIL)
        case TextBlock():
            return output_lines(block.text, look, say, _OUTPUT_HEAD, _OUTPUT_TAIL)
        case _:
            assert_never(block)


def output_lines(text: str, look: Look, say: Words, head: int, tail: int) -> list[Line]:
    """The first and the last lines of an output with how many are between; the middle is never looked at."""
    parts = text.rstrip("\n").split("\n") if text.strip() else []
    left_out = len(parts) - head - tail
    if left_out <= 1:
        return [row for part in parts for row in _output_row(part, look)]
    between = line(Span(look.text(say("term.output.more", n=left_out)), "muted"))
    rows = [row for part in parts[:head] for row in _output_row(part, look)]
    rows.append(clip(_gutter(look) + between, look.width))
    return rows + [row for part in parts[-tail:] for row in _output_row(part, look)]


def _output_row(text: str, look: Look) -> list[Line]:
    cut = text if len(text) <= _OUTPUT_LINE else text[:_OUTPUT_LINE] + "…"
    gutter = _gutter(look)
    body = line(Span(look.text(clean(cut.removesuffix("\r")))))
    return prefix(wrap(body, max(1, look.width - width_of(gutter))), gutter, gutter)


def _gutter(look: Look) -> Line:
    return line(Span(look.text("  │ "), "muted")) if look.width >= 25 and not look.screen_reader else ()


_TODO: Mapping[str, tuple[str, Style]] = {
    "pending": ("☐", "plain"),
    "in_progress": ("▶", "bold"),
    "completed": ("☑", "muted"),
}


def _todo(item: TodoItem, look: Look) -> list[Line]:
    mark, style = _TODO[item.status]
    text = item.active_form if item.status == "in_progress" and item.active_form else item.content
    first = look.text(f"  {mark} ")
    body = line(Span(look.text(clean_row(text)), style))
    rows = wrap(body, max(1, look.width - len(first)))
    return prefix(rows, line(Span(first, style)), line(" " * len(first)))


def _spoken(call: Call, look: Look, say: Words) -> list[Line]:
    """One sentence a change, for a screen reader; then the output as it is."""
    state = say(f"term.spoken.{call.state}")
    detail = call.summary or (clean_row(call.preview) if call.open else _stat_of(call))
    duration = [seconds(call.duration, say.lang)] if call.duration is not None and call.duration >= 1 else []
    facts = ", ".join(part for part in (state, detail, *duration) if part)
    sentence = say("term.spoken.tool", name=clean_row(call.name), facts=facts)
    rows = wrap(line(look.text(clean(sentence))), look.width)
    return rows if call.open else rows + _body(call, look, say)


def tally(calls: list[Call], say: Words) -> str:
    """`Outils en parallèle : 2/3 terminés (Read, Bash)`, or the one tool that runs."""
    if len(calls) == 1 and calls[0].name == SHELL:
        return say("term.status.shell")
    if len(calls) == 1:
        return say("term.status.tool", name=clean_row(calls[0].name))
    done = [clean_row(call.name) for call in calls if not call.open]
    values = {"done": number(len(done), say.lang), "total": number(len(calls), say.lang)}
    if not done:
        return say("term.status.tools_none", n=0, **values)
    return say("term.status.tools", n=len(done), names=", ".join(done), **values)
