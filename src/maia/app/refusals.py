"""Adds to a failed model call what the key's shape says about it; the words are those of `maia keys` (C5.03)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Final

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.events import WireEvent, WireFailed
from maia.core.jsonvalue import JsonValue
from maia.core.reason import Reason
from maia.core.requests import ModelRequest
from maia.core.secret import Secret
from maia.llm.endpoint import Endpoint, GetJson
from maia.llm.open import OpenWire
from maia.llm.target import WireTarget

_NOBODY_THERE: Final = ("refused", "unreachable", "no_connection", "unknown_host", "certificate", "not_tls")


def explained(failure: Failure, target: WireTarget | None, variable: str = "") -> Failure:
    """The failure with what the key's shape and the host say about it, in the words of `maia keys` (C5.03).

    A refused key may be another provider's or of another region, masked, cut or not for models; where nobody answers
    at an unknown address, the key may tell which one was meant. `variable` is the name under which the key was found.
    """
    if target is None or target.key is None:
        return failure
    return explained_key(failure, target.key, target.base_url, variable)


def explained_key(failure: Failure, key: Secret, base_url: str, variable: str = "") -> Failure:
    """The same for any key that went to an address."""
    if failure.kind != "auth" and failure.cause not in _NOBODY_THERE:
        return failure
    from maia.credentials.explain import after_refusal, at_wrong_host

    is_refused = failure.kind == "auth"
    problem = after_refusal(key, base_url, variable) if is_refused else at_wrong_host(key, base_url)
    return replace(failure, why=Reason(problem.words, problem.values)) if problem else failure


class ExplainingWire:
    """A wire whose last failure says what is known about its key."""

    def __init__(self, wire: OpenWire, endpoint: Endpoint) -> None:
        self._wire = wire
        self._endpoint = endpoint

    @property
    def provider(self) -> str:
        return self._wire.provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        """As the wire gives it."""
        events = self._wire.stream(request)
        try:
            async for event in events:
                if isinstance(event, WireFailed):
                    failure = explained(event.failure, self._endpoint.target, self._endpoint.source)
                    yield replace(event, failure=failure)
                else:
                    yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def aclose(self) -> None:
        await self._wire.aclose()


def explaining(get_json: GetJson) -> GetJson:
    """The same way to a server's lists, with failures that say what is known about the key."""

    async def get(target: WireTarget, path: str) -> JsonValue:
        try:
            return await get_json(target, path)
        except ModelFailed as failed:
            raise ModelFailed(explained(failed.failure, target)) from None

    return get
