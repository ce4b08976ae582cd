"""Drives Codex by `codex exec --json`: one process a turn, the session resumed by its id.

It cannot ask in this mode, so its own sandbox stays read-only until the rules trust it as a whole (`Agent(codex)`).
Codex 0.171 says the events as `thread.started`, `turn.*` and `item.*`; there are no pieces of text and no cost.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from maia.core.costs import Usage
from maia.core.errors import MaiaError
from maia.core.events import Notice, ReasoningDelta, TextDelta
from maia.core.jsonvalue import JsonObject
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
from maia.runtimes.totals import usage_since
from maia.runtimes.values import rows, table, text, whole

_TOOL_SECONDS: Final = 86_400
"""A call of a lent tool may wait for a person."""
_NO_CALLS: Final = ("agent_message", "reasoning", "error")


@dataclass(slots=True)
class _Turn:
    """The turn that is going on."""

    task: ProgramTask
    desk: Desk
    process: ProgramProcess
    last_heard: float
    open: set[str] = field(default_factory=set[str])
    garbage: int = 0
    error: str = ""
    said: int = 0


class CodexRuntime:
    """Codex (`core.runtime.Runtime`)."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._program = launch.program
        self._session = ("", -1)
        self._used: Usage | None = None
        self._turn: _Turn | None = None

    @property
    def name(self) -> str:
        return self._program.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        session = self._session[0] if self._session[1] == task.thread else ""
        self._used = self._used if session else None
        try:
            words = arguments(task, session, is_root=os.geteuid() == 0)
            process = await self._launch.process(*words, server=task.server)
        except MaiaError as problem:
            notice, end = not_started(self._program.title, problem)
            desk.tell(notice)
            return end
        if not task.may_write:
            desk.tell(Notice("info", "runtime.read_only", {"program": self._program.title, "name": self.name}))
        self._turn = turn = _Turn(task, desk, process, asyncio.get_running_loop().time())
        try:
            return await self._answered(turn, task.request if session else first_prompt(task))
        except Hung as silent:
            notice, end = hung(self._program.title, silent.seconds)
            desk.tell(notice)
            return end
        finally:
            await turn.process.stop("gently")
            self._turn = None

    async def aclose(self) -> None:
        if self._turn is not None:
            await self._turn.process.stop("now")

    async def _answered(self, turn: _Turn, words: str) -> ProgramEnd:
        try:
            await turn.process.write(words)
            turn.process.end_input()
        except ProgramGone:
            pass  # it ended at once; its last words are read below
        reading = asyncio.create_task(self._read(turn))
        patience = self._launch.patience
        end = await wait_while_heard(
            reading, lambda: patience.tool if turn.open else patience.idle, lambda: turn.last_heard
        )
        if end is not None:
            return end
        code = await turn.process.stop("gently")
        said = turn.error or turn.process.said
        notice, end = ended_early(self._program.title, code, said, turn.garbage)
        turn.desk.tell(notice)
        return end

    async def _read(self, turn: _Turn) -> ProgramEnd | None:
        """Read until the turn is over, None when the output ends before."""
        while (line := await turn.process.read_line()) is not None:
            turn.last_heard = asyncio.get_running_loop().time()
            message = read_object(line)
            if message is None:
                turn.garbage += bool(line.strip())
                continue
            turn.garbage = 0
            if (end := self._take(turn, message)) is not None:
                return end
        return None

    def _take(self, turn: _Turn, message: JsonObject) -> ProgramEnd | None:
        match text(message.get("type")).split("."):
            case ["thread", "started"]:
                self._session = (text(message.get("thread_id")), turn.task.thread)
            case ["item", state]:
                self._item(turn, table(message.get("item")), is_over=state == "completed")
            case ["error"]:
                turn.error = text(message.get("message"))
            case ["turn", "failed"]:
                said = text(table(message.get("error")).get("message")) or turn.error
                return ProgramEnd("failed", failure=failure_of(self._program.title, said), model=turn.task.model)
            case ["turn", "completed"]:
                total = usage_of(message.get("usage"))
                used, self._used = usage_since(total, self._used), total or self._used
                return ProgramEnd("finished", "end", "", used, model=turn.task.model)
            case _:
                pass
        return None

    def _item(self, turn: _Turn, item: JsonObject, *, is_over: bool) -> None:
        kind = text(item.get("type"))
        if kind not in _NO_CALLS:
            self._call(turn, kind, item, is_over=is_over)
        elif is_over and kind == "agent_message":
            turn.said += 1
            turn.desk.tell(TextDelta(("\n\n" if turn.said > 1 else "") + text(item.get("text"))))
        elif is_over and kind == "reasoning":
            turn.desk.tell(ReasoningDelta(text(item.get("text"))))
        elif is_over:  # a warning, such as a model of which nothing is known
            values = {"program": self._program.title, "said": text(item.get("message"))}
            turn.desk.tell(Notice("info", "runtime.warning", values))

    def _call(self, turn: _Turn, kind: str, item: JsonObject, *, is_over: bool) -> None:
        call = self._program_call(turn, kind, item)
        call_id = call.call.call_id
        if call_id not in turn.open:
            turn.desk.tell(call)
            turn.open.add(call_id)
        if is_over:
            turn.open.discard(call_id)
            code = item.get("exit_code")
            succeeded = text(item.get("status")) in ("completed", "") and code in (None, 0)
            turn.desk.tell(ProgramResult(call_id, succeeded, _words(item)))

    def _program_call(self, turn: _Turn, kind: str, item: JsonObject) -> ProgramCall:
        name, arguments = kind, {key: item[key] for key in ("command", "query", "url") if key in item}
        if kind == "mcp_tool_call":
            name = f"mcp__{text(item.get('server'))}__{text(item.get('tool'))}"
            arguments = table(item.get("arguments"))
        paths = tuple(text(change.get("path")) for change in rows(item.get("changes")) if change.get("path"))
        told = Told(text(item.get("id")), name, title=text(item.get("query")), arguments=arguments, paths=paths)
        return program_call(told, turn.task.folder, self._program.tools)


