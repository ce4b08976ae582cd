"""How a turn ended and what it used: tokens, cost and outcome; notices and retries as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maia.core.events import Notice, RetryScheduled, TurnEnded
from maia.i18n.formats import number, seconds
from maia.terminal.badges import badge_lines, detail_lines, failure_lines, failure_title
from maia.terminal.colours import Look
from maia.terminal.spans import Line, Span, clean_row, line, wrap

if TYPE_CHECKING:
    from maia.core.costs import Cost, Usage
    from maia.terminal.words import Words


def notice_lines(event: Notice, look: Look, say: Words) -> list[Line]:
    """A notice with its badge, and the remedy under it where the catalogue has one."""
    values = {name: value for name, value in event.values.items() if name != "n"}
    count = event.values.get("n")
    n = count if isinstance(count, int) else None
    rows = badge_lines(event.level, say(event.key, n, **values), look)
    if say.has(f"{event.key}.fix"):
        rows += detail_lines("→ " + say(f"{event.key}.fix", n, **values), look)
    return rows


def retry_lines(event: RetryScheduled, look: Look, say: Words) -> list[Line]:
    """Why a call is tried again, and when."""
    title = failure_title(event.failure, say)
    wait = say("term.retry", attempt=event.attempt, delay=seconds(event.delay, say.lang))
    return badge_lines("warn", f"{title} {wait}", look)


def ending_lines(event: TurnEnded, look: Look, say: Words) -> list[Line]:
    """The outcome when it is not the usual one, then one quiet row: tokens in and out, cost, duration."""
    rows: list[Line] = []
    if event.failure is not None and event.outcome == "failed":
        rows += failure_lines(event.failure, look, say)
    elif event.outcome != "finished":
        level = "info" if event.outcome in ("stopped", "waiting_approval") else "warn"
        rows += badge_lines(level, say(f"term.outcome.{event.outcome}", steps=number(event.steps, say.lang)), look)
    return rows + _summary(event, look, say)


def _summary(event: TurnEnded, look: Look, say: Words) -> list[Line]:
    if event.usage is None and (event.steps == 0 or event.failure is not None):
        return []
    facts = [clean_row(event.model), *usage_facts(event.usage, say), cost_fact(event.cost, say)]
    if look.width >= 60:
        facts.append(seconds(event.duration, say.lang))
    return wrap(line(Span(look.text(" · ".join(fact for fact in facts if fact)), "muted")), look.width)


def usage_facts(usage: Usage | None, say: Words) -> list[str]:
    """`12 402 jetons lus (10 000 en cache)`, `380 écrits`; says so when nobody reported any."""
    if usage is None:
        return [say("term.usage.unknown")]
    key = "term.usage.read_cached" if usage.cache_read else "term.usage.read"
    read = say(key, n=usage.prompt, cached=number(usage.cache_read, say.lang))
    return [read, say("term.usage.written", n=usage.output)]


def money(cost: Cost) -> str:
    """`$2.1840`, `~$0.0840` when estimated, empty when unknown: an unknown cost is never shown as 0."""
    if cost.usd is None or cost.source == "unknown":
        return ""
    return f"{'~' if cost.source == 'estimated' else ''}${cost.usd:,.4f}"


def cost_fact(cost: Cost, say: Words) -> str:
    """The cost with the word of who says so, where it is not the provider itself."""
    shown = money(cost)
    if not shown:
        return say("term.cost.unknown_long")
    return f"{shown} ({say('term.cost.estimated')})" if cost.source == "estimated" else shown
