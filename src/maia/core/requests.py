"""One request to a model: what it receives, how deep it is to think, and why this model gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.messages import Message

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model may think. Each wire maps it to the provider's own control, or drops it where there is none."""


@dataclass(frozen=True, slots=True)
class Section:
    """A named piece of the system prompt. `origin` is a file, or the room that wrote it; `cut_chars` were left out."""

    name: str
    text: str
    origin: str = ""
    cut_chars: int = 0


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one call of a model receives, before a wire turns it into its own format.

    The same prefix (system, tools, earlier messages) gives the same bytes, so that prompt caches hold. With
    `answer_only` the model is to answer in words now, whatever tools there are.
    """

    model: str
    system: tuple[Section, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    effort: Effort | None = None
    answer_only: bool = False
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundWhy:
    """Why this model answers a turn, and how deep it thinks. `reason`, `note` and `effort_by` are keys of words.

    `note` tells which fallback applies, empty where none does. `effort_asked` was wanted, `effort` is what is sent.
    """

    reason: str
    note: str = ""
    effort: Effort | None = None
    effort_asked: Effort | None = None
    effort_by: str = ""


ChosenBy: TypeAlias = Literal["default", "option", "settings", "command", "resumed"]
"""Who chose the model that answers."""
