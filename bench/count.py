"""Measures counting: loading the vocabulary, a first count of 1,000,000 tokens, and recounting after one more message.

    PYTHONPATH=src python bench/count.py

Prints one line a figure. The bar: recounting a 1,000,000-token session after one more message takes ≤ 5 ms.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from maia.core.types import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from maia.llm.count import MessageTally, TokenCounter, message_tokens, upper_estimate

SENTENCE = "The quick brown fox jumps over the lazy dog; le renard saute, x = f(y)[0] + 1.\n"
BAR_MS = 5.0


def session(tokens: int) -> list[Message]:
    """A conversation of about that many tokens in messages of mixed length."""
    messages: list[Message] = []
    for n in range(tokens // 1_330):
        text = f"{n} " + SENTENCE * (3 + n % 40)
        messages += [
            UserMessage((TextPart(f"{n} please look at this"),)),
            AssistantMessage((TextPart(f"{n} ok"), ToolCallPart(str(n), "Read", {"path": f"src/{n}.py"}))),
            ToolMessage((ToolResultPart(str(n), "Read", text + SENTENCE * 28),)),
        ]
    return messages


def timed(label: str, action: Callable[[], object], repeat: int = 1) -> float:
    start = time.process_time()
    for _ in range(repeat):
        action()
    spent = (time.process_time() - start) / repeat * 1_000
    print(f"{label:<58} {spent:9.3f} ms CPU")
    return spent


def main() -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counter = TokenCounter()
    timed("load the vocabulary", lambda: counter.count(["x"]))
    print(f"{'memory taken by it':<58} {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:9.1f} MB")
    messages = session(1_000_000)
    tally = MessageTally(counter)
    timed(f"first count of {len(messages):,} messages", lambda: tally.tokens(messages))
    print(f"{'tokens':<58} {tally.tokens(messages):9,}")
    text = "".join(part.text for m in messages if isinstance(m, ToolMessage) for part in m.results)
    timed(f"upper estimate of {len(text):,} characters", lambda: upper_estimate(text))

    def one_more() -> None:
        messages.append(UserMessage((TextPart(f"and now {len(messages)}?"),)))
        tally.tokens(messages)

    spent = timed("recount after one more message (tally)", one_more, 50)
    timed("recount of all without a tally (memo only)", lambda: [message_tokens(m, counter) for m in messages])
    print("ok" if spent <= BAR_MS else f"too slow: the bar is {BAR_MS} ms")
    return 0 if spent <= BAR_MS else 1


if __name__ == "__main__":
    raise SystemExit(main())
