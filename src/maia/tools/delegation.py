"""The tools that hand work on: run a specialist, assign a task, open a sub-conversation (N-06.01, N-06.02)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from maia.core.delegation import (
    ASSIGN_TASK,
    CREATE_SUB_CONVERSATION,
    RUN_SPECIALIST,
    Delegate,
    Delegation,
    Opened,
    Run,
    status_of,
)
from maia.core.errors import MaiaError, ToolProblem
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import cut_middle, visible
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec

LONGEST_RESULT: Final = 30_000
"""Characters of what a specialist said that the delegating model reads."""
_LISTED: Final = 40
_ROW: Final = 160

_AGENT: Final = Parameter("agent", "string", required=True, aliases=("name", "agent_name", "specialist", "to"))
_TASK: Final = Parameter("task", "text", required=True, aliases=("brief", "prompt", "message", "instructions"))
_RUN: Final = Parameters(
    (
        _AGENT,
        _TASK,
        Parameter("conversation", "string", "id of an earlier run to go on with", aliases=("conversation_id",)),
    )
)
_ASSIGN: Final = Parameters((_AGENT, Parameter("title", "string", aliases=("subject",)), _TASK))
_OPEN: Final = Parameters(
    (
        Parameter("title", "string", required=True, aliases=("name", "subject")),
        Parameter("message", "text", "answered there at once; without it the thread waits", aliases=("task", "prompt")),
        Parameter("agent", "string", "who answers there"),
    )
)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class DelegatedArgs:
    """What the three have in common; what a tool does not know is empty."""

    agent: str
    title: str
    task: str
    conversation: str = ""


class _DelegationTool:
    """No file, no command: green, without a click. What it starts is asked about where it works."""

    def __init__(self, delegation: Delegation) -> None:
        self._delegation = delegation

    def preview(self, args: DelegatedArgs) -> str:
        said = args.title or args.task
        return visible(" ".join(f"{args.agent}: {said}".split() if args.agent else said.split()))[:200]

    def lock_key(self, args: DelegatedArgs, launch: Path) -> str | None:
        return f"conversation {args.conversation}" if args.conversation else None

    async def proposal(self, args: DelegatedArgs, hands: Hands) -> tuple[Block, ...]:
        return ()


class RunSpecialistTool(_DelegationTool):
    """Waits for a specialist; calls of one answer run side by side."""

    @property
    def spec(self) -> ToolSpec:
        return _with_names(load_spec(RUN_SPECIALIST, _RUN), "Specialists", self._delegation.specialists)

    def parse(self, arguments: JsonObject) -> DelegatedArgs:
        values = _RUN.read(arguments)
        conversation = (values["conversation"] or "").strip()
        return DelegatedArgs(values["agent"].strip(), "", _said(values["task"]), conversation)

    def needs(self, args: DelegatedArgs, launch: Path) -> tuple[Need, ...]:
        return (Need(RUN_SPECIALIST, "none"),)

    async def run(self, args: DelegatedArgs, hands: Hands) -> ToolResult:
        done = await _told(self._delegation.run(hands.call_id, args.agent, args.task, args.conversation))
        return _result(done, hands)


class AssignTaskTool(_DelegationTool):
    """Does not wait: the card goes on by itself."""

    @property
    def spec(self) -> ToolSpec:
        return _with_names(load_spec(ASSIGN_TASK, _ASSIGN), "Colleagues", self._delegation.colleagues)

    def parse(self, arguments: JsonObject) -> DelegatedArgs:
        values = _ASSIGN.read(arguments)
        return DelegatedArgs(values["agent"].strip(), (values["title"] or "").strip(), _said(values["task"]))

    def needs(self, args: DelegatedArgs, launch: Path) -> tuple[Need, ...]:
        return (Need(ASSIGN_TASK, "none"),)

    async def run(self, args: DelegatedArgs, hands: Hands) -> ToolResult:
        made = await _told(self._delegation.assign(hands.call_id, args.agent, args.title, args.task))
        return _opened("delegate.assigned", made, hands)


class CreateSubConversationTool(_DelegationTool):
    """A thread of its own, under this conversation."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec(CREATE_SUB_CONVERSATION, _OPEN)

    def parse(self, arguments: JsonObject) -> DelegatedArgs:
        values = _OPEN.read(arguments)
        if not values["title"].strip():
            raise ToolProblem("delegate.no_title")
        return DelegatedArgs(
            (values["agent"] or "").strip(), values["title"].strip(), (values["message"] or "").strip()
        )

    def needs(self, args: DelegatedArgs, launch: Path) -> tuple[Need, ...]:
        return (Need(CREATE_SUB_CONVERSATION, "none"),)

    async def run(self, args: DelegatedArgs, hands: Hands) -> ToolResult:
        made = await _told(self._delegation.open(hands.call_id, args.title, args.task, args.agent))
        return _opened("delegate.opened" if made.is_running else "delegate.opened_waits", made, hands)


