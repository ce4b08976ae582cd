"""run_agent: one task for one agent, waited for or not."""

from __future__ import annotations

from typing import Final

from maia.core.parameters import Parameter, Parameters
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.shapes import RUN_SCHEMA
from maia.orchestrator.tools.row import Tool, Values
from maia.orchestrator.tools.starting import (
    APPROVALS,
    TASK,
    asking_of,
    begun,
    begun_earlier,
    followed,
    run_reply,
    wish_of,
)


async def run_agent(call: Call, values: Values) -> Reply:
    """Start the run, or go on with the one that this call began before it paused."""
    waits = values["wait"] is not False
    asking = asking_of(call, values["approvals"], waits=waits)
    leave = asking == "ask" and not call.client.can_ask
    info = await begun_earlier(call, 0) or await begun(call, await wish_of(call, values, asking))
    if not waits:
        return run_reply(call, info)
    return await followed(call, info.run_id, leave_when_waiting=leave)


TOOL: Final = Tool(
    "run_agent",
    "Run an agent",
    Parameters(
        (
            *TASK,
            Parameter("wait", "boolean", "false: answer at once with run_id, and ask agent_control later"),
            APPROVALS,
        ),
        closed=True,
    ),
    RUN_SCHEMA,
    run_agent,
    destructive=True,
    open_world=True,
)
