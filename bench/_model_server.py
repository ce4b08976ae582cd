"""A model in a process of its own: `python _model_server.py` prints its address. The last message says what it answers.

"200 words every 5 ms" gives words of which each says its number, the first one after 20 ms, which is quick for a model.
GET /sent tells how many the newest answer had so far.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from itertools import count

_ASKED = re.compile(r"(\d+) words every (\d+) ms")
_BASE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_HEAD = b"HTTP/1.1 200 OK\r\n"
_sent: dict[int, int] = {}
_answers = count()
_FIRST = 0.02


def word(n: int) -> str:
    """The piece of that number: words, in paragraphs of sixty, as people and models write."""
    return f"word{n}." + ("\n\n" if n % 60 == 59 else " ")


def text(words: int) -> str:
    """A whole answer."""
    return "".join(map(word, range(words)))


def _chunk(delta: dict[str, str], stop: str | None = None) -> bytes:
    body = json.dumps({**_BASE, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
    frame = f"data: {body}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(frame), frame)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, kept for the next request as model servers keep it."""
    with suppress(OSError, asyncio.IncompleteReadError):
        while True:
            await _one(reader, writer)
    writer.close()


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
    body = await reader.readexactly(length)
    if b"/chat/completions" in head:
        await _stream(body, writer)
    else:
        said: object = _sent[max(_sent)] if b"/sent" in head else {"object": "list", "data": [{"id": "m"}]}
        plain = json.dumps(said).encode()
        writer.write(_HEAD + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(plain) + plain)
    await writer.drain()


async def _stream(body: bytes, writer: asyncio.StreamWriter) -> None:
    asked = _ASKED.findall(body.decode())
    words, gap = (int(asked[-1][0]), int(asked[-1][1]) / 1000) if asked else (1, 0.0)
    number, loop = next(_answers), asyncio.get_running_loop()
    writer.write(_HEAD + b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    await asyncio.sleep(_FIRST)
    begun = loop.time()
    for n in range(words):
        writer.write(_chunk({"content": word(n)}))
        _sent[number] = n + 1
        await writer.drain()
        if (wait := begun + (n + 1) * gap - loop.time()) > 0:
            await asyncio.sleep(wait)
    writer.write(_chunk({}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


async def _main() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, limit=1 << 24)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
