"""Checks an endpoint as a user would meet it: reachable, key accepted, models listed, streaming, tools, window."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.events import TextDelta, WireAnswer, WireFailed
from maia.core.jsonvalue import JsonObject
from maia.core.messages import TextPart, ToolCallPart, UserMessage
from maia.core.ports import Clock, Wire
from maia.core.reason import Reason
from maia.core.requests import ModelRequest, ToolSpec
from maia.llm.binding import default_model
from maia.llm.endpoint import Endpoint, GetJson
from maia.llm.models import ModelInfo, list_models, window_in_force
from maia.llm.window import find_window

CheckName: TypeAlias = Literal["address", "key", "models", "stream", "tools", "window"]
CheckState: TypeAlias = Literal["fail", "warn", "ok", "skipped"]
"""From worst to best."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding about an endpoint. `reason` is words as data; `seconds` is what it took; `failure` a failed call."""

    endpoint: str
    name: CheckName
    state: CheckState
    reason: Reason
    seconds: float = 0.0
    failure: Failure | None = None


OpenWireFor: TypeAlias = Callable[[Endpoint], Wire]

_PROBE_TOOL = ToolSpec(
    "report_number",
    "Reports a number.",
    {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)
_ORDER: tuple[CheckName, ...] = ("address", "key", "models", "stream", "tools", "window")


async def check_endpoint(
    endpoint: Endpoint,
    get_json: GetJson,
    open_wire: OpenWireFor,
    *,
    model: str = "",
    clock: Clock = time.monotonic,
) -> tuple[Check, ...]:
    """The findings about one endpoint, in the order of `CheckName`; two short calls of a model are made.

    `model` names the one to try, empty the default one. Nothing is raised; what a failure makes pointless is `skipped`.
    """
    start = clock()
    try:
        models = await list_models(endpoint, get_json)
    except ModelFailed as failed:
        return _from_list_failure(endpoint, failed.failure, clock() - start)
    listed = clock() - start
    chosen = next((info for info in models if info.id == model), None) or default_model(models, (endpoint,))
    checks = [
        _check(endpoint, "address", "ok", "address_ok", listed),
        _check(endpoint, "key", "ok", "key_ok" if _has_key(endpoint) else "key_none", 0.0),
        _check(endpoint, "models", "ok", "models_ok", listed, n=len(models), model=chosen.id),
    ]
    wire = open_wire(endpoint)
    streaming = await _streaming(endpoint, wire, chosen, clock)
    if streaming.reason.key == "failure.auth":  # some servers list their models to anybody
        skipped = [_check(endpoint, name, "skipped", "skipped", 0.0) for name in _ORDER[3:]]
        return (checks[0], replace(streaming, name="key"), checks[2], *skipped)
    checks.append(streaming)
    if endpoint.target is None:  # the offline model has no use for a tool it does not know
        checks.append(_check(endpoint, "tools", "skipped", "skipped", 0.0))
    else:
        checks.append(await _tools(endpoint, wire, chosen, clock))
    checks.append(await _window(endpoint, chosen, get_json))
    return tuple(checks)


def _check(endpoint: Endpoint, name: CheckName, state: CheckState, key: str, seconds: float, **values: object) -> Check:
    return Check(endpoint.name, name, state, Reason(f"models.check_{key}", values), round(seconds, 3))


def _has_key(endpoint: Endpoint) -> bool:
    return endpoint.target is not None and bool(endpoint.target.key)


def _from_list_failure(endpoint: Endpoint, failure: Failure, seconds: float) -> tuple[Check, ...]:
    """How far one got when the list could not be had: the first check that failed, the later ones skipped."""
    failed: CheckName = "models"
    if failure.kind in ("network", "timeout"):
        failed = "address"
    elif failure.kind == "auth":
        failed = "key"
    checks: list[Check] = []
    for name in _ORDER:
        if name == failed:
            checks.append(_failed(endpoint, name, failure, seconds))
        elif _ORDER.index(name) < _ORDER.index(failed):
            checks.append(_check(endpoint, name, "ok", f"{name}_ok", 0.0))
        else:
            checks.append(_check(endpoint, name, "skipped", "skipped", 0.0))
    return tuple(checks)


async def _answer(
    wire: Wire, request: ModelRequest, clock: Clock
) -> tuple[WireAnswer | WireFailed | None, int, float | None]:
    """The last event, the number of text deltas, and the seconds until the first one."""
    start, deltas = clock(), 0
    first: float | None = None
    last: WireAnswer | WireFailed | None = None
    async for event in wire.stream(request):
        if isinstance(event, TextDelta):
            deltas += 1
            first = clock() - start if first is None else first
        elif isinstance(event, (WireAnswer, WireFailed)):
            last = event
    return last, deltas, first


async def _streaming(endpoint: Endpoint, wire: Wire, model: ModelInfo, clock: Clock) -> Check:
    start = clock()
    request = ModelRequest(model.id, (), (UserMessage((TextPart("Count from 1 to 5 in digits."),)),))
    last, deltas, first = await _answer(wire, request, clock)
    seconds = clock() - start
    if not isinstance(last, WireAnswer):
        return _failed(endpoint, "stream", _failure_of(last), seconds)
    if deltas < 2:
        return _check(endpoint, "stream", "warn", "stream_whole", seconds)
    return _check(endpoint, "stream", "ok", "stream_ok", seconds, n=deltas, first=round(first or 0, 1))


async def _tools(endpoint: Endpoint, wire: Wire, model: ModelInfo, clock: Clock) -> Check:
    start = clock()
    text = "Call the tool report_number with the number 7. Do not write anything else."
    request = ModelRequest(model.id, (), (UserMessage((TextPart(text),)),), (_PROBE_TOOL,))
    last, _, _ = await _answer(wire, request, clock)
    seconds = clock() - start
    if not isinstance(last, WireAnswer):
        return _failed(endpoint, "tools", _failure_of(last), seconds)
    calls = [part for part in last.message.parts if isinstance(part, ToolCallPart)]
    return _check(endpoint, "tools", "ok" if calls else "warn", "tools_ok" if calls else "tools_none", seconds)


def _failed(endpoint: Endpoint, name: CheckName, failure: Failure, seconds: float) -> Check:
    values = {"host": failure.host, "status": failure.status, "detail": failure.provider_text}
    return Check(endpoint.name, name, "fail", Reason(f"failure.{failure.kind}", values), round(seconds, 3), failure)


def _failure_of(last: WireFailed | None) -> Failure:
    return last.failure if last else Failure("incomplete")


async def _window(endpoint: Endpoint, model: ModelInfo, get_json: GetJson) -> Check:
    found = await find_window(model, {}, None, lambda: window_in_force(endpoint, model, get_json))
    state: CheckState = "ok" if found.tokens else "warn"
    return Check(endpoint.name, "window", state, Reason(found.notice.key, found.notice.values))


def check_row(check: Check) -> JsonObject:
    """One row of `maia doctor --json`."""
    return {
        "endpoint": check.endpoint,
        "check": check.name,
        "state": check.state,
        "reason": check.reason.key,
        "values": check.reason.values,
        "seconds": check.seconds,
    }


def verdict(checks: Sequence[Check]) -> CheckState:
    """The worst of the findings."""
    states: list[CheckState] = [check.state for check in checks] or ["skipped"]
    return min(states, key=get_args(CheckState).index)
