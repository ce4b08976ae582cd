"""Who reads something that goes on, so that a stream ends when its reader may not read it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from maia.database.users import User


@dataclass(eq=False, slots=True)
class Stay:
    """One reader of one stream; `over` is set when it must end."""

    user: User
    token: str
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Stays:
    """All readers of this server."""

    def __init__(self) -> None:
        self._open: set[Stay] = set()

    @contextmanager
    def stay(self, user: User, token: str) -> Generator[Stay]:
        """A reader, for as long as they read."""
        reader = Stay(user, token)
        self._open.add(reader)
        try:
            yield reader
        finally:
            self._open.discard(reader)

    def of(self, user_id: str | None) -> list[Stay]:
        """The readers that are that person, or all of them for None."""
        return [each for each in self._open if user_id is None or each.user.id == user_id]
