"""The web workspace under load and under kill -9: fifty streams at once, and what is lost when the server dies."""

from __future__ import annotations

import asyncio
import random
import signal
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx2
from _model_server import text
from _webrig import Model, Rig, model, rig, served
from harness import Row, at_most
from tests.web.serving import Serving, Visitor

STREAMS, WORDS, GAP_MS = 50, 300, 20
BEGIN_S = 2.0
"""Seconds within which people ask."""
KILLS, KILL_GAP_MS = 6, 5


def main() -> list[Row]:
    return [*_at_once(), *_killed()]


# Fifty at once --------------------------------------------------------------------------------------------------------


def _at_once() -> list[Row]:
    with rig() as small:
        made = [small.owner.conversation() for _ in range(STREAMS)]
        before, begun = small.cpu(), time.perf_counter()
        gaps = asyncio.run(_all(small, made))
        used = (small.cpu() - before) / (time.perf_counter() - begun)
        lost = sum(_lost(small, each) for each in made)
    rate = STREAMS * 1000 // GAP_MS
    name = f"{STREAMS} streams at once, {rate:,} words a second"
    return [
        at_most(f"{name}: longest silence", max(gaps) * 1000, "ms", 750),
        at_most(f"{name}: usual silence, p99", statistics.quantiles(gaps, n=100)[98] * 1000, "ms", 400),
        at_most(f"{name}: the server", used, "cores", None),
        at_most(f"{name}: lost", lost, "characters", 0),
    ]


async def _all(small: Rig, made: list[str]) -> list[float]:
    cookies = dict(small.owner.client.cookies)
    limits = httpx2.Limits(max_connections=None)
    headers = {"X-CSRF-Token": small.owner.csrf}
    async with httpx2.AsyncClient(
        base_url=small.server.url, cookies=cookies, headers=headers, timeout=60, limits=limits
    ) as client:
        found = await asyncio.gather(*(_one(client, each, n * BEGIN_S / STREAMS) for n, each in enumerate(made)))
    return [gap for gaps in found for gap in gaps]


async def _one(client: httpx2.AsyncClient, conversation: str, after: float) -> list[float]:
    """Seconds between the pieces of one answer, as its page gets them; asked for `after` some seconds."""
    await asyncio.sleep(after)
    said = {"content": f"{WORDS} words every {GAP_MS} ms"}
    gaps: list[float] = []
    last, is_writing = 0.0, False
    async with client.stream("GET", f"/ui/stream?conversation={conversation}&cursor=0") as answer:
        await client.post(f"/api/v1/conversations/{conversation}/messages", json=said)
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                now = time.perf_counter()
                gaps += [now - last] if is_writing else []
                last = now
            is_writing = is_writing or "word0." in line
            if 'class="caption"' in line:
                break
    return gaps


def _lost(small: Rig, conversation: str) -> int:
    answer = _stored(small.owner, conversation)
    return 0 if answer == text(WORDS) else len(text(WORDS)) - len(answer)


def _stored(visitor: Visitor, conversation: str) -> str:
    messages = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]
    return str(messages[-1]["content"])


# Killed ---------------------------------------------------------------------------------------------------------------


def _killed() -> list[Row]:
    chance = random.Random(4)
    late: list[float] = []
    unkept = 0
    with tempfile.TemporaryDirectory(prefix="maia-bench-web-") as folder, model() as answering:
        data = Path(folder, "data")
        for _ in range(KILLS):
            with served(data, answering) as server, Visitor(server.url) as owner:
                owner.become_owner(server.token) if server.token else owner.sign_in()
                conversation, seen, sent = _kill(server, owner, answering, chance.uniform(0.5, 1.5))
            with served(data, answering) as again, Visitor(again.url) as owner:
                owner.sign_in()
                kept = _stored(owner, conversation)
            unkept += 0 if kept.startswith(seen) else len(seen)
            late.append((sent - kept.count("word")) * KILL_GAP_MS)
    return [
        at_most(f"kill -9 in mid-stream, {KILLS} times: shown and lost", unkept, "characters", 0),
        at_most("kill -9 in mid-stream: not yet written, at most", max(late), "ms", 200),
    ]


def _kill(server: Serving, owner: Visitor, answering: Model, after: float) -> tuple[str, str, int]:
    """Kill it while an answer comes: (conversation, what a reader had seen, words that the model had sent)."""
    conversation = owner.conversation()
    seen: list[str] = []

    def read() -> None:
        with suppress(httpx2.HTTPError):
            frames = (each for each in other.frames(conversation) if each.kind == "TextDelta")
            seen.extend(each.json["event"]["text"] for each in frames)

    with Visitor(server.url) as other:
        other.client.cookies.update(dict(owner.client.cookies))
        reader = Thread(target=read)
        reader.start()
        owner.say(conversation, f"2000 words every {KILL_GAP_MS} ms")
        time.sleep(after)
        sent = answering.sent()
        server.stop(signal.SIGKILL)
        reader.join()
    return conversation, "".join(seen), sent
