"""The `Judge` port: every rule in force (settings files, options, session) asked for one call, and added to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from maia.core.permission import Decision, Need, Rule, RuleSource, Verdict
from maia.core.ports import Fence
from maia.permissions import globs
from maia.permissions.decide import decide
from maia.permissions.paths import Place
from maia.permissions.protected import BUILT_IN
from maia.permissions.reasons import waits_for_trust
from maia.permissions.rule_files import RuleFile, read_rule_file
from maia.permissions.rules import RuleProblem, RuleSet, parse_rule

SETTINGS = Path(".maia/settings.json")
USER_FILE = "~/.maia/settings.json"
FOLDER_FILE = "./.maia/settings.json"


class RuleJudge:
    """Decides needs against `~/.maia/settings.json`, `./.maia/settings.json`, `--allow`/`--deny` and the session.

    Until the folder is trusted its own allow rules are not used; its deny and ask rules are, since they only restrict
    (decisions §9). `more` are rules that come from elsewhere, as an agent's; no rule and no answer opens what
    the `fence` closes. `files` holds what was read, with
    problems; `reload` reads again after an edit (T6.07). What lies in the folder `own_outputs` was shown to the model
    in part, and it was told of the file: reading it needs no rule.
    """

    def __init__(
        self,
        place: Place,
        *,
        trusted: bool = True,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        files: Sequence[tuple[Path, str]] | None = None,
        own_outputs: Path | None = None,
        more: Sequence[Rule] = (),
        fence: Fence | None = None,
    ) -> None:
        self.place = place
        self.trusted = trusted
        self._sources = tuple(files) if files is not None else _two_files(place)
        self._options, self.option_problems = _option_rules(allow, deny)
        self.more = tuple(more)
        self._fence = fence
        self._built_in = _reading_rules(own_outputs, place) if own_outputs else ()
        self._session: tuple[Rule, ...] = ()
        self.files: tuple[RuleFile, ...] = ()
        self.rules = RuleSet()
        self.reload()

    def reload(self) -> None:
        """Read the settings files again; what the session allowed stays."""
        self.files = tuple(read_rule_file(path, shown) for path, shown in self._sources)
        self._combine()

    def trust(self) -> None:
        """From here on the folder's own allow rules count."""
        self.trusted = True
        self._combine()

    def decide(self, needs: Sequence[Need]) -> Decision:
        """The verdict on a call's needs, with reasons; the reason says when only the folder's trust is missing."""
        decision = decide(needs, self.rules, self.place)
        if decision.verdict is not Verdict.ASK or not self._waiting:
            return decision
        trusted = decide(needs, self.rules + RuleSet(self._waiting), self.place)
        rule = trusted.rule if trusted.verdict is Verdict.ALLOW else None
        return replace(decision, reason=waits_for_trust(rule)) if rule is not None else decision

    def propose(self, need: Need) -> str | None:
        """The rule that "always" would write, or None where an allow could not win."""
        from maia.permissions.propose import propose  # nothing is proposed before a first question

        return propose(need, self.rules, self.place)

    def allow_for_session(self, needs: Sequence[Need]) -> None:
        """Allow these needs until the session ends. A need that no allow rule can cover keeps asking."""
        texts = self._proposed(needs)
        made = (parse_rule(text, Verdict.ALLOW, RuleSource("session")) for text in texts)
        self._session += tuple(rule for rule in made if isinstance(rule, Rule))
        self._combine()

    def allow_always(self, needs: Sequence[Need]) -> str:
        """Save rules for these needs in the launch folder's settings; returns the file as shown.

        They hold for this session at once, also where the folder is not trusted. Raises `SettingsProblem` when the
        file cannot be changed safely; nothing is lost then.
        """
        from maia.permissions.save import add_allow_rules  # nothing is saved before a first answer
        from maia.permissions.trust import own_changes

        texts = self._proposed(needs)
        file = self.place.launch / SETTINGS
        with own_changes(self.place.launch, self.place.home) as note:
            before, after = add_allow_rules(file, FOLDER_FILE, texts)
            note(file, before.encode(), after.encode())
        self.allow_for_session(needs)
        return FOLDER_FILE

    def _proposed(self, needs: Sequence[Need]) -> list[str]:
        """One rule for each need that is not allowed yet."""
        asking = [need for need in needs if self.decide([need]).verdict is not Verdict.ALLOW]
        return list(dict.fromkeys(text for need in asking if (text := self.propose(need)) is not None))

    def _combine(self) -> None:
        read = [(file, rule) for file in self.files for rule in file.rules]
        rules = [rule for file, rule in read if self._counts(file, rule)]
        self._waiting = tuple(rule for file, rule in read if not self._counts(file, rule))
        self.rules = RuleSet((*rules, *self._options, *self.more, *self._session, *self._built_in), self._fence)

    def waits(self, file: RuleFile) -> bool:
        """Whether the file's allow rules are left out because the folder is not trusted."""
        return not self.trusted and file.shown == FOLDER_FILE

    def _counts(self, file: RuleFile, rule: Rule) -> bool:
        return rule.verdict is not Verdict.ALLOW or not self.waits(file)


def _two_files(place: Place) -> tuple[tuple[Path, str], ...]:
    """The user's file and the launch folder's; one file only where the launch folder is the home folder."""
    user, folder = place.home / SETTINGS, place.launch / SETTINGS
    if os.path.realpath(user) == os.path.realpath(folder):
        return ((user, USER_FILE),)
    return ((user, USER_FILE), (folder, FOLDER_FILE))


def _reading_rules(folder: Path, place: Place) -> tuple[Rule, ...]:
    """Allow rules for reading and searching what lies in a folder; from the home folder on where it lies there."""
    within = folder.is_relative_to(place.home)
    name = globs.escaped(str(folder.relative_to(place.home) if within else folder))
    pattern = f"~/{name}/**" if within else f"{name}/**"
    source = RuleSource(BUILT_IN)
    return tuple(Rule(Verdict.ALLOW, tool, pattern, f"{tool}({pattern})", source) for tool in ("Read", "Grep"))


def _option_rules(allow: Sequence[str], deny: Sequence[str]) -> tuple[tuple[Rule, ...], tuple[RuleProblem, ...]]:
    rules: list[Rule] = []
    problems: list[RuleProblem] = []
    for name, texts, verdict in (("--allow", allow, Verdict.ALLOW), ("--deny", deny, Verdict.DENY)):
        for text in texts:
            read = parse_rule(text, verdict, RuleSource(name))
            if isinstance(read, Rule):
                rules.append(read)
            else:
                problems.append(read)
    return tuple(rules), tuple(problems)
