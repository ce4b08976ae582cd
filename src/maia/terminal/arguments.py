"""What may stand after a command's name: the conversation's lists, fetched when the first of them is wanted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from maia.core.errors import MaiaError
from maia.terminal.completion import Choice, Kind, Provider
from maia.terminal.contextbar import window_tokens
from maia.terminal.views import when

if TYPE_CHECKING:
    from maia.terminal.ports import Conversation
    from maia.terminal.words import Words


class Arguments:
    """Lists for the completion. They are asked for aside, and told by `on_ready`; a sent line makes them old."""

    def __init__(
        self,
        conversation: Conversation,
        say: Words,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        on_ready: Callable[[], None],
    ) -> None:
        self._conversation = conversation
        self._say = say
        self._spawn = spawn
        self._on_ready = on_ready
        self._known: dict[Kind, Sequence[Choice]] = {}
        self.lists: Mapping[Kind, Provider] = {
            "models": partial(self._list, "models", self._models),
            "sessions": partial(self._list, "sessions", self._sessions),
        }

    def forget(self) -> None:
        """Something was sent: the lists may be others now."""
        self._known.clear()

    def _list(self, kind: Kind, fetch: Callable[[], Coroutine[Any, Any, Sequence[Choice]]]) -> Sequence[Choice]:
        if kind not in self._known:
            self._known[kind] = ()
            self._spawn(self._fetch(kind, fetch))
        return self._known[kind]

    async def _fetch(self, kind: Kind, fetch: Callable[[], Coroutine[Any, Any, Sequence[Choice]]]) -> None:
        with suppress(MaiaError):  # the command itself tells what is wrong
            self._known[kind] = await fetch()
            self._on_ready()

    async def _models(self) -> Sequence[Choice]:
        def detail(provider: str, window: int | None) -> str:
            return f"{provider} · {window_tokens(window)}" if window else provider

        return [
            Choice(row.name, row.name, detail(row.provider, row.window)) for row in await self._conversation.models()
        ]

    async def _sessions(self) -> Sequence[Choice]:
        now = datetime.now()
        rows = await self._conversation.sessions()
        return [Choice(row.name, row.name, f"{when(row.changed, now, self._say)} · {row.title}") for row in rows]
