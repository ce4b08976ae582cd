"""One answer while it streams: pieces in, delta events out, and the whole message at the end. Shared by every wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from maia.core.costs import Usage
from maia.core.endings import Failure, StopReason
from maia.core.events import (
    ReasoningDelta,
    TextDelta,
    ToolCallDrafted,
    WireAnswer,
    WireEvent,
    WireFailed,
)
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import AssistantMessage, AssistantPart, ReasoningPart, TextPart, ToolCallPart
from maia.core.requests import ModelRequest
from maia.llm.assemble import CallDrafts, fresh_id, likely_cut, taken_ids
from maia.llm.wires.textcalls import may_become_call, text_calls
from maia.llm.wires.thinking import ThinkSplitter


@dataclass(slots=True)
class Run:
    """Consecutive pieces of one kind. `replay` is what the provider wants back with it."""

    kind: Literal["text", "reasoning"]
    pieces: list[str] = field(default_factory=list[str])
    replay: JsonObject | None = None
    closed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Answer:
    """Collects one answer. Its methods give the events to pass on; `end` and `fail` give the last one."""

    def __init__(
        self,
        request: ModelRequest,
        *,
        wire: str,
        provider: str,
        limit: int | None = None,
        new_id: Callable[[], str] = fresh_id,
    ) -> None:
        """`limit` is the output limit of the target, in force when the request names none."""
        self._limit = request.max_output_tokens or limit
        self._wire = wire
        self._provider = provider
        self._offered = frozenset[str]() if request.answer_only else frozenset(tool.name for tool in request.tools)
        self._splitter = ThinkSplitter()
        self._held: list[str] | None = [] if self._offered else None
        self._held_for_good = False
        self.runs: list[Run] = []
        self.drafts = CallDrafts(self._offered, taken_ids(request.messages), new_id)
        self.new_id = new_id
        self.model = request.model
        self.usage: Usage | None = None
        self.cost_usd: float | None = None

    @property
    def inline_tag(self) -> str:
        """The tag in which the model wrote its reasoning inside the answer, empty where it did not."""
        return self._splitter.tag

    def has_content(self) -> bool:
        """Whether anything of an answer has come, shown or held back."""
        return bool(self.runs or self.drafts.drafts or self._held)

    def reasoning_text(self) -> str:
        return "".join(run.text for run in self.runs if run.kind == "reasoning")

    def text(self, text: str) -> list[WireEvent]:
        """A piece of the answer's text; reasoning inside `<think>` tags is told apart."""
        events: list[WireEvent] = []
        for kind, piece in self._splitter.feed(text):
            events += self.reasoning(piece) if kind == "reasoning" else self._show(piece)
        return events

    def reasoning(self, text: str) -> list[WireEvent]:
        if not text:
            return []
        self.run("reasoning").pieces.append(text)
        return [ReasoningDelta(text)]

    def call(
        self, *, index: int | None, call_id: str = "", name: str = "", arguments: JsonValue = None
    ) -> list[WireEvent]:
        """A fragment of a tool call."""
        draft = self.drafts.add(index=index, call_id=call_id, name=name, arguments=arguments)
        return [*self._release(), ToolCallDrafted(draft.position, draft.name, draft.chars)]

    def run(self, kind: Literal["text", "reasoning"]) -> Run:
        """The run that a piece of this kind belongs to."""
        if not self.runs or self.runs[-1].kind != kind or self.runs[-1].closed:
            self.runs.append(Run(kind))
        return self.runs[-1]

    def _show(self, text: str) -> list[WireEvent]:
        if self._held is None:
            self.run("text").pieces.append(text)
            return [TextDelta(text)]
        self._held.append(text)
        if self._held_for_good:
            return []
        so_far = "".join(self._held)
        if not may_become_call(so_far):
            return self._release()
        self._held_for_good = len(so_far.strip()) > 64  # past the first key: only the whole answer decides
        return []

    def _release(self) -> list[WireEvent]:
        held, self._held = "".join(self._held or ()), None
        return self._show(held) if held else []

    def _flush(self) -> tuple[list[WireEvent], list[ToolCallPart]]:
        """What was held back, as text or as the calls that it turned out to be."""
        events: list[WireEvent] = []
        for kind, piece in self._splitter.flush():
            events += self.reasoning(piece) if kind == "reasoning" else self._show(piece)
        found = text_calls("".join(self._held or ()), self._offered)
        if not found:
            return events + self._release(), []
        self._held = None
        drafted = [ToolCallDrafted(n, call.name, len(str(call.arguments))) for n, call in enumerate(found)]
        return events + drafted, [ToolCallPart(self.new_id(), call.name, call.arguments) for call in found]

    def end(self, stop: StopReason, raw_stop: str) -> list[WireEvent]:
        """The last events of an answer that ended by itself."""
        events, from_text = self._flush()
        calls, broken = self.drafts.finish(cut=stop in ("length", "context_full"))
        calls = (*calls, *from_text)
        if stop in ("end", "unknown") and (calls or broken):
            stop = "tool_calls"
        elif stop == "tool_calls" and not calls and not broken:
            stop = "end"
        cut = likely_cut(self.usage.output if self.usage else 0, self._limit, bool(calls or broken))
        answer = WireAnswer(
            self._message(calls),
            stop,
            raw_stop,
            self.usage,
            self.cost_usd,
            broken,
            likely_cut=cut and stop == "tool_calls",
        )
        return [*events, answer]

    def fail(self, failure: Failure) -> list[WireEvent]:
        """The last events of an answer that failed. Calls are left out: nobody knows whether they were whole."""
        events, _ = self._flush()
        return [*events, WireFailed(failure, self._message(()), self.usage)]

    def incomplete(self, host: str, text: str = "") -> list[WireEvent]:
        """The connection closed before the answer said that it was over."""
        return self.fail(Failure("incomplete", host=host, provider_text=text))

    def _message(self, calls: tuple[ToolCallPart, ...]) -> AssistantMessage:
        parts: list[AssistantPart] = []
        for run in self.runs:
            if run.kind == "text" and run.pieces:
                parts.append(TextPart(run.text))
            elif run.kind == "reasoning" and (run.pieces or run.replay):
                parts.append(ReasoningPart(run.text, self._wire, run.replay))
        return AssistantMessage((*parts, *calls), self.model, self._provider)
