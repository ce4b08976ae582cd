import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.events import Notice, TextDelta, WireAnswer, WireEvent, WireFailed
from maia.core.messages import AssistantMessage, TextPart, UserMessage
from maia.core.requests import ModelRequest
from maia.i18n.catalogue import Catalogue
from maia.llm.models import ModelInfo
from maia.llm.window import (
    QUESTION,
    Ask,
    WindowFound,
    ask_over,
    find_window,
    parse_token_count,
    short_count,
    window_setting,
)

# Reading -------------------------------------------------------------------------------------------------------------

READ = {
    "128000": 128_000,
    "128 000 tokens": 128_000,
    "128\u00a0000": 128_000,
    "128\u202f000 jetons": 128_000,
    "128\u2009000": 128_000,
    "128,000": 128_000,
    "128.000": 128_000,
    "128'000": 128_000,
    "128_000": 128_000,
    "200k": 200_000,
    "200 K tokens": 200_000,
    "1,5 million": 1_500_000,
    "1,5 million de jetons": 1_500_000,
    "1.5M": 1_500_000,
    "1M": 1_000_000,
    "1 m": 1_000_000,
    "2 millions": 2_000_000,
    "1.05M": 1_050_000,
    "12,5k": 12_500,
    "128 thousand": 128_000,
    "200 mille": 200_000,
    "1,048,576": 1_048_576,
    "1.048.576": 1_048_576,
    "1 048 576": 1_048_576,
    "**128000**": 128_000,
    "128000.": 128_000,
    "My context window is 200,000 tokens.": 200_000,
    "Ma fenêtre de contexte est de 1 000 000 de jetons.": 1_000_000,
    "~128k": 128_000,
    "Claude 3.5 Sonnet: 200k": 200_000,
    "GPT-4 has 128k": 128_000,
    "200k tokens, i.e. 200,000": 200_000,
    "1000": 1_000,
}

UNREADABLE = {
    "": "nothing",
    "unknown": "a word",
    "I am not sure.": "words",
    "999": "below 1,000",
    "8": "below 1,000",
    "between 100k and 200k": "a range",
    "100k-200k": "a range",
    "128000–200000": "a range",
    "de 100k à 200k": "a range",
    "100k or 200k": "a choice",
    "10^6": "a power",
    "2**17": "a power",
    "4e5": "a power",
    "2¹⁷": "a power",
    "2 × 10 tokens": "a product",
    "-128000": "negative",
    "128k input, 8k output": "two sizes",
    "As of 2024, 128k": "two numbers",
    "128k (131072)": "two sizes",
    "1.500 M": "one and a half or fifteen hundred",
    "100 000,5": "a broken number",
    "99999999999999999999": "no size of a context",
    "128kB": "another unit",
    "x" * 5_000 + " 128k": "an essay",
}


@pytest.mark.parametrize(("answer", "tokens"), READ.items())
def test_a_size_is_read_in_every_spelling(answer: str, tokens: int) -> None:
    assert parse_token_count(answer) == tokens


@pytest.mark.parametrize(("answer", "why"), UNREADABLE.items(), ids=UNREADABLE.values())
def test_what_is_not_one_size_is_unreadable(answer: str, why: str) -> None:
    assert parse_token_count(answer) is None, why


@given(st.integers(1_000, 99_999_999))
def test_every_number_is_read_back_in_every_grouping(tokens: int) -> None:
    for gap in ("", " ", "\u00a0", "\u202f", ",", ".", "'"):
        spelled = f"{tokens:,}".replace(",", gap)
        assert parse_token_count(f"It is {spelled} tokens") == tokens


@given(st.text() | st.text("0123456789 .,kKmM-–^eà", max_size=30))
def test_no_answer_whatever_raises_or_gives_less_than_1000(answer: str) -> None:
    tokens = parse_token_count(answer)
    assert tokens is None or tokens >= 1_000


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(200_000, "200k"), (1_000_000, "1M"), (1_050_000, "1.05M"), (131_072, "131072"), (8_192, "8192")],
)
def test_a_size_is_shown_as_people_say_it(tokens: int, shown: str) -> None:
    assert short_count(tokens) == shown


# Finding -------------------------------------------------------------------------------------------------------------

PLAIN = ModelInfo("sonnet", "work")
LISTED = ModelInfo("sonnet", "work", 150_000, "server")
KNOWN = ModelInfo("sonnet", "work", 200_000, "catalogue")


def says(text: str) -> Ask:
    async def ask(question: str) -> str:
        assert question == QUESTION
        return text

    return ask


async def never(_question: str) -> str:
    raise AssertionError("the model must not be asked")


async def in_force() -> int | None:
    return 8_192


async def not_in_force() -> int | None:
    return None


