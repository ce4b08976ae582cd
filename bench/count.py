"""Counting: loading the vocabulary, a first count of 1,000,000 tokens, and recounting after one more message."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from harness import Row, at_most

from maia.core.messages import (
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


def cpu_ms(action: Callable[[], object], repeat: int = 1) -> float:
    start = time.process_time()
    for _ in range(repeat):
        action()
    return (time.process_time() - start) / repeat * 1_000


def resident_mb() -> float:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS")), 0.0)


def main() -> list[Row]:
    counter = TokenCounter()
    before = resident_mb()
    load = cpu_ms(lambda: counter.count(["x"]))
    taken = resident_mb() - before
    messages = session(1_000_000)
    tally = MessageTally(counter)
    first = cpu_ms(lambda: tally.tokens(messages))
    text = "".join(part.text for m in messages if isinstance(m, ToolMessage) for part in m.results)

    def one_more() -> None:
        messages.append(UserMessage((TextPart(f"and now {len(messages)}?"),)))
        tally.tokens(messages)

    note = f"{tally.tokens(messages):,} tokens in {len(messages):,} messages"
    return [
        at_most("recount a session after one more message", cpu_ms(one_more, 50), "ms CPU", 5.0, note),
        at_most("recount it from remembered texts alone", cpu_ms(lambda: _all(messages, counter)), "ms CPU", None),
        at_most("count it for the first time", first, "ms CPU", None),
        at_most("upper estimate of its tool results", cpu_ms(lambda: upper_estimate(text)), "ms CPU", None),
        at_most("load the vocabulary", load, "ms CPU", None, "holds the interpreter's lock; off the first paint"),
        at_most("memory of the vocabulary", taken, "MB", None, "only loaded where a person reads the count"),
    ]


def _all(messages: list[Message], counter: TokenCounter) -> int:
    return sum(message_tokens(message, counter) for message in messages)


if __name__ == "__main__":
    for row in main():
        print(row)
