"""Rules as a person writes them, `Tool` or `Tool(pattern)`, read into `Rule` or a problem that says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from maia.core.permission import Rule, RuleSource, Verdict
from maia.core.ports import Fence

BUILT_IN_TOOLS = (
    "Read", "Write", "Edit", "Bash", "Glob", "Grep", "TodoWrite", "CurrentModel", "WebFetch", "AskUser",
    "MemoryStore", "MemorySearch", "MemoryExpand", "Skill", "Agent", "Mcp", "Redirect", "Delete",
)  # fmt: skip
"""Names whose case is forgiven in rules: a `deny` that silently meant nothing would be worse than none."""

PATH_TOOLS = frozenset({"Read", "Write", "Edit", "Glob", "Grep", "Redirect"})

_CANONICAL = {name.casefold(): name for name in BUILT_IN_TOOLS}
_TOOL_NAME = r"[^\W\d][\w.-]*\*?"


_NOWHERE = RuleSource("")


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A rule that is left out. `key` is a sentence of the catalogue; `values` holds the rule's text and more."""

    key: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    source: RuleSource = _NOWHERE


class RuleSet:
    """All rules in force, in the order in which they were read, sorted by kind once, and the fence beside them."""

    __slots__ = ("_by_kind", "_by_program", "fence", "restricted", "rules")

    def __init__(self, rules: Iterable[Rule] = (), fence: Fence | None = None) -> None:
        self.rules: tuple[Rule, ...] = tuple(rules)
        self.fence = fence
        self.restricted = fence is not None or any(rule.verdict is not Verdict.ALLOW for rule in self.rules)
        """Whether something may be denied or asked, so that what cannot be analysed must ask (decisions §9)."""
        self._by_kind = {kind: tuple(rule for rule in self.rules if rule.verdict is kind) for kind in Verdict}
        self._by_program: dict[tuple[Verdict, str], ProgramIndex] = {}

    def of(self, verdict: Verdict) -> tuple[Rule, ...]:
        return self._by_kind[verdict]

    def for_commands(self, verdict: Verdict, tool: str) -> ProgramIndex:
        """The rules of one kind for a tool that runs commands, by the program that they name."""
        key = (verdict, tool)
        if key not in self._by_program:
            self._by_program[key] = ProgramIndex(rule for rule in self.of(verdict) if rule.tool == tool)
        return self._by_program[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and self.rules == other.rules and self.fence is other.fence

    def __hash__(self) -> int:
        return hash(self.rules)

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet(self.rules + other.rules, self.fence or other.fence)


class ProgramIndex:
    """Rules found by the first word of their pattern, so that a decision looks at few of many rules."""

    __slots__ = ("_by_name", "_others", "rules")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_name: dict[str, list[int]] = {}
        self._others: list[int] = []
        for at, rule in enumerate(self.rules):
            name = _plain_first_word(rule.pattern)
            (self._others if name is None else self._by_name.setdefault(name, [])).append(at)

    def naming(self, names: Iterable[str]) -> list[Rule]:
        """Rules that may concern a command with one of these first words, in their order."""
        found = {at for name in names for at in self._by_name.get(name, ())}.union(self._others)
        return [self.rules[at] for at in sorted(found)]


_PLAIN_FIRST_WORD = re.compile(r"([\w./+@%,-]+)(?= |:\*\Z|\Z)")


def _plain_first_word(pattern: str | None) -> str | None:
    """The program a pattern names; None where a star, a quote or an assignment leaves it open."""
    found = _PLAIN_FIRST_WORD.match(pattern or "")
    return found.group(1) if found else None


def parse_rule(text: object, verdict: Verdict, source: RuleSource) -> Rule | RuleProblem:
    """Read one rule (T6.03). What is not understood is a problem with its cause, never a guess (T1.10)."""
    if not isinstance(text, str):
        return RuleProblem("perm.rule.not_text", {"rule": repr(text)}, source)
    written = text.strip()
    problem = _shape_problem(written)
    if problem is None:
        name, pattern = _split(written)
        problem = _pattern_problem(name, pattern)
        if problem is None:
            return Rule(verdict, name, pattern, written, source)
    return RuleProblem(problem, {"rule": written}, source)


def canonical_tool(name: str) -> str:
    """The built-in tool meant by a name in any case; other names are themselves."""
    return _CANONICAL.get(name.casefold(), name)


def is_bare(rule: Rule) -> bool:
    """Whether the rule names the whole tool: `Bash`, `Bash(*)`, `Bash(:*)`."""
    return rule.pattern is None or not rule.pattern.strip("*: \t")


def literal_words(rule: Rule) -> tuple[str, ...]:
    """The words of a pattern that hold no star, to see whether a rule spells something out."""
    return _literal_words(rule.pattern or "")


@lru_cache(maxsize=2048)
def _literal_words(pattern: str) -> tuple[str, ...]:
    return tuple(word.strip("\"'") for word in pattern.removesuffix(":*").split())


def _shape_problem(written: str) -> str | None:
    if not written:
        return "perm.rule.empty"
    opened = written.find("(")
    name = written if opened < 0 else written[:opened]
    if not re.fullmatch(_TOOL_NAME, name):
        return "perm.rule.no_open" if opened < 0 and written.endswith(")") else "perm.rule.shape"
    if name.endswith("*") and not name.startswith("mcp__"):
        return "perm.rule.shape"
    if opened < 0:
        return None
    if ")" not in written[opened:]:
        return "perm.rule.no_close"
    if not written.endswith(")"):
        return "perm.rule.after_close"
    return None if written[opened + 1 : -1].strip() else "perm.rule.no_pattern"


def _split(written: str) -> tuple[str, str | None]:
    name, opened, rest = written.partition("(")
    return canonical_tool(name), rest[:-1].strip() if opened else None


def _pattern_problem(name: str, pattern: str | None) -> str | None:
    if pattern is None:
        return None
    if name == "WebFetch":
        scheme, colon, host = pattern.partition(":")
        return None if scheme == "domain" and colon and re.fullmatch(r"[^\s/:@]+|\[[0-9a-fA-F:]+\]", host) else _DOMAIN
    if name == "Mcp":
        parts = [part.strip() for part in pattern.split(",")]
        return None if len(parts) <= 2 and all(parts) else "perm.rule.mcp"
    return None


_DOMAIN = "perm.rule.domain"
