"""The rule that would allow a need from now on: exact, or as broad as a person plainly means; it must hold (T6)."""

from __future__ import annotations

import os
import re

from maia.core.permission import Need, Rule, RuleSource, Verdict
from maia.permissions import globs, wildcard
from maia.permissions.decide import decide
from maia.permissions.hosts import host_of
from maia.permissions.paths import Place, target
from maia.permissions.rules import RuleSet, parse_rule
from maia.permissions.script import Command
from maia.permissions.shell import analyse

PREFIXES: dict[str, int] = {
    "pytest": 1, "ruff": 1, "mypy": 1, "pyright": 1, "eslint": 1, "tsc": 1, "jest": 1, "vitest": 1, "black": 1,
    "ls": 1, "cat": 1, "head": 1, "tail": 1, "wc": 1, "grep": 1, "rg": 1, "diff": 1, "file": 1, "stat": 1, "du": 1,
    "tree": 1, "which": 1,
    "npm run": 3, "yarn run": 3, "pnpm run": 3, "bun run": 3, "npm test": 2, "yarn test": 2, "pnpm test": 2,
    "cargo build": 2, "cargo test": 2, "cargo check": 2, "cargo clippy": 2, "cargo fmt": 2, "cargo doc": 2,
    "go build": 2, "go test": 2, "go vet": 2, "go fmt": 2, "go doc": 2, "mvn test": 2, "gradle test": 2,
    "dotnet build": 2, "dotnet test": 2,
    "git status": 2, "git log": 2, "git diff": 2, "git show": 2, "git add": 2, "git commit": 2, "git blame": 2,
    "git fetch": 2, "git stash": 2,
    "python -m pytest": 3, "python3 -m pytest": 3, "python -m unittest": 3, "python3 -m unittest": 3,
    "uv run pytest": 3,
}  # fmt: skip
"""Command words -> how many of them a proposed rule keeps before its `*`. Everything else is proposed exactly."""

_SOURCE = RuleSource("proposed")


def propose(need: Need, rules: RuleSet, place: Place) -> str | None:
    """The text of an allow rule that would allow this need, or None where none could (a deny or ask rule wins)."""
    for text in _candidates(need, rules, place):
        rule = parse_rule(text, Verdict.ALLOW, _SOURCE)
        if isinstance(rule, Rule) and decide([need], rules + RuleSet((rule,)), place).verdict is Verdict.ALLOW:
            return text
    return None


def _candidates(need: Need, rules: RuleSet, place: Place) -> list[str]:
    match need.kind:
        case "command":
            return _for_command(need.tool, need.value, rules, place)
        case "path":
            return [f"{need.tool}({_path_rule(need.value, place)})"]
        case "host":
            return [f"{need.tool}(domain:{host_of(need.value)})"]
        case "name" | "text":
            return [f"{need.tool}({wildcard.escaped(need.value)})", need.tool]
        case "none":
            return [need.tool]


def _path_rule(path: str, place: Place) -> str:
    located = target(path, place)
    launch = str(place.launch)
    if located.given.startswith(launch + "/"):
        return globs.escaped(os.path.relpath(located.given, launch))
    return globs.escaped(located.given) if located.given != launch else "."


def _for_command(tool: str, line: str, rules: RuleSet, place: Place) -> list[str]:
    script = analyse(line)
    exact = f"{tool}({wildcard.escaped(line.strip())})"
    asked = _asked(tool, line, rules, place)
    open_commands = [command for command in script.commands if asked is None or command.shown in asked]
    if len(open_commands) == 1 and not script.barriers:
        return [*_prefix(tool, open_commands[0]), *_alone(tool, open_commands[0], script.commands), exact]
    return [exact]


def _asked(tool: str, line: str, rules: RuleSet, place: Place) -> set[str] | None:
    """The parts of a line that ask, or None for a line of one part."""
    parts = decide([Need(tool, "command", line)], rules, place).parts
    return {part.text for part in parts if part.verdict is Verdict.ASK} if parts else None


def _prefix(tool: str, command: Command) -> list[str]:
    if command.assignments or command.barriers or command.wrap:
        return []
    words = [word.text for word in command.words if word.fixed]
    for length in (3, 2, 1):
        keep = PREFIXES.get(" ".join(words[:length])) if length <= len(words) else None
        if keep is None or len(words) < keep or len(command.words) < keep:
            continue
        kept = [word.text for word in command.words[:keep]]
        if all(re.fullmatch(r"[\w./:@=+-]+", word) for word in kept):
            return [f"{tool}({' '.join(kept)} *)"]
    return []


def _alone(tool: str, command: Command, commands: tuple[Command, ...]) -> list[str]:
    """Of a compound line only the uncovered command needs a rule."""
    known = all(word.literal for word in command.words)
    return [f"{tool}({wildcard.escaped(command.shown)})"] if len(commands) > 1 and command.shown and known else []
