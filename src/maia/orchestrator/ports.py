"""What the door needs of the agents and their prompts; the composition root gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from maia.core.agent import AgentLevel
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject


@dataclass(frozen=True, slots=True)
class AgentList:
    """The agents that can be used, and notices on those that cannot."""

    agents: Sequence[JsonObject]
    notices: Sequence[Notice] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A kept prompt of an agent. `file` is where it lies, as people read it."""

    agent: str
    name: str
    text: str
    file: str


class AgentBook(Protocol):
    """Agents and their prompts as files. Every method blocks, and raises `MaiaError` with words for a person.

    `word` is a name or nickname. An agent comes as an object with the fields of `AGENT.md`, its `level` and `file`, and
    keys that somebody wrote into it are masked. `fields` are the same; what widens an agent's rights is refused: that
    is for a person to write.
    """

    def listed(self) -> AgentList: ...

    def find(self, word: str) -> JsonObject: ...

    def create(self, name: str, fields: Mapping[str, Any], level: AgentLevel) -> JsonObject: ...

    def update(self, word: str, fields: Mapping[str, Any]) -> JsonObject:
        """Change the given fields, and the given kinds of permissions; None takes a field away."""
        ...

    def delete(self, word: str) -> str:
        """Move it to where it can be got back from; returns that place."""
        ...

    def prompts(self, word: str) -> Sequence[str]:
        """The names of the kept prompts of an agent."""
        ...

    def create_prompt(self, word: str, name: str, text: str) -> Prompt: ...

    def edit_prompt(self, word: str, name: str, text: str, old: str = "") -> tuple[Prompt, str]:
        """Replace `old`, which must be there exactly once, or the whole; returns it with the difference to read."""
        ...

    def filled_prompt(self, word: str, name: str, arguments: str, values: Mapping[str, str]) -> str:
        """The text with the arguments put in for `$ARGUMENTS`, and the values for their `{{name}}`."""
        ...
