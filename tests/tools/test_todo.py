import asyncio
from pathlib import Path
from typing import Any

import pytest

from maia.core.errors import ArgumentProblem
from maia.core.permission import Need
from maia.core.results import TodoBlock, TodoItem, ToolResult
from maia.tools.current_model import CurrentModelTool
from maia.tools.todo import TodoWriteTool
from tests.tools.doubles import FRENCH, call, hands_at

TODO, MODEL = TodoWriteTool(), CurrentModelTool()


def item(content: str, status: str, active: str = "") -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": active}


def test_the_list_is_shown_returned_and_kept(tmp_path: Path) -> None:
    hands = hands_at(tmp_path)
    todos = [item("Lire", "completed"), item("Écrire", "in_progress", "Écriture en cours"), item("Tester", "pending")]
    items = (
        TodoItem("Lire", "completed"),
        TodoItem("Écrire", "in_progress", "Écriture en cours"),
        TodoItem("Tester", "pending"),
    )
    assert call(TODO, hands, todos=todos) == ToolResult(
        "☑ Lire\n▶ Écriture en cours\n☐ Tester", summary="1/3", blocks=(TodoBlock(items),), data={"todos": 3}
    )
    assert hands.memory.todos == items


def test_each_call_replaces_the_list(tmp_path: Path) -> None:
    hands = hands_at(tmp_path)
    call(TODO, hands, todos=[item("a", "pending"), item("b", "pending")])
    call(TODO, hands, todos=[item("c", "completed")])
    assert hands.memory.todos == (TodoItem("c", "completed"),)
    assert call(TODO, hands, todos=[]).text == "The task list is empty."
    assert hands.memory.todos == ()


def test_several_tasks_in_progress_are_warned_about(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, say=FRENCH)
    text = call(TODO, hands, todos=[item("a", "in_progress"), item("b", "in_progress")]).text
    assert text == "▶ a\n▶ b\n[Attention\u202f: 2 tâches en cours\u202f; une seule à la fois.]"


@pytest.mark.parametrize(
    "todos",
    [
        '[{"content": "a", "status": "in progress", "active_form": "A"}]',
        [{"task": "a", "state": "in-progress", "activeForm": "A"}],
        [{"content": "a", "status": "inProgress", "activeForm": "A"}],
    ],
)
def test_lists_as_models_send_them_are_read(todos: Any) -> None:
    assert TODO.parse({"todos": todos}).items == (TodoItem("a", "in_progress", "A"),)


def test_an_unknown_status_is_an_error_that_names_the_task() -> None:
    with pytest.raises(ArgumentProblem) as raised:
        TODO.parse({"todos": [item("a", "pending"), item("b", "blocked")]})
    assert raised.value.values == {
        "name": "todos[1].status",
        "got": "blocked",
        "choices": "pending, in_progress, completed",
        "received": "{todos: array(2)}",
    }


def test_the_list_needs_no_permission_and_calls_on_it_queue(tmp_path: Path) -> None:
    args = TODO.parse({"todos": []})
    assert TODO.needs(args, tmp_path) == (Need("TodoWrite", "none"),)
    assert TODO.lock_key(args, tmp_path) == "TodoWrite"
    assert asyncio.run(TODO.proposal(args, hands_at(tmp_path))) == ()


def test_the_current_model_is_the_one_at_the_time_of_the_call(tmp_path: Path) -> None:
    model = "first"
    hands = hands_at(tmp_path, current_model=lambda: model)
    assert call(MODEL, hands).text == "first"
    model = "second"
    assert call(MODEL, hands, useless=1) == ToolResult("second", summary="second", data={"model": "second"})


def test_the_current_model_needs_no_permission_and_has_no_parameter(tmp_path: Path) -> None:
    args = MODEL.parse({})
    assert MODEL.needs(args, tmp_path) == (Need("CurrentModel", "none"),)
    assert MODEL.spec.parameters == {"type": "object", "properties": {}}
    assert (MODEL.preview(args), MODEL.lock_key(args, tmp_path)) == ("", None)
