import base64
import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from maia.core.requests import Section, ToolSpec
from maia.llm.count import (
    IMAGE_TOKENS,
    MessageTally,
    TokenCounter,
    compact_json,
    message_tokens,
    sections_tokens,
    tools_tokens,
    upper_estimate,
)

O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"  # tiktoken_ext.openai_public

TEXTS = {
    "empty": "",
    "words": "hello world",
    "code": "def f(x: int) -> str:\n    return f'{x:>10}'  # très bien\n",
    "french": "L’été où l’on écrivit « œuvre » : n’est-ce pas ?\u202f!",
    "chinese": "人工智能正在改变世界。" * 20,
    "arabic and russian": "مرحبا بالعالم и привет мир",
    "emoji and joiners": "👩‍👩‍👧‍👦🇫🇷 e\u0301 🧠" * 7,
    "whitespace": " \t \r\n\n\n   \u00a0\u202f x  ",
    "digits": "1234567890" * 50,
    "special token text": "<|endoftext|><|fim_prefix|><|endofprompt|>",
    "long run": "a" * 10_000,
    "long run of two bytes": "é" * 5_000,
    "contractions": "DON'Team don'ts I'LL we'veX",
    "controls": "\x00\x1b[31m\x7f\ufffd\U0010ffff",
}


class LengthCounter:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, texts: list[str]) -> list[int]:
        self.asked += texts
        return [len(text) for text in texts]


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    tiktoken = pytest.importorskip("tiktoken")
    import toktok

    tokenizer = toktok._encoding("o200k_base")
    vocabulary = b"".join(
        base64.b64encode(tokenizer.decode_single_token_bytes(n)) + b" %d\n" % n for n in range(199_998)
    )
    assert hashlib.sha256(vocabulary).hexdigest() == O200K_SHA256, "our vocabulary is not OpenAI's own file"
    folder = tmp_path_factory.mktemp("vocabulary")
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (folder / hashlib.sha1(url.encode()).hexdigest()).write_bytes(vocabulary)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield tiktoken.get_encoding("o200k_base")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_counts_equal_tiktoken_on_every_kind_of_text(counter: TokenCounter, reference, text: str) -> None:
    assert counter.count([text]) == [len(reference.encode_ordinary(text))]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cn"])), max_size=6))
def test_counts_equal_tiktoken_on_any_text_of_known_letters(counter: TokenCounter, reference, texts: list[str]) -> None:
    assert counter.count(texts) == [len(reference.encode_ordinary(text)) for text in texts]


@settings(max_examples=300, deadline=None)
@given(st.text() | st.text("aéz 中\n1'<|>🧠\ud800", max_size=40))
@example("\ud800")
@example("🧠" * 50)
def test_the_upper_estimate_is_never_below_the_count(text: str) -> None:
    assert upper_estimate(text) >= SHARED.count_one(text)


SHARED = TokenCounter()


def test_a_lone_surrogate_is_counted_and_not_fatal(counter: TokenCounter) -> None:
    assert counter.count(["\ud800", "a\udcffb", "?"]) == [1, counter.count_one("a?b"), 1]


def test_an_empty_batch_and_empty_texts_need_no_vocabulary() -> None:
    fresh = TokenCounter()
    assert fresh.count([]) == []
    assert fresh.count(["", ""]) == [0, 0]
    assert not fresh.loaded


def test_warming_loads_in_another_thread() -> None:
    fresh = TokenCounter()
    thread = fresh.warm()
    assert thread is not threading.current_thread()
    thread.join(30)
    assert fresh.loaded


def test_many_threads_may_count_at_once() -> None:
    fresh = TokenCounter(remember=4)
    wrong: list[list[int]] = []

    def work(n: int) -> None:
        for k in range(200):
            counts = fresh.count([f"mot {n} {k}", "hello world"])
            if counts[1] != 2:
                wrong.append(counts)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_counted_texts_are_remembered_and_the_memory_is_bounded() -> None:
    fresh = TokenCounter(remember=8)
    calls: list[list[str]] = []
    fresh._batch_count = lambda texts: calls.append(texts) or [7 for _ in texts]
    assert fresh.count(["a", "b", "a"]) == [7, 7, 7]
    assert fresh.count(["b", "a"]) == [7, 7]
    assert len(calls) == 1
    for n in range(50):
        fresh.count([f"text {n}"])
    assert len(fresh._memo._young) + len(fresh._memo._old) <= 8
    assert fresh.count(["text 49"]) == [7]
    assert calls[-1] == ["text 49"]


