"""The line being typed: keys move and change a text, with big pastes kept aside and the history above it.

Keys are those of Emacs and readline. A big paste stands in the text as one character (a lone surrogate, which no
keyboard can send) and is put back, exact, when the line is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from maia.terminal.buffer import Buffer

if TYPE_CHECKING:
    from maia.terminal.keys import Key

COLLAPSE_LINES = 8
COLLAPSE_CHARS = 800
"""A paste with more lines or characters is shown as a placeholder, so that the input zone stays readable."""

_FIRST_PASTE = 0xD800
_MOST_PASTES = 0x800


def is_placeholder(char: str) -> bool:
    """Whether this character of an editor's text stands for a paste."""
    return "\ud800" <= char <= "\udfff"


class Editor(Buffer):
    """A multi-line line editor. `press` changes it and says what the key asks of others.

    `older` gives the history, newest last; it is called the first time it is needed.
    """

    def __init__(self, older: Callable[[], Sequence[str]] = tuple) -> None:
        super().__init__()
        self.older = older
        self._pastes: list[str] = []
        self._history: list[str] = []
        self._place = 0
        self._draft = ""

    @property
    def value(self) -> str:
        """The text as it will be sent, pastes put back."""
        return self._stored(self.text)

    def _stored(self, text: str) -> str:
        if not any(map(is_placeholder, text)):
            return text
        return "".join(self.paste_of(char) if is_placeholder(char) else char for char in text)

    def _brought(self, text: str) -> str:
        """A big text as a placeholder, any other as it is."""
        big = text.count("\n") >= COLLAPSE_LINES or len(text) > COLLAPSE_CHARS
        if not big or len(self._pastes) >= _MOST_PASTES:
            return text
        self._pastes.append(text)
        return chr(_FIRST_PASTE + len(self._pastes) - 1)

    def paste_of(self, char: str) -> str:
        """What a placeholder stands for."""
        place = ord(char) - _FIRST_PASTE
        return self._pastes[place] if place < len(self._pastes) else ""

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
        self.text, self.cursor = "", 0
        self._pastes, self._history = [], []
        self.forget_steps()
        return value

    def paste(self, text: str) -> None:
        """Insert a paste; a big one as a placeholder."""
        self._remember("paste")
        self._put(self._brought(text.encode("utf-8", "replace").decode("utf-8")))

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
            self.begin()
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


_ASKS = {
    "c-c": "interrupt",
    "esc": "escape",
    "c-z": "suspend",
    "tab": "complete",
    "c-l": "repaint",
    "c-r": "search",
    "c-g": "edit",
    "c-o": "expand",
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
