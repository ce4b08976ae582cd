"""The log of conversations: each event is written first, and told to readers when the database has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from typing import TypeAlias

from sqlalchemy import Connection

from maia.core.events import (
    CallDecided,
    CallQueued,
    Event,
    ReasoningDelta,
    RecordChanged,
    SessionRenamed,
    TextDelta,
    ToolCallDrafted,
    ToolOutput,
    TurnEnded,
    TurnStarted,
)
from maia.database.database import Database
from maia.database.events import Logged, Stamped, append_events, events_after
from maia.database.ids import now_ms
from maia.workspace.feed import Feeds
from maia.workspace.news import News

_GATHER = 0.15
"""Seconds within which pieces of text become one event (decisions §7): what a killed server may lose."""
_OPENING = 0.008
"""Seconds that a turn's first events wait for more, or for what a model says: its request goes out before them."""
_PAGE = 500
_FIRST_DELAY, _LONGEST_DELAY, _GIVE_UP_AFTER = 0.1, 2.0, 6

Along = Callable[[Connection], None]
"""What is written in the same transaction as an event."""
Piece: TypeAlias = TextDelta | ReasoningDelta | ToolCallDrafted | ToolOutput
_NEWS = (TurnStarted, TurnEnded, CallQueued, CallDecided, SessionRenamed, RecordChanged)
"""What is seen from outside a conversation: on the board, on Home, in lists."""
_PIECES = (TextDelta, ReasoningDelta, ToolCallDrafted, ToolOutput)


class Log:
    """Writes and reads the logs of all conversations."""

    def __init__(self, database: Database, feeds: Feeds, news: News) -> None:
        self._database = database
        self._feeds = feeds
        self._news = news

    def write(
        self,
        conversation_id: str,
        turn: int,
        events: Sequence[Stamped],
        along: Along | None = None,
        then: Callable[[Future[tuple[Logged, ...]]], None] | None = None,
        *,
        at_once: bool = False,
    ) -> Future[tuple[Logged, ...]]:
        """Write events, and `along` with them or not at all. Readers hear of them in the order of the log.

        `at_once` is for a few that a reader waits for (`Database.write_here`).
        `then` is called on the loop with how it went, after readers were told.
        """
        loop, feed = asyncio.get_running_loop(), self._feeds.of(conversation_id)

        def work(connection: Connection) -> tuple[Logged, ...]:
            logged = append_events(connection, conversation_id, turn, events)
            if along is not None:
                along(connection)
            return logged

        def tell(done: Future[tuple[Logged, ...]]) -> None:
            if done.exception() is None:
                feed.publish(done.result())
                if any(isinstance(each.event, _NEWS) for each in events):
                    self._news.tell(conversation_id)
            if then is not None:
                then(done)

        def hand_over(done: Future[tuple[Logged, ...]]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, done)

        future = self._database.write_here(work) if at_once else self._database.write_soon(work)
        if at_once and future.done():
            loop.call_soon(tell, future)
        else:
            future.add_done_callback(hand_over)
        return future

    def tell(self, conversation_id: str, logged: tuple[Logged, ...]) -> None:
        """Readers hear of events that were written beside others."""
        if logged:
            self._feeds.of(conversation_id).publish(logged)
            self._news.tell(conversation_id)

    async def follow(self, conversation_id: str, seq: int, patience: float) -> AsyncIterator[tuple[Logged, ...]]:
        """Everything after that number, in order, and then what comes, as it comes; ends when the server does.

        After `patience` seconds of silence it gives an empty tuple.
        """
        feed = self._feeds.of(conversation_id)
        while True:
            found = feed.since(seq)
            if found is None:
                found = await self._database.read(lambda c, after=seq: events_after(c, conversation_id, after, _PAGE))
            if found:
                seq = found[-1].seq
                yield found
            elif self._feeds.closed:
                return
            elif not await feed.news(seq, patience):
                yield ()


