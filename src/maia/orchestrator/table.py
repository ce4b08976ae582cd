"""The tools of the door, in one table, and how a call of one becomes a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maia.core.errors import MaiaError
from maia.core.jsonvalue import JsonValue
from maia.orchestrator.calls import Call, Pause, Reply
from maia.orchestrator.tools import (
    agent_control,
    agents,
    config_example,
    memories,
    prompts,
    run_agent,
    run_agents_parallel,
)
from maia.orchestrator.tools.row import Tool

TABLE: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        run_agent.TOOL,
        run_agents_parallel.TOOL,
        agent_control.TOOL,
        agents.LIST,
        agents.CONFIGS,
        agents.CREATE,
        agents.UPDATE,
        agents.DELETE,
        prompts.CREATE,
        prompts.EDIT,
        memories.STORE,
        memories.SEARCH,
        memories.RUNS,
        config_example.TOOL,
    )
}
"""C6.01, in the order in which clients list them."""


async def answer(call: Call, tool: Tool, arguments: JsonValue) -> Reply | MaiaError:
    """What a tool answers, or the error that a person and a model can do something about. Raises `Pause`."""
    try:
        return await tool.run(call, tool.parameters.read({} if arguments is None else arguments))
    except MaiaError as problem:
        return problem
    except Pause:
        raise
    except Exception as problem:
        return call.desk.defect(problem)
