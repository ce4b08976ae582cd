"""agent_control: how a run stands, what it does, waiting for it, answering it, ending it, going on with its session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from maia.core.errors import UsageProblem
from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameter, Parameters
from maia.core.permission import Answer
from maia.core.runs import RunInfo, RunNote, RunState, RunWish
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.notes import NOTE_SCHEMA, Page
from maia.orchestrator.shapes import RUN_SCHEMA, rows_text, run_data, run_text
from maia.orchestrator.tools.row import Tool, Values
from maia.orchestrator.tools.starting import APPROVALS, asking_of, begun, begun_earlier, followed, own_run
from maia.orchestrator.watch import watch, with_pauses

QUIET: Final = 0.25
"""Seconds without a note after which a reader has caught up with a run that goes on."""
MOST_RUNS: Final = 200
STATES: Final[tuple[RunState, ...]] = ("queued", "running", "waiting", "ended", "lost")


async def agent_control(call: Call, values: Values) -> Reply:
    """One of the actions. Raises `MaiaError` for a run that is not there."""
    action: str = values["action"]
    if action == "list":
        return await listed(call, values["state"], values["limit"])
    if not values["run_id"]:
        raise UsageProblem("mcp.no_run_id", action=action)
    return await _ACTIONS[action](call, await own_run(call, values["run_id"]), values)


async def listed(call: Call, state: str | None, limit: int | None) -> Reply:
    """The caller's runs, newest first; the person sees everybody's."""
    whose = None if call.identity.is_person else call.identity.name
    most = min(limit or 20, MOST_RUNS)
    infos = await call.desk.runs.listed(whose, MOST_RUNS if state else most)
    shown = [info for info in infos if state in (None, info.state)][:most]
    say = call.desk.say
    return Reply(rows_text(shown, say), {"runs": [run_data(info, say) for info in shown]})


async def _status(call: Call, info: RunInfo, _values: Values) -> Reply:
    return _about(call, info)


def _about(call: Call, info: RunInfo, **more: object) -> Reply:
    say = call.desk.say
    return Reply(run_text(info, say), {"run": run_data(info, say), **more})


async def _stream(call: Call, info: RunInfo, values: Values) -> Reply:
    """What happened after a number or a time, oldest first; `wait_seconds` waits for something new."""
    page = await _page(call, info, values)
    fresh = await call.desk.runs.info(info.run_id)
    text = page.text or call.desk.say("mcp.stream.nothing")
    if page.more:
        text += "\n" + call.desk.say("mcp.stream.more", after=page.next_after)
    data = {"run": run_data(fresh, call.desk.say), "notes": page.rows, "next_after": page.next_after, "more": page.more}
    return Reply(
        f"{text}\n\n{run_text(replace(fresh, text=''), call.desk.say) if fresh.state != 'ended' else ''}".strip(), data
    )


async def _page(call: Call, info: RunInfo, values: Values) -> Page:
    page = Page(after=values["after"] or 0)
    since = values["since"] or 0.0
    patience = time.monotonic() + (values["wait_seconds"] or 0.0)
    if info.state in ("ended", "lost"):
        patience = 0.0
    pauses = with_pauses(call.desk.runs.follow(info.run_id, page.next_after), QUIET)
    try:
        async for note in pauses:
            if isinstance(note, RunNote):
                page = page.with_note(note, since, call.desk.say)
                if page.more:
                    break
            elif page.rows or time.monotonic() >= patience:
                break
    finally:
        await pauses.aclose()
    return page


async def _wait(call: Call, info: RunInfo, values: Values) -> Reply:
    """Until the run has ended, or as long as asked for; taking the call back ends no run that another call began."""
    try:
        async with asyncio.timeout(values["wait_seconds"]):
            info = await watch(call, info.run_id, is_new=False, leave_when_waiting=not call.client.can_ask)
    except TimeoutError:
        info = await call.desk.runs.info(info.run_id)
    return _about(call, info)


async def _kill(call: Call, info: RunInfo, _values: Values) -> Reply:
    return _about(call, await call.desk.runs.stop(info.run_id))


async def _answer(call: Call, info: RunInfo, values: Values) -> Reply:
    """Answer an approval. "Always" is left to people: it writes a rule that holds for every run to come."""
    if call.identity.agent:
        raise UsageProblem("mcp.agents_may_not_answer")
    if values["answer"] is None:
        raise UsageProblem("mcp.no_answer")
    approval = values["approval_id"] or (info.open_asks[0].approval_id if len(info.open_asks) == 1 else "")
    if not approval:
        known = ", ".join(ask.approval_id for ask in info.open_asks)
        raise UsageProblem("mcp.which_approval", n=len(info.open_asks), known=known)
    taken = await call.desk.runs.answer(info.run_id, approval, Answer(values["answer"], values["reason"] or ""))
    if not taken:
        raise UsageProblem("mcp.answered_already", id=approval)
    return _about(call, await call.desk.runs.info(info.run_id), answered=True)


async def _resume(call: Call, info: RunInfo, values: Values) -> Reply:
    """Go on with the session of a run that is over, as a new run."""
    task: str = values["task"] or ""
    if not task.strip():
        raise UsageProblem("mcp.no_task")
    if info.state not in ("ended", "lost"):
        raise UsageProblem("mcp.still_running", run=info.run_id)
    if not info.session:
        raise UsageProblem("mcp.no_session", run=info.run_id)
    waits = values["wait"] is not False
    asking = asking_of(call, values["approvals"], waits=waits)
    leave = asking == "ask" and not call.client.can_ask
    begun_before = await begun_earlier(call, 0)
    run_id = begun_before.run_id if begun_before is not None else ""
    if not run_id:
        wish = RunWish(
            task=task,
            agent=info.agent,
            folder=info.folder,
            runner=info.runner,
            session=info.session,
            asking=asking,
            identity=call.identity.name,
        )
        started = await begun(call, wish)
        if not waits:
            return _about(call, started)
        run_id = started.run_id
    reply = await followed(call, run_id, leave_when_waiting=leave)
    return Reply(reply.text, {"run": reply.data}, reply.is_error)


_ACTIONS: Final[Mapping[str, Callable[[Call, RunInfo, Values], Awaitable[Reply]]]] = {
    "status": _status,
    "stream": _stream,
    "wait": _wait,
    "kill": _kill,
    "answer": _answer,
    "resume": _resume,
}

RUNS_SCHEMA: Final[JsonObject] = {"type": "array", "items": RUN_SCHEMA, "description": "Newest first"}

TOOL: Final = Tool(
    "agent_control",
    "Look after runs",
    Parameters(
        (
            Parameter("action", "string", "What to do", required=True, choices=(*_ACTIONS, "list")),
            Parameter("run_id", "string", "The run; needed for all but list", aliases=("run", "id", "task_id")),
            Parameter("after", "integer", "stream: only notes after this number (next_after of the answer before)",
                      minimum=0),
            Parameter("since", "number", "stream: only notes from this time on, in seconds since 1970",
                      aliases=("since_timestamp", "timestamp")),
            Parameter("wait_seconds", "number", "stream: wait that long for something new; wait: at most that long",
                      aliases=("timeout", "timeout_seconds"), minimum=0),
            Parameter("state", "string", "list: only runs of this state", choices=STATES),
            Parameter("limit", "integer", "list: how many, 20 unless said", minimum=1),
            Parameter("approval_id", "string", "answer: which approval; may be left out when there is only one"),
            Parameter("answer", "string", "answer: once, for the session, or no", choices=("once", "session", "no")),
            Parameter("reason", "string", "answer: why not; the agent reads it"),
            Parameter("task", "string", "resume: what is to be done next"),
            Parameter("wait", "boolean", "resume: false answers at once with the new run_id"),
            APPROVALS,
        ),
        closed=True,
    ),
    {
        "type": "object",
        "properties": {
            "run": RUN_SCHEMA,
            "runs": RUNS_SCHEMA,
            "notes": {"type": "array", "items": NOTE_SCHEMA},
            "next_after": {"type": "integer", "description": "after of the next stream call"},
            "more": {"type": "boolean", "description": "There are more notes already"},
            "answered": {"type": "boolean"},
        },
    },
    agent_control,
    destructive=True,
    open_world=True,
)  # fmt: skip
