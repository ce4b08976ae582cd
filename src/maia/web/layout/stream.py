"""Server-sent events: JSON frames of a conversation's log, replayed from a cursor and then followed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator

from starlette.responses import StreamingResponse

from maia.core.codec import to_json
from maia.core.events import TurnEnded, TurnStarted
from maia.core.jsonvalue import JsonValue
from maia.web.drawing.clock import moment
from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.workspace.records import ConversationRow, Logged

LARGEST = 2**53 - 1
"""The largest number of a row that a reader may name: what JSON carries exactly, and every database takes."""
PATIENCE = 15.0
"""Seconds of silence after which a stream shows that it lives, and looks whether its reader still may read."""


def streamed(desk: Desk, person: Person, frames: AsyncGenerator[str]) -> StreamingResponse:
    """An event stream that nobody on the way keeps; it ends at once when its reader may not read it any more."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_admitted(desk, person, frames), media_type="text/event-stream", headers=headers)


async def _admitted(desk: Desk, person: Person, frames: AsyncGenerator[str]) -> AsyncIterator[str]:
    with desk.workspace.accounts.stay(person.user, person.token) as stay:
        over = asyncio.ensure_future(stay.over.wait())
        coming = asyncio.ensure_future(anext(frames, None))
        try:
            while True:
                await asyncio.wait((coming, over), return_when=asyncio.FIRST_COMPLETED)
                if over.done() or (frame := coming.result()) is None:
                    return
                yield frame
                coming = asyncio.ensure_future(anext(frames, None))
        finally:
            over.cancel()
            if coming.done():
                await frames.aclose()
            else:
                coming.cancel()  # which ends the frames, too, and is not waited for: the reader may be gone


async def merged(*sources: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """Frames of several sources as they come; over with the first of them that is."""
    coming = {asyncio.ensure_future(anext(source, None)): source for source in sources}
    try:
        while True:
            done, _ = await asyncio.wait(coming, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                source = coming.pop(task)
                if (found := task.result()) is None:
                    return
                yield found
                coming[asyncio.ensure_future(anext(source, None))] = source
    finally:
        for task in coming:
            task.cancel()
        await asyncio.gather(*coming, return_exceptions=True)
        for source in sources:
            await source.aclose()


def frame(data: str, *, event: str = "", seq: int | None = None) -> str:
    """One frame; only LF, CR and CRLF end a line of it."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = (f"id: {seq}\n" if seq is not None else "") + (f"event: {event}\n" if event else "")
    return head + "".join(f"data: {line}\n" for line in lines) + "\n"


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def frames(desk: Desk, person: Person, row: ConversationRow, cursor: int) -> AsyncGenerator[str]:
    """The log after `cursor` as frames. Ends when the reader is signed out, or the server stops."""
    async for batch in desk.workspace.follow(row, cursor, PATIENCE):
        if batch:
            yield "".join([each for logged in batch for each in await _frames_of(desk, row, logged)])
        elif await desk.workspace.accounts.who(person.token) is None:
            return
        else:
            yield ": \n\n"


async def _frames_of(desk: Desk, row: ConversationRow, logged: Logged) -> list[str]:
    event = logged.event
    body = {"seq": logged.seq, "at": moment(logged.at), "turn": logged.turn, "event": to_json(event)}
    out = [frame(_json(body), seq=logged.seq)]
    if isinstance(event, TurnStarted):
        why = to_json(event.why)
        binding = {"turn": logged.turn, "providerId": event.provider, "modelId": event.model, "why": why}
        out.append(frame(_json(binding), event="binding"))
    if isinstance(event, TurnEnded) and (answer := await desk.workspace.answer(row, logged.turn)) is not None:
        done = {"turn": logged.turn, "messageId": answer.id, "turnMeta": answer.turn_meta}
        out.append(frame(_json(done), event="done"))
    return out