AnyDelegationTool = RunSpecialistTool | AssignTaskTool | CreateSubConversationTool


def _said(text: str) -> str:
    if not text.strip():
        raise ToolProblem("delegate.no_task")
    return text.strip()


async def _told(work: Awaitable[ResultT]) -> ResultT:
    """What became of it. A refusal is told to the model: it never ends a turn."""
    try:
        return await work
    except MaiaError as problem:
        raise ToolProblem(problem.key, **problem.values) from None


def _with_names(spec: ToolSpec, head: str, known: Sequence[Delegate]) -> ToolSpec:
    rows = [_row(each) for each in known[:_LISTED]]
    return replace(spec, description="\n".join((spec.description, f"{head}:", *rows)))


def _row(each: Delegate) -> str:
    about = " ".join(each.description.split())
    called = f" ({each.nickname})" if each.nickname != each.name else ""
    return visible(f"- {each.name}{called}: {about}")[:_ROW]


def _result(done: Run, hands: Hands) -> ToolResult:
    say = hands.say
    agent, problem = visible(done.agent), visible(done.problem)
    how = done.outcome if not done.waits else f"{done.waits}_later" if done.comes_later else f"{done.waits}_needed"
    text = visible(cut_middle(done.text, LONGEST_RESULT).text) if done.text.strip() else say("delegate.no_words")
    head = say(f"delegate.run.{how}", agent=agent, id=done.conversation, problem=problem)
    data: JsonObject = {
        "conversation": done.conversation,
        "delegated": {"outcome": done.outcome, "usd": done.cost.usd, "source": done.cost.source},
    }
    is_pending = bool(done.waits)
    is_error = not is_pending and status_of(done.outcome) == "failed"
    return ToolResult(f"{head}\n\n{text}", is_error, summary=agent, data=data, is_pending=is_pending)


def _opened(key: str, made: Opened, hands: Hands) -> ToolResult:
    text = hands.say(key, agent=visible(made.agent), title=visible(made.title), id=made.conversation)
    data: dict[str, Any] = {"conversation": made.conversation}
    return ToolResult(text, summary=visible(made.agent or made.title), data=data)


def delegation_specs() -> tuple[ToolSpec, ...]:
    """What the three are, without whom there is to hand work to."""
    return load_spec(RUN_SPECIALIST, _RUN), load_spec(ASSIGN_TASK, _ASSIGN), load_spec(CREATE_SUB_CONVERSATION, _OPEN)


def delegation_tools(delegation: Delegation) -> tuple[AnyDelegationTool, ...]:
    """Those that can do something: where there is somebody to hand work to."""
    tools: list[AnyDelegationTool] = []
    if delegation.specialists:
        tools.append(RunSpecialistTool(delegation))
    if delegation.colleagues:
        tools.append(AssignTaskTool(delegation))
    return (*tools, CreateSubConversationTool(delegation))
