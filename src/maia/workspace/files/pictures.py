"""Pictures on their way to a model: put in last where it sees them, a note in their place where not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from maia.core.events import Notice, WireEvent
from maia.core.messages import ImagePart, Message, TextPart, UserMessage, UserPart
from maia.core.ports import Wire
from maia.core.requests import ModelRequest
from maia.core.submission import Attachment
from maia.engine.setup import Bound

MOST_PICTURES: Final = 50
MOST_CHARS: Final = 20_000_000
"""Of one request, as base64: what the strictest servers take."""
_NOT_SEEN: Final = "[The image is not shown: this model cannot see images.]"
_TOO_MANY: Final = "[The image is not shown again: later ones fill what may be sent.]"
_GONE: Final = "[The image is not there any more.]"

ReadPicture = Callable[[str], bytes]
"""The content of a digest. Blocks. Raises `OSError`."""


def not_passed(messages: Iterable[Message], new: Iterable[Attachment], model: str) -> Notice | None:
    """The notice of a turn whose model does not see; earlier pictures count with every turn (N-01.13)."""
    old = (part for message in messages if isinstance(message, UserMessage) for part in message.parts)
    count = sum(isinstance(part, ImagePart) for part in old) + sum(item.kind == "image" for item in new)
    return Notice("info", "files.images_not_passed", {"n": count, "model": model}) if count else None


def noted(bound: Bound) -> Bound:
    """Who answers, with a short note in place of each picture."""

    async def without(request: ModelRequest) -> ModelRequest:
        return _with_parts(request, lambda _picture: TextPart(_NOT_SEEN))

    return replace(bound, wire=bound.wire and _ChangedWire(bound.wire, without))


def filled(bound: Bound, read: ReadPicture) -> Bound:
    """Who answers, with the pictures themselves: the newest first, as far as a request may hold them."""
    album = _Album(read)

    async def within(request: ModelRequest) -> ModelRequest:
        shown = await asyncio.to_thread(album.newest, request)
        return _with_parts(request, lambda part: shown.get(part.digest, TextPart(_TOO_MANY)))

    return replace(bound, wire=bound.wire and _ChangedWire(bound.wire, within))


@dataclass(slots=True)
class _Album:
    """The pictures of one turn, which are read once."""

    read: ReadPicture
    _known: dict[str, UserPart] = field(default_factory=dict[str, UserPart])

    def newest(self, request: ModelRequest) -> dict[str, UserPart]:
        chosen: dict[str, UserPart] = {}
        left = MOST_CHARS
        for part in _unfilled(request):
            if part.digest in chosen:
                continue
            picture = self._picture(part)
            left -= len(picture.data) if isinstance(picture, ImagePart) else 0
            if left < 0 or len(chosen) >= MOST_PICTURES:
                break
            chosen[part.digest] = picture
        return chosen

    def _picture(self, part: ImagePart) -> UserPart:
        if part.digest not in self._known:
            try:
                data = base64.b64encode(self.read(part.digest)).decode("ascii")
                self._known[part.digest] = replace(part, data=data)
            except OSError:
                self._known[part.digest] = TextPart(_GONE)
        return self._known[part.digest]


def _unfilled(request: ModelRequest) -> Iterable[ImagePart]:
    """The pictures of a request, the last one first."""
    for message in reversed(request.messages):
        if isinstance(message, UserMessage):
            yield from (part for part in reversed(message.parts) if isinstance(part, ImagePart) and not part.data)


def _with_parts(request: ModelRequest, change: Callable[[ImagePart], UserPart]) -> ModelRequest:
    def changed(message: Message) -> Message:
        if not isinstance(message, UserMessage) or not any(isinstance(part, ImagePart) for part in message.parts):
            return message
        parts = (change(p) if isinstance(p, ImagePart) and not p.data else p for p in message.parts)
        return replace(message, parts=tuple(parts))

    return replace(request, messages=tuple(map(changed, request.messages)))


@dataclass(frozen=True, slots=True)
class _ChangedWire:
    """A wire whose requests are changed before they leave."""

    wire: Wire
    change: Callable[[ModelRequest], Awaitable[ModelRequest]]
    provider: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "provider", self.wire.provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        events = self.wire.stream(await self.change(request))
        try:
            async for event in events:
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