def arguments(task: ProgramTask, session: str, *, is_root: bool) -> tuple[str, ...]:
    """The words after the program's name. The request itself comes by standard input (`-`).

    Inside our wall its own sandbox cannot start for root (user_namespaces(7): the map of user 0 wants CAP_SETFCAP).
    Where the person trusts it to write, our wall alone then holds it to the same folders.
    """
    writing = "danger-full-access" if is_root else "workspace-write"
    sandbox = writing if task.may_write else "read-only"
    options = ("--json", "--skip-git-repo-check", "-c", f'sandbox_mode="{sandbox}"')
    model = ("-m", task.model) if task.model else ()
    resume = ("resume", session) if session else ()
    tools = tuple(_settings(task.server)) if task.server else ()
    return ("exec", *resume, *options, *model, *tools, "-")


def _settings(server: ToolServer) -> Iterator[str]:
    """A server of tools by settings; of its secrets only the names are said, the values come by the environment."""
    command, *words = server.argv
    told: JsonObject = {
        "command": command,
        "args": words,
        "env_vars": [*server.env],
        "tool_timeout_sec": _TOOL_SECONDS,
        "default_tools_approval_mode": "approve",
    }
    for name, value in told.items():
        yield from ("-c", f"mcp_servers.{server.name}.{name}={json.dumps(value)}")


def usage_of(told: object) -> Usage | None:
    """Counts of the Responses API: what was read from the cache is part of the input."""
    counts = table(told)
    if not counts:
        return None
    read, written = whole(counts.get("cached_input_tokens")), whole(counts.get("cache_write_input_tokens"))
    given = max(0, whole(counts.get("input_tokens")) - read - written)
    output, reasoning = whole(counts.get("output_tokens")), whole(counts.get("reasoning_output_tokens"))
    return Usage(given, output, read, written, reasoning)


def _words(item: JsonObject) -> str:
    for name in ("aggregated_output", "output", "text"):
        if words := text(item.get(name)):
            return words
    changes = rows(item.get("changes"))
    return "\n".join(f"{text(change.get('kind'))} {text(change.get('path'))}" for change in changes)
