"""How a program's own failure becomes ours: one table of kinds, its words kept apart as detail."""

from __future__ import annotations

import re
from typing import Final

from maia.core.endings import Failure, FailureKind
from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.runtime import ProgramEnd
from maia.core.text import cut_middle, visible

_KINDS: Final[tuple[tuple[FailureKind, str], ...]] = (
    ("auth", r"\b401\b|\b403\b|unauthori[sz]ed|authenticat|invalid.api.key|not (?:logged|signed) in|/login|api key"),
    ("rate_limit", r"\b429\b|rate.limit|quota|too many requests|insufficient.credit|billing"),
    ("overloaded", r"\b50[023]\b|\b529\b|overloaded|service unavailable"),
    ("too_long", r"context.(?:length|window)|too long|maximum context"),
    ("timeout", r"timed? ?out|deadline"),
    ("network", r"ECONN|ENOTFOUND|EAI_AGAIN|connection (?:error|refused|reset)|fetch failed|unreachable|disconnected"),
    ("rejected", r"\b400\b|\b404\b|model.not.found|unknown model|invalid.request|not supported"),
)
"""Words that programs pass on from their servers, the first that fits."""

_WORDS_KEPT: Final = 2_000


def failure_of(program: str, said: str, code: str = "", kind: FailureKind | None = None) -> Failure:
    """A failure from what the program said, its words shortened and shown literally."""
    found = kind or _kind_of(said)
    return Failure(found, program, code=code, provider_text=visible(cut_middle(said.strip(), _WORDS_KEPT).text))


def _kind_of(said: str) -> FailureKind:
    for kind, words in _KINDS:
        if re.search(words, said, re.IGNORECASE):
            return kind
    return "other"


def ended_early(program: str, exit_code: int | None, said: str, garbage: int = 0) -> tuple[Notice, ProgramEnd]:
    """The program ended, or was gone, before its turn did: what a person is told, and the end of the turn."""
    values = {"program": program, "code": "?" if exit_code is None else exit_code}
    key = "runtime.garbage" if garbage else "runtime.crashed"
    failure = failure_of(program, said, f"exit {values['code']}")
    if failure.kind == "other":
        failure = failure_of(program, said, f"exit {values['code']}", "incomplete")
    return Notice("fail", key, values), ProgramEnd("failed", failure=failure)


def hung(program: str, seconds: float) -> tuple[Notice, ProgramEnd]:
    """The program was silent for too long and was ended."""
    notice = Notice("fail", "runtime.hung", {"program": program, "seconds": round(seconds)})
    return notice, ProgramEnd("failed", failure=Failure("timeout", program, code="silent"))


def not_started(program: str, problem: MaiaError) -> tuple[Notice, ProgramEnd]:
    """The program could not be started: in the words of the problem."""
    failure = Failure("not_configured", program, code=problem.key)
    return Notice("fail", problem.key, problem.values), ProgramEnd("failed", failure=failure)
