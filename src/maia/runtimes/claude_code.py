"""Drives Claude Code by its own stream: JSON lines in and out, its permission questions answered by our rules.

Formats: `--input-format stream-json`, `--output-format stream-json`, and the control messages of its SDK
(`can_use_tool`, `hook_callback`, `interrupt`), as Claude Code 2.1.332 speaks them. One process a turn; the session goes
on by `--resume`. The request goes in by standard input, never as an argument (C4.06).
"""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Final

from maia.core.costs import Usage
from maia.core.endings import Outcome, StopReason
from maia.core.errors import MaiaError
from maia.core.events import ContextMeasured, Notice, ReasoningDelta, RetryScheduled, TextDelta
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.runtime import (
    Desk,
    ProgramCall,
    ProgramEnd,
    ProgramGone,
    ProgramProcess,
    ProgramResult,
    ProgramTask,
    ToolServer,
)
from maia.runtimes.failures import ended_early, failure_of, hung, not_started
from maia.runtimes.launching import Launch
from maia.runtimes.names import Told, program_call
from maia.runtimes.patience import Hung, wait_while_heard
from maia.runtimes.prompt import first_prompt
from maia.runtimes.rpc import read_object
from maia.runtimes.totals import cost_since
from maia.runtimes.values import amount, rows, table, text, whole

ARGUMENTS: Final = (
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
    "--setting-sources",
    "",
)
"""How it is spoken to by lines; what a turn adds comes behind."""

_NO_AGENTS: Final = ("--disallowedTools", "Task,Agent")
"""Who is lent our tools delegates by them; its own sub-agents, under both their names, are not offered (N-06.03)."""
_EVERY_TOOL: Final = {"PreToolUse": [{"matcher": None, "hookCallbackIds": ["ask"]}]}
"""A hook that sends every tool to the permission question, also those that Claude Code would just run."""

_STOPS: Final[dict[str, tuple[Outcome, StopReason]]] = {
    "end_turn": ("finished", "end"),
    "stop_sequence": ("finished", "stop_sequence"),
    "max_tokens": ("output_limit", "length"),
    "refusal": ("refused", "refusal"),
}


@dataclass(slots=True)
class _Turn:
    """The turn that is going on: its process, what it announced, and what is being asked."""

    task: ProgramTask
    desk: Desk
    process: ProgramProcess
    last_heard: float
    calls: dict[str, ProgramCall] = field(default_factory=dict[str, ProgramCall])
    told: set[str] = field(default_factory=set[str])
    open: set[str] = field(default_factory=set[str])
    asking: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    streamed: bool = False
    garbage: int = 0
    model: str = ""
    prompt: int = 0
    is_over: bool = False


