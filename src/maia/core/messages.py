"""What a person, a model and tools said to each other, part by part, as a model reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from maia.core.jsonvalue import JsonObject


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text that was written, by a person or by the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What the model thought aloud.

    `replay` is what the provider wants back unchanged with the next request (a signature, an encrypted block) and is
    opaque to everybody but the wire that produced it; `wire` names that wire, so that no other one replays it.
    """

    text: str
    wire: str = ""
    replay: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture, as base64 without line breaks.

    In a transcript `data` is empty: `digest` says which picture it is, and whoever keeps it puts it in last.
    """

    media_type: str
    data: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call the model asked for, whole and valid: a cut call never becomes one (T5.09)."""

    call_id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a call gave back, as the model reads it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


UserPart: TypeAlias = TextPart | ImagePart


AssistantPart: TypeAlias = TextPart | ReasoningPart | ToolCallPart


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person sent, with what was joined to it (`!` results, `@` files).

    A `reminder` was not sent by the person: the engine told the model something in the user's role.
    """

    parts: tuple[UserPart, ...]
    reminder: bool = False


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model answered, in the order it came. `model` and `provider` really answered."""

    parts: tuple[AssistantPart, ...]
    model: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The results of one answer's calls, in the order in which the model asked for them (T5.07)."""

    results: tuple[ToolResultPart, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
