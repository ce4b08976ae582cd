"""The completion list while it is open: which row is current, what Tab and Enter make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maia.terminal.completion import Choice, Menu, Sources, accept, menu_for, menu_lines, wanted_at

if TYPE_CHECKING:
    from maia.terminal.colours import Look
    from maia.terminal.spans import Line
    from maia.terminal.words import Words


class Completing:
    """Follows the text. A list that was closed by Escape stays closed until the text changes."""

    def __init__(self, sources: Sources, say: Words) -> None:
        self._sources = sources
        self._say = say
        self._menu: Menu | None = None
        self._at = 0
        self._moved = False
        self._closed_for: str | None = None

    @property
    def open(self) -> bool:
        """Whether a list is on the screen."""
        return self._menu is not None

    def follow(self, text: str, cursor: int) -> None:
        """The text or the cursor has changed, or the sources have news."""
        if text == self._closed_for:
            return
        self._closed_for = None
        wanted = wanted_at(text, cursor)
        before = self._chosen() if self._moved else None
        self._menu = menu_for(wanted, self._sources, self._say) if wanted is not None else None
        self._at, self._moved = 0, False
        if self._menu is not None and before in self._menu.choices:
            self._at, self._moved = self._menu.choices.index(before), True

    def close(self, text: str | None = None) -> None:
        """No list any more, and none again while the text is still `text`."""
        self._menu, self._moved, self._closed_for = None, False, text

    def move(self, step: int) -> None:
        """Another row becomes the current one; the ends meet."""
        if self._menu is not None and self._menu.choices:
            self._at = (self._at + step) % len(self._menu.choices)
            self._moved = True

    def accepted(self, text: str) -> tuple[str, int] | None:
        """The text with the current row in it, and where the cursor goes; None when there is no row."""
        chosen = self._chosen()
        return accept(text, self._menu, chosen) if self._menu is not None and chosen is not None else None

    def on_enter(self, text: str) -> tuple[str, int] | None:
        """What Enter makes of the text instead of sending it, None to send it as it is.

        A row that was moved to is meant. A command that is only begun is completed, and sent by the next Enter.
        """
        chosen = self._chosen()
        if (
            self._menu is None
            or chosen is None
            or chosen.insert == text[self._menu.wanted.start : self._menu.wanted.end]
        ):
            return None
        begun = self._menu.wanted.kind == "commands" and bool(self._menu.wanted.query)
        return self.accepted(text) if self._moved or begun else None

    def _chosen(self) -> Choice | None:
        return self._menu.choices[self._at] if self._menu is not None and self._menu.choices else None

    def rows(self, look: Look) -> list[Line]:
        """The list as it is drawn above the status line."""
        return menu_lines(self._menu, self._at, look, self._say) if self._menu is not None else []
