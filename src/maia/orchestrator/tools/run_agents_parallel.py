"""run_agents_parallel: several tasks at once, all of them or until the first success."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from maia.core.errors import MaiaError, UsageProblem
from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameter, Parameters
from maia.orchestrator.calls import Call, Pause, Reply
from maia.orchestrator.shapes import FAILURE_SCHEMA, RUN_SCHEMA, run_data, run_text, succeeded
from maia.orchestrator.tools.row import Tool, Values
from maia.orchestrator.tools.starting import APPROVALS, TASK, asking_of, begun, begun_earlier, stop, waited, wish_of
from maia.orchestrator.watch import watch
from maia.orchestrator.words import error_data, error_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from maia.core.runs import Asking, RunInfo

MAX_TASKS: Final = 50


async def run_agents_parallel(call: Call, values: Values) -> Reply:
    """One result a task, in the order of the tasks: a run, or the error that kept it from starting."""
    tasks: list[Values] = values["tasks"]
    if not 1 <= len(tasks) <= MAX_TASKS:
        raise UsageProblem("mcp.tasks_count", n=len(tasks), most=MAX_TASKS)
    waits = values["wait"] is not False
    asking = asking_of(call, values["approvals"], waits=waits)
    started = await _started(call, tasks, asking)
    run_ids = [one.run_id for one in started if not isinstance(one, MaiaError)]
    if waits:
        work = _first_success if values["mode"] == "first_success" else _all
        leave = asking == "ask" and not call.client.can_ask
        try:
            ended = await waited(call, run_ids, work(call, run_ids, leave))
        except Pause as pause:
            pause.run_ids = tuple("" if isinstance(one, MaiaError) else one.run_id for one in started)
            raise
        started = [one if isinstance(one, MaiaError) else ended[one.run_id] for one in started]
    return _reply(call, started, values["mode"] or "all", waits=waits)


async def _started(call: Call, tasks: list[Values], asking: Asking) -> list[RunInfo | MaiaError]:
    """Begin them all, or find those that the call began before it paused; what one lacks stops no other."""

    async def one(number: int, task: Values) -> RunInfo | MaiaError:
        try:
            return await begun_earlier(call, number) or await begun(call, await wish_of(call, task, asking))
        except MaiaError as problem:
            return problem

    return await asyncio.gather(*(one(number, task) for number, task in enumerate(tasks)))


async def _all(call: Call, run_ids: list[str], leave: bool) -> dict[str, RunInfo]:
    async with _Watches(call, run_ids, leave) as watches:
        await watches.ended()
    return watches.infos


async def _first_success(call: Call, run_ids: list[str], leave: bool) -> dict[str, RunInfo]:
    """Until one finished; those that still run are then stopped. A failure is no end of the race."""
    async with _Watches(call, run_ids, leave) as watches:
        winner = await watches.ended(until=succeeded)
    if winner is not None:
        rest = [run_id for run_id in run_ids if run_id not in watches.infos]
        await asyncio.gather(*(stop(call, run_id) for run_id in rest))
        for run_id in rest:
            watches.infos[run_id] = await call.desk.runs.info(run_id)
    return watches.infos


class _Watches:
    """Watches over several runs, all let go of at the end."""

    def __init__(self, call: Call, run_ids: list[str], leave: bool) -> None:
        self.infos: dict[str, RunInfo] = {}
        self._call = call
        self._run_ids = run_ids
        self._leave = leave
        self._tasks: set[asyncio.Task[RunInfo]] = set()

    async def __aenter__(self) -> _Watches:
        self._tasks = {
            asyncio.create_task(
                watch(self._call, run_id, is_new=self._call.resumed is None, leave_when_waiting=self._leave)
            )
            for run_id in self._run_ids
        }
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def ended(self, until: Callable[[RunInfo], bool] = lambda _info: False) -> RunInfo | None:
        """Wait for all, or for the first one of which `until` is true, which is then given."""
        left = set(self._tasks)
        while left:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                info = task.result()
                self.infos[info.run_id] = info
            winner = next((task.result() for task in done if until(task.result())), None)
            if winner is not None:
                return winner
        return None


def _reply(call: Call, results: list[RunInfo | MaiaError], mode: str, *, waits: bool) -> Reply:
    say = call.desk.say
    rows: list[JsonObject] = []
    texts: list[str] = []
    good = 0
    winner: str | None = None
    for number, one in enumerate(results, 1):
        if isinstance(one, MaiaError):
            data = error_data(one, say)
            rows.append({"index": number - 1, "run": None, "error": data})
            texts.append(f"## {number}\n\n{error_text(data)}")
            continue
        rows.append({"index": number - 1, "run": run_data(one, say), "error": None})
        texts.append(f"## {number}\n\n{run_text(one, say)}")
        if succeeded(one):
            good += 1
            winner = winner or one.run_id
    bad = sum(
        1 for one in results if isinstance(one, MaiaError) or (one.state in ("ended", "lost") and not succeeded(one))
    )
    head = (
        say("mcp.parallel.summary", n=len(results), good=good)
        if waits
        else say("mcp.parallel.started", n=len(results) - bad)
    )
    data: JsonObject = {
        "mode": mode,
        "total": len(results),
        "succeeded": good,
        "failed": bad,
        "winner": winner if mode == "first_success" else None,
        "results": rows,
    }
    none_good = waits and good == 0 and bad > 0
    return Reply("\n\n".join([head, *texts]), data, is_error=none_good)


TOOL: Final = Tool(
    "run_agents_parallel",
    "Run several agents at once",
    Parameters(
        (
            Parameter("tasks", "list", "The tasks, each as for run_agent", required=True,
                      items=Parameters(TASK, closed=True)),
            Parameter("mode", "string", "all: every result; first_success: stop the others once one finished well",
                      choices=("all", "first_success")),
            Parameter("wait", "boolean", "false: answer at once with every run_id, and ask agent_control later"),
            APPROVALS,
        ),
        closed=True,
    ),
    {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["all", "first_success"]},
            "total": {"type": "integer"},
            "succeeded": {"type": "integer"},
            "failed": {"type": "integer"},
            "winner": {"type": ["string", "null"], "description": "run_id of the first success"},
            "results": {
                "type": "array",
                "description": "One a task, in their order",
                "items": {
                    "type": "object",
                    "properties": {
                        "index": {"type": "integer"},
                        "run": {"anyOf": [RUN_SCHEMA, {"type": "null"}]},
                        "error": {"anyOf": [FAILURE_SCHEMA, {"type": "null"}]},
                    },
                    "required": ["index", "run", "error"],
                },
            },
        },
        "required": ["mode", "total", "succeeded", "failed", "winner", "results"],
    },
    run_agents_parallel,
    destructive=True,
    open_world=True,
)  # fmt: skip
