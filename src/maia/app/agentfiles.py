"""The files of agents as the workspace leads them: where they lie, which tools there are, what an agent remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maia.agents.shelf import Shelf
from maia.agents.template import template
from maia.app.acting import other_names
from maia.app.colleagues import KnownAgents
from maia.app.supply import program_of
from maia.core.agent import AgentDefinition
from maia.core.delegation import ASSIGN_TASK, CREATE_SUB_CONVERSATION, RUN_SPECIALIST
from maia.core.memories import Memory
from maia.launch import find_folders
from maia.settings import Settings
from maia.workspace.colleagues import Colleague
from maia.workspace.definitions import ToolSeen

_BESIDE = ("MemoryStore", "AskUser", RUN_SPECIALIST, ASSIGN_TASK, CREATE_SUB_CONVERSATION)
"""What comes with a memory or a conversation and not with the folder, and must be listed; looking something up need not
(N-05.08)."""


@dataclass(frozen=True, slots=True)
class HomeFiles:
    """`workspace.definitions.AgentFiles` on this machine."""

    known: KnownAgents
    settings: Settings

    def shelf(self, folder: str | None = None) -> Shelf:
        return self.known.shelf(folder or str(self.known.home))

    def colleague(self, agent: AgentDefinition, folder: str | None = None) -> Colleague:
        return self.known.colleague(agent, Path(folder) if folder else self.known.home)

    def template(self, lang: str) -> str:
        return template(lang, self.known.env)

    def runs_on(self, provider: str) -> str:
        program = program_of(provider)
        return program.name if program is not None else ""

    def tools(self) -> Sequence[ToolSeen]:
        from maia.tools.toolbox import built_in_tools

        specs = (tool.spec for tool in built_in_tools())
        seen = [ToolSeen(spec.name, spec.description.partition("\n")[0], other_names(spec.name)) for spec in specs]
        return [*seen, *(ToolSeen(name, "", other_names(name)) for name in _BESIDE)]

    def memory(self, name: str) -> Memory | None:
        from maia.app.memories import agent_identity, memory_place, open_memory

        folders = find_folders({**self.known.env, "MAIA_CWD": str(self.known.home)})
        identity = agent_identity(name, "home", self.known.home)
        if not self.settings.memory.url and not memory_place(self.settings, folders, identity).is_there:
            return None
        return open_memory(self.settings, folders, self.known.env, identity)
