"""What the door needs of the agents and their prompts; the composition root gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from maia.core.agent import AgentDefinition, AgentLevel
from maia.core.events import Notice


@dataclass(frozen=True, slots=True)
class AgentList:
    """The agents that can be used, and notices on those that cannot."""

    agents: Sequence[AgentDefinition]
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

    `word` is a name or nickname. Keys that somebody wrote into a definition are masked in what comes back. `fields` are
    those of `AGENT.md`; what widens an agent's rights is refused: that is for a person to write.
    """

    def listed(self) -> AgentList: ...

    def find(self, word: str) -> AgentDefinition: ...

    def create(self, name: str, fields: Mapping[str, Any], level: AgentLevel) -> AgentDefinition: ...

    def update(self, word: str, fields: Mapping[str, Any]) -> AgentDefinition:
        """Change the given fields; None takes one away."""
        ...

    def delete(self, word: str) -> str:
        """Move it to where it can be got back from; returns that place."""
        ...

    def prompts(self, word: str) -> Sequence[Prompt]: ...

    def create_prompt(self, word: str, name: str, text: str) -> Prompt: ...

    def edit_prompt(self, word: str, name: str, text: str, old: str = "") -> tuple[Prompt, str]:
        """Replace `old`, which must be there exactly once, or the whole; returns it with the difference to read."""
        ...

    def filled_prompt(self, word: str, name: str, arguments: str) -> str:
        """The text with the arguments put in."""
        ...
