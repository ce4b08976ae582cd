"""Bodies of the commands that show something: values in, rows out (§13, T6.07)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

from maia.core.costs import Cost
from maia.core.permission import Verdict
from maia.i18n.formats import day, number
from maia.terminal.colours import Look, Style
from maia.terminal.commands import COMMANDS
from maia.terminal.contextbar import STEP, Fill, used_tokens, window_tokens
from maia.terminal.diff import compare, diff_lines, stat
from maia.terminal.endings import money
from maia.terminal.spans import (
    EMPTY,
    Line,
    Span,
    cell_width,
    clean,
    clean_row,
    clip,
    line,
    prefix,
    spread,
    width_of,
    wrap,
    wrap_text,
)

if TYPE_CHECKING:
    from maia.core.permission import Rule
    from maia.core.ports import ContextView
    from maia.core.results import DiffBlock
    from maia.engine.views import AgentList, ModelCost, RuleFile, SessionChoice, ToolRow
    from maia.terminal.words import Words

VOCABULARY = "o200k_base"
_WIDE = 60
"""Below this width a view drops what it can do without: squares, the source of a cost, one row a session."""


def _padded(text: str, cells: int) -> str:
    return text + " " * max(0, cells - cell_width(text))


def _right(text: str, cells: int) -> str:
    return " " * max(0, cells - cell_width(text)) + text


# /permissions ------------------------------------------------------------------------------------------------------

_VERDICTS: tuple[tuple[Verdict, Style], ...] = (
    (Verdict.ALLOW, "rule_allow"),
    (Verdict.ASK, "rule_ask"),
    (Verdict.DENY, "rule_deny"),
)
_VERDICT_CELLS = 7


def permissions_lines(files: Sequence[RuleFile], look: Look, say: Words) -> list[Line]:
    """The active rules file by file, one a row after its badge; empty kinds are left out (T6.07)."""
    rows: list[Line] = []
    for file in files:
        if not file.rules:
            continue
        if rows:
            rows.append(EMPTY)
        rows += wrap(line(look.text(clean_row(file.shown))), look.width)
        for verdict, style in _VERDICTS:
            rows += _rules([rule for rule in file.rules if rule.verdict is verdict], verdict.name, style, look)
    if not rows:
        rows = wrap_text(look.text(say("term.permissions.none")), look.width)
    return rows + wrap_text(look.text(say("term.permissions.default")), look.width)


def _rules(rules: Sequence[Rule], word: str, style: Style, look: Look) -> list[Line]:
    rows: list[Line] = []
    for place, rule in enumerate(rules):
        badge = line(Span(word, style), Span(" " * (_VERDICT_CELLS - len(word))))
        space = line(" " * _VERDICT_CELLS)
        body = wrap(line(look.text(clean_row(rule.text))), max(1, look.width - _VERDICT_CELLS))
        rows += prefix(body, space if place else badge, space)
    return [clip(row, look.width, "") for row in rows]


# /context ----------------------------------------------------------------------------------------------------------

_LABEL, _TOKENS, _SHARE = 29, 7, 7


def context_lines(view: ContextView, look: Look, say: Words) -> list[Line]:
    """What fills the window, part by part, in tokens, in per cent and in squares of one scale."""
    fill = Fill(view.tokens, view.window)
    wide = look.width >= _WIDE
    label = _LABEL if wide else max(8, look.width - _TOKENS - _SHARE)
    room = look.width - label - _TOKENS - _SHARE - 3
    scale = _scale(max((part.tokens for part in view.parts), default=0), room)
    rows = _context_title(fill, scale, wide, look, say)
    for part in view.parts:
        name = clip(line(look.text(say(f"term.contextview.{part.key}", count=number(part.count, say.lang)))), label)
        spans = [*name, Span(" " * (label - width_of(name))), Span(_right(used_tokens(part.tokens), _TOKENS))]
        if fill.window:
            spans.append(Span(_right(_share(part.tokens, fill.window), _SHARE)))
        if wide and part.tokens:
            spans.append(Span("   " + look.text("■") * ceil(part.tokens / scale), fill.style))
        rows.append(clip(tuple(spans), look.width))
    return rows + wrap_text(look.text(_window_words(view, say)), look.width)


def _share(tokens: int, window: int) -> str:
    percent = Fill(tokens, window).percent
    return "<1%" if tokens and not percent else f"{percent}%"


def _scale(largest: int, room: int) -> int:
    return STEP * max(1, ceil(largest / max(1, room) / STEP))


def _context_title(fill: Fill, scale: int, wide: bool, look: Look, say: Words) -> list[Line]:
    title = say("term.contextview.title")
    figure = used_tokens(fill.tokens, fill.window)
    if fill.window:
        figure += f" / {window_tokens(fill.window)} · {fill.percent}%"
    if not wide:
        return [row for text in (title, figure) for row in wrap(line(Span(look.text(text), "bold")), look.width)]
    return [
        line(
            Span(look.text(f"{title}   {figure}"), "bold"), Span(look.text(f"   1■ = {window_tokens(scale)}"), "muted")
        )
    ]


def _window_words(view: ContextView, say: Words) -> str:
    if view.window is None or view.window_source == "unknown":
        return say("term.contextview.no_window", vocabulary=VOCABULARY)
    source = say(f"term.contextview.source.{view.window_source}")
    window = window_tokens(view.window)
    return say("term.contextview.window", window=window, source=source, vocabulary=VOCABULARY)


# /cost -------------------------------------------------------------------------------------------------------------

_NONE = "—"
_COST_WIDE = 76


def cost_lines(costs: Sequence[ModelCost], look: Look, say: Words) -> list[Line]:
    """A row a model, then the total of what is known: `~` as soon as one part of it is estimated."""
    if not costs:
        return wrap_text(look.text(say("term.costview.none")), look.width)
    heads = [say(f"term.costview.{name}") for name in ("title", "input", "output", "cost", "source")]
    table = [heads, *(_cost_row(cost, say) for cost in costs), _total_row(costs, say)]
    table = [[look.text(cell) for cell in row] for row in table]
    if look.width >= _COST_WIDE:
        return [_cost_line(row, (29, 10, 10, 11), place == 0, look) for place, row in enumerate(table)]
    title = wrap(line(Span(table[0][0], "bold")), look.width)
    table[0][0] = ""
    numbers = [max(cell_width(row[place]) for row in table) + 2 for place in (1, 2, 3)]
    cells = (max(1, look.width - sum(numbers)), *numbers)
    return title + [_cost_line(row, cells, place == 0, look) for place, row in enumerate(table)]


def _cost_row(cost: ModelCost, say: Words) -> list[str]:
    usage = cost.usage
    tokens = (_NONE, _NONE) if usage is None else (number(usage.prompt, say.lang), number(usage.output, say.lang))
    shown = money(cost.cost)
    source = say(f"term.cost.{cost.cost.source if shown else 'unknown'}")
    return [clean_row(cost.model), *tokens, shown or _NONE, source]


def _total_row(costs: Sequence[ModelCost], say: Words) -> list[str]:
    usages = [cost.usage for cost in costs if cost.usage is not None]
    known = [cost.cost for cost in costs if cost.cost.usd is not None and cost.cost.source != "unknown"]
    estimated = any(cost.source == "estimated" for cost in known)
    total = Cost(sum(cost.usd or 0.0 for cost in known), "estimated" if estimated else "reported") if known else Cost()
    tokens = [sum(usage.prompt for usage in usages), sum(usage.output for usage in usages)]
    shown = [number(value, say.lang) if usages else _NONE for value in tokens]
    return [say("term.costview.total"), *shown, money(total) or _NONE, ""]


def _cost_line(row: Sequence[str], cells: Sequence[int], is_head: bool, look: Look) -> Line:
    style: Style = "bold" if is_head else "plain"
    name = clip(line(Span(row[0], style)), max(1, cells[0] - 1))
    spans = [*name, Span(" " * (cells[0] - width_of(name)))]
    spans += [Span(_right(row[place], cells[place]), "muted" if is_head else "plain") for place in (1, 2, 3)]
    if look.width >= _COST_WIDE and row[4]:
        spans.append(Span("   " + row[4], "muted"))
    return clip(tuple(spans), look.width)


# /load -------------------------------------------------------------------------------------------------------------

_LOAD_EDGE = 73


def load_lines(
    sessions: Sequence[SessionChoice],
    selected: int,
    look: Look,
    say: Words,
    *,
    now: datetime,
    total: int,
    rows: int = 8,
) -> list[Line]:
    """The list of saved sessions around the selected one: name, when, size, first request; then the keys.

    `sessions` are those that match the search, of `total`; `rows` of them at most are shown.
    """
    if not sessions:
        key = "term.load.no_match" if total else "term.load.none"
        return wrap_text(look.text(say(key)), look.width)
    first = max(0, min(selected - rows // 2, len(sessions) - rows)) if len(sessions) > rows else 0
    shown = sessions[first : first + rows]
    count = say("term.load.count", shown=number(len(sessions), say.lang), total=number(total, say.lang))
    title = line(Span(look.text(say("term.load.title")), "bold"))
    out = [spread(title, line(Span(look.text(count), "muted")), min(look.width, _LOAD_EDGE))]
    names = max(cell_width(look.text(clean_row(item.name))) for item in shown)
    whens = max(cell_width(when(item.changed, now, say)) for item in shown)
    for place, item in enumerate(shown):
        out += _session_rows(item, first + place == selected, (names, whens), look, say, now)
    return out + wrap_text(look.text(say("term.load.keys")), look.width, "muted")


def _session_rows(
    item: SessionChoice, is_current: bool, cells: tuple[int, int], look: Look, say: Words, now: datetime
) -> list[Line]:
    names, whens = cells
    mark = look.text("›") if is_current else " "
    name = look.text(clean_row(item.name))
    ago = look.text(when(item.changed, now, say))
    tokens = used_tokens(item.tokens) if item.tokens is not None else ""
    style: Style = "selected" if is_current else "plain"
    if look.width < _WIDE:
        second = line("    ", Span(ago, "muted"), Span(f" · {tokens}" if tokens else "", "muted"))
        return [clip(line("  ", Span(f"{mark} {name}", style)), look.width), clip(second, look.width)]
    rest = f"{_padded(ago, max(whens, 12))}   {_right(tokens, 6)}   {look.text(clean_row(item.title, 200))}"
    head = Span(f"{mark} {_padded(name, names)}   ", style)
    return [clip(line("  ", head, Span(rest, style if is_current else "muted")), look.width)]


def when(changed: float, now: datetime, say: Words) -> str:
    """`à l'instant`, `il y a 8 min`, `il y a 3 h`, `hier`, `27 nov.`, with the year when it is another one."""
    moment = datetime.fromtimestamp(changed, now.tzinfo)
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return say("term.ago.now")
    if minutes < 60:
        return say("term.ago.minutes", n=minutes)
    if moment.date() == now.date():
        return say("term.ago.hours", n=minutes // 60)
    if moment.date() == now.date() - timedelta(days=1):
        return say("term.ago.yesterday")
    return day(moment.date(), say.lang, now.date())


# /help, /tools, /diff ----------------------------------------------------------------------------------------------

_TYPING = ("bang", "at", "quote")
_KEYS = ("enter", "newline", "tab", "escape", "stop", "history", "expand", "editor", "exit")


def help_lines(look: Look, say: Words) -> list[Line]:
    """All commands, what a line may begin with, and the keys."""
    commands = [
        (f"/{row.name}" + (f" {say(row.argument)}" if row.argument else ""), say(row.description)) for row in COMMANDS
    ]
    typing = [(say(f"term.help.{name}.form"), say(f"term.help.{name}")) for name in _TYPING]
    keys = [(say(f"term.help.{name}.form"), say(f"term.help.{name}")) for name in _KEYS]
    column = max(cell_width(left) for left, _ in (*commands, *typing, *keys)) + 3
    rows: list[Line] = []
    for title, pairs in (("commands", commands), ("typing", typing), ("keys", keys)):
        rows += [EMPTY] if rows else []
        rows.append(clip(line(Span(look.text(say(f"term.help.{title}")), "subtitle")), look.width))
        rows += [row for left, right in pairs for row in _pair(left, right, column, look)]
    return rows


def _pair(left: str, right: str, column: int, look: Look) -> list[Line]:
    """Two columns, or one under the other where the second would be too narrow."""
    name, words = Span("  " + look.text(left), "bold"), line(Span(look.text(right)))
    indent = column + 2
    if look.width < _WIDE:
        below = prefix(wrap(words, max(1, look.width - 4)), line("    "), line("    "))
        return [clip(row, look.width) for row in (line(name), *below)]
    head = line(name, " " * (indent - cell_width(name.text)))
    return prefix(wrap(words, max(1, look.width - indent)), head, line(" " * indent))


def tools_lines(tools: Sequence[ToolRow], look: Look, say: Words) -> list[Line]:
    """What the model may call: the name, where it comes from, what it does.

    The descriptions are written for the model, in English. Our own tools have words for people; of the others, the
    first sentence is shown.
    """
    if not tools:
        return wrap_text(look.text(say("term.tools.none")), look.width)
    column = max(cell_width(clean_row(tool.name)) for tool in tools) + 3
    rows = [clip(line(Span(look.text(say("term.tools.title")), "subtitle")), look.width)]
    for tool in tools:
        origin = f"[{clean_row(tool.origin)}] " if tool.origin else ""
        own = f"term.tool.{tool.name.lower()}"
        words = say(own) if not tool.origin and say.has(own) else _first_sentence(tool.description)
        rows += _pair(clean_row(tool.name), origin + words, column, look)
    return rows


def agents_lines(found: AgentList, look: Look, say: Words) -> list[Line]:
    """The agents that can be called: nickname, name where it is another, who runs it, what it is for."""
    if not found.rows:
        return wrap_text(look.text(say("term.agents.none")), look.width)
    rows = [clip(line(Span(look.text(say("term.agents.title")), "subtitle")), look.width)]
    for agent in found.rows:
        name = "" if agent.name == agent.nickname else f" ({agent.name})"
        here = f" · {say('term.agents.acting')}" if agent.name == found.acting else ""
        head = line(Span("  " + look.text(clean_row(agent.nickname + name)), "bold"))
        told = clean_row(f"{agent.by} · {agent.shown}{here}")
        rows.append(clip(head, look.width))
        for text in (agent.description, told):
            rows += prefix(wrap(line(look.text(clean_row(text))), max(1, look.width - 4)), line("    "), line("    "))
    return rows + wrap_text(look.text(say("term.agents.call")), look.width)


def _first_sentence(text: str) -> str:
    first = clean(text.strip().split("\n\n")[0][:400]).replace("\n", " ")
    head, stop, _ = first.partition(". ")
    return head + stop.rstrip() if stop else first


def changes_lines(changes: Sequence[DiffBlock], look: Look, say: Words) -> list[Line]:
    """Every change of the session, whole, file by file (`/diff`)."""
    rows: list[Line] = []
    for change in changes:
        if change.before == change.after:
            continue
        rows += [EMPTY] if rows else []
        diff = compare(change.before, change.after)
        path = line(Span(look.text(clean_row(change.path)), "bold"))
        rows.append(spread(path, line(Span(look.text(stat(diff.added, diff.removed)), "muted")), look.width))
        rows += diff_lines(change, look, say, max_rows=None)
    return rows or wrap_text(look.text(say("term.diff.nothing")), look.width)
