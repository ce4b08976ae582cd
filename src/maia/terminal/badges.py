"""Rows with a badge: INFO, WARN, FAIL and ASK, and an error with what happened, why, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from maia.terminal.colours import Look, Style
from maia.terminal.spans import Line, Span, clean, clean_row, line, prefix, wrap, wrap_text

if TYPE_CHECKING:
    from maia.core.endings import Failure
    from maia.core.errors import MaiaError
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
        return wrap_text(look.text(clean(f"{word}. {text}" if badge != "ask" else text)), look.width)
    mark = f"[{word}]" if look.plain else word
    head = line(Span(mark, badge), Span(" " * (indent_of(look) - len(mark))))
    room = look.width - indent_of(look)
    if look.width < _NARROW:
        body = wrap_text(look.text(clean(text)), look.width, _BODY[badge])
        return [*wrap(line(Span(mark, badge)), look.width), *body]
    rows = wrap_text(look.text(clean(text)), room, _BODY[badge])
    return prefix(rows, head, line(" " * indent_of(look)))


def indent_of(look: Look) -> int:
    """Where the text of a badge begins: without colour the badge has brackets and needs one column more."""
    return INDENT + 1 if look.plain else INDENT


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
    why = failure_reason(failure, say)
    if why:
        rows += detail_lines(why, look)
    if failure.why is not None:
        rows += detail_lines(say(failure.why.key, **failure.why.values), look)
    return rows + detail_lines("→ " + failure_remedy(failure, say), look)


def failure_words(failure: Failure, say: Words) -> str:
    """All of it in one row: what happened, why, what to do."""
    why = say(failure.why.key, **failure.why.values) if failure.why else ""
    remedy = "→ " + failure_remedy(failure, say)
    parts = (failure_title(failure, say), failure_reason(failure, say), why, remedy)
    return " ".join(part for part in parts if part)


def failure_reason(failure: Failure, say: Words) -> str:
    """Why: the server's own words quoted, or what kept it from answering; empty when nothing is known."""
    host, words = clean_row(failure.host), clean_row(failure.provider_text, 600)
    if failure.cause is not None and (words or failure.cause != "system"):
        return say(f"failure.cause.{failure.cause}", host=host or say("term.failure.the_server"), words=words)
    if words:
        return say("term.failure.answers" if host else "term.failure.words", host=host, words=words)
    return say("term.failure.host", host=host) if host else ""


def failure_title(failure: Failure, say: Words) -> str:
    """What happened in one sentence: `Le serveur n'a pas accepté la clé (HTTP 401).`"""
    sentence = say(_failure_key(failure), host=clean_row(failure.host) or say("term.failure.the_server"))
    return f"{sentence.removesuffix('.')} (HTTP\u00a0{failure.status})." if failure.status else sentence


def _failure_key(failure: Failure) -> str:
    """The words of a kind of failure. A key refused by the user's own gateway has the remedy of our settings file."""
    vendor = failure.host.split("://")[-1].startswith("api.")
    return "term.failure.key" if failure.status == 401 and not vendor else f"failure.{failure.kind}"


def failure_remedy(failure: Failure, say: Words) -> str:
    """What to do: the remedy of what is known about the key, else that of the kind of failure."""
    if failure.why is not None and say.has(f"{failure.why.key}.fix"):
        return say(f"{failure.why.key}.fix", **failure.why.values)
    return say(f"{_failure_key(failure)}.fix", host=clean_row(failure.host))


def detail_lines(text: str, look: Look, style: Style = "plain") -> list[Line]:
    """Rows under a badge's text, at its indent."""
    indent = indent_of(look) if look.width >= _NARROW and not look.screen_reader else 0
    rows = wrap_text(look.text(clean(text)), max(1, look.width - indent), style)
    return prefix(rows, line(" " * indent), line(" " * indent))
