"""The TodoWrite tool: the session's task list, replaced by each call and shown to the person (T5.04)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands, Say
from maia.core.requests import ToolSpec
from maia.core.results import Block, TodoBlock, TodoItem, ToolResult
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec

Status: TypeAlias = Literal["pending", "in_progress", "completed"]

MARKS: Final[dict[Status, str]] = {"pending": "☐", "in_progress": "▶", "completed": "☑"}

_ITEM: Final = Parameters(
    (
        Parameter("content", "string", required=True, aliases=("task", "title", "text", "description")),
        Parameter("status", "string", required=True, aliases=("state",), choices=tuple(MARKS)),
        Parameter("activeForm", "string", aliases=("active",)),
    )
)
PARAMETERS: Final = Parameters(
    (Parameter("todos", "list", required=True, aliases=("items", "tasks", "list", "todo_list"), items=_ITEM),)
)


@dataclass(frozen=True, slots=True)
class TodoArgs:
    """The whole new list."""

    items: tuple[TodoItem, ...]


class TodoWriteTool:
    """Keeps the task list of the session."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("TodoWrite", PARAMETERS)

    def parse(self, arguments: JsonObject) -> TodoArgs:
        rows = PARAMETERS.read(arguments)["todos"]
        return TodoArgs(tuple(TodoItem(row["content"], row["status"], row["activeForm"] or "") for row in rows))

    def needs(self, args: TodoArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("TodoWrite", "none"),)

    def preview(self, args: TodoArgs) -> str:
        done = sum(item.status == "completed" for item in args.items)
        return f"{done}/{len(args.items)}"

    def lock_key(self, args: TodoArgs, launch: Path) -> str | None:
        return "TodoWrite"

    async def proposal(self, args: TodoArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: TodoArgs, hands: Hands) -> ToolResult:
        hands.memory.todos = args.items
        return ToolResult(
            todo_text(args.items, hands.say),
            summary=self.preview(args),
            blocks=(TodoBlock(args.items),),
            data={"todos": len(args.items)},
        )


def todo_text(items: tuple[TodoItem, ...], say: Say) -> str:
    """The list as text, one task a line, with a warning when several are in progress."""
    rows = [f"{MARKS[item.status]} {_words(item)}" for item in items] or [say("tool.todo.empty")]
    running = sum(item.status == "in_progress" for item in items)
    if running > 1:
        rows.append(say("tool.todo.several", n=running))
    return "\n".join(rows)


def _words(item: TodoItem) -> str:
    return item.active_form or item.content if item.status == "in_progress" else item.content
