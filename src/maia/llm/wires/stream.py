"""What every format over HTTP shares: how a request is written is data, how an answer is read is a `Stream`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from maia.core.endings import Failure, StopReason
from maia.core.events import WireEvent
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject
from maia.core.requests import ModelRequest
from maia.llm.assemble import fresh_id
from maia.llm.target import WireTarget
from maia.llm.wires.answer import Answer
from maia.llm.wires.numbers import usd_of
from maia.llm.wires.quirks import Quirks


class Stream(ABC):
    """Reads the chunks of one answer: frames in, events out; pure.

    `recognised`: something of this format has come. `finished`: the answer itself is over. `done`: nothing more can
    come.
    """

    wire: ClassVar[str]
    """The format's name, kept with reasoning that only it may send back."""

    def __init__(
        self, request: ModelRequest, target: WireTarget, host: str, new_id: Callable[[], str] = fresh_id
    ) -> None:
        self._answer = Answer(
            request, wire=self.wire, provider=target.provider, limit=target.max_output_tokens, new_id=new_id
        )
        self._host = host
        self._raw_stop = ""
        self._failure: Failure | None = None
        self.recognised = False
        self.finished = False
        self.done = False

    def feed(self, event: str, data: str) -> list[WireEvent]:
        """One frame. Raises `ValueError` when it is no JSON object."""
        if data == "[DONE]":
            self.done = True
            return []
        body = read_json(data)
        if not isinstance(body, dict):
            raise ValueError("a frame is a JSON object")
        return self.take(cast(JsonObject, body), event)

    @abstractmethod
    def take(self, body: JsonObject, event: str) -> list[WireEvent]:
        """One frame's object, with the name of its event, empty where it has none."""

    @abstractmethod
    def whole(self, body: JsonObject) -> list[WireEvent]:
        """An answer that came in one piece although a stream was asked for."""

    def headers(self, headers: Mapping[str, str]) -> None:
        """A LiteLLM server names the cost in a header; a streamed answer has it in its usage, and 0 here."""
        try:
            cost = usd_of(float(headers.get("x-litellm-response-cost", "")))
        except ValueError:
            return
        if cost:
            self._answer.cost_usd = cost

    def end(self, stray: str = "") -> list[WireEvent]:
        """The bytes are over. `stray` is text that came and was no frame of this format."""
        if self._failure is not None:
            return self._answer.fail(self._failure)
        if not self._is_over():
            return self._answer.incomplete(self._host, stray)
        return self._answer.end(self._conclude(), self._raw_stop)

    def fail(self, failure: Failure) -> list[WireEvent]:
        """The last events, where the connection or the server failed."""
        return self._answer.fail(failure)

    def _is_over(self) -> bool:
        return self.finished

    @abstractmethod
    def _conclude(self) -> StopReason:
        """Why it stopped. Called once, when the answer is over and before its message is made."""

    def _take_cost(self, usage: JsonObject) -> None:
        """The cost that gateways (OpenRouter, LiteLLM) put beside the tokens, in US dollars."""
        cost = usd_of(usage.get("cost"))
        if cost is not None:
            self._answer.cost_usd = cost


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format: `body` writes a request for an endpoint with its quirks, `open` reads the answer of a host."""

    body: Callable[[ModelRequest, WireTarget, Quirks], JsonObject]
    open: Callable[[ModelRequest, WireTarget, str], Stream]
