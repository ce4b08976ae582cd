import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from tests.fakes import fake_llm

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.events import TextDelta, WireAnswer, WireEvent, WireFailed
from maia.core.messages import AssistantMessage, ToolCallPart
from maia.core.requests import ModelRequest
from maia.core.secret import Secret
from maia.i18n.catalogue import Catalogue
from maia.llm.doctor import Check, check_endpoint, check_row, verdict
from maia.llm.endpoint import OFFLINE_ENDPOINT, Endpoint
from maia.llm.offline import OfflineWire
from maia.llm.open import open_wire
from maia.llm.target import WireTarget
from maia.llm.transport import get_json

DONE = WireAnswer(AssistantMessage(()), "end", "stop")
CALLED = WireAnswer(AssistantMessage((ToolCallPart("1", "report_number", {"number": 7}),)), "tool_calls", "tool_calls")
BROKEN = WireFailed(Failure("overloaded", "h", 529, provider_text="busy"), AssistantMessage(()))
STREAMED = (TextDelta("1"), TextDelta("2"), DONE)


class Wire:
    provider = "work"

    def __init__(self, plain: Sequence[WireEvent] = STREAMED, tools: Sequence[WireEvent] = (CALLED,)) -> None:
        self.plain, self.tools = plain, tools

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        for event in self.tools if request.tools else self.plain:
            yield event


def endpoint(base: str = "https://w.example/v1", key: str = "") -> Endpoint:
    target = WireTarget("work", "openai-chat", base, key=Secret(key) if key else None)
    return Endpoint("work", "settings", target, "/models")


def checked(wire: Wire, answer: Any = None, failure: Failure | None = None, key: str = "") -> tuple[Check, ...]:
    async def get(_target: WireTarget, _path: str) -> Any:
        if failure:
            raise ModelFailed(failure)
        return answer or {"data": [{"id": "m", "context_length": 32_000}]}

    return asyncio.run(check_endpoint(endpoint(key=key), get, lambda _: wire, clock=lambda: 0.0))


def states(checks: Sequence[Check]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


ALL_OK = dict.fromkeys(("address", "key", "models", "stream", "tools", "window"), "ok")


def test_a_sound_endpoint_passes_every_check() -> None:
    checks = checked(Wire(), key="k" * 9)
    assert states(checks) == ALL_OK
    assert verdict(checks) == "ok"
    assert [check.reason.key for check in checks] == [
        "models.check_address_ok",
        "models.check_key_ok",
        "models.check_models_ok",
        "models.check_stream_ok",
        "models.check_tools_ok",
        "models.window_server",
    ]


FLAWS = {
    "answers in one block": (Wire(plain=(TextDelta("12345"), DONE)), {"stream": "warn"}),
    "never calls the tool": (Wire(tools=(TextDelta("7"), DONE)), {"tools": "warn"}),
    "fails while streaming": (Wire(plain=(TextDelta("1"), BROKEN)), {"stream": "fail"}),
    "fails on tools": (Wire(tools=(BROKEN,)), {"tools": "fail"}),
    "says nothing at all": (Wire(plain=()), {"stream": "fail"}),
}


@pytest.mark.parametrize(("wire", "flaw"), FLAWS.values(), ids=FLAWS.keys())
def test_each_flaw_is_found_by_its_check(wire: Wire, flaw: dict[str, str]) -> None:
    checks = checked(wire)
    assert states(checks) == ALL_OK | flaw
    assert verdict(checks) == next(iter(flaw.values()))


def test_a_server_that_lists_to_anybody_but_refuses_the_call_has_refused_the_key() -> None:
    refused = WireFailed(Failure("auth", "h", 401), AssistantMessage(()))
    rest = dict.fromkeys(("stream", "tools", "window"), "skipped")
    assert states(checked(Wire(plain=(refused,)))) == {"address": "ok", "key": "fail", "models": "ok", **rest}


def test_an_unknown_window_is_a_warning() -> None:
    assert states(checked(Wire(), {"data": [{"id": "m"}]})) == ALL_OK | {"window": "warn"}


LISTS = {
    "network": ("address", {"key": "skipped", "models": "skipped"}),
    "timeout": ("address", {"key": "skipped", "models": "skipped"}),
    "auth": ("key", {"address": "ok", "models": "skipped"}),
    "not_llm": ("models", {"address": "ok", "key": "ok"}),
    "overloaded": ("models", {"address": "ok", "key": "ok"}),
}


@pytest.mark.parametrize(("kind", "failed", "others"), [(k, *v) for k, v in LISTS.items()], ids=LISTS.keys())
def test_a_list_that_cannot_be_had_says_how_far_one_got(kind: Any, failed: str, others: dict[str, str]) -> None:
    checks = checked(Wire(), failure=Failure(kind, "h", 500, provider_text="why"))
    rest = dict.fromkeys(("stream", "tools", "window"), "skipped")
    assert states(checks) == {failed: "fail", **others, **rest}
    found = next(check for check in checks if check.state == "fail")
    assert (found.reason.key, found.reason.values["detail"]) == (f"failure.{kind}", "why")


def test_every_finding_has_its_words(say: Catalogue) -> None:
    for wire in (Wire(), *(wire for wire, _ in FLAWS.values())):
        for check in (*checked(wire), *checked(wire, failure=Failure("auth"))):
            assert say(check.reason.key, **check.reason.values)


def test_a_row_for_machines_has_key_and_values() -> None:
    row = check_row(checked(Wire())[2])
    assert row == {
        "endpoint": "work",
        "check": "models",
        "state": "ok",
        "reason": "models.check_models_ok",
        "values": {"n": 1, "model": "m"},
        "seconds": 0.0,
    }


def test_offline_passes_without_a_server() -> None:
    async def get(_target: WireTarget, path: str) -> Any:
        raise AssertionError(path)

    says = {"fr": Catalogue("fr"), "en": Catalogue("en")}
    checks = asyncio.run(check_endpoint(OFFLINE_ENDPOINT, get, lambda _: OfflineWire(says)))
    assert states(checks) == ALL_OK | {"tools": "skipped"}


def test_a_real_server_over_http_is_checked() -> None:
    async def check(url: str) -> tuple[Check, ...]:
        wire = open_wire(WireTarget("work", "openai-chat", url))
        try:
            return await check_endpoint(endpoint(url), get_json, lambda _: wire)
        finally:
            await wire.aclose()

    with fake_llm(scenario="tool", tool_name="report_number", tool_args='{"number": 7}') as fake:
        checks = asyncio.run(check(fake.openai_url))
    assert states(checks) == ALL_OK | {"window": "warn"}
