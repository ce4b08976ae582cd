"""What a reader sees of a turn: what was said, the words and calls of its answer, cards, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maia.core.costs import Cost, Usage
from maia.core.endings import Outcome
from maia.core.events import ContextMeasured, Notice, TurnEnded
from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason
from maia.core.requests import BoundWhy
from maia.core.results import Block
from maia.core.submission import Attachment
from maia.workspace.records import Status

CallState: TypeAlias = Literal["running", "succeeded", "failed", "refused", "approval", "skipped", "unknown", "pending"]
"""The seven states of a row (R-2.181–R-2.187), and that of a call whose specialist waits for a person (R-2.188)."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a person wrote, or who is named by `by` in a person's place, and what went with it."""

    text: str
    at: int
    attachments: tuple[Attachment, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of the answer, between calls. `is_open`: more of it may come."""

    id: str
    text: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the person, with answers that are offered."""

    text: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as a row of the ledger. `since` is when it began to run, in milliseconds; `seconds` how long it ran.

    `why` is the key of a sentence that says why it was refused, where people are told more than the model was. `own` is
    the tool's name at the program that called it, where that is another one, `child` whom it delegated to, `asked` a
    question to the person, `told` our own words of how it ended, which are no part of its output.
    """

    id: str
    name: str
    arguments: JsonObject
    state: CallState
    preview: str = ""
    summary: str = ""
    output: str = ""
    cut_chars: int = 0
    blocks: tuple[Block, ...] = ()
    since: int | None = None
    seconds: float | None = None
    child: str = ""
    why: str = ""
    own: str = ""
    asked: Question | None = None
    told: Reason | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Calls that follow each other without words between them."""

    id: str
    calls: tuple[Call, ...]


Item: TypeAlias = Words | Trace


@dataclass(frozen=True, slots=True)
class Card:
    """A call that somebody must decide on (R-2.238). `ticket` is empty where nobody can; `by` decided so far."""

    call: Call
    ticket: str
    reason: Reason
    verdict: Literal["open", "approved", "refused"] = "open"
    by: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it waits for a decision."""
        return self.verdict == "open" and bool(self.ticket)


@dataclass(frozen=True, slots=True)
class Working:
    """What a turn does right now, in words: the key of a sentence with its values (principle 5)."""

    key: Literal["asking", "thinking", "writing", "drafting", "tools", "retry"]
    n: int = 0
    of: int = 0
    what: str = ""


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn as it is seen. `working` is None when it is over; `usage` is what its model calls reported so far.

    `below` is what each run cost that it delegated and waited for; it is no part of its own cost. `agent` is what the
    agent is called that answers, empty for maia itself.
    """

    number: int
    said: Said | None = None
    items: tuple[Item, ...] = ()
    notices: tuple[Notice, ...] = ()
    cards: tuple[Card, ...] = ()
    below: tuple[Cost, ...] = ()
    working: Working | None = None
    step: int = 0
    most_steps: int | None = None
    usage: Usage | None = None
    context: ContextMeasured | None = None
    ended: TurnEnded | None = None
    model: str = ""
    provider: str = ""
    why: BoundWhy | None = None
    agent: str = ""
    at: int = 0

    @property
    def status(self) -> Status:
        """What the conversation is, as far as its last turn, which this is, tells."""
        if self.ended is None:
            return "running"
        if any(card.is_open for card in self.cards):
            return "waiting_approval"
        return "idle" if self.question is None else "waiting"

    @property
    def question(self) -> Question | None:
        """What the person was asked and the next message answers; where calls wait as well, these come first."""
        if self.ended is None or self.ended.outcome != "finished" or self.cards:
            return None
        calls = [call for item in self.items if isinstance(item, Trace) for call in item.calls]
        return next((each.asked for each in reversed(calls) if each.asked is not None), None)

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; one that waited for approvals has finished once each of them is decided."""
        if self.ended is None:
            return None
        was_decided = self.cards and not any(card.is_open for card in self.cards)
        return "finished" if self.ended.outcome == "waiting_approval" and was_decided else self.ended.outcome
