"""The port of a program that has a terminal of its own, which somebody looks at from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

SMALLEST: Final = (10, 3)
LARGEST: Final = (500, 300)
"""Columns and rows that a terminal may have."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a terminal is, in cells."""

    columns: int = 80
    rows: int = 24

    def bounded(self) -> Size:
        """The nearest size that a terminal may have."""
        columns, rows = (
            max(least, min(most, each))
            for each, least, most in zip((self.columns, self.rows), SMALLEST, LARGEST, strict=True)
        )
        return Size(columns, rows)


class Screen(Protocol):
    """A running program on its terminal. Nothing is read ahead: a program whose output nobody takes waits."""

    async def read(self) -> bytes:
        """What it prints next, as it comes; empty when the program is over."""
        ...

    async def write(self, data: bytes) -> None:
        """What somebody types or pastes. Waits while the program reads nothing; after its end it goes nowhere."""
        ...

    def resize(self, size: Size) -> None:
        """Another size, which the program is told."""
        ...

    async def stop(self) -> int | None:
        """End the program with its whole tree; its exit code where it had ended by itself."""
        ...