class ClaudeCodeRuntime:
    """Claude Code (`core.runtime.Runtime`)."""

    def __init__(self, launch: Launch) -> None:
        self._window: int | None = None
        self._launch = launch
        self._program = launch.program
        self._session = ("", -1)
        self._cost: float | None = None
        self._turn: _Turn | None = None
        self._ids = itertools.count(1)

    @property
    def name(self) -> str:
        return self._program.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        try:
            process = await self._launch.process(*self._arguments(task), server=task.server)
        except MaiaError as problem:
            notice, end = not_started(self._program.title, problem)
            desk.tell(notice)
            return end
        self._turn = turn = _Turn(task, desk, process, asyncio.get_running_loop().time())
        try:
            return await self._answered(turn)
        except Hung as silent:
            notice, end = hung(self._program.title, silent.seconds)
            desk.tell(notice)
            return end
        finally:
            await self._close(turn)
            self._turn = None

    async def aclose(self) -> None:
        if self._turn is not None:
            await self._turn.process.stop("now")

    # One turn

    def _arguments(self, task: ProgramTask) -> tuple[str, ...]:
        session, thread = self._session
        more = ("--resume", session) if session and thread == task.thread else ()
        model = ("--model", task.model) if task.model else ()
        limit = ("--max-turns", str(task.max_steps)) if task.max_steps else ()
        tools = ("--mcp-config", _servers(task.server), "--strict-mcp-config", *_NO_AGENTS) if task.server else ()
        return (*ARGUMENTS, *more, *model, *limit, *tools)

    async def _answered(self, turn: _Turn) -> ProgramEnd:
        is_new = not (self._session[0] and self._session[1] == turn.task.thread)
        self._cost = None if is_new else self._cost
        words = first_prompt(turn.task) if is_new else turn.task.request
        try:
            await self._request(turn, {"subtype": "initialize", "hooks": _EVERY_TOOL})
            message: JsonObject = {"role": "user", "content": words}
            await self._send(turn, {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""})
        except ProgramGone:
            pass  # it ended at once; its last words are read below
        reading = asyncio.create_task(self._read(turn))
        result = await wait_while_heard(reading, lambda: self._limit(turn), lambda: turn.last_heard)
        if result is None:
            code = await turn.process.stop("gently")
            notice, end = ended_early(self._program.title, code, turn.process.said, turn.garbage)
            turn.desk.tell(notice)
            return end
        return self._end(turn, result)

    def _limit(self, turn: _Turn) -> float | None:
        if turn.asking:
            return None
        return self._launch.patience.tool if turn.open else self._launch.patience.idle

    async def _read(self, turn: _Turn) -> JsonObject | None:
        """Read until the result, None when the output ends before."""
        while (line := await turn.process.read_line()) is not None:
            turn.last_heard = asyncio.get_running_loop().time()
            message = read_object(line)
            if message is None:
                turn.garbage += bool(line.strip())
                continue
            turn.garbage = 0
            if message.get("type") == "result":
                return message
            self._take(turn, message)
        return None

    def _take(self, turn: _Turn, message: JsonObject) -> None:
        match message.get("type"):
            case "system":
                self._system(turn, message)
            case "stream_event" if not message.get("parent_tool_use_id"):
                self._delta(turn, table(message.get("event")))
            case "assistant":
                self._assistant(turn, message)
            case "user":
                self._results(turn, table(message.get("message")))
            case "control_request":
                task = asyncio.create_task(self._control(turn, message))
                turn.asking.add(task)
                task.add_done_callback(turn.asking.discard)
            case _:
                return

    def _system(self, turn: _Turn, message: JsonObject) -> None:
        match message.get("subtype"):
            case "init":
                self._session = (text(message.get("session_id")), turn.task.thread)
                turn.model = text(message.get("model"))
            case "api_retry":
                delay = (amount(message.get("retry_delay_ms")) or 0.0) / 1000
                status = whole(message.get("error_status"))
                failure = failure_of(self._program.title, f"{status or ''} {message.get('error') or ''}".strip())
                turn.desk.tell(RetryScheduled(whole(message.get("attempt")), delay, failure))
            case "compact_boundary":
                turn.desk.tell(Notice("info", "runtime.compacted"))
            case _:
                return

    def _delta(self, turn: _Turn, event: JsonObject) -> None:
        delta = table(event.get("delta"))
        match event.get("type"), delta.get("type"):
            case "message_start", _:
                turn.streamed = False
            case "content_block_delta", "text_delta":
                turn.streamed = True
                turn.desk.tell(TextDelta(text(delta.get("text"))))
            case "content_block_delta", "thinking_delta":
                turn.desk.tell(ReasoningDelta(text(delta.get("thinking"))))
            case _:
                return

    def _assistant(self, turn: _Turn, message: JsonObject) -> None:
        """A whole block: text that was streamed already, or a call, which is asked about or just ends."""
        told = table(message.get("message"))
        if not message.get("parent_tool_use_id"):
            prompt = usage_of(table(told.get("usage"))).prompt
            if prompt and prompt != turn.prompt:
                turn.prompt = prompt
                turn.desk.tell(ContextMeasured(prompt, self._window, "measured"))
        for block in rows(told.get("content")):
            if block.get("type") == "tool_use":
                call = self._call(turn, text(block.get("id")), text(block.get("name")), block.get("input"))
                turn.calls[call.call.call_id] = call
                turn.open.add(call.call.call_id)
            elif block.get("type") == "text" and not turn.streamed and not message.get("parent_tool_use_id"):
                turn.desk.tell(TextDelta(text(block.get("text"))))

    def _call(self, turn: _Turn, call_id: str, name: str, given: JsonValue) -> ProgramCall:
        told = Told(call_id, name, title=name, arguments=table(given))
        return program_call(told, turn.task.folder, self._program.tools)

    def _results(self, turn: _Turn, message: JsonObject) -> None:
        for block in rows(message.get("content")):
            call_id = text(block.get("tool_use_id"))
            call = turn.calls.get(call_id)
            if block.get("type") != "tool_result" or call is None:
                continue
            turn.open.discard(call_id)
            if call_id not in turn.told:
                turn.desk.tell(call)
            turn.desk.tell(ProgramResult(call_id, not block.get("is_error"), _words(block.get("content")), call.blocks))

    # Its questions

    async def _control(self, turn: _Turn, message: JsonObject) -> None:
        request = table(message.get("request"))
        answer: JsonObject = {"subtype": "success", "request_id": message.get("request_id")}
        match request.get("subtype"):
            case "can_use_tool":
                answer["response"] = await self._may(turn, request)
            case "hook_callback":
                hook = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
                answer["response"] = {"hookSpecificOutput": hook}
            case other:
                answer |= {"subtype": "error", "error": f"{other} is not supported"}
        try:
            await self._send(turn, {"type": "control_response", "response": answer})
        except ProgramGone:
            return

    async def _may(self, turn: _Turn, request: JsonObject) -> JsonObject:
        call_id = text(request.get("tool_use_id"))
        given = table(request.get("input"))
        asked = self._call(turn, call_id, text(request.get("tool_name")), given)
        turn.calls[asked.call.call_id] = asked
        turn.told.add(asked.call.call_id)
        permit = await turn.desk.permit(asked)
        if permit.allowed:
            return {"behavior": "allow", "updatedInput": given}
        return {"behavior": "deny", "message": permit.reason}

    async def _request(self, turn: _Turn, request: JsonObject) -> None:
        await self._send(turn, {"type": "control_request", "request_id": f"maia-{next(self._ids)}", "request": request})

    async def _send(self, turn: _Turn, message: JsonObject) -> None:
        await turn.process.write(json.dumps(message, separators=(",", ":")))

    # Ends

    def _end(self, turn: _Turn, result: JsonObject) -> ProgramEnd:
        turn.is_over = True
        if turn.prompt:
            self._window = _window_told(turn.model, table(result.get("modelUsage")))
            turn.desk.tell(ContextMeasured(turn.prompt, self._window, "measured"))
        told, total = table(result.get("usage")), amount(result.get("total_cost_usd"))
        cost, self._cost = cost_since(total, self._cost), self._cost if total is None else total
        usage = usage_of(told) if told else None
        raw = text(result.get("stop_reason")) or text(result.get("subtype"))
        if result.get("is_error") or text(result.get("subtype")).startswith("error_during"):
            words = text(result.get("result")) or "; ".join(map(str, result.get("errors") or ())) or turn.process.said
            failure = failure_of(self._program.title, words, text(result.get("subtype")))
            return ProgramEnd("failed", "unknown", raw, usage, cost, failure, turn.model)
        outcome, stop = _STOPS.get(raw, ("finished", "unknown"))
        if result.get("subtype") == "error_max_turns":
            outcome = "turn_limit"
        return ProgramEnd(outcome, stop, raw, usage, cost, model=turn.model)

    async def _close(self, turn: _Turn) -> None:
        """End the process and what still waits for an answer. The session is on its disk."""
        asking = tuple(turn.asking)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await turn.process.stop("gently" if turn.is_over else "now")


def _servers(server: ToolServer) -> str:
    """The setting of a server of tools; its secrets come by the program's own environment, never as an argument."""
    command, *arguments = server.argv
    env = {name: f"${{{name}}}" for name in server.env}
    told = {"command": command, "args": arguments, "env": env, "alwaysLoad": True}
    return json.dumps({"mcpServers": {server.name: told}})


def usage_of(told: JsonObject) -> Usage:
    """Counts of the Anthropic API: cached parts are not in `input_tokens`."""
    return Usage(
        whole(told.get("input_tokens")),
        whole(told.get("output_tokens")),
        whole(told.get("cache_read_input_tokens")),
        whole(told.get("cache_creation_input_tokens")),
        whole(table(told.get("output_tokens_details")).get("thinking_tokens")),
    )


def _window_told(model: str, used: JsonObject) -> int | None:
    """The window of the model that answered, as the result tells it for each that was used (R-2.099)."""
    told = table(used.get(model)) or (table(next(iter(used.values()))) if len(used) == 1 else {})
    return whole(told.get("contextWindow")) or None


def _words(content: JsonValue) -> str:
    """A tool's result: a text, or blocks of which the texts are shown."""
    return content if isinstance(content, str) else "\n".join(text(block.get("text")) for block in rows(content))
