"""One shell command line -> the parts of a decision: each command, each redirection, and what cannot be analysed."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from maia.core.permission import DecisionPart, Rule, Verdict
from maia.core.reason import Reason
from maia.permissions.command_files import operand_parts
from maia.permissions.command_rules import (
    copied_programs,
    covers,
    first_words,
    lifts,
    may_meet,
    meets,
    meets_line,
    pattern_of,
    spells_program,
)
from maia.permissions.decide_path import closing, decide_path, restricting
from maia.permissions.decide_search import search_parts
from maia.permissions.paths import Place, target
from maia.permissions.reasons import NO_RULE, by_rule
from maia.permissions.rules import RuleSet, is_bare
from maia.permissions.script import Barrier, Command, Redirect, Script
from maia.permissions.shell import analyse
from maia.permissions.shell_folders import cd_goal

NEUTRAL = frozenset(
    [
        ":",
        "true",
        "false",
        "test",
        "[",
        "set",
        "exit",
        "return",
        "break",
        "continue",
        "shift",
        "wait",
        "unset",
        "read",
        "mapfile",
        "readarray",
        "getopts",
        "let",
        "local",
        "declare",
        "typeset",
        "export",
        "readonly",
        "umask",
        "type",
    ]
)
"""Builtins that neither run nor write anything: beside commands that rules cover they need no rule of their own."""

DEVICES = re.compile(r"/dev/(?:null|zero|full|stdout|stderr|tty|fd/\d+)\Z")
"""Files that receive nothing (decisions §12)."""


def decide_command(tool: str, line: str, rules: RuleSet, place: Place) -> list[DecisionPart]:
    """The parts of a command line, at least one; the decision is the strictest of them (T6.04)."""
    script = analyse(line)
    judge = _CommandJudge(tool, line, rules, place, script)
    return judge.parts()


class _CommandJudge:
    """The rules that concern one command line, sorted once."""

    def __init__(self, tool: str, line: str, rules: RuleSet, place: Place, script: Script) -> None:
        self.line = line
        self.rules = rules
        self.place = place
        self.script = script
        self.restricted = rules.restricted
        self.deny = rules.for_commands(Verdict.DENY, tool)
        self.ask = rules.for_commands(Verdict.ASK, tool)
        self.allow = rules.for_commands(Verdict.ALLOW, tool)
        self.bare = next((rule for rule in self.allow.naming(()) if is_bare(rule)), None)
        first = line.split(maxsplit=1)[:1]
        self.whole = next((rule for rule in self.allow.naming(first) if self._is_line(rule)), None)
        self.only_neutral = all(self._is_neutral(command) for command in script.commands)

    def _is_line(self, rule: Rule) -> bool:
        return (
            rule.pattern is not None
            and pattern_of(rule.pattern).exact
            and (pattern_of(rule.pattern).raw[0][0] == self.line.strip())
        )

    def parts(self) -> list[DecisionPart]:
        found = [*self._line_parts()]
        for command in self.script.commands:
            found += search_parts(command, self.rules, self.place)
            found += self._command(command)
        for redirect in self.script.redirects:
            found += self._redirect(redirect)
        if not found:
            rule = self.bare or self.whole
            reason = by_rule(rule) if rule else NO_RULE
            found.append(DecisionPart(self.line, Verdict.ALLOW if rule else Verdict.ASK, rule, reason))
        return found

    def _line_parts(self) -> Iterator[DecisionPart]:
        for rule in (*self.deny.rules, *self.ask.rules):
            if meets_line(rule, self.line):
                yield DecisionPart(self.line, rule.verdict, rule, by_rule(rule))
                return
        for barrier in self.script.barriers:
            if barrier.kind == "firm" or self.bare is None or self.restricted:
                yield DecisionPart(barrier.token or self.line, Verdict.ASK, None, _why(barrier))

    # Commands

    def _command(self, command: Command) -> list[DecisionPart]:
        """The part of a command, and those of the commands that it runs."""
        inner = [part for child in command.children for part in self._command(child)]
        strict = self._strict(command)
        if strict is not None:
            return [strict, *inner]
        files = operand_parts(command, self.line, self.rules, self.place)
        own = self._own(command, inner)
        if own.verdict is Verdict.ALLOW and own.rule is not None and self._covers_inner(own.rule, command):
            remote = command.wrap == "remote"
            inner = [part for part in inner if part.rule is not None or not (remote or part.reason is NO_RULE)]
        return [own, *files, *inner]

    def _strict(self, command: Command) -> DecisionPart | None:
        """The first deny or ask rule that meets the command; one that only may meet it asks."""
        fold = self.place.fold_case
        if command.words and not command.words[0].literal:
            return None  # a barrier already says that the name cannot be known
        names = first_words(command, fold_case=fold)
        strict = [*self.deny.naming(names), *self.ask.naming(names)]
        for rule in strict:
            if meets(rule, command, fold_case=fold):
                return DecisionPart(command.shown, rule.verdict, rule, by_rule(rule))
        possible = [rule for rule in strict if may_meet(rule, command, fold_case=fold)]
        if not possible and (programs := copied_programs(command)):
            named = [
                *self.deny.naming([each.program for each in programs]),
                *self.ask.naming([each.program for each in programs]),
            ]
            possible = [rule for rule in named if any(meets(rule, each, fold_case=fold) for each in programs)]
        if not possible:
            return None
        rule = possible[0]
        return DecisionPart(command.shown, Verdict.ASK, rule, Reason("perm.may_match", {"rule": rule.text}))

    def _own(self, command: Command, inner: Sequence[DecisionPart]) -> DecisionPart:
        """The command's own part, after deny and ask rules."""
        if self._is_neutral(command) and not self.only_neutral:
            return DecisionPart(command.shown, Verdict.ALLOW, None, Reason("perm.neutral"))
        if command.program in self.script.functions and not command.barriers:
            return DecisionPart(command.shown, Verdict.ALLOW, None, Reason("perm.own_function"))
        if command.wrap == "clear" and command.children and not command.barriers and _all_allowed(inner):
            return DecisionPart(command.shown, Verdict.ALLOW, inner[0].rule, inner[0].reason)
        names = first_words(command, fold_case=False)
        fitting = [rule for rule in self.allow.naming(names) if covers(rule, command)]
        if self.whole is not None:
            fitting.append(self.whole)
        blocking: Barrier | None = None
        for rule in fitting:
            blocking = self._blocking(rule, command)
            if blocking is None:
                return DecisionPart(command.shown, Verdict.ALLOW, rule, by_rule(rule))
        if blocking is None and command.barriers and not fitting:
            blocking = next((b for b in command.barriers if b.kind != "flag"), None)
        return DecisionPart(command.shown, Verdict.ASK, None, _why(blocking) if blocking else NO_RULE)

    def _blocking(self, rule: Rule, command: Command) -> Barrier | None:
        """The first barrier that the rule does not reach over."""
        whole = rule is self.whole
        for barrier in command.barriers:
            if whole and barrier.kind in ("flag", "inline"):
                continue
            if not lifts(rule, barrier, command, restricted=self.restricted):
                return barrier
        return None

    def _covers_inner(self, rule: Rule, command: Command) -> bool:
        """Whether the rule that covers a wrapper also covers what it runs."""
        if is_bare(rule) or rule is self.whole or command.wrap in ("runner", "remote"):
            return True
        return bool(command.children) and all(spells_program(rule, child) for child in command.children)

    def _is_neutral(self, command: Command) -> bool:
        if command.program == "exec" and len(command.words) == 1 and not command.barriers:
            return True  # nothing but redirections, which are judged as such
        if command.barriers or command.wrap:
            return False
        if not command.words or command.program in NEUTRAL:
            return True
        if command.program == "command" and len(command.words) > 1 and command.words[1].text in ("-v", "-V"):
            return True
        if command.program == "popd" or (command.program == "cd" and [w.text for w in command.words[1:]] == ["-"]):
            return self._goes_back(command)
        return command.program in ("cd", "pushd") and self._stays_inside(command)

    def _goes_back(self, command: Command) -> bool:
        """Whether it leads to a folder where the same line was before, which was judged there."""
        for earlier in self.script.commands:
            if earlier is command:
                return False
            if earlier.program in ("cd", "pushd"):
                return len(command.words) <= 2
        return False

    def _stays_inside(self, command: Command) -> bool:
        goal = cd_goal(command)
        if goal is None or command.folders is None:
            return False
        roots = [os.path.realpath(root) for root in (self.place.launch, *self.place.folders)]
        goals = [target(posixpath.join(folder, goal), self.place).resolved for folder in command.folders]
        return all(any(path == root or path.startswith(root + "/") for root in roots) for path in goals)

    # Redirections

    def _redirect(self, redirect: Redirect) -> list[DecisionPart]:
        if redirect.kind == "read":
            return self._input(redirect)
        if redirect.target is None:
            reason = Reason("perm.why.target", {"text": redirect.source})
            return [DecisionPart(redirect.source, Verdict.ASK, None, reason)]
        if DEVICES.match(posixpath.normpath(redirect.target)):
            return self._device(redirect, redirect.target)
        folders = redirect.folders if redirect.folders is not None else frozenset({""})
        parts = [decide_path("Redirect", redirect.target, self.rules, self.place, folder) for folder in sorted(folders)]
        strictest = max(parts, key=lambda part: part.verdict)
        if redirect.folders is None and not redirect.target.startswith(("/", "~")) and strictest.verdict < Verdict.DENY:
            reason = Reason("perm.why.folder", {"text": redirect.source})
            return [DecisionPart(redirect.source, Verdict.ASK, None, reason)]
        reason = Reason("perm.redirect", {"path": redirect.target}) if strictest.reason is NO_RULE else strictest.reason
        return [DecisionPart(redirect.source, strictest.verdict, strictest.rule, reason)]

    def _device(self, redirect: Redirect, path: str) -> list[DecisionPart]:
        located = target(path, self.place)
        rules = [
            r for r in (*self.rules.of(Verdict.DENY), *self.rules.of(Verdict.ASK)) if r.tool == "Redirect" and r.pattern
        ]
        rule = restricting("Redirect", located, rules, self.place)
        return [DecisionPart(redirect.source, rule.verdict, rule, by_rule(rule))] if rule else []

    def _input(self, redirect: Redirect) -> list[DecisionPart]:
        """Reading by redirection needs no rule, but a deny or ask on `Read` meets it."""
        path = redirect.target
        if path is not None and path.startswith(("/dev/tcp/", "/dev/udp/")):
            return [
                DecisionPart(redirect.source, Verdict.ASK, None, Reason("perm.why.network", {"text": redirect.source}))
            ]
        rules = [
            r for r in (*self.rules.of(Verdict.DENY), *self.rules.of(Verdict.ASK)) if r.tool == "Read" and r.pattern
        ]
        if path is None:
            return []
        for folder in sorted(redirect.folders or {""}):
            located = target(path, self.place, folder)
            if (closed := closing("Bash", located, self.rules)) is not None:
                return [replace(closed, text=redirect.source)]
            rule = restricting("Read", located, rules, self.place)
            if rule is not None:
                return [DecisionPart(redirect.source, rule.verdict, rule, by_rule(rule))]
        return []


def _all_allowed(parts: Sequence[DecisionPart]) -> bool:
    return bool(parts) and all(part.verdict is Verdict.ALLOW for part in parts)


def _why(barrier: Barrier) -> Reason:
    return Reason(barrier.key, {"text": barrier.token})
