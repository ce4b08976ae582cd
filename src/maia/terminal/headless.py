"""`maia -p`: one turn without a screen; its events as text, as one JSON object or as JSON lines (decisions §11)."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol, TextIO

from maia.core.codec import dump_event, to_json
from maia.core.endings import Outcome
from maia.core.events import Answered, ApprovalRequested, Event, LimitReached, Notice, RetryScheduled, TurnEnded
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import TextPart
from maia.core.permission import Answer
from maia.core.submission import Submission
from maia.terminal.badges import badge_lines, failure_lines, failure_title, failure_words
from maia.terminal.colours import Look, look_of, to_ansi
from maia.terminal.endings import notice_lines
from maia.terminal.options import OutputFormat
from maia.terminal.spans import Line
from maia.terminal.streams import give_up, literal
from maia.terminal.words import Words

EXIT_CODES: dict[Outcome, int] = {
    "finished": 0,
    "failed": 1,
    "refused": 1,
    "waiting_approval": 1,
    "turn_limit": 4,
    "output_limit": 4,
    "tool_budget": 4,
    "stopped": 130,
}


class Talk(Protocol):
    """What headless needs of a session."""

    @property
    def name(self) -> str: ...
    def open(self) -> AsyncIterator[Event]: ...
    def turn(self, submission: Submission) -> AsyncIterator[Event]: ...
    def stop(self) -> None: ...
    def answer(self, approval_id: str, answer: Answer, by: Literal["person", "headless"] = "person") -> None: ...
    async def close(self) -> None: ...


@dataclass(slots=True)
class Collected:
    """What a script wants of a turn: the last answer's text and how the turn ended."""

    text: str = ""
    ended: TurnEnded | None = None

    def take(self, event: Event) -> None:
        match event:
            case Answered():
                text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart))
                self.text = text or self.text
            case TurnEnded():
                self.ended = event
            case _:
                pass


def result(collected: Collected, session: str, say: Words) -> JsonObject:
    """The object of `--output-format json`, with names that scripts rely on; `usage` is null when none was reported.

    `message` is a failure in a person's words with what to do, null where there is none.
    """
    ended = collected.ended
    if ended is None:
        raise ValueError("the turn has not ended")
    return {
        "text": collected.text,
        "outcome": ended.outcome,
        "stopReason": ended.raw_stop or ended.stop,
        "usage": to_json(ended.usage),
        "cost": to_json(ended.cost),
        "model": ended.model,
        "provider": ended.provider,
        "steps": ended.steps,
        "toolCalls": ended.tool_calls,
        "session": session,
        "failure": to_json(ended.failure),
        "message": failure_words(ended.failure, say) if ended.failure else None,
    }


class Printer:
    """Writes one turn to `out` in the asked format; rows for a person at the terminal go to `aside`.

    `more` stands in the JSON result beside what the turn says: the agent as which it was done.
    """

    def __init__(
        self,
        form: OutputFormat,
        say: Words,
        out: TextIO,
        aside: Callable[[Sequence[Line]], None],
        look: Look,
        session: Callable[[], str],
        more: Mapping[str, JsonValue] | None = None,
    ) -> None:
        self._more = more or {}
        self._form = form
        self._say = say
        self._out = out
        self._aside = aside
        self._look = look
        self._session = session
        self.collected = Collected()

    def show(self, event: Event) -> None:
        """Take one event and write what the format wants of it at once."""
        self.collected.take(event)
        if self._form == "stream-json":
            self._line(self._last(event) if isinstance(event, TurnEnded) else dump_event(event))
        if rows := self._rows(event):
            self._aside(rows)

    def finish(self) -> None:
        """Write what comes at the end: the answer, or the one JSON object."""
        match self._form:
            case "text" if self.collected.text:
                self._line(self.collected.text)
            case "json" if self.collected.ended is not None:
                self._line(json.dumps(self._result(), ensure_ascii=False))
            case _:
                pass

    def _line(self, text: str) -> None:
        text = literal(text, self._out)
        self._out.write(text if text.endswith("\n") else text + "\n")
        self._out.flush()

    def _result(self) -> JsonObject:
        return {**result(self.collected, self._session(), self._say), **self._more}

    def _last(self, event: TurnEnded) -> str:
        return json.dumps({**to_json(event), **self._result()}, ensure_ascii=False)

    def _rows(self, event: Event) -> list[Line]:
        """What a person should know although the answer goes elsewhere."""
        say, look = self._say, self._look
        match event:
            case Notice() if event.level != "info":
                return notice_lines(event, look, say)
            case RetryScheduled():
                what = failure_title(event.failure, say)
                return badge_lines("warn", say("cli.retry", what=what, seconds=round(event.delay, 1)), look)
            case TurnEnded() if event.failure is not None:
                return failure_lines(event.failure, look, say)
            case TurnEnded() if event.outcome in ("turn_limit", "tool_budget", "output_limit", "refused"):
                return badge_lines("warn", say(f"cli.outcome.{event.outcome}"), look)
            case _:
                return []