class TurnLog:
    """Takes the events of one turn as they happen. Pieces of text are gathered; nothing else waits.

    `first` is written with the first events. While the database refuses, events stay here and are tried again;
    `on_stuck` hears once when that lasts.
    """

    def __init__(self, log: Log, conversation_id: str, turn: int, on_stuck: Callable[[], None], first: Along) -> None:
        self._log = log
        self._conversation = conversation_id
        self._turn = turn
        self._on_stuck = on_stuck
        self._first: Along | None = first
        self._waiting: list[tuple[Stamped, Along | None]] = []
        self._held: Piece | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last_piece = 0.0
        self._has_spoken = False
        self._writing = False
        self._is_opening = True
        self._opening: asyncio.TimerHandle | None = None
        self._failures = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._loop = asyncio.get_running_loop()

    def take(self, event: Event, along: Along | None = None) -> None:
        """Keep one event; pieces of text come out seven times a second at most, the first one at once.

        The first events of all are written when the request is on its way, with what else has come by then.
        """
        if isinstance(event, _PIECES):
            self._gather(event)
            return
        self._release()
        self._put(event, along)

    async def written(self) -> None:
        """Wait until everything is in the log."""
        self._release()
        self._open()
        await self._idle.wait()

    # Inside

    def _gather(self, piece: Piece) -> None:
        joined = _joined(self._held, piece)
        if joined is None:
            self._release()
            joined = piece
        self._held = joined
        wait = self._last_piece + _GATHER - self._loop.time()
        if wait <= 0:
            self._release()
        elif self._timer is None:
            self._timer = self._loop.call_later(wait, self._release)

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held is not None:
            piece, self._held = self._held, None
            self._last_piece = self._loop.time()
            self._put(piece, None)

    def _put(self, event: Event, along: Along | None) -> None:
        self._waiting.append((Stamped(now_ms(), event), along))
        self._idle.clear()
        if self._is_opening and not isinstance(event, _PIECES):
            self._opening = self._opening or self._loop.call_later(_OPENING, self._open)
        elif self._is_opening:
            self._open()
        elif not self._writing:
            self._write()

    def _open(self) -> None:
        if not self._is_opening:
            return
        self._is_opening = False
        if self._opening is not None:
            self._opening.cancel()
        if self._waiting:
            self._write()

    def _write(self) -> None:
        """Hand over all that waits. An event with something along is the last of its batch."""
        self._writing = True
        size = next((n for n, (_, along) in enumerate(self._waiting, 1) if along is not None), len(self._waiting))
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        events = [stamped for stamped, _ in batch]
        along = _both(self._first, batch[-1][1])
        speaks = not self._has_spoken and isinstance(events[-1].event, _PIECES)
        self._has_spoken = self._has_spoken or speaks
        self._log.write(
            self._conversation, self._turn, events, along, lambda done: self._wrote(batch, done), at_once=speaks
        )

    def _wrote(self, batch: list[tuple[Stamped, Along | None]], done: Future[tuple[Logged, ...]]) -> None:
        if done.exception() is not None:
            self._again(batch)
            return
        self._failures, self._first = 0, None
        if self._waiting:
            self._write()
        else:
            self._writing = False
            self._idle.set()

    def _again(self, batch: list[tuple[Stamped, Along | None]]) -> None:
        self._waiting = [*batch, *self._waiting]
        self._failures += 1
        if self._failures == _GIVE_UP_AFTER:
            self._on_stuck()
        self._loop.call_later(min(_FIRST_DELAY * 2**self._failures, _LONGEST_DELAY), self._write)


def _both(one: Along | None, other: Along | None) -> Along | None:
    if one is None or other is None:
        return one or other

    def along(connection: Connection) -> None:
        one(connection)
        other(connection)

    return along


def _joined(held: Piece | None, piece: Piece) -> Piece | None:
    """Both pieces as one, None where they are of different things."""
    match held, piece:
        case None, _:
            return piece
        case TextDelta(), TextDelta():
            return TextDelta(held.text + piece.text)
        case ReasoningDelta(), ReasoningDelta():
            return ReasoningDelta(held.text + piece.text)
        case ToolCallDrafted(), ToolCallDrafted() if held.index == piece.index:
            return piece
        case ToolOutput(), ToolOutput() if held.call_id == piece.call_id:
            return ToolOutput(held.call_id, held.text + piece.text)
        case _:
            return None