def found(tokens: int, source: str, shown: str) -> WindowFound:
    return WindowFound(tokens, source, Notice("info", f"models.window_{source}", {"model": "sonnet", "tokens": shown}))


ORDER = {
    "a setting beats the server": (LISTED, {"MaxContextTokens": 50_000}, never, None, found(50_000, "setting", "50k")),
    "the server beats the catalogue": (LISTED, {}, never, None, found(150_000, "server", "150k")),
    "a local server in force": (KNOWN, {}, never, in_force, found(8_192, "server", "8192")),
    "the catalogue beats asking": (KNOWN, {}, never, not_in_force, found(200_000, "catalogue", "200k")),
    "asking comes last": (PLAIN, {}, says("1,5 million"), not_in_force, found(1_500_000, "model", "1.5M")),
}


@pytest.mark.parametrize(("model", "settings", "ask", "force", "expected"), ORDER.values(), ids=ORDER.keys())
def test_the_first_who_knows_says_the_window(model, settings, ask, force, expected, say: Catalogue) -> None:
    window = asyncio.run(find_window(model, settings, ask, force))
    assert window == expected
    assert "sonnet" in say(window.notice.key, **window.notice.values)


async def fails(_question: str) -> str:
    raise ModelFailed(Failure("overloaded", provider_text="busy"))


async def hangs(_question: str) -> str:
    await asyncio.sleep(60)
    return "200k"


UNKNOWN = {
    "nobody may be asked": (None, "models.window_unknown"),
    "unreadable": (says("no idea"), "models.window_unreadable"),
    "failed": (fails, "models.window_failed"),
    "too slow": (hangs, "models.window_timeout"),
}


@pytest.mark.parametrize(("ask", "key"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_window_nobody_knows_is_a_warning_with_its_reason(ask: Ask | None, key: str, say: Catalogue) -> None:
    window = asyncio.run(find_window(PLAIN, {}, ask, seconds=0.05))
    assert (window.tokens, window.source, window.notice.level, window.notice.key) == (None, "unknown", "warn", key)
    assert say(key, **window.notice.values)


def test_asking_is_given_up_after_60_seconds() -> None:
    from maia.llm.window import ASK_SECONDS

    assert ASK_SECONDS == 60


SETTINGS = {
    "for all models": ({"MaxContextTokens": 1_000_000}, 1_000_000),
    "as text": ({"MaxContextTokens": "200k"}, 200_000),
    "by id": ({"ContextSizes": {"sonnet": 5_000}, "MaxContextTokens": 9_000}, 5_000),
    "by provider and id": ({"ContextSizes": {"work/sonnet": "5k", "sonnet": 6_000}}, 5_000),
    "by part of the name": ({"ContextSizes": {"son": "7k"}}, 7_000),
    "the longest part": ({"ContextSizes": {"so": 6_000, "sonn": 7_000}}, 7_000),
    "without regard to case": ({"ContextSizes": {"SONNET": 5_000}}, 5_000),
    "for another model": ({"ContextSizes": {"opus": 5_000}}, None),
    "unreadable": ({"MaxContextTokens": "a lot"}, None),
    "negative": ({"MaxContextTokens": -5_000}, None),
    "true": ({"MaxContextTokens": True}, None),
    "a broken table": ({"ContextSizes": [1], "MaxContextTokens": 9_000}, 9_000),
    "an unreadable row falls through": ({"ContextSizes": {"sonnet": "?"}, "MaxContextTokens": 9_000}, 9_000),
    "nothing": ({}, None),
}


@pytest.mark.parametrize(("settings", "tokens"), SETTINGS.values(), ids=SETTINGS.keys())
def test_a_window_may_be_set_by_hand(settings: dict[str, object], tokens: int | None) -> None:
    assert window_setting(PLAIN, settings) == tokens


# Asking over a wire --------------------------------------------------------------------------------------------------


class Scripted:
    provider = "work"

    def __init__(self, *events: WireEvent) -> None:
        self.events = events
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.asked.append(request)
        for event in self.events:
            yield event


def test_the_question_goes_out_alone_without_tools() -> None:
    wire = Scripted(TextDelta("200"), TextDelta("k"), WireAnswer(AssistantMessage(()), "end", "stop"))
    assert asyncio.run(ask_over(wire, "sonnet")("How big?")) == "200k"
    assert wire.asked == [ModelRequest("sonnet", (), (UserMessage((TextPart("How big?"),)),))]


def test_a_failed_question_is_a_failure_of_the_model() -> None:
    wire = Scripted(TextDelta("2"), WireFailed(Failure("timeout"), AssistantMessage(())))
    with pytest.raises(ModelFailed) as caught:
        asyncio.run(ask_over(wire, "sonnet")("How big?"))
    assert caught.value.failure == Failure("timeout")
