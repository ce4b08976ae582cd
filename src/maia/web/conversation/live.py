"""The stream of a conversation's page: what changed, as pieces of HTML that the page puts where they belong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from maia.core.events import (
    CallDecided,
    CallQueued,
    Notice,
    RecordChanged,
    SessionRenamed,
    StepStarted,
    TextDelta,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.web.drawing.folding import TurnFold, fold
from maia.web.drawing.markdown import Splitter
from maia.web.drawing.progress import Progress, progress_of
from maia.web.drawing.render import Reader, blocks
from maia.web.drawing.view import Item, Trace, TurnView, Words
from maia.web.drawing.words import state_of
from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.web.layout.stream import PATIENCE, frame
from maia.workspace.approvals import may_decide
from maia.workspace.records import PROGRESS, ConversationRow, Logged

BEAT = 0.08
"""Seconds after a piece of text before the next piece, at least; the first words of an answer wait for nothing."""
_AFTER_YOU = 0.008
"""Seconds that a page waits with what a turn begins with: the request to the model, which is made then, goes first."""
_TOLD_ABOVE = (TurnStarted, TurnEnded, CallQueued, CallDecided)
"""Events after which a conversation has another status, or other cards."""


def part(target: str, html: object, how: str = "outerMorph") -> str:
    """One piece: where it goes, and how."""
    return f'<hx-partial hx-target="#{target}" hx-swap="{how}">{html}</hx-partial>'


def changed(logged: Iterable[Logged]) -> str:
    """The parts of the record that are other after these events; a page draws again what it shows of them."""
    parts: set[str] = set()
    for each in logged:
        match each.event:
            case TurnStarted() | TurnEnded() | CallDecided():
                parts |= {"history", "fields"}
            case SessionRenamed():
                parts.add("fields")
            case RecordChanged():
                parts |= {*each.event.parts}
            case UserSaid() if each.event.attachments:
                parts.add("files")
            case Notice(key="files.written"):
                parts.add("files")
            case _:
                pass
    return " ".join(sorted(parts))


async def pieces(desk: Desk, person: Person, reader: Reader, row: ConversationRow, cursor: int) -> AsyncGenerator[str]:
    """Frames for a page that shows the log up to `cursor`.

    The page's last turn is drawn again as a whole first, whatever was missed; from there on only what changed.
    """
    canvas = Canvas(reader, person.user.name, may_decide(person.user), row.id)
    shown_turn, logged = await desk.workspace.since(row, cursor)
    reached = logged[-1].seq if logged else cursor
    if parts := changed(each for each in logged if each.seq > cursor):
        yield frame(parts, event="record")
    if begun := "".join(canvas.begin(shown_turn, logged, cursor)):
        yield frame(begun, seq=reached)
    is_silent = _is_awaited(logged, was=False)
    async for batch in desk.workspace.follow(row, reached, PATIENCE):
        if batch:
            if any(isinstance(each.event, TurnStarted) for each in batch):
                await asyncio.sleep(_AFTER_YOU)
            if parts := changed(batch):
                yield frame(parts, event="record")
            if turns := canvas.unknown(batch):
                canvas.learn(await desk.workspace.turns_until(row, turns, batch[0].seq))
            added = canvas.add(batch)
            if is_silent and any(isinstance(each.event, TextDelta) for each in batch):
                yield frame(next(added, ""))  # without a number: only with all the rest is the page that far
            is_silent = _is_awaited(batch, was=is_silent)
            if html := "".join(added):
                yield frame(html, seq=batch[-1].seq)
            if any(isinstance(each.event, PROGRESS) for each in batch):
                await asyncio.sleep(BEAT)
        elif await desk.workspace.accounts.who(person.token) is None:
            return
        else:
            yield ": \n\n"


def _is_awaited(logged: Sequence[Logged], *, was: bool) -> bool:
    """Whether a model was asked and has said nothing yet, after these events."""
    heard = (each.event for each in reversed(logged) if isinstance(each.event, (StepStarted, TextDelta, TurnEnded)))
    last = next(heard, None)
    return was if last is None else isinstance(last, StepStarted)


@dataclass(slots=True)
class Canvas:
    """What one page shows of a conversation, so that only differences travel."""

    reader: Reader
    author: str
    may_decide: bool
    conversation: str
    _folds: dict[int, TurnFold] = field(default_factory=dict[int, TurnFold])
    _drawn: dict[int, TurnView] = field(default_factory=dict[int, TurnView])
    _cut: dict[str, Splitter] = field(default_factory=dict[str, Splitter])
    _blocks: dict[str, tuple[Words, list[tuple[str, Any]]]] = field(
        default_factory=dict[str, "tuple[Words, list[tuple[str, Any]]]"]
    )
    _rows: Any = None
    _strip: Any = None
    _progress: Progress | None = None

    def begin(self, shown_turn: int, logged: tuple[Logged, ...] | list[Logged] | Any, cursor: int) -> Iterator[str]:
        """Bring a page up to date that had come to `cursor`, in turn `shown_turn`."""
        missed = [each for each in logged if each.seq > cursor]
        self._folds = {each.number: each for each in fold(logged)}
        self._rows = self.reader.pieces("rows.html")
        self._strip = self.reader.pieces("execution.html")
        for number, turn in self._folds.items():
            view = turn.view()
            if missed and number <= shown_turn:
                yield part(f"turn-{number}", self._rows.turn(view, self.author))
            elif number > shown_turn:
                yield from self._new(view)
            self._remember(view)
        yield from self._head(missed)

    def unknown(self, logged: tuple[Logged, ...]) -> set[int]:
        """Turns before those that it knows which these events change: what was asked there is decided or done later."""
        newest = max(self._folds, default=0)
        return {each.turn for each in logged if 0 < each.turn < newest and each.turn not in self._folds}

    def learn(self, logged: Iterable[Logged]) -> None:
        """Turns as the page shows them already, if it does."""
        for each in fold(logged):
            self._folds[each.number] = each
            self._remember(each.view())

    def add(self, logged: tuple[Logged, ...]) -> Iterator[str]:
        """What these events change."""
        touched, newest = dict.fromkeys(each.turn for each in logged if each.turn), max(self._drawn, default=0)
        for each in logged:
            if each.turn:
                self._folds.setdefault(each.turn, TurnFold(each.turn)).take(each)
        for number in touched:
            view, before = self._folds[number].view(), self._drawn.get(number)
            if before is None:
                yield from self._new(view)
            else:
                yield from self._changed(before, view)
            self._remember(view)
        if max(self._drawn, default=0) > newest:
            self._forget_all_but_the_last()
        yield from self._head(logged)

    # Inside

    def _forget_all_but_the_last(self) -> None:
        """A page stays open for days: turns that are over are learned again should something of them change."""
        last = max(self._drawn)
        self._folds, self._drawn = {last: self._folds[last]}, {last: self._drawn[last]}
        begins = f"t{last}-"
        self._cut = {name: cut for name, cut in self._cut.items() if name.startswith(begins)}
        self._blocks = {name: made for name, made in self._blocks.items() if name.startswith(begins)}

    def _remember(self, view: TurnView) -> None:
        before = self._drawn.get(view.number)
        known = before.items if before is not None else ()
        self._drawn[view.number] = view
        for n, item in enumerate(view.items):
            if isinstance(item, Words) and not (n < len(known) and known[n] is item):
                self._blocks_of(item)

    def _new(self, view: TurnView) -> Iterator[str]:
        if view.number == 1:
            yield part("nothing", "", "delete")
        yield part("stream", self._rows.turn(view, self.author), "beforeend")

    def _head(self, logged: Any) -> Iterator[str]:
        """The bar above and the buttons below."""
        events = [each.event for each in logged]
        renamed = next((event for event in reversed(events) if isinstance(event, SessionRenamed)), None)
        if renamed is not None:
            yield part("title", self._rows.title(renamed.name))
        turned = next((event for event in reversed(events) if isinstance(event, (TurnStarted, TurnEnded))), None)
        if turned is not None:
            yield part("actions", self._rows.actions(isinstance(turned, TurnStarted)))
        if self._drawn:
            yield from self._run(progress_of(self._drawn[max(self._drawn)]))
        if self._drawn and any(isinstance(event, _TOLD_ABOVE) for event in events):
            last = self._drawn[max(self._drawn)]
            yield part("status", self._rows.status(state_of(last.status, last.outcome)))
            if last.context is not None:
                yield part("context", self._rows.context(last.context, self.conversation))
            yield part("cards", self._rows.cards(last.cards, self.may_decide, last.question))

    def _run(self, progress: Progress) -> Iterator[str]:
        """The Execution strip, where the last turn has come further."""
        if progress == self._progress:
            return
        self._progress = progress
        yield part("run-badge", self._strip.badge(progress))
        yield part("run", self._strip.run(progress))

    def _changed(self, old: TurnView, new: TurnView) -> Iterator[str]:
        if old.said != new.said or new.at != old.at:
            yield part(f"turn-{new.number}", self._rows.turn(new, self.author))
            return
        if new.ended is not None or len(new.items) < len(old.items):  # words that came to nothing but white space
            yield part(f"t{new.number}-answer", self._rows.answer(new))
            return
        for n, item in enumerate(new.items):
            if n >= len(old.items):
                yield part(f"t{new.number}-items", self._rows.one(item), "beforeend")
            elif item != old.items[n]:
                yield from self._item(old.items[n], item)
        if (old.working, old.notices) != (new.working, new.notices):
            yield part(f"t{new.number}-foot", self._rows.foot(new))

    def _item(self, old: Item, new: Item) -> Iterator[str]:
        match old, new:
            case Words(), Words():
                yield from self._words(new)
            case Trace(), Trace():
                for n, call in enumerate(new.calls):
                    if n >= len(old.calls):
                        yield part(new.id, self._rows.row(call), "beforeend")
                    elif call != old.calls[n]:
                        yield part(call.id, self._rows.row(call))
            case _:
                yield part(old.id, self._rows.one(new))

    def _words(self, words: Words) -> Iterator[str]:
        shown = self._blocks.get(words.id)
        before = shown[1] if shown is not None else []
        now = self._blocks_of(words)
        if len(now) < len(before):
            yield part(words.id, self._rows.prose(words))
            return
        for n, (block_id, html) in enumerate(now):
            if n >= len(before):
                yield part(words.id, self._rows.block(block_id, html), "beforeend")
            elif before[n] != (block_id, html):
                yield part(block_id, self._rows.block(block_id, html))

    def _blocks_of(self, words: Words) -> list[tuple[str, Any]]:
        """The blocks of a piece of the answer, which are made once for each state of it."""
        known = self._blocks.get(words.id)
        if known is not None and known[0] is words:
            return known[1]
        made: list[tuple[str, Any]] = [*blocks(words, self._cut.setdefault(words.id, Splitter()).split(words.text))]
        self._blocks[words.id] = (words, made)
        return made
