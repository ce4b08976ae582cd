"""A secret typed or pasted inside the input zone: nothing of it is drawn but how long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maia.core.secret import Secret
from maia.terminal.badges import badge_lines, detail_lines
from maia.terminal.input import Editor
from maia.terminal.spans import Line, Span, clean, clip, line, wrap

if TYPE_CHECKING:
    from maia.terminal.colours import Look
    from maia.terminal.keys import Key
    from maia.terminal.words import Words


class SecretEntry:
    """A question that is answered by a secret (`dialogue.Question`). `done` holds it, or None when it was left.

    All keys belong to it, so that nothing of the secret gets into the line, its history or its undo.
    """

    typing = True
    hurried = False

    def __init__(self, title: str, say: Words) -> None:
        self.title = title
        self.done: tuple[Secret | None] | None = None
        self._say = say
        self._editor = Editor()

    def press(self, key: Key) -> bool:
        """Type, paste, send or leave."""
        asked = self._editor.press(key)
        if asked == "submit" and self._editor.text.strip():
            self.done = (Secret(self._editor.take()),)
        elif asked in ("escape", "interrupt", "eof"):
            self.refuse()
        return True

    def refuse(self) -> None:
        """Leave; what was typed is gone."""
        self._editor.take()
        self.done = (None,)

    def reply(self, typed: str) -> bool:
        """Answer with a line that was typed unseen; an empty one leaves."""
        self.done = (Secret(typed) if typed.strip() else None,)
        return True

    def accepts(self, letter: str) -> bool:
        """No letter answers: each belongs to the secret."""
        del letter
        return False

    def refuses(self, letter: str) -> bool:
        del letter
        return False

    def rows(self, look: Look, most: int = 99) -> tuple[list[Line], tuple[int, int] | None]:
        """The rows of the input zone and the cursor."""
        hint = detail_lines(self._say("setup.entry.keys"), look, "muted")
        rows = [*badge_lines("ask", self.title, look), *hint]
        length = len(self._editor.value)
        shown = look.text(self._say("setup.entry.typed", n=length)) if length else ""
        rows = rows[: max(1, most - 1)]
        typed = line(Span(look.text("    › ")), Span(shown, "muted"))
        return [*rows, clip(typed, look.width)], (len(rows), 6)

    def whole(self, look: Look) -> list[Line]:
        return badge_lines("ask", self.title, look)

    def spoken(self, look: Look) -> list[Line]:
        """The question in sentences, for a door without an input zone."""
        texts = (self.title, self._say("setup.entry.spoken"))
        return [row for text in texts for row in wrap(line(look.text(clean(text))), look.width)]
