"""What a wall is to those who start commands, whichever kind it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Confined:
    """A command behind a wall, or behind none.

    `prepare` is called in the thread that starts the command, just before. `contained` says that the first word is
    bubblewrap: whatever it starts ends with it, it ends with maia, and it tells by a `Threshold` how far it came.
    """

    argv: Sequence[str]
    prepare: Callable[[], None] | None = None
    contained: bool = False


class Wall(Protocol):
    """Puts a command behind a wall."""

    @property
    def name(self) -> Literal["bubblewrap", "landlock"]: ...

    @property
    def network(self) -> bool:
        """Whether commands may use the network."""
        ...

    def confine(self, argv: Sequence[str], cwd: Path, /) -> Confined: ...
