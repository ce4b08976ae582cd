"""Counts tokens: of texts, exactly and as a cheap upper bound, and of everything a request is made of (T3.02).

The vocabulary is `o200k_base`, offline. Loading it takes about 0.25 s of CPU, 50 MB of memory, and holds the
interpreter's lock all the while: `TokenCounter` therefore loads on the first count, and `warm` lets a door choose a
quiet moment. A door that never shows a count (headless) can do with `upper_estimate` and load nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from operator import is_

from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from maia.core.ports import Counter
from maia.core.requests import Section, ToolSpec

ENCODING = "o200k_base"

MESSAGE_OVERHEAD = 4
"""Tokens of structure that each message costs (T3.02)."""

IMAGE_TOKENS = 1600
"""What a picture counts: the most that a full-size one costs
(https://docs.anthropic.com/en/docs/build-with-claude/vision, read 2026-11)."""

_MEMO_ENTRIES = 32_768
_PARALLEL_FROM_CHARS = 1_000_000


def upper_estimate(text: str) -> int:
    """Tokens that `text` has at most; costs no vocabulary. Every token of a byte-level vocabulary is ≥ 1 byte.

    The true count is about a quarter of it for English and code, so it serves to see that a context is far from full.
    """
    return len(text) if text.isascii() else len(_encodable(text).encode())


class TokenCounter:
    """The exact `Counter`. Counts are remembered by the text's hash; the texts themselves are not kept.

    Exact for the characters of Unicode 14: which of the newer ones are letters depends on the tables that the splitting
    rule is compiled with, in tiktoken as here.

    Safe to use from several threads. Text that looks like a special token counts as ordinary text; a lone surrogate,
    which no request can carry, counts as `?`.
    """

    def __init__(self, remember: int = _MEMO_ENTRIES) -> None:
        self._memo = _Memo(remember)
        self._loading = threading.Lock()
        self._batch_count: Callable[[list[str]], list[int]] | None = None

    @property
    def loaded(self) -> bool:
        """Whether the vocabulary is in memory, so that counting is quick."""
        return self._batch_count is not None

    def warm(self) -> threading.Thread:
        """Start loading in a thread of its own; the thread is returned for those who want to wait.

        The load holds the interpreter's lock for about 0.25 s: call it when nobody is typing.
        """
        thread = threading.Thread(target=self._load, name="token-vocabulary", daemon=True)
        thread.start()
        return thread

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, in order."""
        found = [self._memo.get(text) for text in texts]
        missing = [text for text, known in zip(texts, found, strict=True) if known is None]
        if not missing:
            return [known for known in found if known is not None]
        fresh = iter(self._load()(missing))
        return [self._memo.put(text, next(fresh)) if n is None else n for text, n in zip(texts, found, strict=True)]

    def count_one(self, text: str) -> int:
        """The number of tokens of one text."""
        return self.count((text,))[0]

    def _load(self) -> Callable[[list[str]], list[int]]:
        with self._loading:
            if self._batch_count is None:
                self._batch_count = _load_vocabulary()
            return self._batch_count


class _Memo:
    """Counts by the text's hash and length, in two generations: what was not used for a whole generation is dropped."""

    def __init__(self, entries: int) -> None:
        self._entries = max(1, entries // 2)
        self._young: dict[tuple[int, int], int] = {}
        self._old: dict[tuple[int, int], int] = {}

    def get(self, text: str) -> int | None:
        if not text:
            return 0
        key = (hash(text), len(text))
        count = self._young.get(key)
        if count is None and (count := self._old.get(key)) is not None:
            self.put(text, count)
        return count

    def put(self, text: str, count: int) -> int:
        if len(self._young) >= self._entries:
            self._old, self._young = self._young, {}
        self._young[hash(text), len(text)] = count
        return count


def _load_vocabulary() -> Callable[[list[str]], list[int]]:
    import toktok  # pyright: ignore[reportMissingTypeStubs] - annotated source, but the wheel ships no py.typed

    def batch_count(texts: list[str]) -> list[int]:
        threads = 0 if sum(map(len, texts)) >= _PARALLEL_FROM_CHARS else 1
        return toktok.batch_count([_encodable(text) for text in texts], ENCODING, threads)

    batch_count([""])
    return batch_count


def _encodable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot hold, replaced by `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


# What a request is made of ------------------------------------------------------------------------------------------


def compact_json(value: object) -> str:
    """JSON as it travels: no spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def message_tokens(message: Message, counter: Counter) -> int:
    """Tokens of one message: text, tool calls and results, plus 4 of structure a message (T3.02).

    Each result of a `ToolMessage` travels as a message of its own and so costs its own 4. Reasoning counts only where
    it is sent back (`replay`).
    """
    texts, fixed = _texts(message)
    return sum(counter.count(texts)) + fixed


def sections_tokens(sections: Sequence[Section], counter: Counter) -> int:
    """Tokens of the system prompt: its sections, plus 4 for the message that carries them; 0 when there is none."""
    return sum(counter.count([section.text for section in sections])) + MESSAGE_OVERHEAD if sections else 0


def tools_tokens(tools: Sequence[ToolSpec], counter: Counter) -> int:
    """Tokens of the tool definitions: name, description and JSON Schema as they travel."""
    return sum(counter.count([compact_json(_definition(tool)) for tool in tools]))


class MessageTally:
    """The sum over a conversation that grows: messages already counted are recognised by identity, not counted again.

    A list that is not a continuation of the last one (clear, compaction, another session) keeps what it shares.
    """

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._seen: list[Message] = []
        self._sums: list[int] = [0]

    def tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of all messages, as `message_tokens` counts each."""
        shared = self._shared_with(messages)
        del self._seen[shared:], self._sums[shared + 1 :]
        for message, tokens in zip(messages[shared:], self._count(messages[shared:]), strict=True):
            self._seen.append(message)
            self._sums.append(self._sums[-1] + tokens)
        return self._sums[-1]

    def _shared_with(self, messages: Sequence[Message]) -> int:
        if all(map(is_, self._seen, messages)):
            return min(len(self._seen), len(messages))
        return next(
            n for n, (seen, message) in enumerate(zip(self._seen, messages, strict=False)) if seen is not message
        )

    def _count(self, messages: Sequence[Message]) -> list[int]:
        """All in one batch: a call of the vocabulary costs more than a short text."""
        parts = [_texts(message) for message in messages]
        counts = iter(self._counter.count([text for texts, _ in parts for text in texts]))
        return [sum(next(counts) for _ in texts) + fixed for texts, fixed in parts]


def _texts(message: Message) -> tuple[list[str], int]:
    """The texts of a message that count, and what it costs beside them."""
    match message:
        case ToolMessage():
            return [result.text for result in message.results], MESSAGE_OVERHEAD * len(message.results)
        case UserMessage() | AssistantMessage():
            images = sum(isinstance(part, ImagePart) for part in message.parts)
            return list(_part_texts(message.parts)), MESSAGE_OVERHEAD + IMAGE_TOKENS * images


def _part_texts(parts: Iterable[TextPart | ImagePart | ReasoningPart | ToolCallPart]) -> Iterable[str]:
    for part in parts:
        match part:
            case TextPart():
                yield part.text
            case ReasoningPart():
                if part.replay is not None:
                    yield part.text
            case ToolCallPart():
                yield part.name
                yield compact_json(part.arguments)
            case ImagePart():
                pass


def _definition(tool: ToolSpec) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
