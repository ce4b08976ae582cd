"""`maia -p`: one turn without a screen; its events as text, as one JSON object or as JSON lines (decisions §11)."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TextIO

from maia.core.codec import dump_event, to_json
from maia.core.events import Answered, ApprovalRequested, Event, LimitReached, Notice, RetryScheduled, TurnEnded
from maia.core.ports import Say
from maia.core.text import visible
from maia.core.types import Answer, JsonObject, Outcome, Submission, TextPart
from maia.terminal.options import OutputFormat

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
    notices: list[Notice] = field(default_factory=list[Notice])

    def take(self, event: Event) -> None:
        match event:
            case Answered():
                text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart))
                self.text = text or self.text
            case TurnEnded():
                self.ended = event
            case Notice():
                self.notices.append(event)
            case _:
                pass


def result(collected: Collected, session: str) -> JsonObject:
    """The object of `--output-format json`, with names that scripts rely on; `usage` is null when none was reported."""
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
    }


class Printer:
    """Writes one turn to `out` in the asked format; words for a person go to `err`."""

    def __init__(self, form: OutputFormat, say: Say, out: TextIO, err: TextIO, session: Callable[[], str]) -> None:
        self._form = form
        self._say = say
        self._out = out
        self._err = err
        self._session = session
        self.collected = Collected()

    def show(self, event: Event) -> None:
        """Take one event and write what the format wants of it at once."""
        self.collected.take(event)
        if self._form == "stream-json":
            self._line(self._last(event) if isinstance(event, TurnEnded) else dump_event(event))
        for line in self._aside(event):
            print(visible(line), file=self._err, flush=True)

    def finish(self) -> None:
        """Write what comes at the end: the answer, or the one JSON object."""
        match self._form:
            case "text" if self.collected.text:
                self._line(self.collected.text)
            case "json" if self.collected.ended is not None:
                self._line(json.dumps(result(self.collected, self._session()), ensure_ascii=False))
            case _:
                pass

    def _line(self, text: str) -> None:
        self._out.write(text if text.endswith("\n") else text + "\n")
        self._out.flush()

    def _last(self, event: TurnEnded) -> str:
        return json.dumps({**to_json(event), **result(self.collected, self._session())}, ensure_ascii=False)

    def _aside(self, event: Event) -> Iterator[str]:
        """What a person at the terminal should know although the answer goes elsewhere."""
        match event:
            case Notice() if event.level != "info":
                yield f"{event.level.upper()}  {self._say(event.key, **event.values)}"
            case RetryScheduled():
                what = self._say(f"failure.{event.failure.kind}", host=event.failure.host)
                yield f"WARN  {self._say('cli.retry', what=what, seconds=round(event.delay, 1))}"
            case TurnEnded() if event.failure is not None:
                yield from failure_lines(event, self._say)
            case TurnEnded() if event.outcome in ("turn_limit", "tool_budget", "output_limit", "refused"):
                yield f"WARN  {self._say(f'cli.outcome.{event.outcome}')}"
            case _:
                pass


def failure_lines(ended: TurnEnded, say: Say) -> Iterator[str]:
    """What happened, the provider's own words, and what to do."""
    failure = ended.failure
    if failure is None:
        return
    yield f"FAIL  {say(f'failure.{failure.kind}', host=failure.host, status=failure.status, model=ended.model)}"
    if failure.provider_text:
        yield f"      {failure.host or ended.provider}: {failure.provider_text}"
    fix = f"failure.{failure.kind}.fix"
    if (words := say(fix, host=failure.host, model=ended.model)) != fix:
        yield f"      → {words}"


async def run(talk: Talk, submission: Submission, printer: Printer) -> int:
    """Open the session, run one turn, print it; the exit code of decisions §11. Raises `MaiaError` before the turn."""
    try:
        async for event in talk.open():
            printer.show(event)
        with _stopping(talk):
            async for event in talk.turn(submission):
                printer.show(event)
                refuse(talk, event)
        printer.finish()
    finally:
        await talk.close()
    return exit_code(printer.collected.ended)


@contextmanager
def _stopping(talk: Talk) -> Generator[None]:
    """Ctrl+C and a polite kill stop the turn, so that what was written is kept; a second Ctrl+C ends the program."""
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        loop.remove_signal_handler(number)
        talk.stop()

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def refuse(talk: Talk, event: Event) -> None:
    """Nobody is there: every question is a no, with the reason for the model (decisions §11)."""
    if isinstance(event, (ApprovalRequested, LimitReached)):
        talk.answer(event.approval_id, Answer("no"), "headless")


def exit_code(ended: TurnEnded | None) -> int:
    return EXIT_CODES[ended.outcome] if ended is not None else 1


def encoded(stream: TextIO) -> TextIO:
    """The stream, made to write UTF-8 whatever the locale says; what cannot be encoded never raises."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="replace", newline="\n")
    return stream


def standard_streams() -> tuple[TextIO, TextIO]:
    return encoded(sys.stdout), encoded(sys.stderr)
