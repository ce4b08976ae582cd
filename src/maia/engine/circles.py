"""A model that makes the same call again and again, as small ones do, is brought to answer with what it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from maia.core.messages import AssistantMessage, Message, ToolCallPart, ToolMessage
from maia.core.requests import ModelRequest

WORDS_AFTER = 2
"""How often the same calls with the same results may come again before words alone are asked for."""

_Round = tuple[tuple[str, str, str], ...]


@dataclass(slots=True)
class Circles:
    """Watches the calls of one turn. Calls that are repeated to see something change get other results: no circle."""

    last: _Round = ()
    times: int = 0

    def note(self, messages: Sequence[Message]) -> bool:
        """Take the history after the calls of one answer have run; True when words alone are to be asked for now."""
        this = _round(messages[-2:])
        self.times = self.times + 1 if this and this == self.last else 0
        self.last = this
        return self.times == WORDS_AFTER

    @property
    def closed(self) -> bool:
        """Whether the model goes round in circles at this moment."""
        return self.times >= WORDS_AFTER


def words_alone(request: ModelRequest) -> ModelRequest:
    """The same request for an answer without calls, each repeated exchange in it once.

    A small model goes on with the pattern that it sees, whatever it is told; without the repeats it answers.
    """
    kept = list(request.messages)
    while len(kept) >= 4 and (this := _round(kept[-2:])) and this == _round(kept[-4:-2]):
        del kept[-2:]
    return replace(request, messages=tuple(kept), answer_only=True)


def _round(pair: Sequence[Message]) -> _Round:
    """The calls of an answer with their results; empty where the two messages are something else."""
    if len(pair) != 2 or not isinstance(pair[0], AssistantMessage) or not isinstance(pair[1], ToolMessage):
        return ()
    texts = {result.call_id: result.text for result in pair[1].results}
    calls = (part for part in pair[0].parts if isinstance(part, ToolCallPart))
    return tuple((call.name, repr(sorted(call.arguments.items())), texts.get(call.call_id, "")) for call in calls)
