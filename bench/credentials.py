"""Keys: detecting one, the whole vote, and finding one in an environment.

`python bench/harness.py credentials`
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from harness import Row, at_most

from maia.core.secret import Secret
from maia.credentials.explain import look_up
from maia.credentials.find import Request
from maia.credentials.prefixes import RULES, detect
from maia.credentials.signals import Ballot
from maia.credentials.sources import process_layer
from maia.credentials.vote import resolve

BODY = "Zq7x" * 40
KEYS = [
    *(rule.prefix + BODY[:80] for rule in RULES if rule.prefix),
    *("0f" * n + end for n in (8, 16, 20, 32) for end in ("", "." + BODY[:16])),
    "FAKE-opaque-token-123",
    f' "Bearer sk-ant-api03-{BODY}"\n',
]
URLS = ("", "https://api.minimaxi.com/anthropic", "https://api.z.ai/api/paas/v4", "http://127.0.0.1:4000")


def microseconds(call: Callable[[], object], n: int) -> float:
    """CPU time of `n` things done by one call, in microseconds each: the median of seven."""
    call()
    taken: list[float] = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(20):
            call()
        taken.append((time.process_time() - start) / 20 / n * 1e6)
    return statistics.median(taken)


def main() -> list[Row]:
    env = {**{f"VARIABLE_{n}": "x" for n in range(100)}, "ANTHROPIC_AUTH_TOKEN": KEYS[0], "MINIMAX_API_KEY": KEYS[1]}
    ballots = [Ballot(Secret(key), base_url=url) for key in KEYS for url in URLS]
    slowest = max(microseconds(lambda key=key: detect(key), 1) for key in KEYS)
    return [
        at_most("detect a key", microseconds(lambda: [detect(key) for key in KEYS], len(KEYS)), "µs", 50),
        at_most("detect, slowest shape", slowest, "µs", 50),
        at_most("vote", microseconds(lambda: [resolve(ballot) for ballot in ballots], len(ballots)), "µs", 500),
        at_most("find in 100 variables", microseconds(lambda: look_up(Request((process_layer(env),))), 1), "µs", 2000),
    ]
