"""An agent as data for scripts and clients, without the keys that somebody may have written into it."""

from __future__ import annotations

from maia.agents.document import Outside
from maia.core.agent import AgentDefinition
from maia.core.jsonvalue import JsonObject


def config_of(agent: AgentDefinition, outside: Outside) -> JsonObject:
    """Everything of a definition under the names of `AGENT.md`; None where it has what the person has."""
    masked = outside.masked
    rules = agent.rules
    return {
        "name": agent.name,
        "nickname": masked(agent.nickname),
        "description": masked(agent.description),
        "level": agent.level,
        "file": agent.shown,
        "runner": agent.runner,
        "model": masked(agent.model),
        "effort": agent.effort,
        "key": agent.key,
        "tools": None if agent.tools is None else list(agent.tools),
        "skills": None if agent.skills is None else list(agent.skills),
        "permissions": {
            name: [masked(rule) for rule in found]
            for name, found in (("allow", rules.allow), ("ask", rules.ask), ("deny", rules.deny))
        },
        "folders": [masked(folder) for folder in agent.folders],
        "memory": agent.has_memory,
        "trace": agent.keeps_trace,
        "asks_nothing": agent.asks_nothing,
        "group": agent.group,
        "max_turns": agent.max_turns,
        "monthly_tokens": agent.monthly_tokens,
        "type": agent.kind,
        "role": masked(agent.role),
        "goal": masked(agent.goal),
        "backstory": masked(agent.backstory),
        "capabilities": [masked(each) for each in agent.capabilities],
        "constraints": [masked(each) for each in agent.constraints],
        "avatar": agent.avatar,
        "enabled": agent.is_enabled,
        "instructions": masked(agent.instructions),
        "missions": masked(agent.missions),
        "output": masked(agent.output),
    }


def row_of(agent: AgentDefinition, outside: Outside) -> JsonObject:
    """The short form for lists."""
    names = ("name", "nickname", "description", "level", "runner", "model", "enabled")
    return {name: value for name, value in config_of(agent, outside).items() if name in names}
