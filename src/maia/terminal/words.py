"""What the screen needs of a catalogue beside its sentences: the language."""

from __future__ import annotations

from typing import Protocol

from maia.core.ports import Say


class Words(Say, Protocol):
    """A catalogue as `maia.i18n.catalogue.Catalogue` is one."""

    @property
    def lang(self) -> str:
        """`fr` or `en`, for numbers and durations."""
        ...
