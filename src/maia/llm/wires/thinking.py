"""Reasoning that a model writes inside its answer between `<think>` tags, told apart while it streams."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

_TAGS: Final = ("think", "thinking")


class Piece(NamedTuple):
    """A piece of the answer: reasoning, or text."""

    kind: Literal["reasoning", "text"]
    text: str


class ThinkSplitter:
    """Only a tag at the very beginning counts: an answer that speaks about `<think>` stays text.

    The tags themselves, and the blank lines after them, belong to neither. Pieces come as soon as they cannot be part
    of a tag any more.
    """

    def __init__(self) -> None:
        self._state: Literal["start", "opened", "inside", "after", "text"] = "start"
        self._held = ""
        self.tag = ""
        """The tag that was found, empty while there is none."""

    def feed(self, text: str) -> list[Piece]:
        if self._state == "text":
            return [Piece("text", text)] if text else []
        self._held += text
        pieces: list[Piece] = []
        while self._step(pieces):
            pass
        return pieces

    def flush(self) -> list[Piece]:
        """What was held back when the answer ends."""
        held, self._held = self._held, ""
        if not held or self._state in ("opened", "after"):
            return []
        return [Piece("reasoning" if self._state == "inside" else "text", held)]

    def _step(self, pieces: list[Piece]) -> bool:
        """Take what can be decided; True when the state changed and more may be decided."""
        match self._state:
            case "start":
                return self._begin()
            case "opened":
                self._held = self._held.lstrip("\n")
                if self._held:
                    self._state = "inside"
                return bool(self._held)
            case "inside":
                return self._inside(pieces)
            case "after":
                self._held = self._held.lstrip()
                if self._held:
                    self._state = "text"
                return bool(self._held)
            case "text":
                if self._held:
                    pieces.append(Piece("text", self._held))
                    self._held = ""
                return False

    def _begin(self) -> bool:
        start = self._held.lstrip()
        for tag in _TAGS:
            if start.startswith(f"<{tag}>"):
                self.tag, self._state = tag, "opened"
                self._held = start[len(tag) + 2 :]
                return True
        if any(f"<{tag}>".startswith(start) for tag in _TAGS):
            return False
        self._state = "text"
        return True

    def _inside(self, pieces: list[Piece]) -> bool:
        end = f"</{self.tag}>"
        before, found, after = self._held.partition(end)
        if found:
            if before:
                pieces.append(Piece("reasoning", before))
            self._held, self._state = after, "after"
            return True
        keep = next((n for n in range(len(end) - 1, 0, -1) if self._held.endswith(end[:n])), 0)
        ready = self._held[: len(self._held) - keep]
        if ready:
            pieces.append(Piece("reasoning", ready))
            self._held = self._held[len(ready) :]
        return False
