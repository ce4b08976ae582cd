"""The line being typed: text, cursor, kill ring, undo and history, moved by keys; nothing here touches the terminal.

Keys are those of Emacs and readline. Big pastes stand in the text as one character each (a lone surrogate, which no
keyboard can send) and are put back, exact, when the line is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maia.terminal.keys import Key

COLLAPSE_LINES = 8
COLLAPSE_CHARS = 800
"""A paste with more lines or characters is shown as a placeholder, so that the input zone stays readable."""

_FIRST_PASTE = 0xD800
_MOST_PASTES = 0x800
_UNDO_DEPTH = 200


def is_placeholder(char: str) -> bool:
    """Whether this character of an editor's text stands for a paste."""
    return "\ud800" <= char <= "\udfff"


class Editor:
    """A multi-line line editor. `press` changes it and says what the key asks of the screen.

    `older` gives the history, newest last; it is called the first time it is needed.
    """

    def __init__(self, older: Callable[[], Sequence[str]] = tuple) -> None:
        self.text = ""
        self.cursor = 0
        self.older = older
        self._pastes: list[str] = []
        self._kills: list[str] = []
        self._yanked: tuple[int, int] | None = None
        self._undo: list[tuple[str, int]] = []
        self._redo: list[tuple[str, int]] = []
        self._last = self._before_last = ""
        self._goal: int | None = None
        self._history: list[str] = []
        self._place = 0
        self._draft = ""

    # Text

    @property
    def value(self) -> str:
        """The text as it will be sent, pastes put back."""
        return self.expand(self.text)

    def expand(self, text: str) -> str:
        """`text` with its placeholders replaced by what was pasted."""
        if not any(map(is_placeholder, text)):
            return text
        return "".join(self.paste_of(char) if is_placeholder(char) else char for char in text)

    def paste_of(self, char: str) -> str:
        """What a placeholder stands for."""
        place = ord(char) - _FIRST_PASTE
        return self._pastes[place] if place < len(self._pastes) else ""

    def set(self, text: str, cursor: int | None = None) -> None:
        """Replace everything; the cursor goes to the end unless given. Can be undone."""
        self._remember("set")
        self.text = text
        self.cursor = len(text) if cursor is None else cursor

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of a span and the cursor after it (an accepted completion)."""
        self._remember("replace")
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = start + len(text)

    def pasted_ranges(self) -> list[tuple[int, int]]:
        """Where in `value` big pastes stand: half-open ranges, in order."""
        ranges: list[tuple[int, int]] = []
        at = 0
        for char in self.text:
            size = len(self.paste_of(char)) if is_placeholder(char) else 1
            if is_placeholder(char):
                ranges.append((at, at + size))
            at += size
        return ranges

    def take(self) -> str:
        """The value, and an empty editor for the next line."""
        value = self.value
        self.text, self.cursor, self._last = "", 0, ""
        self._pastes, self._undo, self._redo, self._history = [], [], [], []
        return value

    def insert(self, text: str) -> None:
        """Type characters at the cursor."""
        self._remember("text" if not text.isspace() else "space")
        self._put(text)

    def paste(self, text: str) -> None:
        """Insert a paste; a big one as a placeholder."""
        self._remember("paste")
        text = text.encode("utf-8", "replace").decode("utf-8")
        big = text.count("\n") >= COLLAPSE_LINES or len(text) > COLLAPSE_CHARS
        if big and len(self._pastes) < _MOST_PASTES:
            self._pastes.append(text)
            text = chr(_FIRST_PASTE + len(self._pastes) - 1)
        self._put(text)

    def _put(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    # Keys

    def press(self, key: Key) -> str:
        """Apply a key. Returns what it asks of others (`submit`, `interrupt`, `eof`, `escape`, …), mostly nothing.

        An unknown key does nothing.
        """
        kind, value = key
        if kind == "text":
            self.insert(value)
            return ""
        if kind == "paste":
            self.paste(value)
            return ""
        if kind != "key":
            return ""
        if value in _ASKS:
            return _ASKS[value]
        if value == "enter":
            return self._enter()
        if value == "c-d" and not self.text:
            return "eof"
        action = _ACTIONS.get(value)
        if action is not None:
            self._before_last, self._last = self._last, ""
            if value not in ("up", "down", "c-p", "c-n"):
                self._goal = None
            action(self)
        return ""

    def _enter(self) -> str:
        if self.cursor and self.text[self.cursor - 1] == "\\" and not self.text[: self.cursor].startswith("!"):
            self._remember("newline")
            self.text = self.text[: self.cursor - 1] + "\n" + self.text[self.cursor :]
            return ""
        return "submit"

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

    def up(self) -> None:
        """A line up; on the first line the older entry of the history."""
        start = self.line_start()
        if start == 0:
            self._recall(-1)
            return
        self._vertical(self.text.rfind("\n", 0, start - 1) + 1, start - 1, start)

    def down(self) -> None:
        """A line down; on the last line the newer entry of the history, in the end the draft."""
        end = self.line_end()
        if end == len(self.text):
            self._recall(+1)
            return
        next_end = self.text.find("\n", end + 1)
        self._vertical(end + 1, len(self.text) if next_end < 0 else next_end, self.line_start())

    def _vertical(self, start: int, end: int, here: int) -> None:
        goal = self.cursor - here if self._goal is None else self._goal
        self.cursor = min(start + goal, end)
        self._goal = goal

    def _recall(self, step: int) -> None:
        if not self._history:
            self._history = list(self.older())
            self._place = len(self._history)
        place = self._place + step
        if not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self._remember("recall")
        self.text = self._draft if place == len(self._history) else self._history[place]
        self.cursor = len(self.text)

    # Deleting

    def _cut(self, start: int, end: int, *, front: bool = False, keep: bool = True) -> None:
        if start == end:
            return
        joins = self._before_last == "kill" and bool(self._kills)
        self._remember("kill" if keep else "erase")
        cut = self.text[start:end]
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start
        if keep:
            if joins:
                self._kills[-1] = cut + self._kills[-1] if front else self._kills[-1] + cut
            else:
                self._kills.append(cut)
                del self._kills[:-30]

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
            self._put(self._kills[-1])
            self._yanked = (start, self.cursor)

    def yank_older(self) -> None:
        """Right after a yank: the cut before that one instead."""
        if self._yanked is None or self._yanked[1] != self.cursor or len(self._kills) < 2:
            return
        self._kills.insert(0, self._kills.pop())
        start, end = self._yanked
        self._remember("yank")
        self.text = self.text[:start] + self._kills[-1] + self.text[end:]
        self.cursor = start + len(self._kills[-1])
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


_ASKS = {
    "c-c": "interrupt",
    "esc": "escape",
    "c-z": "suspend",
    "tab": "complete",
    "c-l": "repaint",
    "c-r": "search",
    "c-g": "edit",
    "pageup": "pageup",
    "pagedown": "pagedown",
}

_ACTIONS: dict[str, Callable[[Editor], None]] = {
    "left": Editor.left,
    "c-b": Editor.left,
    "right": Editor.right,
    "c-f": Editor.right,
    "home": Editor.home,
    "c-a": Editor.home,
    "end": Editor.end,
    "c-e": Editor.end,
    "c-home": Editor.first,
    "m-<": Editor.first,
    "c-end": Editor.last,
    "m->": Editor.last,
    "m-b": Editor.word_left,
    "c-left": Editor.word_left,
    "m-left": Editor.word_left,
    "m-f": Editor.word_right,
    "c-right": Editor.word_right,
    "m-right": Editor.word_right,
    "up": Editor.up,
    "c-p": Editor.up,
    "down": Editor.down,
    "c-n": Editor.down,
    "backspace": Editor.backspace,
    "s-backspace": Editor.backspace,
    "delete": Editor.delete,
    "c-d": Editor.delete,
    "c-k": Editor.kill_end,
    "c-u": Editor.kill_start,
    "c-w": Editor.kill_blank_word,
    "m-backspace": Editor.kill_word_before,
    "c-backspace": Editor.kill_word_before,
    "m-d": Editor.kill_word_after,
    "c-delete": Editor.kill_word_after,
    "c-y": Editor.yank,
    "m-y": Editor.yank_older,
    "c-j": Editor.newline,
    "m-enter": Editor.newline,
    "s-enter": Editor.newline,
    "c-enter": Editor.newline,
    "c-t": Editor.transpose,
    "m-u": lambda editor: editor.change_word(str.upper),
    "m-l": lambda editor: editor.change_word(str.lower),
    "m-c": lambda editor: editor.change_word(str.capitalize),
    "c-_": Editor.undo,
    "c-/": Editor.undo,
    "m-_": Editor.redo,
    "m-/": Editor.redo,
}
