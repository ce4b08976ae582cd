"""A wire that lets no value pass: each request is masked for the endpoint that gets it, right before it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from typing import TypeAlias

from maia.core.events import Notice, WireEvent
from maia.core.ports import Wire
from maia.core.requests import ModelRequest
from maia.privacy.kinds import placeholder
from maia.privacy.mask import Masked, Masker
from maia.privacy.request import OWN, mask_request
from maia.privacy.sent import PartSent, Sent

Record: TypeAlias = Callable[[Sent], Notice | None]


def nothing_to_tell(_sent: Sent) -> None:
    """For a caller that keeps no record."""


class MaskedWire:
    """Wraps a wire (core.ports.Wire). `is_local` is of the endpoint behind it: then nothing is changed (R-2.110).

    `record` hears what was done to each request before it is sent, and may give a notice for the person; it must not
    raise. Around a wire that falls back to
    others, each of those is wrapped by itself, so that each attempt is masked for whom it goes to (N-10.09).
    """

    def __init__(
        self,
        wire: Wire,
        masker: Masker,
        *,
        is_local: bool,
        record: Record = nothing_to_tell,
        as_they_are: Collection[str] = (),
    ) -> None:
        self._wire = wire
        self._masker = masker
        self._is_local = is_local
        self._record = record
        self._as_they_are = as_they_are
        self._seen: dict[str, Masked] = {}

    @property
    def provider(self) -> str:
        return self._wire.provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        """As the wire gives it. A placeholder in the answer stays one: nothing is put back (docs/privacy.md)."""
        checked, notice = await self._checked(request)
        if notice is not None:
            yield notice
        events = self._wire.stream(checked)
        try:
            async for event in events:
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def aclose(self) -> None:
        """Close the wire, where it can be."""
        aclose = getattr(self._wire, "aclose", None)
        if aclose is not None:
            await aclose()

    async def _checked(self, request: ModelRequest) -> tuple[ModelRequest, Notice | None]:
        policy = self._masker.policy
        if not policy.enabled:
            return request, None
        if self._is_local:
            sections = tuple(
                PartSent(each.name, "unscanned" if each.origin == OWN else "local") for each in request.system
            )
            return request, self._record(Sent(self.provider, policy.version, True, sections))
        seen, self._seen = self._seen, {}
        masked = await asyncio.to_thread(
            mask_request, request, lambda text: self._mask(text, seen), self._as_they_are
        )  # aside: a long history would hold up everybody's streams
        notice = self._record(
            Sent(
                self.provider,
                policy.version,
                False,
                masked.sections,
                masked.parts,
                masked.tools,
                masked.pictures,
                masked.noticed,
            )
        )
        return masked.request, notice

    def _mask(self, text: str, seen: dict[str, Masked]) -> Masked:
        """Each text of a conversation is looked through once: the next request holds all of the one before."""
        masked = seen.get(text) or self._masker.mask(text)
        self._seen[text] = masked
        return masked


def placeholders_of(sent: Sent) -> frozenset[str]:
    """What stands in a request in the place of values."""
    return frozenset(placeholder(kind) for kind in sent.counts)
