"""The notes of a run: its events as JSON lines, written by one process and read by any number while they grow.

A line is `{"seq": 3, "time": 1764500000.123, "event": {…}}`. Pieces of text and of live output are gathered for a tenth
of a second; any other event is in the hands of the operating system before `add` returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import time
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Final

from maia.core.codec import UnreadableEvent, dump_event, load_event
from maia.core.errors import system_words
from maia.core.events import Event, Notice, ReasoningDelta, TextDelta, ToolCallDrafted, ToolOutput
from maia.core.jsontext import read_json
from maia.core.runs import RunNote

GATHER_SECONDS: Final = 0.1
MAX_OUTPUT_CHARS: Final = 1_000_000
"""Live output that is noted of one call; a command that prints for ever must not fill the disk."""
READ_BYTES: Final = 1 << 20

_HEAD = re.compile(rb'\{"seq":(\d+),"time":[^,]*,"event":\{"type":"(\w+)"')


class NoteWriter:
    """Appends the notes of one run.

    What cannot be written is kept and tried again with the next note; `on_problem` hears once why.
    """

    def __init__(self, path: Path, on_problem: Callable[[str], None]) -> None:
        """Raises `OSError` where the file cannot be made."""
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._on_problem = on_problem
        self._size = 0
        self._seq = 0
        self._gathered: list[Event] = []
        self._unsaved: list[bytes] = []
        self._printed: dict[str, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.problem = ""

    def add(self, event: Event) -> None:
        """Note one event."""
        if isinstance(event, ToolOutput):
            bounded = self._bounded(event)
            if bounded is None:
                return
            event = bounded
        if isinstance(event, (TextDelta, ReasoningDelta, ToolOutput, ToolCallDrafted)):
            _gather(self._gathered, event)
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self.flush)
            return
        self.flush(event)

    def flush(self, event: Event | None = None) -> None:
        """Write what was gathered, and `event` after it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        gathered, self._gathered = self._gathered, []
        if event is not None:
            gathered.append(event)
        for each in gathered:
            self._seq += 1
            line = f'{{"seq":{self._seq},"time":{time.time():.3f},"event":{dump_event(each)}}}\n'
            self._unsaved.append(line.encode("utf-8", "replace"))
        self._save()

    def close(self) -> None:
        """Write the rest and let the file go. May be called twice."""
        if self._fd < 0:
            return
        self.flush()
        fd, self._fd = self._fd, -1
        with contextlib.suppress(OSError):
            os.close(fd)

    def _bounded(self, event: ToolOutput) -> Event | None:
        """The output as far as it is noted; where that ends, a notice stands once."""
        before = self._printed.get(event.call_id, 0)
        after = self._printed[event.call_id] = before + len(event.text)
        if after <= MAX_OUTPUT_CHARS:
            return event
        if before <= MAX_OUTPUT_CHARS:
            return Notice("info", "runs.output_cut", {"chars": MAX_OUTPUT_CHARS})
        return None

    def _save(self) -> None:
        """Hand all unsaved lines over in one write; after a failure the file ends where its last whole line ends."""
        if self._fd < 0 or not self._unsaved:
            return
        data = b"".join(self._unsaved)
        try:
            if os.write(self._fd, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)
            first, self.problem = not self.problem, system_words(error)
            if first:
                self._on_problem(self.problem)
            return
        self.problem = ""
        self._size += len(data)
        self._unsaved.clear()


def _gather(gathered: list[Event], event: TextDelta | ReasoningDelta | ToolOutput | ToolCallDrafted) -> None:
    """Join the event to one of its kind that waits: text to the last, output to that of its call."""
    last = gathered[-1] if gathered else None
    match event, last:
        case (TextDelta(), TextDelta()) | (ReasoningDelta(), ReasoningDelta()):
            gathered[-1] = type(event)(last.text + event.text)
        case (ToolCallDrafted(), ToolCallDrafted()) if last.index == event.index:
            gathered[-1] = event
        case (ToolOutput(), _):
            for at, each in enumerate(gathered):
                if isinstance(each, ToolOutput) and each.call_id == event.call_id:
                    gathered[at] = ToolOutput(event.call_id, each.text + event.text)
                    return
            gathered.append(event)
        case _:
            gathered.append(event)


def read_note(line: bytes) -> RunNote | None:
    """The note that a line holds; None for a torn or foreign line, and for an event of a newer version."""
    try:
        data = read_json(line)
        event = load_event(data["event"])
        seq, moment = data["seq"], data["time"]
    except (ValueError, KeyError, TypeError, OverflowError, UnreadableEvent):
        return None
    if event is None or not isinstance(seq, int) or not isinstance(moment, (int, float)):
        return None
    return RunNote(seq, float(moment), event)


class NoteReader:
    """Reads the notes of a file that may still grow; a last line without its end waits for the rest."""

    def __init__(self, path: Path, after: int = 0, without: Container[bytes] = ()) -> None:
        """`after` leaves out the notes up to that number, `without` events of these types, both unread."""
        self._path = path
        self._after = after
        self._without = without
        self._offset = 0
        self._rest = b""

    def read(self) -> Iterator[RunNote]:
        """The notes that came since the last call; nothing where there is no file yet. Raises `OSError`."""
        while data := self._more():
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if self._wanted(line) and (note := read_note(line)) is not None:
                    yield note

    def _more(self) -> bytes:
        try:
            with self._path.open("rb", buffering=0) as file:
                file.seek(self._offset)
                data = file.read(READ_BYTES) or b""
        except FileNotFoundError:
            return b""
        self._offset += len(data)
        return data

    def _wanted(self, line: bytes) -> bool:
        head = _HEAD.match(line)
        return head is None or (int(head[1]) > self._after and head[2] not in self._without)
