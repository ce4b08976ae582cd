"""Runs, agents and memories in the test's own process, for the door alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mcp import Client
from mcp.client.client import ConnectMode

from maia.core.agent import AgentLevel
from maia.core.costs import Cost, Usage
from maia.core.endings import Failure, Outcome
from maia.core.errors import MaiaError, RunProblem, UsageProblem
from maia.core.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
)
from maia.core.jsonvalue import JsonObject
from maia.core.memories import Found, MemoryEntry
from maia.core.permission import Answer, Decision, Need, Rule, RuleSource, Verdict
from maia.core.reason import Reason
from maia.core.runs import RunInfo, RunNote, RunWish
from maia.i18n.catalogue import Catalogue
from maia.orchestrator.calls import Desk, Identity
from maia.orchestrator.ports import AgentList, Prompt
from maia.orchestrator.server import Context, Door

RULE = Rule(Verdict.ASK, "Bash", "git push:*", "Bash(git push:*)", RuleSource("~/.maia/settings.json", 4))


def approval(number: int = 1, proposed: str | None = "Bash(git push:*)") -> ApprovalRequested:
    return ApprovalRequested(
        f"approval-{number}",
        f"call-{number}",
        "Bash",
        {"command": "git push"},
        (Need("Bash", "command", "git push"),),
        Decision(Verdict.ASK, Reason("perm.no_rule"), RULE),
        proposed,
    )


@dataclass
class _Run:
    info: RunInfo
    wish: RunWish
    notes: list[RunNote] = field(default_factory=list[RunNote])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    answers: dict[str, asyncio.Future[Answer]] = field(default_factory=dict[str, "asyncio.Future[Answer]"])

    def note(self, event: Event) -> None:
        self.notes.append(RunNote(len(self.notes) + 1, time.time(), event))
        self.changed.set()
        self.changed = asyncio.Event()

    def end(self, outcome: Outcome, failure: Failure | None = None, problem: Reason | None = None) -> None:
        usage, cost = Usage(12, 3), Cost(0.0021, "estimated")
        self.info = replace(
            self.info,
            state="ended",
            outcome=outcome,
            ended=time.time(),
            usage=usage,
            cost=cost,
            failure=failure,
            problem=problem,
            steps=1,
            open_asks=(),
        )
        self.note(TurnEnded(outcome, "end", "stop", usage, cost, "fake-model", "fake", 1, 0, 0, 0.1, failure))


class FakeRuns:
    """The port `Runs`. The first word of a task says what happens: hello, fail, cannot, slow, ask, tool, gone."""

    def __init__(self) -> None:
        self.runs: dict[str, _Run] = {}
        self.stopped: list[str] = []
        self.release = asyncio.Event()
        """Lets the slow ones finish."""

    async def start(self, wish: RunWish) -> RunInfo:
        if wish.agent == "nobody":
            raise UsageProblem("agents.none", name=wish.agent)
        run_id = f"run-{len(self.runs) + 1}"
        info = RunInfo(
            run_id,
            wish.task,
            "running",
            time.time(),
            agent=wish.agent,
            nickname="The Chaos Prophet" if wish.agent else "",
            runner=wish.runner or "maia",
            model=wish.model or "fake-model",
            provider="fake",
            folder=wish.folder or "/work",
            session=wish.session or f"session-{run_id}",
            identity=wish.identity,
        )
        run = _Run(info, wish)
        self.runs[run_id] = run
        run.task = asyncio.create_task(self._go(run))
        return info

    async def _go(self, run: _Run) -> None:
        kind = run.wish.task.split()[0]
        run.note(StepStarted(1))
        match kind:
            case "slow":
                await self.release.wait()
            case "ask":
                await self._ask(run)
                return
            case "tool":
                run.note(ToolCallStarted("c1", "Bash", {"command": "make"}, "make"))
                run.note(ToolCallFinished("c1", "Bash", "succeeded", "done", "12 lines"))
            case _:
                pass
        if kind == "fail":
            run.end("failed", Failure("rate_limit", "api.example.org", 429, provider_text="slow down\x1b[2J"))
            return
        if kind == "cannot":
            why = Reason("models.no_such_model", {"name": "nope", "close": "fake-model"})
            run.end("failed", Failure("not_configured", code=why.key), why)
            return
        self._say(run, f"Hello, {run.wish.task}.")
        run.end("finished")

    async def _ask(self, run: _Run) -> None:
        request = approval()
        run.answers[request.approval_id] = asyncio.get_running_loop().create_future()
        run.info = replace(run.info, state="waiting", open_asks=(request,))
        if run.wish.asking == "refuse":
            run.answers[request.approval_id].set_result(Answer("no", "nobody is there"))
        else:
            run.note(request)
        answer = await run.answers[request.approval_id]
        run.info = replace(run.info, state="running", open_asks=())
        run.note(ApprovalAnswered(request.approval_id, answer))
        if "slowly" in run.wish.task:
            await self.release.wait()
        self._say(run, f"{answer.scope} {answer.reason}".strip())
        run.end("finished")

    def _say(self, run: _Run, text: str) -> None:
        run.info = replace(run.info, text=text)
        run.note(TextDelta(text))

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunNote]:
        run = self._run(run_id)
        while True:
            changed, is_over = run.changed, run.info.state == "ended"
            for note in [note for note in run.notes if note.seq > after]:
                after = note.seq
                yield note
            if is_over:
                return
            if not any(note.seq > after for note in run.notes):
                await changed.wait()

    async def info(self, run_id: str) -> RunInfo:
        return self._run(run_id).info

    def _run(self, run_id: str) -> _Run:
        if run_id not in self.runs:
            raise RunProblem("runs.unknown", run=run_id)
        return self.runs[run_id]

    async def listed(self, identity: str | None = None, limit: int = 100) -> Sequence[RunInfo]:
        infos = [run.info for run in reversed(self.runs.values()) if identity in (None, run.info.identity)]
        return infos[:limit]

    async def answer(self, run_id: str, approval_id: str, answer: Answer) -> bool:
        waiting = self._run(run_id).answers.get(approval_id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True

    async def stop(self, run_id: str) -> RunInfo:
        run = self._run(run_id)
        if run.info.state != "ended":
            self.stopped.append(run_id)
            if run.task is not None:
                run.task.cancel()
            run.end("stopped")
        return run.info

    async def aclose(self) -> None:
        for run in self.runs.values():
            if run.task is not None:
                run.task.cancel()


class FakeAgents:
    """The port `AgentBook`."""

    def __init__(self) -> None:
        self.agents: dict[str, JsonObject] = {}
        self.kept: dict[tuple[str, str], str] = {}

    def listed(self) -> AgentList:
        return AgentList(list(self.agents.values()))

    def find(self, word: str) -> JsonObject:
        for agent in self.agents.values():
            if word in (agent["name"], agent["nickname"]):
                return agent
        raise UsageProblem("agents.none", name=word)

    def create(self, name: str, fields: Mapping[str, Any], level: AgentLevel) -> JsonObject:
        if name in self.agents:
            raise UsageProblem("agents.exists", file=f"~/.maia/agents/{name}/AGENT.md")
        base: JsonObject = {
            "name": name,
            "nickname": name,
            "description": "",
            "level": level,
            "file": f"~/.maia/agents/{name}/AGENT.md",
            "runner": "maia",
            "model": "",
            "effort": None,
            "key": "",
            "tools": None,
            "skills": None,
            "permissions": {"allow": [], "ask": [], "deny": []},
            "folders": [],
            "memory": True,
            "trace": False,
            "asks_nothing": False,
            "group": "main",
            "max_turns": None,
            "monthly_tokens": 0,
            "type": "assistant",
            "role": "",
            "goal": "",
            "backstory": "",
            "capabilities": [],
            "constraints": [],
            "avatar": "",
            "enabled": True,
            "instructions": "",
            "missions": "",
            "output": "",
        }
        self.agents[name] = {**base, **fields, "permissions": {**base["permissions"], **fields.get("permissions", {})}}
        return self.agents[name]

    def update(self, word: str, fields: Mapping[str, Any]) -> JsonObject:
        agent = self.find(word)
        agent.update(fields)
        return agent

    def delete(self, word: str) -> str:
        agent = self.find(word)
        del self.agents[agent["name"]]
        return f"~/.maia/.trash/agents/{agent['name']}"

    def prompts(self, word: str) -> Sequence[str]:
        return [name for agent, name in self.kept if agent == word]

    def create_prompt(self, word: str, name: str, text: str) -> Prompt:
        self.kept[word, name] = text
        return Prompt(word, name, text, f"~/{name}.md")

    def edit_prompt(self, word: str, name: str, text: str, old: str = "") -> tuple[Prompt, str]:
        before = self.kept[word, name]
        self.kept[word, name] = before.replace(old, text) if old else text
        return Prompt(word, name, self.kept[word, name], f"~/{name}.md"), f"-{before}\n+{self.kept[word, name]}\n"

    def filled_prompt(self, word: str, name: str, arguments: str, values: Mapping[str, str]) -> str:
        text = self.kept[word, name].replace("$ARGUMENTS", arguments)
        for place, value in values.items():
            text = text.replace(f"{{{{{place}}}}}", value)
        return text


class FakeMemory:
    """The port `Memory`."""

    def __init__(self) -> None:
        self.entries: list[MemoryEntry] = []

    async def store(self, text: str, tags: Sequence[str] = (), source: str = "") -> MemoryEntry:
        entry = MemoryEntry(f"m{len(self.entries) + 1}", text, time.time(), tuple(tags), source)
        self.entries.append(entry)
        return entry

    async def search(self, query: str, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[Found]:
        hits = [entry for entry in self.entries if query in entry.text and set(tags) <= set(entry.tags)]
        return [Found(entry, 1.0, "words") for entry in hits[:limit]]

    async def recent(self, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[MemoryEntry]:
        return [entry for entry in reversed(self.entries) if set(tags) <= set(entry.tags)][:limit]

    async def forget(self, entry_id: str) -> bool:
        return bool(entry_id)

    async def aclose(self) -> None:
        return None


class House:
    """The door with its doubles. `identity` is who calls from now on."""

    def __init__(self, say: Catalogue | None = None) -> None:
        self.runs = FakeRuns()
        self.agents = FakeAgents()
        self.memories: dict[str, FakeMemory] = {}
        self.identity = Identity()
        self.defects: list[Exception] = []
        self._aside: set[asyncio.Task[Any]] = set()
        say = say or Catalogue("en", strict=True)
        self.desk = Desk(say, self.runs, self.agents, self._memory, self._go_on, self._defect)
        self.door = Door(lambda: self.desk, self._identify, say)

    def _identify(self, _context: Context) -> Identity:
        return self.identity

    async def _memory(self, identity: str) -> FakeMemory:
        return self.memories.setdefault(identity, FakeMemory())

    def _go_on(self, work: Coroutine[Any, Any, Any]) -> object:
        task = asyncio.create_task(work)
        self._aside.add(task)
        return task

    def _defect(self, error: Exception) -> MaiaError:
        self.defects.append(error)
        return MaiaError("cli.defect", problem=type(error).__name__, path="")

    @asynccontextmanager
    async def client(self, mode: ConnectMode = "legacy", **options: Any) -> AsyncGenerator[Client]:
        """The client of the SDK, connected within this process."""
        async with Client(self.door.server(), mode=mode, **options) as client:
            try:
                yield client
            finally:
                await self.runs.aclose()


async def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something that happens by itself; fails when it does not."""
    for _ in range(int(seconds / 0.005)):
        if is_so():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")
