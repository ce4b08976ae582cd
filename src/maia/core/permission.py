"""What a call needs, what the rules say of it, and what a person answers. The rules are read elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, TypeAlias

from maia.core.reason import Reason


class Verdict(IntEnum):
    """Ordered so that the strictest of several is `max()`."""

    ALLOW = 0
    ASK = 1
    DENY = 2


NeedKind: TypeAlias = Literal["command", "path", "host", "name", "text", "none"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far a search goes below its folder: `globs` include names there (none: everything), to `levels` deep.

    A glob without a slash matches at any depth; one with a slash begins at the folder.
    """

    globs: tuple[str, ...] = ()
    levels: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a call would do, said by the tool; whether it may is said by the rules.

    `tool` is the name used in rules. `value` is the command line, the path as given, the host, the skill's name or a
    text value of the input, according to `kind`; `none` needs no permission unless a rule names the tool. `sweep` says
    that what lies below the path is searched, too, by somebody who leaves nothing out by himself.
    """

    tool: str
    kind: NeedKind
    value: str = ""
    sweep: Sweep | None = None


@dataclass(frozen=True, slots=True)
class RuleSource:
    """Where a rule was written: a settings file with its line, `session`, `--allow` or `built-in`."""

    name: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One parsed rule. `pattern` is None for a bare `Tool`; `text` is what the user wrote."""

    verdict: Verdict
    tool: str
    pattern: str | None
    text: str
    source: RuleSource


@dataclass(frozen=True, slots=True)
class DecisionPart:
    """One command, redirection or path of a compound call with its own verdict."""

    text: str
    verdict: Verdict
    rule: Rule | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on a whole call: the strictest of its parts, with the rule and the reason that made it."""

    verdict: Verdict
    reason: Reason
    rule: Rule | None = None
    parts: tuple[DecisionPart, ...] = ()


ApprovalScope: TypeAlias = Literal["once", "session", "always", "no"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered to an approval. `reason` goes to the model with a refusal."""

    scope: ApprovalScope
    reason: str = ""
