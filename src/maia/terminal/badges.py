"""Rows with a badge: INFO, WARN, FAIL and ASK, and an error with what happened, why, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from maia.terminal.colours import Look, Style
from maia.terminal.spans import Line, Span, clean, clean_row, line, prefix, wrap_text

if TYPE_CHECKING:
    from maia.core.errors import MaiaError
    from maia.core.types import Failure
    from maia.terminal.words import Words

Badge: TypeAlias = Literal["info", "warn", "fail", "ask"]

INDENT = 6
"""Columns of a badge with its space: continuation lines align under the text, never under the badge."""
_NARROW = 25
"""Below this width the text would be a thin column beside the badge, so it starts at the left."""

_BODY: Mapping[Badge, Style] = {"info": "plain", "warn": "plain", "fail": "fail_text", "ask": "plain"}


def badge_lines(badge: Badge, text: str, look: Look) -> list[Line]:
    """A badge in front of a text of one or more lines, wrapped under its first word."""
    word = badge.upper()
    if look.screen_reader:
        return wrap_text(look.text(clean(f"{word} : {text}" if badge != "ask" else text)), look.width)
    mark = f"[{word}]" if look.plain else word
    head = line(Span(mark, badge), Span(" " * max(1, INDENT - len(mark))))
    indent = INDENT if look.width >= _NARROW else 0
    room = look.width - max(INDENT, len(mark) + 1)
    if room < 8:
        return [*wrap_text(mark, look.width, badge), *wrap_text(look.text(clean(text)), look.width, _BODY[badge])]
    rows = wrap_text(look.text(clean(text)), room, _BODY[badge])
    return prefix(rows, head, line(" " * indent))


def error_lines(error: MaiaError, look: Look, say: Words) -> list[Line]:
    """An error for a person: what happened, then `→` and the remedy where the catalogue has one."""
    failure = getattr(error, "failure", None)
    if failure is not None:
        return failure_lines(failure, look, say)
    rows = badge_lines("fail", say(error.key, **error.values), look)
    if say.has(f"{error.key}.fix"):
        rows += detail_lines("→ " + say(f"{error.key}.fix", **error.values), look)
    return rows


def failure_lines(failure: Failure, look: Look, say: Words) -> list[Line]:
    """A failed model call: what happened with the HTTP status, the server's own words quoted, what to do (§10)."""
    rows = badge_lines("fail", failure_title(failure, say), look)
    host = clean_row(failure.host)
    if failure.provider_text:
        words = clean_row(failure.provider_text, 600)
        key = "term.failure.answers" if host else "term.failure.words"
        rows += detail_lines(say(key, host=host, words=words), look)
    elif host:
        rows += detail_lines(say("term.failure.host", host=host), look)
    rows += detail_lines("→ " + say(f"term.failure.{failure.kind}.fix", host=host), look)
    return rows


def failure_title(failure: Failure, say: Words) -> str:
    """What happened in one sentence: `Le serveur n'a pas accepté la clé (HTTP 401).`"""
    status = f"\u00a0(HTTP\u00a0{failure.status})" if failure.status else ""
    return say(f"term.failure.{failure.kind}", status=status.replace("\u00a0(", " ("))


def detail_lines(text: str, look: Look, style: Style = "plain") -> list[Line]:
    """Rows under a badge's text, at its indent."""
    indent = INDENT if look.width >= _NARROW and not look.screen_reader else 0
    rows = wrap_text(look.text(clean(text)), max(1, look.width - indent), style)
    return prefix(rows, line(" " * indent), line(" " * indent))
