"""A script that stands in for a model: JSON lines, one answer a line, played through the real program.

Each line is an object (or an array of objects, played one after the other); its keys are actions, in the order written:

    {"text": "Hello"}                    text deltas: a string, or an array of strings
    {"think": "hm"}                      reasoning deltas, likewise
    {"call": {"name": "Read", "arguments": {"path": "a.txt"}}}     a tool call; `id` may be given
    {"cut_call": {"name": "Write", "chars": 512, "head": "{…"}}    a call that arrived cut (T5.09)
    {"wait": 0.5}                        seconds of silence
    {"retry": {"delay": 1, "kind": "rate_limit"}}                  a retry that is announced
    {"fail": {"kind": "auth", "status": 401, "text": "…"}}         the stream fails here
    {"stop": "length"}                   how it ended; default: tool_calls or end
    {"usage": {"input": 12, "output": 3}}   {"cost": 0.01}         what the provider reports
    {"expect": "words"}                  fails unless the newest message of the request holds the words
    {"repeat": true}                     this line answers every further request, too

Empty lines and lines that start with # are skipped. Asked once more than there are lines, it fails and says so.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

from maia.core.costs import Usage
from maia.core.endings import Failure, FailureKind, StopReason
from maia.core.errors import SettingsProblem
from maia.core.events import (
    BrokenCall,
    ReasoningDelta,
    RetryScheduled,
    TextDelta,
    ToolCallDrafted,
    WireAnswer,
    WireEvent,
    WireFailed,
)
from maia.core.fileread import read_bounded
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import AssistantMessage, AssistantPart, ReasoningPart, TextPart, ToolCallPart, ToolMessage
from maia.core.namedpath import named_path
from maia.core.requests import ModelRequest
from maia.llm.endpoint import OFFLINE

_MAX_BYTES = 10_000_000

Action: TypeAlias = tuple[str, JsonValue]
Answer: TypeAlias = tuple[Action, ...]


def read_script(script: str) -> tuple[Answer, ...]:
    """The answers of a script: `script` is a path, or the JSON lines themselves when it starts with `{` or `[`.

    Raises `SettingsProblem` that names the line.
    """
    inline = script.lstrip().startswith(("{", "["))
    text = script if inline else _read(script)
    name = "MAIA_OFFLINE_SCRIPT" if inline else script
    # JSON text may hold U+2028 and others, at which str.splitlines would cut.
    lines = [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1)]
    return tuple(_answer(line, name, n) for n, line in lines if line and not line.startswith("#"))


def _read(script: str) -> str:
    path = named_path(script, Path())
    try:
        if not isinstance(path, Path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return read_bounded(path, _MAX_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise SettingsProblem("offline.script_unreadable", file=script, reason=reason) from None


def _answer(line: str, name: str, number: int) -> Answer:
    try:
        data = read_json(line)
        items = cast("list[JsonValue]", data) if isinstance(data, list) else [data]
        actions = tuple(action for item in items for action in cast(JsonObject, item).items())
        for key, value in actions:
            _CHECKS[key](value)
    except (ValueError, TypeError, AttributeError, KeyError) as problem:
        raise SettingsProblem(
            "offline.script_line", file=name, line=number, reason=_reason(problem), example='{"text": "…"}'
        ) from None
    return actions


def _reason(problem: Exception) -> str:
    return f"unknown action {problem.args[0]!r}" if isinstance(problem, KeyError) else str(problem)


@dataclass(slots=True)
class ScriptedWire:
    """Plays the next answer of a script for each request."""

    answers: tuple[Answer, ...]
    played: int = 0

    @property
    def provider(self) -> str:
        return OFFLINE

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        play = _Play(request, self.played)
        for name, value in self._next():
            if name == "wait":
                await asyncio.sleep(float(value))
            for event in play.act(name, value):
                await asyncio.sleep(0)  # a place at which a stop can reach us
                yield event
                if isinstance(event, WireFailed):
                    return
        yield play.end()

    def _next(self) -> Answer:
        over: Answer = (("fail", {"kind": "other", "text": f"the script has only {len(self.answers)} answers"}),)
        answer = self.answers[self.played] if self.played < len(self.answers) else over
        if ("repeat", True) not in answer:
            self.played += 1
        return answer


@dataclass(slots=True)
class _Play:
    """One answer while it is played: what has been said so far."""

    request: ModelRequest
    number: int
    parts: list[AssistantPart] = field(default_factory=list[AssistantPart])
    broken: list[BrokenCall] = field(default_factory=list[BrokenCall])
    stop: StopReason | None = None
    usage: Usage | None = None
    cost: float | None = None
    retries: int = 0

    def act(self, name: str, value: Any) -> Iterable[WireEvent]:
        match name:
            case "text":
                return [self._said(TextPart(text), TextDelta(text)) for text in _texts(value)]
            case "think":
                return [self._said(ReasoningPart(text), ReasoningDelta(text)) for text in _texts(value)]
            case "call":
                return [self._called(value)]
            case "cut_call":
                return [self._cut(value)]
            case "retry":
                self.retries += 1
                return [RetryScheduled(self.retries, float(value.get("delay", 0)), _failure(value))]
            case "fail":
                return [WireFailed(_failure(value), self._message(), self.usage)]
            case "expect" if value not in _newest(self.request):
                text = f"the script expected {value!r} in the newest message"
                return [WireFailed(Failure("rejected", provider_text=text), self._message(), self.usage)]
            case _:
                self._note(name, value)
                return []

    def _note(self, name: str, value: Any) -> None:
        match name:
            case "stop":
                self.stop = value
            case "usage":
                self.usage = Usage(**value)
            case "cost":
                self.cost = float(value)
            case _:
                pass  # wait, expect that was met, repeat: done elsewhere

    def end(self) -> WireAnswer:
        calls = self.broken or any(isinstance(part, ToolCallPart) for part in self.parts)
        stop: StopReason = self.stop or ("tool_calls" if calls else "end")
        return WireAnswer(self._message(), stop, stop, self.usage, self.cost, tuple(self.broken))

    def _said(self, part: TextPart | ReasoningPart, event: WireEvent) -> WireEvent:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, TextPart) and isinstance(part, TextPart):
            self.parts[-1] = TextPart(last.text + part.text)
        elif isinstance(last, ReasoningPart) and isinstance(part, ReasoningPart):
            self.parts[-1] = ReasoningPart(last.text + part.text)
        else:
            self.parts.append(part)
        return event

    def _called(self, value: JsonObject) -> WireEvent:
        call_id = value.get("id") or f"script_{self.number}_{len(self.parts)}_{len(self.request.messages)}"
        call = ToolCallPart(call_id, value["name"], value.get("arguments", {}))
        self.parts.append(call)
        return ToolCallDrafted(len(self.parts) - 1, call.name, len(json.dumps(call.arguments)))

    def _cut(self, value: JsonObject) -> WireEvent:
        chars = int(value.get("chars", 0))
        call_id = f"script_cut_{self.number}_{len(self.broken)}"
        self.broken.append(BrokenCall(call_id, value["name"], chars, value.get("head", "")))
        return ToolCallDrafted(len(self.parts) + len(self.broken) - 1, value["name"], chars)

    def _message(self) -> AssistantMessage:
        return AssistantMessage(tuple(self.parts), self.request.model, OFFLINE)


def _texts(value: JsonValue) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _failure(value: JsonObject) -> Failure:
    return Failure(
        value.get("kind", "other"),
        host=value.get("host", ""),
        status=value.get("status"),
        code=value.get("code", ""),
        provider_text=value.get("text", ""),
        retry_after=value.get("retry_after"),
    )


def _newest(request: ModelRequest) -> str:
    """The texts of the last message."""
    message = request.messages[-1] if request.messages else None
    if message is None:
        return ""
    if isinstance(message, ToolMessage):
        return "\n".join(result.text for result in message.results)
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


# What may stand in a script -----------------------------------------------------------------------------------------


def _is_text(value: Any) -> None:
    texts = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a string, or an array of strings, is expected")


def _is_seconds(value: JsonValue) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise TypeError("a number that is not negative is expected")


def _is_call(value: JsonObject) -> None:
    if not isinstance(value["name"], str) or not isinstance(value.get("arguments", {}), dict):
        raise TypeError("a call has a name and an object of arguments")


def _is_failure(value: JsonObject) -> None:
    if value.get("kind", "other") not in get_args(FailureKind):
        raise ValueError(f"kind is one of {', '.join(get_args(FailureKind))}")


def _is_stop(value: JsonValue) -> None:
    if value not in get_args(StopReason):
        raise ValueError(f"stop is one of {', '.join(get_args(StopReason))}")


def _is_usage(value: JsonObject) -> None:
    Usage(**value)


def _is_anything(_value: JsonValue) -> None:
    pass


_CHECKS: dict[str, Callable[[Any], None]] = {
    "text": _is_text,
    "think": _is_text,
    "call": _is_call,
    "cut_call": _is_call,
    "wait": _is_seconds,
    "cost": _is_seconds,
    "retry": _is_failure,
    "fail": _is_failure,
    "stop": _is_stop,
    "usage": _is_usage,
    "expect": _is_text,
    "repeat": _is_anything,
}
