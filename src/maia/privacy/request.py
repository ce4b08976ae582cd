"""One request to a model with placeholders for values, in everything that was not written by the product itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import (
    AssistantMessage,
    AssistantPart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    UserPart,
)
from maia.core.requests import ModelRequest, Section
from maia.privacy.mask import Masked, Span
from maia.privacy.sent import PartSent, State

OWN: Final = "maia"
"""The origin of sections that the product wrote: who it is, its rules, the folders and the date (R-2.108)."""

WITHHELD: Final = "[WITHHELD: this text could not be checked for personal data and was not sent]"

_SHORTEST: Final = 7
"""No number that is a value of some type has fewer digits."""

Mask = Callable[[str], Masked]


@dataclass(frozen=True, slots=True)
class MaskedRequest:
    """A request that may leave, and what was done to it."""

    request: ModelRequest
    sections: tuple[PartSent, ...]
    parts: tuple[PartSent, ...]
    tools: tuple[tuple[str, int], ...]
    pictures: int
    noticed: Mapping[str, int] = field(default_factory=dict[str, int])


def mask_request(request: ModelRequest, mask: Mask, as_they_are: Collection[str] = ()) -> MaskedRequest:
    """The request with every text masked: sections, messages, reasoning, arguments and results of calls.

    Sections of the product and the descriptions of tools are left as they are, and so are the results of the tools that
    `as_they_are` names. A text that cannot be masked is withheld: nothing leaves that was not looked at (N-10.11).
    Raises nothing.
    """
    work = _Work(mask, frozenset(as_they_are))
    system, sections = work.sections(request.system)
    messages = tuple(work.message(message) for message in request.messages)
    return MaskedRequest(
        replace(request, system=system, messages=messages),
        sections,
        tuple(PartSent(name, _state(spans, name in work.withheld), tuple(spans)) for name, spans in work.spans.items()),
        tuple(sorted(work.tools.items())),
        work.pictures,
        dict(work.noticed),
    )


def _state(spans: list[Span], withheld: bool) -> State:
    return "masked" if spans else "withheld" if withheld else "clean"


@dataclass(slots=True)
class _Work:
    """Walks through one request and counts."""

    mask: Mask
    as_they_are: frozenset[str]
    spans: dict[str, list[Span]] = field(default_factory=dict[str, "list[Span]"])
    tools: dict[str, int] = field(default_factory=dict[str, int])
    pictures: int = 0
    withheld: set[str] = field(default_factory=set[str])
    noticed: Counter[str] = field(default_factory=Counter[str])

    def sections(self, system: tuple[Section, ...]) -> tuple[tuple[Section, ...], tuple[PartSent, ...]]:
        pairs = [self._section(section) for section in system]
        return tuple(section for section, _ in pairs), tuple(part for _, part in pairs)

    def message(self, message: Message) -> Message:
        match message:
            case UserMessage():
                return replace(message, parts=tuple(self._user(part) for part in message.parts))
            case AssistantMessage():
                return replace(message, parts=tuple(self._assistant(part) for part in message.parts))
            case ToolMessage():
                return replace(message, results=tuple(self._result(result) for result in message.results))

    # Inside

    def _section(self, section: Section) -> tuple[Section, PartSent]:
        if section.origin == OWN:
            return section, PartSent(section.name, "unscanned")
        masked = self._safely(section.text)
        if masked is None:
            return replace(section, text=WITHHELD), PartSent(section.name, "withheld")
        return replace(section, text=masked.text), PartSent(section.name, _state([*masked.spans], False), masked.spans)

    def _user(self, part: UserPart) -> UserPart:
        if isinstance(part, ImagePart):
            self.pictures += 1
            return part
        return TextPart(self._text("user", part.text))

    def _assistant(self, part: AssistantPart) -> AssistantPart:
        match part:
            case TextPart():
                return TextPart(self._text("assistant", part.text))
            case ReasoningPart():
                return self._reasoning(part)
            case ToolCallPart():
                return replace(part, arguments=cast(JsonObject, self._json("assistant", part.arguments)))

    def _reasoning(self, part: ReasoningPart) -> ReasoningPart:
        """What goes back to the provider unread is dropped where it holds a value: a changed one is not valid."""
        text = self._text("assistant", part.text)
        if part.replay is None or self._json("assistant", part.replay) == part.replay:
            return replace(part, text=text)
        return replace(part, text=text, replay=None)

    def _result(self, result: ToolResultPart) -> ToolResultPart:
        if result.name in self.as_they_are:
            return result
        before = len(self.spans.get("tool", ()))
        text = self._text("tool", result.text)
        if len(self.spans["tool"]) > before:
            self.tools[result.name] = self.tools.get(result.name, 0) + 1
        return replace(result, text=text, is_error=result.is_error or text == WITHHELD)

    def _text(self, name: str, text: str) -> str:
        spans = self.spans.setdefault(name, [])
        masked = self._safely(text)
        if masked is None:
            self.withheld.add(name)
            return WITHHELD
        spans += masked.spans
        return masked.text

    def _json(self, name: str, value: JsonValue) -> JsonValue:
        """All strings in a JSON value, names of members included; a number is masked as it would be written."""
        if isinstance(value, str):
            return self._text(name, value)
        if isinstance(value, dict):
            members = cast(Mapping[str, Any], value).items()
            return {self._text(name, key): self._json(name, member) for key, member in members}
        if isinstance(value, list):
            return [self._json(name, item) for item in cast("list[Any]", value)]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            written = str(value)
            if len(written) < _SHORTEST:
                return value
            masked = self._text(name, written)
            return value if masked == written else masked
        return value

    def _safely(self, text: str) -> Masked | None:
        try:
            masked = self.mask(text)
            self.noticed.update(span.kind for span in masked.noticed)
            return masked
        except Exception:  # a defect, or a text that no pattern can read: what was not looked at stays here
            return None
