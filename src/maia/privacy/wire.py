"""A wire that lets no value pass: each request is masked for the endpoint that gets it, right before it leaves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection

from maia.core.events import WireEvent
from maia.core.ports import Wire
from maia.core.types import ModelRequest
from maia.privacy.kinds import placeholder
from maia.privacy.mask import Masked, Masker
from maia.privacy.request import OWN, mask_request
from maia.privacy.sent import PartSent, Sent


class MaskedWire:
    """Wraps a wire (core.ports.Wire). `is_local` is of the endpoint behind it: then nothing is changed (R-2.110).

    `record` hears what was done to each request before it is sent; it must not raise. Around a wire that falls back to
    others, each of those is wrapped by itself, so that each attempt is masked for whom it goes to (N-10.09).
    """

    def __init__(
        self,
        wire: Wire,
        masker: Masker,
        *,
        is_local: bool,
        record: Callable[[Sent], None] = lambda _sent: None,
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
        events = self._wire.stream(self._checked(request))
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

    def _checked(self, request: ModelRequest) -> ModelRequest:
        policy = self._masker.policy
        if not policy.enabled:
            return request
        if self._is_local:
            sections = tuple(
                PartSent(each.name, "unscanned" if each.origin == OWN else "local") for each in request.system
            )
            self._record(Sent(self.provider, policy.version, True, sections))
            return request
        seen, self._seen = self._seen, {}
        masked = mask_request(request, lambda text: self._mask(text, seen), self._as_they_are)
        self._record(
            Sent(
                self.provider,
                policy.version,
                False,
                masked.sections,
                masked.parts,
                masked.tools,
                masked.pictures,
            )
        )
        return masked.request

    def _mask(self, text: str, seen: dict[str, Masked]) -> Masked:
        """Each text of a conversation is looked through once: the next request holds all of the one before."""
        masked = seen.get(text) or self._masker.mask(text)
        self._seen[text] = masked
        return masked


def placeholders_of(sent: Sent) -> frozenset[str]:
    """What stands in a request in the place of values."""
    return frozenset(placeholder(kind) for kind in sent.counts)
