"""One call to a model outside any conversation, whole or as a stream (N-01.12)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field, Strict, StringConstraints
from starlette.responses import StreamingResponse

from maia.core.codec import to_json
from maia.core.errors import MaiaError
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, Message, TextPart, UserMessage
from maia.core.text import visible
from maia.web.api.shapes import Body, Level, Name
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.failures import code_of
from maia.web.layout.stream import frame, streamed
from maia.workspace.calls.completion import Asked, Completion, Opened, Reply

router = APIRouter(prefix="/model", tags=["models"])
LONGEST = 400_000


class Said(Body):
    """One message."""

    role: Literal["user", "assistant"]
    content: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]

    @property
    def message(self) -> Message:
        parts = (TextPart(self.content),)
        return UserMessage(parts) if self.role == "user" else AssistantMessage(parts)


class Call(Body):
    """What a model is asked. Any other field is dropped."""

    provider: Name | None = None
    model: Name
    messages: Annotated[list[Said], Field(min_length=1, max_length=1_000)]
    system: Annotated[str, StringConstraints(max_length=LONGEST)] = ""
    max_tokens: Annotated[int, Strict(), Field(ge=1, le=1_000_000)] | None = Field(None, alias="maxTokens")
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    stop_sequences: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=200)]],
        Field(max_length=16, alias="stopSequences", default_factory=list[str]),
    ]
    effort: Level | None = None

    @property
    def asked(self) -> Asked:
        return Asked(
            self.provider,
            self.model,
            tuple(each.message for each in self.messages),
            self.system,
            self.max_tokens,
            self.temperature,
            tuple(self.stop_sequences),
            self.effort,
        )


@router.post("/complete")
async def complete(desk: AtDesk, person: SignedIn, body: Call) -> JsonObject:
    """The whole answer with its usage and cost; 502 with the kind of the failure where there is none."""
    completion = desk.workspace.completion
    opened = await completion.open(body.asked, person.say, person.user.id)
    reply = [each async for each in completion.run(opened)][-1]
    assert isinstance(reply, Reply)
    return {"text": reply.text, **_ending(reply)}


@router.post("/stream")
async def stream(desk: AtDesk, person: SignedIn, body: Call) -> StreamingResponse:
    """The answer as it is written: frames `{text}`, then one `done`, or one `error`."""
    completion = desk.workspace.completion
    opened = await completion.open(body.asked, person.say, person.user.id)
    return streamed(desk, person, _frames(completion, opened, person))


async def _frames(completion: Completion, opened: Opened, person: Person) -> AsyncGenerator[str]:
    try:
        async for each in completion.run(opened):
            if isinstance(each, str):
                yield frame(_json({"text": each}))
            else:
                yield frame(_json(_ending(each)), event="done")
    except MaiaError as error:
        told = {"code": code_of(error), "message": visible(person.say(error.key, **error.values))}
        yield frame(_json(told), event="error")


def _ending(reply: Reply) -> JsonObject:
    ended: dict[str, Any] = {"provider": reply.provider, "model": reply.model, "stopReason": reply.raw_stop}
    return {**ended, "stop": reply.stop, "tokens": to_json(reply.usage), "cost": to_json(reply.cost)}


def _json(body: JsonObject) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
