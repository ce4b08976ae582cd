"""Drives an agent over the Agent Client Protocol, version 1 (JSON-RPC on standard input and output).

Protocol: agentclientprotocol.com. Files and terminals of ours are declared absent: the agent works inside its wall
with its own tools, and asks by `session/request_permission`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from maia.core.costs import Usage
from maia.core.endings import Outcome, StopReason
from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.runtime import Desk, ProgramEnd, ProgramGone, ProgramProcess, ProgramTask, PromptWay, ToolServer
from maia.runtimes.acp_updates import Fold
from maia.runtimes.failures import ended_early, failure_of, hung, not_started
from maia.runtimes.launching import Launch
from maia.runtimes.patience import Hung, wait_while_heard
from maia.runtimes.prompt import first_prompt
from maia.runtimes.rpc import METHOD_NOT_FOUND, Rpc, RpcError
from maia.runtimes.totals import usage_since
from maia.runtimes.values import rows, table, text, whole

_STOPS: Final[dict[str, tuple[Outcome, StopReason]]] = {
    "end_turn": ("finished", "end"),
    "max_tokens": ("output_limit", "length"),
    "max_turn_requests": ("turn_limit", "unknown"),
    "refusal": ("refused", "refusal"),
    "cancelled": ("finished", "unknown"),
}
"""`cancelled` without our asking: several agents end the turn so after a refused call."""

_AUTH_REQUIRED: Final = -32_000
_VERSION: Final = 1


@dataclass(slots=True)
class _Live:
    """A running agent, the session that is open in it, and what the session cost so far."""

    process: ProgramProcess
    rpc: Rpc
    serving: asyncio.Task[None]
    session: str = ""
    thread: int = -1
    cost: float | None = None
    usage: Usage | None = None
    model: str = ""
    has_tools: bool = False
    prompt: PromptWay = "message"
    made: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(slots=True)
class _Turn:
    """The turn that is going on."""

    desk: Desk
    fold: Fold
    prompting: asyncio.Task[JsonObject] | None = None


class AcpRuntime:
    """One agent (`core.runtime.Runtime`). It is kept between turns; a new thread gets a new session in it."""

    def __init__(self, launch: Launch, version: str) -> None:
        self._launch = launch
        self._program = launch.program
        self._version = version
        self._live: _Live | None = None
        self._turn: _Turn | None = None

    @property
    def name(self) -> str:
        return self._program.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        self._turn = turn = _Turn(desk, Fold(self._program, task.folder, None))
        try:
            return await self._answered(task, turn)
        except MaiaError as problem:
            return await self._failed(problem, desk)
        except RpcError as error:
            return self._refused(error)
        except Hung as silent:
            await self._end("now")
            notice, end = hung(self._program.title, silent.seconds)
            desk.tell(notice)
            return end
        except asyncio.CancelledError:
            await self._cancel(turn)
            raise
        finally:
            if self._live is not None:
                await self._live.rpc.drop_answers()
            self._turn = None

    async def aclose(self) -> None:
        await self._end("gently")

    # One turn

    async def _answered(self, task: ProgramTask, turn: _Turn) -> ProgramEnd:
        live = await self._ready()
        is_new = live.thread != task.thread or not live.session or live.has_tools != bool(task.server)
        if is_new:
            await self._open_session(live, task, turn.desk)
        if task.model != live.model:
            await self._choose_model(live, live.made, task.model)
            live.model = task.model
        fold = turn.fold = Fold(self._program, task.folder, live.cost)
        words = first_prompt(task, is_instructed=live.prompt != "message") if is_new else task.request
        asked: JsonObject = {"sessionId": live.session, "prompt": [{"type": "text", "text": words}]}
        turn.prompting = asyncio.create_task(live.rpc.call("session/prompt", asked))
        turn.prompting.add_done_callback(lambda done: done.cancelled() or done.exception())  # told here or to nobody
        result = await self._heard(live, asyncio.shield(turn.prompting), self._turn_limit)
        if fold.cost_total is not None:
            live.cost = fold.cost_total
        raw = text(result.get("stopReason"))
        outcome, stop = _STOPS.get(raw, ("finished", "unknown"))
        if outcome == "refused" and fold.has_refused:
            outcome, stop = "finished", "unknown"  # it was we who refused, and its row says so
        usage = told = fold.usage(result)
        if self._program.sums_usage:
            usage, live.usage = usage_since(told, live.usage), told or live.usage
        return ProgramEnd(outcome, stop, raw, usage, fold.cost, model=task.model, prompt=live.prompt)

    async def _ready(self) -> _Live:
        """The running agent; started and greeted where there is none. Raises `MaiaError`, `RpcError`, `Hung`."""
        if self._live is not None and not self._live.rpc.is_over:
            return self._live
        await self._end("now")
        process = await self._launch.process()
        rpc = Rpc(process, self._answer, self._hear)
        self._live = live = _Live(process, rpc, asyncio.create_task(rpc.serve()))
        greeting = {
            "protocolVersion": _VERSION,
            "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
            "clientInfo": {"name": "maia", "version": self._version},
        }
        answered = await self._call(live, "initialize", greeting)
        if whole(answered.get("protocolVersion")) != _VERSION:
            given = answered.get("protocolVersion")
            raise MaiaError("runtime.protocol", program=self._program.title, version=str(given), ours=_VERSION)
        return live

    async def _open_session(self, live: _Live, task: ProgramTask, desk: Desk) -> None:
        servers: list[JsonValue] = [_told_of(task.server)] if task.server else []
        asked: JsonObject = {"cwd": str(task.folder), "mcpServers": servers}
        is_instructed = self._program.takes_instructions and bool(task.instructions)
        if is_instructed:
            asked["_meta"] = {"systemPrompt": {"append": task.instructions}}
        made = await self._call(live, "session/new", asked)
        live.has_tools, live.prompt = bool(servers), _prompt_way(made, task) if is_instructed else "message"
        live.session, live.thread, live.cost, live.usage = text(made.get("sessionId")), task.thread, None, None
        live.made, live.model = made, ""
        await self._choose_mode(live, made)
        if not self._program.asks:
            desk.tell(Notice("warn", "runtime.never_asks", {"program": self._program.title}))

    async def _choose_mode(self, live: _Live, made: JsonObject) -> None:
        wanted = self._program.ask_mode
        modes = table(made.get("modes"))
        known = [text(mode.get("id")) for mode in rows(modes.get("availableModes"))]
        if wanted in known and modes.get("currentModeId") != wanted:
            await self._call(live, "session/set_mode", {"sessionId": live.session, "modeId": wanted})

    async def _choose_model(self, live: _Live, made: JsonObject, model: str) -> None:
        """By the session's list of models, else by its options. Raises `MaiaError` for one that is not there."""
        listed = [text(each.get("modelId")) for each in rows(table(made.get("models")).get("availableModels"))]
        option = next((each for each in rows(made.get("configOptions")) if each.get("id") == "model"), None)
        if option is not None:
            listed += [text(each.get("value")) for each in rows(option.get("options"))]
        fits = [name for name in listed if model == name] or [name for name in listed if model in name]
        if not fits:
            if self._program.model_var:
                return  # the start said it by the environment
            raise MaiaError("runtime.no_model", program=self._program.title, name=model, known=", ".join(listed[:8]))
        session = {"sessionId": live.session}
        if option is not None:
            await self._call(live, "session/set_config_option", {**session, "configId": "model", "value": fits[0]})
        else:
            await self._call(live, "session/set_model", {**session, "modelId": fits[0]})

    async def _call(self, live: _Live, method: str, params: JsonObject) -> JsonObject:
        """A call that needs no model. Raises `RpcError`, `ProgramGone`, `Hung`."""
        called = asyncio.create_task(live.rpc.call(method, params))
        return await self._heard(live, called, lambda: self._launch.patience.start)

    async def _heard(self, live: _Live, work: asyncio.Future[JsonObject], limit: Callable[[], float]) -> JsonObject:
        return await wait_while_heard(
            work, lambda: None if live.rpc.is_answering else limit(), lambda: live.rpc.last_heard
        )

    def _turn_limit(self) -> float:
        is_working = self._turn is not None and self._turn.fold.has_open_calls
        return self._launch.patience.tool if is_working else self._launch.patience.idle

    # What the agent says and asks

    def _hear(self, method: str, params: JsonObject) -> None:
        turn, live = self._turn, self._live
        if method != "session/update" or turn is None or live is None or params.get("sessionId") != live.session:
            return
        for event in turn.fold.take(table(params.get("update"))):
            turn.desk.tell(event)

    async def _answer(self, method: str, params: JsonObject) -> JsonObject:
        turn = self._turn
        if method != "session/request_permission":
            raise RpcError(METHOD_NOT_FOUND, f"{method} is not supported")
        cancelled: JsonObject = {"outcome": {"outcome": "cancelled"}}
        if turn is None:
            return cancelled
        try:
            permit = await turn.desk.permit(turn.fold.asked(table(params.get("toolCall"))))
        except asyncio.CancelledError:
            return cancelled  # the turn is over; the agent still gets its answer
        if not permit.allowed:
            turn.fold.refused(table(params.get("toolCall")))
        kind = "allow_once" if permit.allowed else "reject_once"  # never for always (N-03.04)
        options = rows(params.get("options"))
        chosen = next((text(each.get("optionId")) for each in options if each.get("kind") == kind), "")
        if not chosen:
            return cancelled
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    # Ends

    def _refused(self, error: RpcError) -> ProgramEnd:
        kind = "auth" if error.code == _AUTH_REQUIRED else None
        detail = table(error.data)
        more = text(detail.get("message")) or text(detail.get("details")) or text(error.data)
        words = error.message if not more else f"{error.message}: {more}"
        return ProgramEnd("failed", failure=failure_of(self._program.title, words, str(error.code), kind))

    async def _failed(self, problem: MaiaError, desk: Desk) -> ProgramEnd:
        if isinstance(problem, ProgramGone) and self._live is not None:
            live = self._live
            code = await self._end("gently")
            notice, end = ended_early(self._program.title, code, live.process.said, live.rpc.garbage)
            desk.tell(notice)
            return end
        notice, end = not_started(self._program.title, problem)
        desk.tell(notice)
        return end

    async def _cancel(self, turn: _Turn) -> None:
        """Let the agent end its turn; one that does not in time is ended itself, and its session with it."""
        live = self._live
        if live is None or turn.prompting is None or turn.prompting.done():
            await self._end("now")
            return
        try:
            await live.rpc.drop_answers()
            await live.rpc.notify("session/cancel", {"sessionId": live.session})
            await asyncio.wait({turn.prompting}, timeout=self._launch.patience.cancel)
        except ProgramGone:
            pass
        finally:
            if not turn.prompting.done():
                await self._end("now")

    async def _end(self, how: Literal["gently", "now"]) -> int | None:
        """End the agent with its tree; its exit code where it had ended by itself."""
        live, self._live = self._live, None
        if live is None:
            return None
        try:
            return await live.process.stop(how)
        finally:
            live.serving.cancel()
            await asyncio.gather(live.serving, return_exceptions=True)


def _prompt_way(made: JsonObject, task: ProgramTask) -> PromptWay:
    """Verified where the agent tells back the system prompt that it was given; that it took it silently is no proof."""
    told = table(made.get("_meta")).get("systemPrompt")
    said = text(told) or text(table(told).get("append"))
    return "verified" if task.instructions in said else "unverified"


def _told_of(server: ToolServer) -> JsonObject:
    """A server of tools as the protocol names one that every agent can start."""
    command, *arguments = server.argv
    env: list[JsonValue] = [{"name": name, "value": secret.reveal()} for name, secret in server.env.items()]
    return {"name": server.name, "command": command, "args": [*arguments], "env": env}
