"""Settings and rules of a folder, read together, because both wait for the person's trust in it (decisions §9)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.permission import Need, Rule, Verdict
from maia.core.ports import Fence, Say
from maia.engine.views import RuleFile, Trust
from maia.launch import Folders
from maia.permissions.anchored import anchored
from maia.permissions.judge import BUILT_IN, RuleJudge
from maia.permissions.paths import Place
from maia.permissions.trust import remember, trust_state
from maia.permissions.view import problem_notice, start_notices
from maia.settings import Settings, load_settings
from maia.terminal.options import Options


def saved_outputs(folders: Folders) -> Path:
    """The folder for outputs too long for the model, which is told of the file."""
    return folders.sessions / "outputs"


class FolderRules:
    """What the settings files, the options and the person's trust come to; `reload` reads all of it again.

    `more` are the rules of an agent, which add to all others: none of them lifts a deny or an ask (T7.04). What the
    `fence` closes no rule opens.
    Raises `UsageProblem` for an `--allow` or `--deny` that is no rule: a script must not run with less than it asked.
    """

    def __init__(
        self,
        folders: Folders,
        env: Mapping[str, str],
        options: Options,
        say: Say,
        add_dirs: tuple[Path, ...] = (),
        more: tuple[Rule, ...] = (),
        fence: Fence | None = None,
    ) -> None:
        self._folders = folders
        self._env = env
        self._options = options
        self._say = say
        self._state = trust_state(folders.launch, folders.home)
        self.judge = RuleJudge(
            Place(folders.launch, folders.home, folders=add_dirs),
            trusted=self._is_trusted,
            allow=options.allow,
            deny=options.deny,
            own_outputs=saved_outputs(folders),
            more=more,
            fence=fence,
        )
        for problem in self.judge.option_problems:
            notice = problem_notice(problem, say)
            raise UsageProblem(notice.key, **notice.values)
        self._above: FolderRules | None = None
        self.settings = self._load()

    def restrict(self, above: FolderRules) -> None:
        """Hold here, too, what `above` denies, asks about and walls in: who chose this folder gains nothing by it."""
        self._above = above
        own = set(self.judge.rules.rules)
        restrictions = anchored(above.judge.rules.rules, above.judge.place.launch)
        self.judge.more += tuple(rule for rule in restrictions if rule not in own)
        self.reload()

    def reload(self) -> None:
        """Read files and trust again; what was allowed for the session stays."""
        self._state = trust_state(self._folders.launch, self._folders.home)
        self.judge.trusted = self._is_trusted
        self.judge.reload()
        self.settings = self._load()

    def current(self) -> Settings:
        """The settings as they were last read."""
        return self.settings

    def trust_needed(self) -> Trust | None:
        """What to ask a person before the folder's own configuration is used."""
        if self._is_trusted:
            return None
        return Trust(str(self._folders.launch), self._state.contents, self._state.verdict == "changed")

    def trust(self, yes: bool) -> None:
        """Remember a yes with what it was given for; after a no it is asked again at the next start."""
        if yes:
            remember(self._folders.launch, self._folders.home, self._state.digest)
            self.reload()

    def shown(self) -> tuple[RuleFile, ...]:
        """The rules that somebody wrote or gave, by their place, those of options and session last (T6.07)."""
        by_place: dict[str, list[Rule]] = {}
        for rule in self.judge.rules.rules:
            if rule.source.name == BUILT_IN:
                continue
            by_place.setdefault(rule.source.name, []).append(rule)
        return tuple(RuleFile(place, tuple(rules)) for place, rules in by_place.items())

    def notices(self) -> tuple[Notice, ...]:
        """The start log of settings, rules and trust (T1.09, T1.10)."""
        waiting: tuple[Notice, ...] = ()
        if not self._is_trusted:
            waiting = (Notice("warn", "start.untrusted", {"files": ", ".join(self._state.contents)}),)
        return (*self.settings.notices, *start_notices(self.judge, self._say), *waiting)

    def allows_private_host(self, host: str) -> bool:
        """Whether an allow rule names exactly this host, so that WebFetch may go there although it is private."""
        decision = self.judge.decide((Need("WebFetch", "host", host),))
        rule = decision.rule
        names_it = rule is not None and rule.pattern is not None and "*" not in rule.pattern
        return decision.verdict is Verdict.ALLOW and names_it

    @property
    def _is_trusted(self) -> bool:
        return self._state.verdict == "trusted"

    def _load(self) -> Settings:
        options = {"model": self._options.model, "MaxIterations": self._options.max_iterations}
        folders = self._folders
        found = load_settings(folders.launch, folders.home, self._env, options, folder_trusted=self._is_trusted)
        return found if self._above is None else found.walled_as(self._above.settings)
