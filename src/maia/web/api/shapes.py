"""The JSON that the interface takes and gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, model_validator
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.api.cardshapes import CardFields, record_json
from maia.web.api.foldershapes import FolderBody
from maia.web.drawing.clock import moment
from maia.workspace.choosing import Change
from maia.workspace.files.attachments import MOST_FILES
from maia.workspace.models.binding import Binding
from maia.workspace.models.catalogue import Pair
from maia.workspace.records import AttachmentRow, ConversationRow, MessageRow
from maia.workspace.titles import LONGEST_TITLE
from maia.workspace.turns import LONGEST_MESSAGE

Title = Annotated[str, StringConstraints(max_length=LONGEST_TITLE)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Level = Annotated[str, StringConstraints(max_length=20)]


class _Named(Body):
    """A model by both its names, or by none: one alone is an error (R-2.075, R-2.080)."""

    provider_id: Name | None = Field(None, alias="providerId")
    model_id: Name | None = Field(None, alias="modelId")

    @model_validator(mode="after")
    def both_or_none(self) -> Self:
        if (self.provider_id is None) != (self.model_id is None):
            raise ValueError("providerId and modelId are sent together")
        return self

    @property
    def pair(self) -> Pair | None:
        return Pair(self.provider_id, self.model_id) if self.provider_id and self.model_id else None


class NewConversation(CardFields):
    """A pair that is not complete, or not available, is left alone (R-2.069)."""

    title: Title = ""
    folders: Annotated[list[FolderBody], Field(default_factory=list[FolderBody])]
    provider_id: Name | None = Field(None, alias="providerId")
    model_id: Name | None = Field(None, alias="modelId")
    model_binding: Binding | None = Field(None, alias="modelBinding")
    effort: Level | None = None

    @property
    def start(self) -> Change:
        pair = Pair(self.provider_id, self.model_id) if self.provider_id and self.model_id else None
        return Change(self.model_binding, pair, self.effort, sets_effort=True)


class ChangedConversation(_Named, CardFields):
    title: Title | None = None
    archived: bool | None = None
    folders: list[FolderBody] | None = None
    model_binding: Binding | None = Field(None, alias="modelBinding")
    effort: Level | None = None

    @property
    def choice(self) -> Change | None:
        """What is to be set of who answers, None where nothing is."""
        sets_effort = "effort" in self.model_fields_set
        if self.pair is None and self.model_binding is None and not sets_effort:
            return None
        return Change(self.model_binding, self.pair, self.effort, sets_effort=sets_effort)


class NewMessage(_Named):
    """A message; without words where files go with it. `system` replaces the system prompt of its turn (N-11.15)."""

    content: Annotated[str, StringConstraints(max_length=LONGEST_MESSAGE)]
    privacy: Literal["mask"] | None = None
    system: Annotated[str, StringConstraints(max_length=100_000)] = ""
    attachments: list[Annotated[str, StringConstraints(max_length=60)]] = Field(
        default_factory=list[str], max_length=MOST_FILES
    )


class Credentials(Body):
    email: Annotated[str, StringConstraints(max_length=254)]
    password: Annotated[str, StringConstraints(max_length=1024)]


class Preferences(Body):
    lang: Literal["fr", "en"] | None = None
    theme: Literal["light", "dark"] | None = None
    density: Literal["compact", "cosy"] | None = None


class ListQuery(BaseModel):
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: str = ""
    archived: bool = False


_JSON: TypeAdapter[JsonObject] = TypeAdapter(dict[str, Any])


def json_answer(body: JsonObject) -> Response:
    """A long answer, written by the compiled writer that the shapes bring with them: three times as fast."""
    return Response(_JSON.dump_json(body), media_type="application/json")


def conversation_json(row: ConversationRow) -> JsonObject:
    """A conversation as everybody outside sees it: as a record, and who answers it."""
    return {
        **record_json(row),
        "titleBy": row.title_by,
        "providerId": row.provider_id,
        "modelId": row.model_id,
        "modelBinding": row.model_binding,
        "effort": row.effort,
        "homeOf": row.home_of,
        "parentId": row.parent_id,
        "isSubConversation": row.is_sub,
        "cursor": row.last_seq,
    }


def attachment_json(row: AttachmentRow) -> JsonObject:
    """A file: `turn` is null while it waits for a message; `path` is where a model wrote it in its workspace."""
    return {
        "id": row.id,
        "conversationId": row.conversation_id,
        "turn": row.turn,
        "name": row.name,
        "kind": row.kind,
        "mediaType": row.media_type,
        "size": row.size,
        "origin": row.origin,
        "path": row.path,
        "problem": row.problem or None,
        "width": row.width,
        "height": row.height,
        "createdAt": moment(row.created_at),
    }


def message_json(row: MessageRow) -> JsonObject:
    """A message; `turnMeta` stands with answers that are over (R-2.085)."""
    body: dict[str, Any] = {
        "id": row.id,
        "turn": row.turn,
        "role": row.role,
        "content": row.text,
        "createdAt": moment(row.created_at),
        "endedAt": moment(row.ended_at),
    }
    if row.turn_meta is not None:
        body["turnMeta"] = row.turn_meta
    return body
