"""Server-sent events: bytes as they arrive → frames, incremental and pure.

Follows the WHATWG event stream rules (html.spec.whatwg.org, "Interpreting an event stream"), with two tolerances that
real gateways need: a frame that the end of the stream cuts off from its blank line is still given, and frames that are
separated by a single line end only (opencode#7083) are told apart where the first one already is whole JSON.
"""

from __future__ import annotations

from typing import NamedTuple

from maia.core.jsontext import read_json

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""Far beyond any chunk of an answer: what sends more without the end of a line or a frame is no model server."""

_BOM = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One event. `event` is empty when the stream named none; `data` has its lines joined by line feeds."""

    event: str
    data: str


class FrameReader:
    """Feed it bytes cut anywhere; it gives every frame as soon as it is whole. `flush` at the end of the stream."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []
        self._held = 0
        self.overlong = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """Frames that became whole with these bytes, in order."""
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if not chunk:
            return []
        # bytes.splitlines knows CR, LF and CRLF only; str.splitlines would also cut at U+2028 and others.
        lines = chunk.splitlines(keepends=True)
        if self._rest:
            self._rest.append(lines[0])
            if lines[0][-1] not in b"\r\n":
                self._hold(len(lines[0]))
                return []
            lines[0] = b"".join(self._rest)
            self._rest = []
        last = lines[-1][-1]
        if last == 0x0D:
            self._after_cr = True
        elif last != 0x0A:
            self._rest = [lines.pop()]
            self._hold(len(self._rest[0]))
        frames: list[Frame] = []
        for line in lines:
            self._take(line.rstrip(b"\r\n"), frames)
        return frames

    def flush(self) -> list[Frame]:
        """What is left when the stream ends without a last blank line."""
        frames: list[Frame] = []
        if self._rest:
            self._take(b"".join(self._rest), frames)
            self._rest = []
        self._dispatch(frames)
        return frames

    def _take(self, line: bytes, frames: list[Frame]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(frames)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            if self._data and _is_whole(self._data):
                self._dispatch(frames)
            self._data.append(_text(value))
            self._hold(len(value))
        elif name == b"event":
            if self._data and _is_whole(self._data):
                self._dispatch(frames)
            self._event = _text(value)

    def _dispatch(self, frames: list[Frame]) -> None:
        if self._data:
            frames.append(Frame(self._event, self._data[0] if len(self._data) == 1 else "\n".join(self._data)))
            self._data = []
        self._event = ""
        self._held = 0

    def _hold(self, size: int) -> None:
        """Count what waits for its end; beyond the bound it is let go, and `overlong` says so."""
        self._held += size
        if self._held > MAX_FRAME_BYTES:
            self.overlong = True
            self._rest.clear()
            self._data.clear()


def _text(value: bytes) -> str:
    return (value[1:] if value[:1] == b" " else value).decode("utf-8", "replace")


def _is_whole(data: list[str]) -> bool:
    """Whether these lines are a frame by themselves, so that another data line belongs to the next one."""
    text = "\n".join(data).strip()
    if text == "[DONE]":
        return True
    if not text.startswith("{") or not text.endswith("}"):
        return False
    try:
        read_json(text)
    except ValueError:
        return False
    return True
