"""The questions of `/createAgent`: the name, where it was not given, and for whom the agent is (T7.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from maia.terminal.questions import Choices, Option
from maia.terminal.spans import clean_row

if TYPE_CHECKING:
    from maia.core.agent import AgentLevel
    from maia.terminal.words import Words


def naming(say: Words) -> Choices[str]:
    """The agent's name, typed; empty where there shall be none."""
    nothing = Option("", say("screen.agent.cancel"))
    label = say("screen.agent.name.hint")
    return Choices(say("screen.agent.name"), (nothing,), say, refusal="", reasoned=lambda text: text, label=label)


def level(name: str, say: Words) -> Choices[AgentLevel | Literal[""]]:
    """For this project or for every folder; empty where nothing shall be made."""
    options: tuple[Option[AgentLevel | Literal[""]], ...] = (
        Option("project", say("screen.agent.project"), say("screen.letter.project")),
        Option("home", say("screen.agent.home"), say("screen.letter.global")),
        Option("", say("screen.agent.cancel"), say("screen.letter.no")),
    )
    return Choices(say("screen.agent.level", name=clean_row(name)), options, say, refusal="")
