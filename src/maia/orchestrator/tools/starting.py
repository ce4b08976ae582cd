"""Starts runs for a caller, waits for them, and stops them when the client takes its call back."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from maia.core.errors import MaiaError, RunProblem, UsageProblem
from maia.core.parameters import Parameter
from maia.core.runs import RunWish
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.shapes import run_data, run_text, succeeded
from maia.orchestrator.watch import watch

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from maia.core.runs import Asking, RunInfo
    from maia.orchestrator.tools.row import Values

_T = TypeVar("_T")

APPROVALS: Final = Parameter(
    "approvals",
    "string",
    "What happens to a call that the rules want a person to be asked about. auto: the person is asked through this "
    "client where it can ask, else refused; ask: the run waits for agent_control answer; refuse: refused at once",
    choices=("auto", "ask", "refuse"),
)

TASK: Final = (
    Parameter("agent", "string", "Name or nickname; none for plain maia", aliases=("agent_name", "name")),
    Parameter("task", "string", "What is to be done, whole: the agent knows nothing of this conversation",
              aliases=("prompt_text", "message", "input", "instruction")),
    Parameter("prompt", "string", "Name of a kept prompt of the agent, instead of task"),
    Parameter("prompt_arguments", "string", "What stands for $ARGUMENTS in that prompt"),
    Parameter("prompt_values", "texts", "What stands for each {{name}} in that prompt"),
    Parameter("model", "string", "Nickname or exact name; none for the agent's own"),
    Parameter("runner", "string", "maia, or an agent program such as claude-code; none for the agent's own"),
    Parameter("folder", "string", "Folder to work in; none for the one of this server", aliases=("cwd", "directory")),
    Parameter("max_iterations", "integer", "Steps at most", minimum=1),
    Parameter("timeout_seconds", "number", "The run is stopped after that long", aliases=("timeout",), minimum=1),
)  # fmt: skip


async def wish_of(call: Call, values: Values, asking: Asking) -> RunWish:
    """The wish that the checked arguments of one task make. Raises `MaiaError` for a task that says nothing."""
    return RunWish(
        task=await task_text(call, values),
        agent=values["agent"] or "",
        folder=values["folder"] or "",
        model=values["model"] or "",
        runner=values["runner"] or "",
        max_iterations=values["max_iterations"],
        timeout=values["timeout_seconds"],
        asking=asking,
        identity=call.identity.name,
    )


async def task_text(call: Call, values: Values) -> str:
    """The task as written, or the kept prompt of the agent, filled in."""
    if values["prompt"]:
        agent = values["agent"]
        if not agent:
            raise UsageProblem("mcp.prompt_without_agent")
        filled = partial(call.desk.agents.filled_prompt, agent, values["prompt"])
        text = await asyncio.to_thread(filled, values["prompt_arguments"] or "", values["prompt_values"] or {})
        return f"{text}\n\n{values['task']}" if (values["task"] or "").strip() else text
    if not (values["task"] or "").strip():
        raise UsageProblem("mcp.no_task")
    return values["task"]


def asking_of(call: Call, approvals: str | None, *, waits: bool) -> Asking:
    """Whether the run may wait for an approval. An agent that calls for itself may not be asked: it would say yes."""
    if call.identity.agent or approvals == "refuse":
        return "refuse"
    if approvals == "ask":
        return "ask"
    return "ask" if waits and call.client.can_ask else "refuse"


async def own_run(call: Call, run_id: str) -> RunInfo:
    """A run that the caller may see. Raises `MaiaError` for one that is not there or is somebody else's alike."""
    info = await call.desk.runs.info(run_id)
    if not call.identity.may_see(info.identity):
        raise RunProblem("runs.unknown", run=run_id)
    return info


async def begun_earlier(call: Call, number: int) -> RunInfo | None:
    """The run of that task (from 0) that this call began before it paused."""
    run_ids = call.resumed.run_ids if call.resumed is not None else ()
    return await own_run(call, run_ids[number]) if number < len(run_ids) and run_ids[number] else None


async def begun(call: Call, wish: RunWish) -> RunInfo:
    """Start a run. A call that is taken back just then stops it as soon as it has begun."""
    start = asyncio.create_task(call.desk.runs.start(wish))
    try:
        return await asyncio.shield(start)
    except asyncio.CancelledError:
        if await call.client.was_cancelled():
            call.desk.aside(_stop_once_begun(call, start))
        raise


async def _stop_once_begun(call: Call, start: asyncio.Task[RunInfo]) -> None:
    try:
        info = await start
    except MaiaError:
        return
    await stop(call, info.run_id)


async def waited(call: Call, run_ids: Sequence[str], work: Coroutine[Any, Any, _T]) -> _T:
    """What `work` comes to. When the client itself takes its call back the runs are stopped with all they started.

    When the client is merely gone they go on (C6.05).
    """
    try:
        return await work
    except asyncio.CancelledError:
        if await call.client.was_cancelled():
            for run_id in run_ids:
                call.desk.aside(stop(call, run_id))
        raise


async def stop(call: Call, run_id: str) -> RunInfo | None:
    """Stop a run; None where that cannot be done any more."""
    try:
        return await call.desk.runs.stop(run_id)
    except MaiaError:
        return None


async def followed(call: Call, run_id: str, *, leave_when_waiting: bool) -> Reply:
    """Wait for a run that this call began and answer how it ended."""
    is_new = call.resumed is None
    info = await waited(call, (run_id,), watch(call, run_id, is_new=is_new, leave_when_waiting=leave_when_waiting))
    return run_reply(call, info)


def run_reply(call: Call, info: RunInfo) -> Reply:
    """A run as an answer; one that ended without success is an error result, which models take as such."""
    say = call.desk.say
    failed = info.state in ("ended", "lost") and not succeeded(info)
    return Reply(run_text(info, say), run_data(info, say), is_error=failed)
