"""The masking of one conversation: around its models and its tools, and before each new message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from maia.core.delegation import DELEGATING
from maia.core.events import Notice
from maia.core.ports import Say
from maia.core.requests import ChosenBy, Effort
from maia.core.tool import AnyTool
from maia.engine.context import Window
from maia.engine.setup import Bound, Models
from maia.engine.views import ModelChoice
from maia.privacy.destination import HERE, PROGRAM, UNKNOWN, Destination, is_local
from maia.privacy.mask import Masker
from maia.privacy.message import judge_message
from maia.privacy.placed import CarefulTool, Placed
from maia.privacy.program import MaskedRuntime
from maia.privacy.refused import MessageRefused
from maia.privacy.sent import Sent, kind_name
from maia.privacy.wire import MaskedWire

_OF_MEMORY: Final = ("MemoryStore", "MemorySearch", "MemoryExpand", "memory_search", "memory_expand", "search_memory")
MAY_HOLD_PLACEHOLDERS: Final = frozenset(("TodoWrite", "AskUser", *_OF_MEMORY, *DELEGATING))
"""Tools whose words stay words: a note with a placeholder in it spoils nothing, nor does a task."""

AddressOf = Callable[[str], str | None]
"""The base address of an endpoint by its provider's name; empty for a model in this process, None when not known."""


@dataclass(slots=True)
class _Told:
    """What the person was told last, so that the same is not told with each request."""

    counts: dict[str, int]


class Masking:
    """The masking of one conversation. With `refuses` a message with a blocked value is not sent at all.

    `record` hears what was done to each request.
    """

    def __init__(
        self, masker: Masker, say: Say, *, refuses: bool, record: Callable[[Sent], None] = lambda _sent: None
    ) -> None:
        self.masker = masker
        self._say = say
        self._refuses = refuses
        self._record = record
        self._placed = Placed()
        self._told = _Told({})

    def models(self, models: Models, address_of: AddressOf) -> Models:
        """The same models, each masked by where it runs."""
        return MaskedModels(models, self, address_of)

    def tools(self, tools: Mapping[str, AnyTool]) -> dict[str, AnyTool]:
        """The same tools, which refuse placeholders where these could do harm."""
        return {
            name: tool if name in MAY_HOLD_PLACEHOLDERS else CarefulTool(tool, self._placed)
            for name, tool in tools.items()
        }

    def bound(self, bound: Bound, destination: Destination) -> Bound:
        """Who answers, behind the mask."""
        here = is_local(destination, self.masker.policy.local_hosts)
        wire, runtime = bound.wire, bound.runtime
        return replace(
            bound,
            wire=wire and MaskedWire(wire, self.masker, is_local=here, record=self._note),
            runtime=runtime and MaskedRuntime(runtime, self.masker, self._placed, self._say, self._note),
        )

    def screen(self, text: str, destination: Destination) -> None:
        """Raises `MessageRefused` for a new message that may not leave as it is."""
        if not self._refuses:
            return
        refused = judge_message(text, self.masker, (destination,))
        if refused is not None:
            raise MessageRefused(refused, self.names(refused.types))

    def _note(self, sent: Sent) -> Notice | None:
        """Hear of a request; tell the person where more is masked than in the one before."""
        self._placed.note(sent)
        self._record(sent)
        counts = sent.counts
        if not counts or counts == self._told.counts:
            return None
        self._told = _Told(counts)
        return Notice("info", "privacy.masked", {"n": sum(counts.values()), "types": self.names(tuple(counts))})

    def names(self, kinds: Sequence[str]) -> str:
        """The types in the reader's words."""
        reasons = (kind_name(kind, self.masker.policy) for kind in kinds)
        return ", ".join(self._say(reason.key, **reason.values) for reason in reasons)


class MaskedModels:
    """The engine's `Models` port, whose wires and programs are masked."""

    def __init__(self, models: Models, masking: Masking, address_of: AddressOf) -> None:
        self._models = models
        self._masking = masking
        self._address_of = address_of

    async def choices(self) -> Sequence[ModelChoice]:
        return await self._models.choices()

    async def problems(self) -> Sequence[Notice]:
        return await self._models.problems()

    async def start(self, resumed: str) -> Bound | None:
        bound = await self._models.start(resumed)
        return bound and self._masked(bound)

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return self._masked(await self._models.bind(name, why))

    async def close(self) -> None:
        await self._models.close()

    def effort(self, bound: Bound, asked: Effort | None) -> Effort | None:
        return self._models.effort(bound, asked)

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        return await self._models.window(bound)

    def _masked(self, bound: Bound) -> Bound:
        return self._masking.bound(bound, destination_of(bound, self._address_of))


def destination_of(bound: Bound, address_of: AddressOf) -> Destination:
    """Where a message to that model goes."""
    if bound.runtime is not None:
        return PROGRAM
    address = address_of(bound.provider)
    if address is None:
        return UNKNOWN
    return Destination("endpoint", address) if address else HERE
