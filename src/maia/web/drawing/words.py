"""What rows, badges and captions say: states, tones, icons, sums; each with its key of the catalogue."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from maia.core.costs import Cost, add_costs, dollars
from maia.core.endings import Outcome
from maia.core.events import ContextMeasured, Notice, TurnEnded
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.reason import Reason
from maia.core.text import one_line, visible
from maia.core.told import told as told_reason
from maia.i18n.formats import number, seconds, size
from maia.web.drawing.delivered import delivered
from maia.web.drawing.names import common_name
from maia.web.drawing.picker import answered, chip
from maia.web.drawing.progress import Progress
from maia.web.drawing.troubles import Trouble, told
from maia.web.drawing.view import Call, CallState, TurnView, Working
from maia.workspace.records import ApprovalRow, ApprovalStatus, CompositionRow, SectionRow, Status

Filled: TypeAlias = ContextMeasured | CompositionRow
"""How full a window is, from a stream or from a record."""
PERCENT: Final[Mapping[str, str]] = {"fr": "\u202f%", "en": "%"}


@dataclass(frozen=True, slots=True)
class Sign:
    """A state is a shape, a word, then a colour (principle 1)."""

    icon: str
    tone: str
    key: str


CALLS: Final[Mapping[CallState, Sign]] = {
    "running": Sign("ring", "accent", "web.call.running"),
    "succeeded": Sign("check", "success", "web.call.succeeded"),
    "failed": Sign("x", "danger", "web.call.failed"),
    "refused": Sign("ban", "danger", "web.call.refused"),
    "approval": Sign("hand", "warning", "web.call.approval"),
    "skipped": Sign("skip", "muted", "web.call.skipped"),
    "unknown": Sign("unknown", "muted", "web.call.unknown"),
    "pending": Sign("clock", "info", "web.call.pending"),
}

STATUSES: Final[Mapping[Status, Sign]] = {
    "idle": Sign("idle", "muted", "web.status.idle"),
    "running": Sign("ring", "accent", "web.status.running"),
    "waiting": Sign("clock", "info", "web.status.waiting"),
    "waiting_approval": Sign("hand", "warning", "web.status.waiting_approval"),
    "waiting_plan": Sign("map", "info", "web.status.waiting_plan"),
    "archived": Sign("inbox", "muted", "web.status.archived"),
}

FAILED: Final = Sign("x", "danger", "board.state.error")
"""A conversation whose last answer failed, until the next one: on its page, the board and Home alike (N-15.05)."""

PRIORITIES: Final[Mapping[str, Sign]] = {
    "low": Sign("flag", "muted", "priority.low"),
    "normal": Sign("flag", "muted", "priority.normal"),
    "high": Sign("flag", "warning", "priority.high"),
    "urgent": Sign("flag", "danger", "priority.urgent"),
}
PRESSING_FIRST: Final = tuple(PRIORITIES)[::-1]
COLOURS: Final = tuple(f"hue{n}" for n in range(1, 9))
ICONS: Final = ("project", "file", "branch", "bulb", "flag", "gear", "shield", "stage")
"""What a project is told by, and a type of projects."""

OUTCOMES: Final[Mapping[Outcome, Sign | None]] = {
    "finished": None,
    "turn_limit": Sign("pause", "warning", "web.outcome.turn_limit"),
    "output_limit": Sign("pause", "warning", "web.outcome.output_limit"),
    "refused": Sign("ban", "danger", "web.outcome.refused"),
    "tool_budget": Sign("pause", "warning", "web.outcome.tool_budget"),
    "stopped": Sign("stop", "muted", "web.outcome.stopped"),
    "failed": Sign("x", "danger", "web.outcome.failed"),
    "waiting_approval": Sign("hand", "warning", "web.outcome.waiting_approval"),
}

VERDICTS: Final[Mapping[ApprovalStatus, Sign]] = {
    "open": Sign("hand", "warning", "approvals.status.open"),
    "approved": Sign("check", "success", "approvals.status.approved"),
    "used": Sign("check", "success", "approvals.status.used"),
    "refused": Sign("ban", "danger", "approvals.status.refused"),
    "auto": Sign("check", "success", "approvals.status.auto"),
    "dropped": Sign("clock", "muted", "approvals.status.dropped"),
}

EGRESS: Final[Mapping[str, Sign]] = {
    "masked": Sign("mask", "info", "privacy.badge.masked"),
    "clean": Sign("check", "success", "privacy.badge.clean"),
    "unscanned": Sign("lock", "muted", "privacy.badge.unscanned"),
    "local": Sign("home", "muted", "privacy.badge.local"),
    "withheld": Sign("ban", "danger", "privacy.badge.withheld"),
}
_FULL: Final = ((0.5, "success"), (0.75, "warning"))
"""Below which part of the window is filled, and the tone of that (R-2.103)."""

NOTICES: Final[Mapping[str, str]] = {"info": "info", "warn": "alert", "fail": "alert"}


def state_of(status: Status, outcome: str | None, signs: Mapping[Status, Sign] = STATUSES) -> Sign:
    """What a conversation is, by its status and the outcome of its last answer: one truth for every page."""
    return FAILED if status == "idle" and outcome == "failed" else signs[status]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Puts values into the reader's words. `roots` are the folders of the conversation, its own first."""

    say: Say
    lang: str
    name_of: Callable[[str], str] = str
    roots: tuple[str, ...] = ()

    def provider(self, provider_id: str) -> str:
        """The one name of a provider (R-2.028)."""
        return self.name_of(provider_id)

    def answered(self, view: TurnView, ended: TurnEnded) -> str:
        """By whom, why, and which fallback applied."""
        return answered(self.provider(ended.provider), ended.model, view.why, self.say)

    def chip(self, view: TurnView, ended: TurnEnded) -> tuple[str, str] | None:
        """How deep it thought, and who asked for that."""
        return chip(view.why, ended.model, self.say)

    def count(self, value: int) -> str:
        return number(value, self.lang)

    def average(self, value: float) -> str:
        """`12`, `2,4`: tenths where they tell something."""
        return number(value, self.lang, 0 if value >= 100 or value == round(value) else 1)

    def size(self, value: int) -> str:
        """`84 ko`, `84 kB`."""
        return size(value, self.lang)

    def file_problem(self, problem: str) -> str:
        """Why less is known of a file than of others of its kind."""
        return self.say(f"files.problem.{problem}")

    def duration(self, value: float | None) -> str:
        """`0,1 s`; a dash where nothing ran."""
        return "—" if value is None else seconds(value, self.lang)

    def tokens(self, ended: TurnEnded) -> str:
        """`N in · N out`, the prompt with its cached parts (R-2.208); words where nothing was reported (R-2.209)."""
        usage = ended.usage
        if usage is None:
            return self.say("web.usage.unknown")
        return self.say("web.usage.tokens", input=self.count(usage.prompt), output=self.count(usage.output))

    def cost(self, ended: TurnEnded) -> str:
        """`$0.2184` as reported, `~$0.0612` as estimated, empty where it is unknown: never `$0` (R-2.209)."""
        return self.money(None if ended.cost.source == "unknown" else ended.cost.usd, ended.cost.source != "reported")

    def money(self, usd: float | None, is_estimated: bool) -> str:
        """A sum with its source (principle 3); what is known to cost nothing says so in words."""
        if usd is None:
            return ""
        if usd == 0:
            return self.say("budget.free")
        return ("~" if is_estimated else "") + dollars(usd)

    def delegated(self, below: Sequence[Cost]) -> str:
        """What the runs below a turn cost, beside its own cost and never in it; empty where nobody knows."""
        cost = add_costs(below)
        shown = self.money(cost.usd, cost.source != "reported")
        return self.say("delegate.cost", cost=shown) if shown else ""

    def cost_source(self, ended: TurnEnded) -> str:
        return self.say("web.cost.estimated" if ended.cost.source == "estimated" else "web.cost.reported")

    def reached(self, progress: Progress) -> str:
        """`Step 9 / 25` where steps are reported, else how many tools were called (R-2.249, R-2.250)."""
        if progress.most is None:
            return self.say("rail.run.calls", n=progress.calls)
        return self.say("rail.run.step", step=self.count(progress.step), most=self.count(progress.most))

    def billed(self, progress: Progress) -> str:
        """Tokens of all model calls of the run, as they were reported (R-2.252)."""
        if progress.billed is None:
            return self.say("web.usage.unknown") if progress.ended else self.say("rail.run.not_billed")
        return self.say("rail.run.billed", n=progress.billed, tokens=self.count(progress.billed))

    def notices(self, notices: Sequence[Notice]) -> list[tuple[str, str]]:
        """(level, words) of what a turn tells; what it tells several times stands once, with how often."""
        said = Counter((notice.level, self.notice(notice)) for notice in notices)
        return [(level, words if n == 1 else f"{words} (×\u00a0{n})") for (level, words), n in said.items()]

    def notice(self, notice: Notice) -> str:
        return visible(self.say(notice.key, **notice.values))

    def fill(self, measured: Filled) -> str:
        """The tone of how full a window is; none where nobody knows the window."""
        if not measured.window:
            return "muted"
        return tone_of_fill(measured.tokens / measured.window)

    def squares(self, window: int) -> int:
        """Into how many squares a meter is cut: one each 10,000 tokens, as in the terminal, while they can be told."""
        return max(2, min(40, round(window / 10_000)))

    def measured(self, measured: Filled) -> str:
        """Who says so (R-2.094, R-2.096)."""
        return self.say(f"context.{_source(measured)}")

    def fullness(self, measured: Filled) -> str:
        """`124.0k / 200k · 62 % · measured`, with `~` for an estimate."""
        about = "" if _source(measured) == "measured" else "~"
        used = about + self._thousands(measured.tokens, 1)
        if not measured.window:
            return f"{used} · {self.measured(measured)}"
        share = f"{about}{self.count(round(100 * measured.tokens / measured.window))}{PERCENT[self.lang]}"
        return f"{used} / {self._thousands(measured.window, 0)} · {share} · {self.measured(measured)}"

    def _thousands(self, value: int, decimals: int) -> str:
        if value < 1000:
            return self.count(value)
        return number(value / 1000, self.lang, decimals) + ("\u202fk" if self.lang == "fr" else "k")

    def egress(self, section: SectionRow) -> str:
        """What the privacy mask did to a section (R-2.107–R-2.110)."""
        kinds = section.masked_types or {}
        names = ", ".join(self.say(key) if self.say.has(key := f"privacy.type.{kind}") else kind for kind in kinds)
        return visible(self.say(EGRESS[str(section.privacy)].key, n=section.masked, types=names))

    def delivered(self, memory: JsonObject) -> list[str]:
        """The lines of the box «Mémoire transmise»."""
        return [visible(line) for line in delivered(memory, self.say, self.count)]

    def masked_results(self, tools: JsonObject) -> str:
        """`memory_search (2), …` (R-2.114)."""
        return visible(", ".join(f"{common_name(name)} ({n})" for name, n in tools.items()))

    def stored_reason(self, reason: JsonObject) -> str:
        """As `reason`, for one that was kept with a request."""
        return self.reason(Reason(reason["key"], reason["values"]))

    def call(self, row: ApprovalRow) -> str:
        """A call that waits, on one line."""
        return _one_line(row.preview, row.arguments)

    def near_call(self, row: ApprovalRow) -> str:
        """A call that waits, on one line, its path as it is seen from the folder of its conversation."""
        return near(self.call(row), (row.folder,) if row.folder else ())

    def near(self, words: str) -> str:
        """A path as it is seen from the folders of the conversation; anything else, and commands, stay as they are."""
        return near(words, self.roots)

    def asked_in(self, row: ApprovalRow, reader_id: str) -> str:
        """Who asks, and in which conversation where it is the reader's own."""
        title = row.title or self.say("web.title.none")
        return (
            self.say("approvals.in_conversation", name=row.asker, title=title)
            if row.owner_id == reader_id
            else row.asker
        )

    def not_resumed(self, row: ApprovalRow) -> str:
        """Why the run that waited for it could not go on (N-07.06)."""
        kept = json.loads(row.problem)
        return visible(self.say("autonomy.could_not", problem=self.say(kept["key"], **kept["values"])))

    def decided(self, row: ApprovalRow) -> str:
        """Who decided what."""
        return self.say(f"approvals.by_{row.status}", name=row.decider or self.say("approvals.somebody"))

    def reason(self, reason: Reason) -> str:
        """Why a rule asks, or a call has no result, in words."""
        return visible(told_reason(reason, self.say))

    def working(self, working: Working, provider: str) -> str:
        """The sentence beside the turning ring: it names what it waits for (principle 5)."""
        match working.key:
            case "asking":
                return self.say("web.working.asking", provider=self.provider(provider))
            case "thinking":
                return self.say("web.working.thinking", n=working.n)
            case "writing":
                return self.say("web.working.writing")
            case "drafting":
                return self.say("web.working.drafting", n=working.n, tool=common_name(working.what))
            case "tools":
                done, of = self.count(working.n), self.count(working.of)
                return self.say("web.working.tools", done=done, of=of, tool=common_name(working.what))
            case "retry":
                return self.say("web.working.retry", n=working.n, provider=self.provider(provider))

    def arguments(self, call: Call) -> str:
        """The call on one line."""
        return _one_line(call.preview, call.arguments)

    def trouble(self, ended: TurnEnded, *, has_text: bool) -> Trouble | None:
        """Why a turn failed."""
        if ended.failure is None:
            return None
        values = {"provider": self.provider(ended.provider), "model": ended.model}
        return told(ended.failure, values, self.say, has_text=has_text)


def near(path: str, roots: Sequence[str]) -> str:
    """A path inside one of the roots without the first of them, and with the name alone of any other."""
    for n, root in enumerate(each.rstrip("/") for each in roots):
        if root and path.startswith(f"{root}/"):
            inside = path[len(root) + 1 :]
            return f"{root.rpartition('/')[2]}/{inside}" if n else inside
    return path


def tone_of_fill(part: float) -> str:
    """The tone of a window of which that part is filled."""
    return next((tone for below, tone in _FULL if part < below), "danger")


def _source(measured: Filled) -> str:
    return measured.tokens_source if isinstance(measured, CompositionRow) else measured.source


def _one_line(preview: str, arguments: JsonObject) -> str:
    first = next((value for value in arguments.values() if isinstance(value, str)), "")
    return one_line(preview or first)[:300]


def pretty(arguments: JsonObject) -> str:
    """A call's input for a reader: one line a value."""
    return visible(json.dumps(arguments, ensure_ascii=False, indent=2))
