"""The JSON of agents: what a request may set of a definition, and what is told of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Self

from pydantic import Field, StringConstraints, model_validator

from maia.core.agent import AgentGroup, AgentKind
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.text import visible
from maia.web.api.body import Body
from maia.workspace.colleagues import Colleague
from maia.workspace.definitions import Definition
from maia.workspace.drafts import Draft
from maia.workspace.models.catalogue import Catalogue, Pair

Line = Annotated[str, StringConstraints(max_length=2_000)]
Text = Annotated[str, StringConstraints(max_length=200_000)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Items = Annotated[list[Annotated[str, StringConstraints(max_length=500)]], Field(max_length=500)]

_NAMED: Final = {"is_enabled": "enabled", "has_memory": "memory", "kind": "type"}
_NOT_FIELDS: Final = ("name", "provider", "model", "revision")


class AgentFields(Body):
    """What may be set; null takes a field out of the file. `provider` and `model` come together, both null clear."""

    nickname: Line | None = None
    description: Text | None = None
    role: Line | None = None
    kind: AgentKind | None = Field(None, alias="type")
    group: AgentGroup | None = None
    goal: Text | None = None
    backstory: Text | None = None
    avatar: Annotated[str, StringConstraints(max_length=20)] | None = None
    instructions: Text | None = None
    missions: Text | None = None
    output: Text | None = None
    provider: Id | None = None
    model: Id | None = None
    effort: Annotated[str, StringConstraints(max_length=20)] | None = None
    max_turns: Annotated[int, Field(ge=1, le=1_000)] | None = Field(None, alias="maxTurns")
    monthly_tokens: Annotated[int, Field(ge=0, le=10**12)] | None = Field(None, alias="monthlyTokens")
    tools: Items | None = None
    capabilities: Items | None = None
    constraints: Items | None = None
    is_enabled: bool | None = Field(None, alias="enabled")
    has_memory: bool | None = Field(None, alias="memory")

    @model_validator(mode="after")
    def both_or_none(self) -> Self:
        if (self.provider is None) != (self.model is None):
            raise ValueError("provider and model are sent together")
        return self

    def fields(self) -> dict[str, Any]:
        """What was sent, under the names of the file."""
        sent = self.model_dump(include=set(self.model_fields_set), exclude=set(_NOT_FIELDS))
        given = {_NAMED.get(name, name): value for name, value in sent.items()}
        return {name: value for name, value in given.items() if value is not None or name not in _NEVER_NULL}

    def draft(self, more: Mapping[str, Any] | None = None, name: str = "", revision: str = "") -> Draft:
        """What was asked for, over what it begins with."""
        pair = Pair(self.provider, self.model) if self.provider and self.model else None
        sets_model = bool({"provider", "model"} & self.model_fields_set)
        return Draft({**(more or {}), **self.fields()}, name, pair, sets_model, revision)


_NEVER_NULL: Final = ("instructions", "missions", "output")


class NewAgent(AgentFields):
    """A new one. Without `description` and `instructions` it begins with those of its type, and its usual tools."""

    name: Annotated[str, StringConstraints(max_length=100)] = ""


class ChangedAgent(AgentFields):
    """`revision` is that of the definition as it was read: where the file is another one by now, it stays (409)."""

    revision: Annotated[str, StringConstraints(max_length=64)] = ""


class Kept(Body):
    kept: Annotated[str, StringConstraints(max_length=200)]


READING: Final = ("Read", "Glob", "Grep", "WebFetch")
BEGINNINGS: Final[Mapping[AgentKind, Sequence[str] | None]] = {
    "assistant": None,
    "engineer": None,
    "developer": None,
    "reviewer": (*READING, "Bash"),
    "critic": READING,
    "researcher": READING,
    "planner": (*READING, "TodoWrite"),
    "coordinator": None,
    "observer": READING,
}
"""The types (N-05.02) and the tools with which an agent of each begins, None for all."""


def beginning(kind: AgentKind, say: Say) -> dict[str, Any]:
    """The words and tools that a new agent of a type begins with, in the language of who makes it."""
    tools = BEGINNINGS[kind]
    words = {name: say(f"agentpage.begin.{kind}.{name}") for name in ("description", "instructions")}
    return {**words, **({"tools": list(tools)} if tools is not None else {})}


# What is told -------------------------------------------------------------------------------------------------------

_MACHINE: Final = ("permissions", "folders", "key", "asks_nothing", "skills", "trace")
"""What a definition opens on this machine: told to those who lead agents."""
_TOLD: Final = ("goal", "backstory", "capabilities", "constraints", "instructions", "missions", "output", "memory")


def agent_json(agent: Colleague, catalogue: Catalogue) -> JsonObject:
    """What everybody may know of an agent. Without a model of its own it has the conversation's."""
    pair = agent.pair(catalogue)
    definition = agent.definition
    provider, model = (pair.provider or None, pair.model) if pair else (None, None)
    return {
        "name": agent.name,
        "nickname": agent.nickname,
        "description": agent.description,
        "group": definition.group,
        "type": definition.kind,
        "role": definition.role,
        "avatar": definition.avatar,
        "enabled": definition.is_enabled,
        "effort": definition.effort,
        "maxTurns": definition.max_turns,
        "monthlyTokens": definition.monthly_tokens,
        "tools": None if definition.tools is None else list(definition.tools),
        "provider": provider,
        "model": model,
        "providerId": provider,
        "modelId": model,
        "isAvailable": pair is None or catalogue.is_available(pair),
    }


def definition_json(found: Definition, catalogue: Catalogue, say: Say) -> JsonObject:
    """One line of the list; of a file that cannot be read the reason with its line stands in `problem`."""
    place = {"id": found.id, "file": found.file, "folder": found.folder or None, "readOnly": not found.is_own}
    if found.colleague is None:
        assert found.trouble is not None
        words = visible(say(found.trouble.key, **found.trouble.values))
        problem = {"message": words, "line": found.trouble.values.get("line")}
        return {**place, "name": found.name, "nickname": found.name, "problem": problem}
    return {**place, **agent_json(found.colleague, catalogue), "problem": None}


def whole_json(found: Definition, catalogue: Catalogue, say: Say, *, leads: bool) -> JsonObject:
    """A whole definition, keys masked, with the `revision` that a change of it names."""
    short = definition_json(found, catalogue, say)
    if found.colleague is None:
        return {**short, "revision": found.revision}
    names = (*_TOLD, *(_MACHINE if leads else ()))
    whole = {name: value for name, value in found.colleague.config.items() if name in names}
    return {**whole, **short, "revision": found.revision}
