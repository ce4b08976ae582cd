"""A card in its reader's words: what it is doing, how full, what it cost, when it is due, how old it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from maia.core.ports import Say
from maia.i18n.formats import day, long_day, month, number
from maia.web.drawing.clock import zone_of
from maia.web.drawing.words import PERCENT, STATUSES, Sign, state_of, tone_of_fill
from maia.workspace.records import Card, Status

STATES: Final[Mapping[Status, Sign]] = {
    **STATUSES,
    "running": Sign("ring", "accent", "board.state.working"),
    "waiting": Sign("clock", "info", "board.state.waiting"),
    "waiting_approval": Sign("hand", "warning", "board.state.approval"),
}
"""A card's status in one word (N-15.05)."""
_WHY: Final[Mapping[str, str]] = {
    "board.state.waiting": "board.home.waits",
    "web.status.waiting_plan": "board.home.waits_plan",
    "board.state.error": "board.home.failed",
}
STUCK_AFTER: Final = 10 * 60_000
"""Milliseconds without any event after which a running card counts as stuck."""
_NBSP = "\u00a0"


@dataclass(frozen=True, slots=True)
class Share:
    """How full the window is; `words` have `~` where that is an estimate."""

    tokens: int
    window: int
    tone: str
    words: str


@dataclass(frozen=True, slots=True)
class Due:
    """When something is due; a tone where that is today or over."""

    words: str
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class CardWords:
    """`now` is in the reader's zone."""

    say: Say
    lang: str
    now: datetime

    @classmethod
    def of(cls, say: Say, lang: str, zone: str) -> CardWords:
        """For a reader in their zone, at this moment."""
        return cls(say, lang, datetime.now(zone_of(zone)))

    @property
    def today(self) -> str:
        """The reader's day, as due dates are kept."""
        return self.now.date().isoformat()

    @property
    def month_began(self) -> int:
        """When the reader's month began, in milliseconds."""
        return int(self.now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)

    def month(self) -> str:
        """The name of the reader's month."""
        return month(self.now.date(), self.lang)

    def long_day(self) -> str:
        """Today in full."""
        return long_day(self.now.date(), self.lang)

    def pressing(self, card: Card) -> Sign:
        """The sign of why a card needs somebody."""
        if self.is_stuck(card):
            return Sign("alert", "warning", "board.stuck")
        state = self.state(card)
        due = self.due(card)
        return state if state.tone != "muted" else Sign("calendar", due.tone if due else "muted", state.key)

    def why(self, card: Card) -> str:
        """Why a card needs somebody, in words."""
        if self.is_stuck(card):
            return self.say("board.home.stuck")
        state = self.state(card).key
        reasons = [self.say(_WHY[state])] if state in _WHY else []
        if (due := self.due(card)) is not None and due.tone:
            key = "board.home.due" if due.tone == "warning" else "board.home.overdue"
            reasons.append(self.say(key, when=due.words))
        return " · ".join(reasons)

    def state(self, card: Card) -> Sign:
        """What the card is doing; a last answer that failed is an error until the next one."""
        return state_of(card.status, card.outcome, STATES)

    def share(self, card: Card) -> Share | None:
        """None before the first turn, and where nobody knows the window."""
        if not card.context_window or card.context_tokens is None:
            return None
        part = card.context_tokens / card.context_window
        about = "" if card.context_source == "measured" else "~"
        words = f"{about}{number(round(100 * part), self.lang)}{PERCENT[self.lang]}"
        return Share(card.context_tokens, card.context_window, tone_of_fill(part), words)

    def cost(self, card: Card) -> str:
        """`$1.48`, `~$1.94` with an estimate in it, words where nobody knows: never `$0`."""
        if card.turns == 0:
            return self.say("board.no_turn")
        if card.cost_usd is None:
            return self.say("board.cost.running" if card.status == "running" else "board.cost.unknown")
        return self.money(card.cost_usd, is_estimate=card.has_estimate)

    def money(self, usd: float, *, is_estimate: bool) -> str:
        """A sum of dollars."""
        if usd <= 0:
            return self.say("budget.free")
        shown = f"${usd:.2f}" if usd >= 0.01 else f"${usd:.4f}" if usd >= 0.0001 else "<$0.0001"
        return ("~" if is_estimate else "") + shown

    def cost_title(self, card: Card) -> str:
        """Whether the sum is whole, and who says so."""
        parts = ["board.cost.has_estimate" if card.has_estimate else "board.cost.reported"]
        parts += ["board.cost.partial"] if card.has_unknown_cost else []
        return " ".join(self.say(key) for key in parts) if card.cost_usd else ""

    def due(self, card: Card) -> Due | None:
        """`yesterday`, `today`, `11 Dec`."""
        if card.due_on is None:
            return None
        at, today = date.fromisoformat(card.due_on), self.now.date()
        near = {today: "board.due.today", today - timedelta(1): "board.due.yesterday"}
        near[today + timedelta(1)] = "board.due.tomorrow"
        words = self.say(near[at]) if at in near else day(at, self.lang, today)
        is_over = card.is_closed or card.status == "archived"
        tone = "" if is_over or at > today else "warning" if at == today else "danger"
        return Due(words, tone, self.say("board.due.overdue" if tone == "danger" else "board.due.title"))

    def is_stuck(self, card: Card) -> bool:
        """Whether it runs without a sign of life."""
        if card.status != "running" or card.moved_at is None:
            return False
        return self.now.timestamp() * 1000 - card.moved_at > STUCK_AFTER

    def age(self, card: Card) -> str:
        """How long nothing changed, or that it is stuck (N-15.04)."""
        if self.is_stuck(card):
            return self.say("board.stuck")
        return self.since(card.updated_at)

    def since(self, at: int) -> str:
        """How long ago that was, in the largest unit that says something: `now`, `12 min`, `5 h`, `3 d`."""
        minutes = max(0, int((self.now.timestamp() * 1000 - at) // 60_000))
        if minutes < 1:
            return self.say("board.now")
        if minutes < 60:
            return f"{minutes}{_NBSP}min"
        if minutes < 48 * 60:
            return f"{minutes // 60}{_NBSP}h"
        return self.say("board.days", n=minutes // 1440)
