"""What an agent tells during a turn over the Agent Client Protocol, folded into our events: no waiting, no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from maia.core.costs import Usage
from maia.core.events import ContextMeasured, ReasoningDelta, TextDelta, ToolOutput
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import ToolCallPart
from maia.core.permission import Need
from maia.core.results import DiffBlock, TodoBlock, TodoItem
from maia.core.runtime import ProgramCall, ProgramEvent, ProgramResult
from maia.runtimes.names import Told, program_call
from maia.runtimes.programs import Program
from maia.runtimes.totals import cost_since
from maia.runtimes.values import amount, rows, table, text, whole

_NAME_KEYS: Final = ("toolName", "tool_name")


@dataclass(slots=True)
class _Call:
    """A call as told so far; later updates replace what they name (merging is the protocol's rule)."""

    shown_id: str
    fields: JsonObject = field(default_factory=dict[str, JsonValue])
    is_told: bool = False
    is_over: bool = False
    is_refused: bool = False
    printed: str = ""
    streamed: JsonObject = field(default_factory=dict[str, JsonValue])


class Fold:
    """One turn. `take` each `session/update`, `asked` for each permission request, `refused` where the answer is no;
    then `usage` and `cost`.

    Some agents call a call in progress before they ask about it (OpenCode, Vibe): of one that asks, a call counts as
    running once it printed something. A tool of ours they call without asking (OpenCode, codex-acp).
    """

    def __init__(self, program: Program, folder: Path, cost_before: float | None) -> None:
        self._program = program
        self._folder = folder
        self._calls: dict[str, _Call] = {}
        self._cost_before = cost_before
        self._counted: Usage | None = None
        self._plans = 0
        self.cost_total: float | None = None

    def take(self, update: JsonObject) -> Iterator[ProgramEvent]:
        """The events of one update, in order."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._count(table(table(update.get("_meta")).get("usage")))
                if words := text(table(update.get("content")).get("text")):
                    yield TextDelta(words)
            case "agent_thought_chunk":
                if words := text(table(update.get("content")).get("text")):
                    yield ReasoningDelta(words)
            case "tool_call" | "tool_call_update":
                yield from self._call(update)
            case "plan":
                yield from self._plan(rows(update.get("entries")))
            case "usage_update":
                yield from self._usage(update)
            case _:
                return  # commands, modes, titles: nothing of the turn

    def asked(self, call: JsonObject) -> ProgramCall:
        """The call of a permission request, joined with what was told of it before."""
        known = self._known(call)
        known.is_told = True
        return self._program_call(known)

    def usage(self, result: JsonObject) -> Usage | None:
        """What the answer to the prompt reports, else what came with the text, else None."""
        told = table(result.get("usage"))
        quota = table(table(table(result.get("_meta")).get("quota")).get("token_count"))
        if told:
            return usage_of(told)
        if quota:
            return Usage(whole(quota.get("input_tokens")), whole(quota.get("output_tokens")))
        return self._counted

    @property
    def has_open_calls(self) -> bool:
        return any(not call.is_over for call in self._calls.values())

    @property
    def has_refused(self) -> bool:
        """Whether a call of this turn may not run."""
        return any(call.is_refused for call in self._calls.values())

    @property
    def cost(self) -> float | None:
        """Dollars of this turn: agents tell the sum of the session."""
        return cost_since(self.cost_total, self._cost_before)

    def refused(self, update: JsonObject) -> None:
        """The call that was asked about may not run."""
        if (known := self._calls.get(text(update.get("toolCallId")))) is not None:
            known.is_refused = True

    # Inside

    def _known(self, update: JsonObject) -> _Call:
        call_id = text(update.get("toolCallId"))
        known = self._calls.get(call_id)
        if known is None or _is_another(known, update):
            shown = call_id if known is None else f"{call_id}#{len(self._calls)}"
            known = self._calls[call_id] = _Call(shown)
        for name, value in update.items():
            if name == "_meta":
                known.fields["_meta"] = {**table(known.fields.get("_meta")), **table(value)}
            elif value not in (None, {}, []) and name != "sessionUpdate":
                known.fields[name] = value
        if streamed := _streamed(self._content(known)):
            known.streamed = streamed
        return known

    def _call(self, update: JsonObject) -> Iterator[ProgramEvent]:
        known = self._known(update)
        if known.is_over:
            return
        status = text(known.fields.get("status"))
        if status in ("completed", "failed"):
            if not known.is_told:
                known.is_told = True
                yield self._program_call(known)
            known.is_over = True
            yield ProgramResult(known.shown_id, status == "completed", self._output(known), self._diffs(known))
        elif status == "in_progress":
            printed = tuple(self._printed(known))
            call = self._program_call(known)
            if not known.is_told and (printed or not self._program.asks or call.lent):
                known.is_told = call.is_whole
                if call.is_whole:
                    yield call
            if known.is_told:
                yield from printed

    def _printed(self, known: _Call) -> Iterator[ToolOutput]:
        """Output so far is told whole each time; the person sees what is new. Arguments also come this way."""
        shown = self._content(known)
        if shown.lstrip().startswith("{") or shown == known.printed:
            return
        new = shown[len(known.printed) :] if shown.startswith(known.printed) else shown
        known.printed = shown
        yield ToolOutput(known.shown_id, new)

    def _program_call(self, known: _Call) -> ProgramCall:
        fields = known.fields
        arguments = table(fields.get("rawInput")) or known.streamed
        told = Told(
            known.shown_id,
            name=_tool_name(fields),
            kind=text(fields.get("kind")),
            title=text(fields.get("title")),
            arguments=arguments,
            paths=tuple(text(place.get("path")) for place in rows(fields.get("locations")) if place.get("path")),
            diffs=self._diffs(known),
            title_is_command=self._program.title_is_command,
        )
        return program_call(told, self._folder, self._program.tools)

    def _content(self, known: _Call) -> str:
        parts = rows(known.fields.get("content"))
        return "\n".join(
            text(table(part.get("content")).get("text")) for part in parts if part.get("type") == "content"
        )

    def _diffs(self, known: _Call) -> tuple[DiffBlock, ...]:
        return tuple(
            DiffBlock(text(part.get("path")), text(part.get("oldText")), text(part.get("newText")))
            for part in rows(known.fields.get("content"))
            if part.get("type") == "diff"
        )

    def _output(self, known: _Call) -> str:
        raw = known.fields.get("rawOutput")
        if isinstance(raw, str) and raw:
            return raw
        for name in ("output", "formatted_output", "stdout", "text", "error"):
            if words := text(table(raw).get(name)):
                return words
        shown = self._content(known)
        return "" if shown.lstrip().startswith('{"') and shown == known.printed else shown

    def _plan(self, entries: list[JsonObject]) -> Iterator[ProgramEvent]:
        """A plan is told whole each time, as our task list is."""
        self._plans += 1
        call_id = f"plan-{self._plans}"
        items = tuple(
            TodoItem(
                text(entry.get("content")),
                "completed"
                if entry.get("status") == "completed"
                else ("in_progress" if entry.get("status") == "in_progress" else "pending"),
            )
            for entry in entries
        )
        todos = [{"content": item.content, "status": item.status} for item in items]
        yield ProgramCall(ToolCallPart(call_id, "TodoWrite", {"todos": todos}), (Need("TodoWrite", "none"),))
        yield ProgramResult(call_id, True, "", (TodoBlock(items),))

    def _usage(self, update: JsonObject) -> Iterator[ContextMeasured]:
        cost = table(update.get("cost"))
        if cost.get("currency") == "USD" and (dollars := amount(cost.get("amount"))) is not None:
            self.cost_total = dollars
        used, size = whole(update.get("used")), whole(update.get("size"))
        if used:
            yield ContextMeasured(used, size or None)

    def _count(self, told: JsonObject) -> None:
        if told:
            one = usage_of(told)
            self._counted = one if self._counted is None else self._counted + one


def _is_another(known: _Call, update: JsonObject) -> bool:
    """Whether this is a new call under the id of one that is over. A refused one may be announced again (Cline)."""
    if not known.is_over or update.get("sessionUpdate") != "tool_call":
        return False
    is_same = table(update.get("rawInput")) == table(known.fields.get("rawInput"))
    return not (known.is_refused and is_same)


def _tool_name(fields: JsonObject) -> str:
    """Where programs tell it: in `_meta`. A title counts only where there is no kind: it may be the command `ls`."""
    meta = table(fields.get("_meta"))
    for place in (meta, *(table(value) for value in meta.values())):
        for name in _NAME_KEYS:
            if found := text(place.get(name)):
                return found
    title = text(fields.get("title"))
    return title if not fields.get("kind") and title.replace("_", "").isalnum() else ""


def _streamed(content: str) -> JsonObject:
    """Arguments that came as text, once they are whole (Kimi)."""
    if not content.lstrip().startswith("{"):
        return {}
    try:
        return table(json.loads(content))
    except ValueError:
        return {}


def usage_of(told: JsonObject) -> Usage:
    """The protocol's counts as ours. Some agents count what was read from the cache as input, too; the total tells."""
    given, output = whole(told.get("inputTokens")), whole(told.get("outputTokens"))
    read, written = whole(told.get("cachedReadTokens")), whole(told.get("cachedWriteTokens"))
    total = whole(told.get("totalTokens"))
    if read and total == given + output and given >= read:
        given -= read
    return Usage(given, output, read, written, whole(told.get("thoughtTokens")))
