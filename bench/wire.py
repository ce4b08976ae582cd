"""CPU of one streamed answer of 5,000 chunks: our wires and the official SDKs against the same server, in one run.

The server is another process; only this one's CPU counts: loopback HTTP, frames, JSON and assembly. "One by one": each
chunk wakes the client; "in bursts": the server writes as fast as it can. Each figure is the best of the rounds.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial

from harness import ROOT, Row, at_most, clean_env, measure
from tests.fakes import fake_llm

CHUNKS = 5000
ROUNDS = 3
LIMIT = 60.0
CHARS = CHUNKS * 20


async def ours(url: str, form: str) -> None:
    from maia.core.events import WireAnswer
    from maia.core.messages import TextPart, UserMessage
    from maia.core.requests import ModelRequest
    from maia.llm.open import open_wire
    from maia.llm.target import WireTarget

    path = "/v1/chat/completions" if form == "openai-chat" else "/v1/messages"
    wire = open_wire(WireTarget("fake", form, url, path))  # pyright: ignore[reportArgumentType] - one of two formats
    last = None
    async for event in wire.stream(ModelRequest("fake-model", (), (UserMessage((TextPart("hi"),)),))):
        last = event
    await wire.aclose()
    assert isinstance(last, WireAnswer), type(last)
    part = last.message.parts[0]
    assert isinstance(part, TextPart)
    assert len(part.text) == CHARS


async def openai_sdk(url: str) -> None:
    import openai

    async with openai.AsyncOpenAI(api_key="none", base_url=url + "/v1") as client:
        stream = await client.chat.completions.create(
            model="fake-model", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    assert len("".join(pieces)) == CHARS


async def anthropic_sdk(url: str) -> None:
    import anthropic

    async with anthropic.AsyncAnthropic(api_key="none", base_url=url) as client:
        stream = await client.messages.create(
            model="fake-model", max_tokens=9, messages=[{"role": "user", "content": "hi"}], stream=True
        )
        deltas = [event.delta async for event in stream if event.type == "content_block_delta"]
        pieces = [delta.text for delta in deltas if delta.type == "text_delta"]
    assert len("".join(pieces)) == CHARS


def best(run: Callable[[], Awaitable[None]]) -> float:
    """CPU microseconds a chunk, the best of the rounds after one that imports."""

    async def measured() -> float:
        gc.collect()
        start = time.process_time()
        await run()
        return time.process_time() - start

    return min([asyncio.run(measured()) for _ in range(ROUNDS + 1)][1:]) / CHUNKS * 1e6


def compared(name: str, pause: float) -> list[Row]:
    argv = [sys.executable, str(ROOT / "bench" / "_stream_server.py"), str(CHUNKS), str(pause)]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with closing(server.stdout):
        try:
            url = server.stdout.readline().strip()
            rows: list[Row] = []
            for form, sdk in (("openai-chat", openai_sdk), ("anthropic-messages", anthropic_sdk)):
                mine, theirs = best(partial(ours, url, form)), best(partial(sdk, url))
                note = f"its official SDK {theirs:.0f} µs, {theirs / mine:.1f}×"
                rows.append(at_most(f"{form}, a chunk of 5,000 {name}", mine, "CPU µs", LIMIT, note))
            return rows
        finally:
            server.terminate()
            server.wait()


FIRST_CALL = """
import asyncio, sys
from maia.core.messages import TextPart, UserMessage
from maia.core.requests import ModelRequest
from maia.llm.open import open_wire
from maia.llm.target import WireTarget
async def main():
    wire = open_wire(WireTarget("fake", "openai-chat", sys.argv[1], "/v1/chat/completions"))
    events = [e async for e in wire.stream(ModelRequest("m", (), (UserMessage((TextPart("hi"),)),)))]
    await wire.aclose()
    assert type(events[-1]).__name__ == "WireAnswer"
asyncio.run(main())
"""


def first_call() -> Row:
    """What a process pays for its first answer: imports, connection, request; beside `import asyncio` alone."""
    env = clean_env()
    with fake_llm("text") as server:
        called = measure((sys.executable, "-c", FIRST_CALL, server.url), env=env)
    bare = measure((sys.executable, "-c", "import asyncio; asyncio.run(asyncio.sleep(0))"), env=env)
    return at_most("first call, above asyncio", called.cpu - bare.cpu, "CPU s", 0.13, f"peak {called.peak_mb:.0f} MB")


def main() -> list[Row]:
    return [first_call(), *compared("one by one", 0.0002), *compared("in bursts", 0.0)]
