"""A wire over HTTP: sends what a format writes, gives its stream to the format's reader, adapts and tries again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final, cast

from maia.core.endings import Failure
from maia.core.events import WireEvent, WireFailed
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject
from maia.core.requests import ModelRequest
from maia.llm.causes import failure_from_exception
from maia.llm.errors import failure_from_response, without
from maia.llm.retry import retrying
from maia.llm.sse import Frame, FrameReader
from maia.llm.target import WireTarget
from maia.llm.transport import MAX_ERROR_BYTES, MAX_JSON_BYTES, CallFailed, Channel, Reply, join_url
from maia.llm.wires.history import encode
from maia.llm.wires.quirks import Quirks, adapted
from maia.llm.wires.stream import Format, Stream

GRACE: Final = 5.0
"""Seconds to wait for usage after the answer itself is over, from a server that does not close its stream."""
MAX_ADAPTATIONS: Final = 4
DRAIN: Final = 0.1
STRAY_CHARS: Final = 2000
NOT_A_CHUNK: Final = (ValueError, TypeError, AttributeError, KeyError, RecursionError)
"""What reading a frame raises when it is JSON of another shape, or no JSON: such a frame is passed over."""


class HttpWire:
    """A `Wire` for one target. What the endpoint refuses (a field it does not know) is learned for its lifetime."""

    def __init__(self, target: WireTarget, form: Format) -> None:
        self.target = target
        self._form = form
        self._channel = Channel(target)
        self._quirks = Quirks()

    @property
    def provider(self) -> str:
        return self.target.provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        """Deltas, then one `WireAnswer` or `WireFailed` (see `core.ports.Wire`)."""
        async with aclosing(retrying(lambda: self._attempt(request))) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Close the connections kept for the next call."""
        await self._channel.aclose()

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        """One try, repeated at once without the field that the server names in a refusal."""
        quirks = self._quirks
        for last in [False] * MAX_ADAPTATIONS + [True]:
            stream = self._form.open(request, self.target, self._channel.host)
            try:
                body = self._form.body(request, self.target, quirks)
                content = encode(body)
            except Exception as defect:
                yield stream.fail(self._unexpected(defect))[-1]
                return
            learned: Quirks | None = None
            async with aclosing(self._exchange(content, stream)) as events:
                async for event in events:
                    if isinstance(event, WireFailed) and not last:
                        learned = adapted(quirks, body, event.failure)
                        if learned is not None:
                            break
                    yield event
            if learned is None:
                return
            quirks = learned
            self._quirks = replace(learned, max_output=None)

    async def _exchange(self, content: bytes, stream: Stream) -> AsyncGenerator[WireEvent]:
        url = join_url(self.target.base_url, self.target.chat_path)
        try:
            async with self._channel.exchange("POST", url, content) as reply:
                stream.headers(reply.headers)
                async with aclosing(self._read(reply, stream)) as events:
                    async for event in events:
                        yield event
        except CallFailed as failed:
            ended = stream.end() if stream.finished else stream.fail(self._truthful(failed.failure, stream))
        except Exception as defect:
            ended = stream.fail(self._unexpected(defect))
        else:
            return
        for event in ended:
            yield event

    def _unexpected(self, defect: Exception) -> Failure:
        """A wire raises nothing: a defect ends the turn with a failure that names it, and loses nothing before it."""
        return without(failure_from_exception(defect, self._channel.host), self._channel.secrets)

    def _truthful(self, failure: Failure, stream: Stream) -> Failure:
        """A connection that broke in the middle of an answer is an answer without end, not an unreachable server."""
        if stream.recognised and failure.kind == "network":
            return replace(failure, kind="incomplete", provider_text="")  # the words are the HTTP engine's own
        return failure

    async def _read(self, reply: Reply, stream: Stream) -> AsyncGenerator[WireEvent]:
        if reply.status != 200:
            body = await reply.read(MAX_ERROR_BYTES)
            yield self._refused(reply, body, stream)
        elif reply.media_type in ("application/json", "text/html"):
            body = await reply.read(MAX_JSON_BYTES)
            for event in self._whole(reply, body, stream):
                yield event
        else:
            async with aclosing(self._frames(reply, stream)) as events:
                async for event in events:
                    yield event

    def _refused(self, reply: Reply, body: bytes, stream: Stream) -> WireEvent:
        has_key = bool(self.target.key)
        failure = failure_from_response(reply.status, reply.headers, body, self._channel.host, has_key=has_key)
        return stream.fail(without(failure, self._channel.secrets))[-1]

    def _whole(self, reply: Reply, body: bytes, stream: Stream) -> list[WireEvent]:
        """An answer in one piece although a stream was asked for, a stream under the wrong media type, or neither."""
        try:
            value = read_json(body)
        except ValueError:
            reader = FrameReader()
            events, _ = _read_frames(stream, reader.feed(body) + reader.flush())
        else:
            events = stream.whole(cast(JsonObject, value)) if isinstance(value, dict) else []
        if stream.recognised or stream.done:
            return [*events, *self._clean(stream.end())]
        return [self._refused(reply, body, stream)]

    async def _frames(self, reply: Reply, stream: Stream) -> AsyncGenerator[WireEvent]:
        reader = FrameReader()
        unknown = bytearray()
        stray = ""
        async with aclosing(_until_done(reply, stream)) as chunks:
            async for chunk in chunks:
                if not stream.recognised and len(unknown) < MAX_JSON_BYTES:
                    unknown += chunk
                events, passed = _read_frames(stream, reader.feed(chunk))
                stray = (stray + passed)[:STRAY_CHARS]
                for event in events:
                    yield event
                if reader.overlong:
                    break
        events, passed = _read_frames(stream, reader.flush())
        if stream.recognised or stream.done or not unknown.strip():
            events += self._clean(stream.end((stray + passed).strip()))
        else:
            events = self._whole(reply, bytes(unknown), stream)
        for event in events:
            yield event

    def _clean(self, events: list[WireEvent]) -> list[WireEvent]:
        last = events[-1]
        if isinstance(last, WireFailed):
            events[-1] = replace(last, failure=without(last.failure, self._channel.secrets))
        return events


def _read_frames(stream: Stream, frames: list[Frame]) -> tuple[list[WireEvent], str]:
    """Events of the frames, and the text of those that are nothing of this format."""
    events: list[WireEvent] = []
    stray = ""
    for frame in frames:
        try:
            events += stream.feed(frame.event, frame.data)
        except NOT_A_CHUNK:
            stray += frame.data + "\n"
    return events, stray


async def _until_done(reply: Reply, stream: Stream) -> AsyncGenerator[bytes]:
    """Chunks until the stream says that it is done. After the answer is over, silence is an end, too."""
    while not stream.done:
        try:
            async with asyncio.timeout(GRACE if stream.finished else None):
                chunk = await anext(reply.chunks)
        except (StopAsyncIteration, TimeoutError):
            return
        yield chunk
    await _drain(reply)


async def _drain(reply: Reply) -> None:
    """Read the few bytes that end the body, so that the connection can serve the next call."""
    try:
        async with asyncio.timeout(DRAIN):
            async for _ in reply.chunks:
                pass
    except Exception:
        return  # the answer is whole; a connection that ends badly is merely not kept