def test_a_text_in_use_survives_the_change_of_generation() -> None:
    fresh = TokenCounter(remember=8)
    calls: list[list[str]] = []
    fresh._batch_count = lambda texts: calls.append(texts) or [7 for _ in texts]
    fresh.count(["kept"])
    for n in range(50):
        fresh.count([f"text {n}"])
        fresh.count(["kept"])
    assert sum("kept" in texts for texts in calls) == 1


CALL = ToolCallPart("1", "Read", {"path": "é.py"})
MESSAGES = {
    "text": (UserMessage((TextPart("abc"), TextPart("de"))), 5 + 4),
    "no part": (UserMessage(()), 4),
    "tool call": (AssistantMessage((TextPart("abc"), CALL)), 3 + len('Read{"path":"é.py"}') + 4),
    "one result": (ToolMessage((ToolResultPart("1", "Read", "abcdef"),)), 6 + 4),
    "each result is a message": (ToolMessage((ToolResultPart("1", "Read", "a"), ToolResultPart("2", "Read", "b"))), 10),
    "reasoning that is not sent back": (AssistantMessage((ReasoningPart("thinking"), TextPart("a"))), 1 + 4),
    "reasoning that is sent back": (AssistantMessage((ReasoningPart("think", "x", {"s": 1}),)), 5 + 4),
    "picture": (UserMessage((ImagePart("image/png", "AAAA" * 9999),)), IMAGE_TOKENS + 4),
}


@pytest.mark.parametrize(("message", "tokens"), MESSAGES.values(), ids=MESSAGES.keys())
def test_a_message_counts_its_text_calls_and_results_plus_4(message, tokens: int) -> None:
    assert message_tokens(message, LengthCounter()) == tokens


def test_the_system_prompt_is_the_sum_of_its_sections_and_one_message() -> None:
    assert sections_tokens((Section("a", "abc"), Section("b", "de", "MAIA.md")), LengthCounter()) == 5 + 4
    assert sections_tokens((), LengthCounter()) == 0


def test_tool_definitions_count_as_they_travel() -> None:
    tool = ToolSpec("Read", "Reads « é ».", {"type": "object", "properties": {}})
    text = '{"name":"Read","description":"Reads « é ».","parameters":{"type":"object","properties":{}}}'
    assert compact_json({"name": "Read"}) == '{"name":"Read"}'
    assert tools_tokens((tool, tool), LengthCounter()) == 2 * len(text)


messages = st.lists(st.sampled_from([message for message, _ in MESSAGES.values()]), max_size=12)


@given(messages, messages, messages)
def test_a_tally_equals_the_sum_whatever_was_counted_before(first, second, third) -> None:
    counter = LengthCounter()
    tally = MessageTally(counter)
    for conversation in (first, first + second, first + third, second, [], first + second + third):
        assert tally.tokens(conversation) == sum(message_tokens(message, counter) for message in conversation)


def test_a_tally_only_grows_with_the_conversation_and_counts_only_what_is_new() -> None:
    counter = LengthCounter()
    tally = MessageTally(counter)
    conversation = [UserMessage((TextPart(f"message {n}"),)) for n in range(50)]
    sums = [tally.tokens(conversation[:n]) for n in range(51)]
    assert sums == sorted(sums)
    assert len(counter.asked) == 50
    tally.tokens([*conversation, UserMessage((TextPart("new"),))])
    assert counter.asked[50:] == ["new"]


def test_importing_the_counter_loads_no_vocabulary() -> None:
    code = "import sys, maia.llm.count; print([m for m in ('toktok', 'httpx2', 'genai_prices') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
