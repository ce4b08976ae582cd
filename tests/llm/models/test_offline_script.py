import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.endings import Failure
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
from maia.core.messages import AssistantMessage, ReasoningPart, TextPart, ToolCallPart, UserMessage
from maia.core.requests import ModelRequest
from maia.i18n.catalogue import Catalogue
from maia.llm.offline import open_offline
from maia.llm.offline_script import ScriptedWire, read_script

ASKED = ModelRequest("m", (), (UserMessage((TextPart("hello there"),)),))


def played(script: str, times: int = 1) -> list[list[WireEvent]]:
    async def play() -> list[list[WireEvent]]:
        wire = ScriptedWire(read_script(script))
        return [[event async for event in wire.stream(ASKED)] for _ in range(times)]

    return asyncio.run(play())


def message(*parts: Any) -> AssistantMessage:
    return AssistantMessage(parts, "m", "offline")


CALL = ToolCallPart("c1", "Read", {"path": "a"})
SCRIPTS: dict[str, tuple[str, list[WireEvent]]] = {
    "text in one delta": (
        '{"text": "Hello"}',
        [TextDelta("Hello"), WireAnswer(message(TextPart("Hello")), "end", "end")],
    ),
    "text with a line separator that is no end of a line": (
        '{"text": "a\u2028b"}',
        [TextDelta("a\u2028b"), WireAnswer(message(TextPart("a\u2028b")), "end", "end")],
    ),
    "text in several": (
        '{"text": ["Hel", "lo"]}',
        [TextDelta("Hel"), TextDelta("lo"), WireAnswer(message(TextPart("Hello")), "end", "end")],
    ),
    "thinking, text and a call": (
        '[{"think": "hm"}, {"text": "ok"}, {"call": {"id": "c1", "name": "Read", "arguments": {"path": "a"}}}]',
        [
            ReasoningDelta("hm"),
            TextDelta("ok"),
            ToolCallDrafted(2, "Read", len('{"path": "a"}')),
            WireAnswer(message(ReasoningPart("hm"), TextPart("ok"), CALL), "tool_calls", "tool_calls"),
        ],
    ),
    "a cut call": (
        '{"cut_call": {"name": "Write", "chars": 512, "head": "{"}, "stop": "length"}',
        [
            ToolCallDrafted(0, "Write", 512),
            WireAnswer(message(), "length", "length", broken=(BrokenCall("script_cut_0_0", "Write", 512, "{"),)),
        ],
    ),
    "a failure after text": (
        '{"text": "so far", "fail": {"kind": "overloaded", "status": 529, "text": "busy"}, "cost": 1}',
        [
            TextDelta("so far"),
            WireFailed(Failure("overloaded", status=529, provider_text="busy"), message(TextPart("so far"))),
        ],
    ),
    "a retry, usage and a cost": (
        '{"retry": {"delay": 2, "kind": "rate_limit"}, "text": "x", "usage": {"input": 5, "output": 2}, "cost": 0.5}',
        [
            RetryScheduled(1, 2.0, Failure("rate_limit")),
            TextDelta("x"),
            WireAnswer(message(TextPart("x")), "end", "end", Usage(5, 2), 0.5),
        ],
    ),
    "an expectation that holds": (
        '{"expect": "hello", "text": "x"}',
        [TextDelta("x"), WireAnswer(message(TextPart("x")), "end", "end")],
    ),
    "an expectation that does not": (
        '{"expect": "bye", "text": "x"}',
        [WireFailed(Failure("rejected", provider_text="the script expected 'bye' in the newest message"), message())],
    ),
    "nothing at all": ("{}", [WireAnswer(message(), "end", "end")]),
}


@pytest.mark.parametrize(("script", "events"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_line_is_played_as_an_answer(script: str, events: list[WireEvent]) -> None:
    assert played(script) == [events]


def test_each_request_gets_the_next_line_and_comments_are_skipped() -> None:
    first, second = played('{"text": "1"}\n\n# between\n{"text": "2"}', 2)
    assert (first[0], second[0]) == (TextDelta("1"), TextDelta("2"))


def test_a_request_too_many_fails_and_says_so() -> None:
    (_, second) = played('{"text": "1"}', 2)
    assert isinstance(second[0], WireFailed)
    assert "only 1 answers" in second[0].failure.provider_text


def test_a_repeated_line_answers_for_ever_with_calls_of_their_own() -> None:
    answers = played('{"text": "once"}\n{"repeat": true, "call": {"name": "Read"}}', 5)
    assert [type(events[-1]) for events in answers] == [WireAnswer] * 5
    assert all(isinstance(events[0], ToolCallDrafted) for events in answers[1:])


def test_waiting_takes_its_time() -> None:
    import time

    start = time.monotonic()
    played('{"wait": 0.15, "text": "x"}')
    assert time.monotonic() - start >= 0.14


def test_a_script_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "script.jsonl"
    file.write_text('\ufeff{"text": "é"}\n', "utf-8")
    assert played(str(file))[0][0] == TextDelta("é")
    says = {"fr": Catalogue("fr"), "en": Catalogue("en")}
    assert isinstance(open_offline(says, "fr", {"MAIA_OFFLINE_SCRIPT": str(file)}), ScriptedWire)


BAD = {
    "no JSON": '{"text": ',
    "a number": "[1]",
    "too many levels": "[" * 5_000,
    "unknown action": '{"txt": "x"}',
    "text of another type": '{"text": 1}',
    "texts of another type": '{"text": ["a", 1]}',
    "call without a name": '{"call": {}}',
    "arguments that are no object": '{"call": {"name": "Read", "arguments": "x"}}',
    "unknown kind": '{"fail": {"kind": "bored"}}',
    "unknown stop": '{"stop": "tired"}',
    "negative wait": '{"wait": -1}',
    "unknown usage": '{"usage": {"tokens": 1}}',
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD.keys())
def test_a_bad_line_is_an_error_that_names_it(line: str, say: Catalogue) -> None:
    with pytest.raises(SettingsProblem) as caught:
        read_script(json.dumps({"text": "fine"}) + "\n" + line)
    assert (caught.value.key, caught.value.values["line"]) == ("offline.script_line", 2)
    assert say(caught.value.key, **caught.value.values)
    assert say(caught.value.key + ".fix", **caught.value.values)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00bad", None])
def test_a_script_that_cannot_be_read_is_a_clear_error(content: bytes | None, tmp_path: Path, say: Catalogue) -> None:
    file = tmp_path / "script.jsonl"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(SettingsProblem) as caught:
        read_script(str(file))
    assert say(caught.value.key, **caught.value.values)
