"""Where commands show things and ask: what the live screen and the door of plain lines have in common."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from maia.core.events import Event
    from maia.core.secret import Secret
    from maia.terminal.colours import Look
    from maia.terminal.ports import Conversation, KeyDesk
    from maia.terminal.questions import Choices, Picker
    from maia.terminal.render import RenderState
    from maia.terminal.secretentry import SecretEntry
    from maia.terminal.spans import Line
    from maia.terminal.words import Words

T = TypeVar("T")


class Surface(Protocol):
    """Where commands show things and ask: the live screen, or plain lines."""

    say: Words
    conversation: Conversation
    home: Path
    keys: KeyDesk | None

    state: RenderState

    @property
    def look(self) -> Look: ...
    def show(self, rows: Sequence[Line]) -> None: ...
    async def draw(self, events: AsyncIterator[Event], *, stored: bool = False) -> None: ...
    async def ask(self, choices: Choices[T]) -> T: ...
    async def ask_secret(self, entry: SecretEntry) -> Secret | None: ...
    async def pick(self, picker: Picker[T]) -> T | None: ...
    def forget(self) -> None: ...
    def leave(self) -> None: ...
