"""A text with a cursor: moving, cutting, putting back, undoing; knows no keys and no screen."""

from __future__ import annotations

from collections.abc import Callable

_UNDO_DEPTH = 200
_KILLS_KEPT = 30


class Buffer:
    """An editable text. Places are code points; `cursor` is between 0 and the length of `text`."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._kills: list[str] = []
        self._yanked: tuple[int, int] | None = None
        self._undo: list[tuple[str, int]] = []
        self._redo: list[tuple[str, int]] = []
        self._last = self._before_last = ""
        self._goal: int | None = None

    def set(self, text: str, cursor: int | None = None) -> None:
        """Replace everything; the cursor goes to the end unless given. Can be undone."""
        self._remember("set")
        self.text = text
        self.cursor = len(text) if cursor is None else cursor

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of a span and the cursor after it."""
        self._remember("replace")
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = start + len(text)

    def insert(self, text: str) -> None:
        """Type characters at the cursor."""
        self._remember("text" if not text.isspace() else "space")
        self._put(text)

    def _put(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def _stored(self, text: str) -> str:
        """How a cut text is kept in the kill ring."""
        return text

    def _brought(self, text: str) -> str:
        """How a text of the kill ring comes back."""
        return text

    def begin(self) -> None:
        """A new key is about to act: what came before decides whether cuts join."""
        self._before_last, self._last = self._last, ""

    def forget_steps(self) -> None:
        """Nothing to undo or redo any more."""
        self._undo, self._redo, self._last = [], [], ""

    # Undo

    def _remember(self, kind: str) -> None:
        """Keep a state to come back to; a run of typed characters is one step, a word at a time."""
        if not (kind == self._last == "text"):
            self._undo.append((self.text, self.cursor))
            del self._undo[:-_UNDO_DEPTH]
        self._redo.clear()
        self._last = kind
        self._goal = None

    def undo(self) -> None:
        """Back to the state before the last change."""
        if self._undo:
            self._redo.append((self.text, self.cursor))
            self.text, self.cursor = self._undo.pop()

    def redo(self) -> None:
        """Do again what `undo` took back."""
        if self._redo:
            self._undo.append((self.text, self.cursor))
            self.text, self.cursor = self._redo.pop()

    # Moving

    def left(self) -> None:
        self.cursor = self._before(self.cursor)

    def right(self) -> None:
        self.cursor = self._after(self.cursor)

    def _before(self, at: int) -> int:
        at = max(0, at - 1)
        while at and _joins(self.text[at]):
            at -= 1
        return at

    def _after(self, at: int) -> int:
        at = min(len(self.text), at + 1)
        while at < len(self.text) and _joins(self.text[at]):
            at += 1
        return at

    def line_start(self) -> int:
        """Where the cursor's line begins."""
        return self.text.rfind("\n", 0, self.cursor) + 1

    def line_end(self) -> int:
        """Where the cursor's line ends, before its line feed."""
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end

    def home(self) -> None:
        self.cursor = self.line_start()

    def end(self) -> None:
        self.cursor = self.line_end()

    def first(self) -> None:
        self.cursor = 0

    def last(self) -> None:
        self.cursor = len(self.text)

    def word_left(self) -> None:
        self.cursor = self._word_before(self.cursor)

    def word_right(self) -> None:
        self.cursor = self._word_after(self.cursor)

    def _word_before(self, at: int) -> int:
        while at and not _in_word(self.text[at - 1]):
            at -= 1
        while at and _in_word(self.text[at - 1]):
            at -= 1
        return at

    def _word_after(self, at: int) -> int:
        while at < len(self.text) and not _in_word(self.text[at]):
            at += 1
        while at < len(self.text) and _in_word(self.text[at]):
            at += 1
        return at

    def _vertical(self, start: int, end: int, here: int) -> None:
        goal = self.cursor - here if self._goal is None else self._goal
        self.cursor = min(start + goal, end)
        self._goal = goal

    # Deleting

    def _cut(self, start: int, end: int, *, front: bool = False, keep: bool = True) -> None:
        if start == end:
            return
        joins = self._before_last == "kill" and bool(self._kills)
        self._remember("kill" if keep else "erase")
        cut = self._stored(self.text[start:end])
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start
        if keep:
            if joins:
                self._kills[-1] = cut + self._kills[-1] if front else self._kills[-1] + cut
            else:
                self._kills.append(cut)
                del self._kills[:-_KILLS_KEPT]

    def backspace(self) -> None:
        self._cut(self._before(self.cursor), self.cursor, keep=False)

    def delete(self) -> None:
        self._cut(self.cursor, self._after(self.cursor), keep=False)

    def kill_end(self) -> None:
        end = self.line_end()
        self._cut(self.cursor, end + 1 if end == self.cursor and end < len(self.text) else end)

    def kill_start(self) -> None:
        self._cut(self.line_start(), self.cursor, front=True)

    def kill_blank_word(self) -> None:
        at = self.cursor
        while at and self.text[at - 1].isspace():
            at -= 1
        while at and not self.text[at - 1].isspace():
            at -= 1
        self._cut(at, self.cursor, front=True)

    def kill_word_before(self) -> None:
        self._cut(self._word_before(self.cursor), self.cursor, front=True)

    def kill_word_after(self) -> None:
        self._cut(self.cursor, self._word_after(self.cursor))

    def yank(self) -> None:
        """Put back what was cut last."""
        if self._kills:
            self._remember("yank")
            start = self.cursor
            self._put(self._brought(self._kills[-1]))
            self._yanked = (start, self.cursor)

    def yank_older(self) -> None:
        """Right after a yank: the cut before that one instead."""
        if self._yanked is None or self._yanked[1] != self.cursor or len(self._kills) < 2:
            return
        self._kills.insert(0, self._kills.pop())
        start, end = self._yanked
        self._remember("yank")
        older = self._brought(self._kills[-1])
        self.text = self.text[:start] + older + self.text[end:]
        self.cursor = start + len(older)
        self._yanked = (start, self.cursor)

    # Others

    def newline(self) -> None:
        self._remember("newline")
        self._put("\n")

    def transpose(self) -> None:
        """Swap the two characters around the cursor."""
        at = min(max(self.cursor, 1), len(self.text) - 1)
        if len(self.text) < 2 or self.cursor == 0:
            return
        self._remember("transpose")
        self.text = self.text[: at - 1] + self.text[at] + self.text[at - 1] + self.text[at + 1 :]
        self.cursor = at + 1

    def change_word(self, change: Callable[[str], str]) -> None:
        """Upper-case, lower-case or capitalise up to the end of the word."""
        end = self._word_after(self.cursor)
        if end > self.cursor:
            self.replace(self.cursor, end, change(self.text[self.cursor : end]))


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _joins(char: str) -> bool:
    """Characters that sit on the one before them: combining marks, joiners, variation selectors, skin tones."""
    if char < "\u0300":
        return False
    from unicodedata import category

    return category(char) in ("Mn", "Me") or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"
