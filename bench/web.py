"""The web workspace from outside: start, memory, lists, a long conversation, first words, the cost of a stream.

Open WebUI's figures are those of version 0.12 on such a machine with such a model, 5 ms between two words.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from threading import Thread

import httpx2
from _model_server import word
from _webrig import CONVERSATIONS, LONG_TURNS, Rig, rig
from harness import Row, at_most
from tests.web.serving import Visitor

WORDS, GAP_MS, ANSWERS, FIRSTS = 1_000, 5, 3, 40
REST = 0.2
"""Seconds before each first word, so that nothing of the one before is still going on."""
_LAST = 'class="caption"'
"""What a page shows when an answer is over."""


def main() -> list[Row]:
    with rig(full=True) as full:
        started = full.cpu()
        time.sleep(1)
        memory = full.memory_mb()
        before = full.cpu()
        time.sleep(10)
        idle = (full.cpu() - before) / 10
        full.owner.sign_in()
        listed = full.per_request(lambda: full.owner.ask("GET", "/api/v1/conversations?limit=200"), 100)
        board = full.per_request(lambda: full.owner.ask("GET", "/board"), 20)
        home = full.per_request(lambda: full.owner.ask("GET", "/"), 20)
        made = full.per_request(full.owner.conversation, 50)
        opened = full.per_request(lambda: full.owner.ask("GET", f"/conversations/{full.long}"), 20)
    return [
        at_most("maia serve, start", started, "CPU s", 1.5, "Open WebUI: 27"),
        at_most("maia serve, idle memory", memory, "MB", 110, "Open WebUI: 830"),
        at_most("maia serve, idle", idle * 100, "% of a core", 0.5, "Open WebUI: 0.90"),
        at_most("a conversation is made", made * 1000, "CPU ms", 10, "Open WebUI: 23.5"),
        at_most(f"list of 200 of {CONVERSATIONS:,} conversations", listed * 1000, "CPU ms", 3, "Open WebUI: 16 of 60"),
        at_most(f"board of {CONVERSATIONS:,} conversations", board * 1000, "CPU ms", 60),
        at_most(f"Home with {CONVERSATIONS:,} conversations", home * 1000, "CPU ms", 60),
        at_most(f"page of a conversation of {2 * LONG_TURNS:,} messages", opened * 1000, "CPU ms", 150),
        *_streams(),
    ]


def _streams() -> list[Row]:
    """What a stream costs, with its reader. The first answers warm up; that of one word is no cost of a token."""
    with rig() as small:
        rows: list[Row] = []
        for name, path, last, peer in (
            ("a page", "/ui/stream?cursor=0&conversation={}", _LAST, "1,198"),
            ("the interface", "/api/v1/conversations/{}/events?cursor=0", "event: done", "510, nothing stored"),
        ):
            one = statistics.median(_cpu_of(small, path, last, 1) for _ in range(ANSWERS + 1))
            many = statistics.median(_cpu_of(small, path, last, WORDS) for _ in range(ANSWERS))
            cost = (many - one) * 1e6 / WORDS
            note = f"Open WebUI: {peer}"
            rows.append(at_most(f"1,000 streamed tokens, {name} open", cost, "CPU ms", 200, note))
        for name, path, peer in (
            ("a page", "/ui/stream?cursor=0&conversation={}", "128"),
            ("the interface", "/api/v1/conversations/{}/events?cursor=0", "50"),
        ):
            added = _first_later(small, path)
            rows.append(at_most(f"first word later, {name}, p50", added * 1000, "ms", 5, f"Open WebUI: {peer}"))
        return rows


def _cpu_of(small: Rig, path: str, last: str, words: int) -> float:
    """CPU seconds of the server for one answer that somebody reads."""
    conversation = small.owner.conversation()
    reader = _Reader(small, path.format(conversation), lambda line: last in line)
    before = small.cpu()
    small.owner.say(conversation, f"{words} words every {GAP_MS} ms")
    reader.join()
    return small.cpu() - before


def _first_later(small: Rig, path: str) -> float:
    """Seconds by which the first word comes later than without us, in the middle of many tries.

    Both ways are gone in turn, each after the same rest: a model that has just answered answers sooner.
    """
    with httpx2.Client(base_url=small.model.url) as client:
        later: list[float] = []
        for _ in range(FIRSTS):
            time.sleep(REST)
            direct = _first_directly(client)
            later.append(_first(small, path) - direct)
    return statistics.median(later)


def _first(small: Rig, path: str) -> float:
    """Seconds from sending a message to its first word."""
    conversation = small.owner.conversation()
    reader = _Reader(small, path.format(conversation), lambda line: word(0).strip() in line)
    begun = time.perf_counter()
    small.owner.say(conversation, f"3 words every {GAP_MS} ms")
    reader.join()
    return reader.at - begun


def _first_directly(client: httpx2.Client) -> float:
    """As `_first`, for somebody who asks the model without us; the connection is kept for the next time, as ours is."""
    at = 0.0
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"3 words every {GAP_MS} ms"}]}
    begun = time.perf_counter()
    with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        for line in answer.iter_lines():
            if word(0).strip() in line:
                at = time.perf_counter()
    return at - begun


class _Reader:
    """Reads a stream on a thread until a line of it is the one that is looked for; `at` is when."""

    def __init__(self, small: Rig, path: str, is_last: Callable[[str], bool]) -> None:
        self.at = 0.0
        self._path, self._is_last = path, is_last
        self._page = Visitor(small.server.url)
        self._page.client.cookies.update(dict(small.owner.client.cookies))
        self._thread = Thread(target=self._read)
        self._thread.start()
        time.sleep(REST)

    def _read(self) -> None:
        with self._page, self._page.client.stream("GET", self._path) as answer:
            for line in answer.iter_lines():
                if self._is_last(line):
                    self.at = time.perf_counter()
                    return

    def join(self) -> None:
        self._thread.join(60)
