"""The audit in words: what was done, and with what. What has no words yet is shown as it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.ports import Say
from maia.core.text import visible
from maia.web.drawing.names import common_name
from maia.workspace.records import Act

_FIELDS: Mapping[str, str] = {
    "max_turns": "agentpage.field.turns",
    "tools": "agentpage.tools.title",
    "enabled": "audit.field.enabled",
}
"""Fields of a definition that its page calls otherwise than by their own names."""


@dataclass(frozen=True, slots=True)
class Told:
    """One act: `code` is what machines read, `details` are pairs of a name and a value."""

    words: str
    code: str
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ActWords:
    """`people` are names by id, `provider` gives the one name of a provider."""

    say: Say
    people: Mapping[str, str]
    provider: Callable[[str], str]

    def told(self, act: Act) -> Told:
        """An act in words."""
        return Told(self._or(f"audit.act.{act.action}", act.action), act.action, tuple(self._details(act.details)))

    def _details(self, details: JsonObject) -> Iterator[tuple[str, str]]:
        for name, value in details.items():
            if name != "approval" and (words := self._value(name, value)):
                yield self._or(f"audit.field.{name}", name), words

    def _value(self, name: str, value: JsonValue) -> str:
        match value:
            case None:
                return ""
            case bool():
                return self.say("audit.yes" if value else "audit.no")
            case str():
                return visible(self._text(name, value))
            case [*each]:
                return ", ".join(filter(None, (self._value(name, one) for one in each)))
            case _:
                return visible(json.dumps(value, ensure_ascii=False))

    def _text(self, name: str, value: str) -> str:
        match name:
            case "role" | "before":
                return self._or(f"people.role.{value}", value)
            case "fields":
                return self._or(_FIELDS.get(value, f"agentpage.field.{value}"), value)
            case "types":
                return self._or(f"privacy.type.{value}", value)
            case "tool":
                return common_name(value)
            case "provider" | "providerId":
                return self.provider(value)
            case _:
                return self.people.get(value, value)

    def _or(self, key: str, otherwise: str) -> str:
        return self.say(key) if self.say.has(key) else visible(otherwise)