async def run(talk: Talk, submission: Submission, printer: Printer) -> int:
    """Open the session, run one turn, print it; the exit code of decisions §11. Raises `MaiaError` before the turn."""
    try:
        with _stopping(talk) as stops:
            async for event in talk.open():
                printer.show(event)
            if stops.asked:
                return EXIT_CODES["stopped"]
            async for event in talk.turn(submission):
                printer.show(event)
                refuse(talk, event)
        printer.finish()
    except _Hurried:
        return EXIT_CODES["stopped"]
    finally:
        await talk.close()
    return exit_code(printer.collected.ended)


class _Hurried(Exception):
    """Somebody asked twice to stop."""


@dataclass(slots=True)
class _Stops:
    """How often somebody asked to stop."""

    asked: int = 0


@contextmanager
def _stopping(talk: Talk) -> Generator[_Stops]:
    """Ctrl+C and a polite kill stop the turn, so that what was written is kept.

    The second one, of whichever kind, does not wait for commands that take their time to end: they are killed. A signal
    that the caller told us to ignore (`nohup`, a job in the background) stays ignored. Raises `_Hurried`.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    stops = _Stops()

    def stop() -> None:
        stops.asked += 1
        if stops.asked == 1:
            talk.stop()
        elif task is not None:
            task.cancel()

    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    signals = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield stops
    except asyncio.CancelledError:
        if stops.asked > 1:
            raise _Hurried from None
        raise
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def refuse(talk: Talk, event: Event) -> None:
    """Nobody is there: every question is a no, with the reason for the model (decisions §11)."""
    if isinstance(event, (ApprovalRequested, LimitReached)):
        talk.answer(event.approval_id, Answer("no"), "headless")


def exit_code(ended: TurnEnded | None) -> int:
    return EXIT_CODES[ended.outcome] if ended is not None else 1


def standard_streams() -> tuple[TextIO, TextIO]:
    """Standard output and error in UTF-8 whatever the locale says; what cannot be encoded never raises."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    return sys.stdout, sys.stderr


def stream_look(env: Mapping[str, str], stream: TextIO) -> Look:
    """What rows on this stream may look like: wrapped and coloured only where it is a terminal."""
    if not stream.isatty():
        return look_of(env, 10_000, is_tty=False)
    return look_of(env, shutil.get_terminal_size().columns)


def show(rows: Sequence[Line], look: Look, stream: TextIO) -> None:
    """Write rows on a stream that is no screen of ours."""
    for row in rows:
        print(to_ansi(row, look), file=stream)
    stream.flush()


def show_aside(rows: Sequence[Line], look: Look, stream: TextIO) -> None:
    """As `show`, on standard error: where it takes nothing more, the work goes on without words beside it."""
    try:
        show(rows, look, stream)
    except OSError:
        give_up(2)
