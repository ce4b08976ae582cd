from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from mcp import types
from mcp.client.client import ConnectMode

from maia.core.permission import Answer
from maia.i18n.catalogue import Catalogue
from maia.orchestrator.calls import Identity
from maia.orchestrator.forms import answer_of, form_message, form_schema
from tests.orchestrator.doubles import House, approval, until

MODES: list[ConnectMode] = ["legacy", "auto"]


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


class Person:
    """Answers every form alike, and keeps what they were shown."""

    def __init__(self, action: str, content: dict[str, Any] | None = None) -> None:
        self._result = types.ElicitResult.model_validate({"action": action, "content": content})
        self.shown: list[types.ElicitRequestFormParams] = []

    async def __call__(self, _context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.shown.append(params)
        return self._result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("action", "content", "text"),
    [
        ("accept", {"answer": "once"}, "once"),
        ("accept", {"answer": "session"}, "session"),
        ("accept", {"answer": "always"}, "always"),
        ("accept", {"answer": "no", "reason": "not today"}, "no not today"),
        ("decline", None, "no The person declined."),
        ("cancel", None, "no The person declined."),
    ],
)
def test_a_client_with_forms_asks_its_person_and_the_run_goes_on_with_the_answer(
    mode: ConnectMode, action: str, content: dict[str, Any] | None, text: str
) -> None:
    async def work() -> None:
        house, person = House(), Person(action, content)
        async with house.client(mode, elicitation_callback=person) as client, asyncio.timeout(60):
            result = await client.call_tool("run_agent", {"task": "ask me"})
        assert result.structured_content["text"] == text
        assert len(house.runs.runs) == 1, "the call that comes again begins no second run"
        assert house.runs.runs["run-1"].wish.asking == "ask"
        (shown,) = person.shown
        assert shown.message.splitlines()[:2] == ["May the agent use Bash?", "git push"]
        assert "ask Bash(git push:*) (~/.maia/settings.json)" in shown.message

    run(work)


@pytest.mark.parametrize("mode", MODES)
def test_of_several_runs_each_that_asks_is_answered(mode: ConnectMode) -> None:
    async def work() -> None:
        house, person = House(), Person("accept", {"answer": "once"})
        tasks = [{"task": "ask one"}, {"task": "hello two"}, {"task": "x", "agent": "nobody"}, {"task": "ask four"}]
        async with house.client(mode, elicitation_callback=person) as client, asyncio.timeout(60):
            result = await client.call_tool("run_agents_parallel", {"tasks": tasks})
        rows = result.structured_content["results"]
        assert [row["run"] and row["run"]["text"] for row in rows] == ["once", "Hello, hello two.", None, "once"]
        assert rows[2]["error"]["code"] == "agents.none"
        assert len(person.shown) == 2
        assert len(house.runs.runs) == 3

    run(work)


def test_where_nobody_can_be_asked_the_call_is_refused_with_the_reason() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            result = await client.call_tool("run_agent", {"task": "ask me"})
        assert house.runs.runs["run-1"].wish.asking == "refuse"
        assert result.structured_content["text"] == "no nobody is there"

    run(work)


def test_a_run_that_may_wait_comes_back_while_it_waits_and_is_answered_by_another_call() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client, asyncio.timeout(60):
            waiting = await client.call_tool("run_agent", {"task": "ask me", "approvals": "ask"})
            data = waiting.structured_content
            assert data["state"] == "waiting"
            assert data["approvals"][0] == {
                "approval_id": "approval-1",
                "tool": "Bash",
                "preview": "git push",
                "rule": "ask Bash(git push:*) (~/.maia/settings.json)",
                "reason": data["approvals"][0]["reason"],
            }
            arguments = {"action": "answer", "run_id": "run-1", "answer": "no", "reason": "later"}
            answered = await client.call_tool("agent_control", arguments)
            assert answered.structured_content["answered"] is True
            done = await client.call_tool("agent_control", {"action": "wait", "run_id": "run-1"})
            assert done.structured_content["run"]["text"] == "no later"

    run(work)


@pytest.mark.parametrize("mode", MODES)
def test_a_question_that_was_answered_before_is_not_asked_again(mode: ConnectMode) -> None:
    async def work() -> None:
        house, person = House(), Person("accept", {"answer": "session"})
        async with house.client(mode, elicitation_callback=person) as client, asyncio.timeout(60):
            await client.call_tool("run_agent", {"task": "ask slowly", "approvals": "ask", "wait": False})
            await until(lambda: bool(house.runs.runs["run-1"].answers))
            await client.call_tool("agent_control", {"action": "answer", "run_id": "run-1", "answer": "once"})
            waiting = asyncio.create_task(client.call_tool("agent_control", {"action": "wait", "run_id": "run-1"}))
            await asyncio.sleep(0.2)
            house.runs.release.set()
            assert (await waiting).structured_content["run"]["text"] == "once"
        assert person.shown == []

    run(work)


def test_an_agent_that_calls_for_itself_neither_asks_nor_answers() -> None:
    async def work() -> None:
        house, person = House(), Person("accept", {"answer": "always"})
        house.identity = Identity("agent:prophet", "prophet")
        async with house.client("legacy", elicitation_callback=person) as client:
            await client.call_tool("run_agent", {"task": "ask me", "approvals": "ask"})
            assert house.runs.runs["run-1"].wish.asking == "refuse"
            assert person.shown == []
            result = await client.call_tool("agent_control", {"action": "answer", "run_id": "run-1", "answer": "once"})
            assert dict(result.meta or {})["maia/error"]["code"] == "mcp.agents_may_not_answer"

    run(work)


@pytest.mark.parametrize("state", ["", "garbage", "e30=", "eyJydW5zIjogMX0=", "\u00e9"])
def test_a_state_that_we_did_not_give_is_a_fault_of_the_protocol(state: str) -> None:
    from mcp.shared.exceptions import MCPError

    async def work() -> None:
        house = House()
        async with house.client("auto") as client:
            with pytest.raises(MCPError, match="requestState"):
                await client.session.call_tool("run_agent", {"task": "hello"}, request_state=state)
        assert house.runs.runs == {}

    run(work)


def test_a_state_does_not_lead_to_runs_of_others() -> None:
    import base64
    import json

    async def work() -> None:
        house = House()
        async with house.client("auto") as client:
            await client.call_tool("run_agent", {"task": "hello mine"})
            house.identity = Identity("client:other")
            state = base64.urlsafe_b64encode(json.dumps({"runs": ["run-1"], "asked": ["run-1", "a"]}).encode()).decode()
            result = await client.session.call_tool("run_agent", {"task": "hello"}, request_state=state)
            assert isinstance(result, types.CallToolResult)
            assert dict(result.meta or {})["maia/error"]["code"] == "runs.unknown"
            state = base64.urlsafe_b64encode(json.dumps({"runs": ["run-9"], "asked": ["run-9", "a"]}).encode()).decode()
            said = types.ElicitResult(action="accept", content={"answer": "always"})
            result = await client.session.call_tool(
                "run_agent", {"task": "hello"}, request_state=state, input_responses={"approval": said}
            )
            assert isinstance(result, types.CallToolResult)
            assert dict(result.meta or {})["maia/error"]["code"] == "runs.unknown"

    run(work)


# The form ------------------------------------------------------------------------------------------------------------


def test_always_is_offered_only_where_its_rule_could_win(say: Catalogue) -> None:
    with_rule, without = approval(), approval(proposed=None)
    offered = [
        [choice["const"] for choice in form_schema(request, say)["properties"]["answer"]["oneOf"]]
        for request in (with_rule, without)
    ]
    assert offered == [["once", "session", "always", "no"], ["once", "session", "no"]]
    assert "Bash(git push:*)" in form_message(with_rule, say).splitlines()[-1]
    assert answer_of("accept", {"answer": "always"}, without, say).scope == "no"


def test_whoever_declines_says_no_whatever_stands_in_the_form(say: Catalogue) -> None:
    assert answer_of("decline", {"answer": "once"}, approval(), say).scope == "no"


@pytest.mark.parametrize("content", [None, {}, {"answer": "yes"}, {"answer": 1}, {"answer": ["once"]}])
def test_an_answer_that_is_none_of_ours_is_a_no(content: dict[str, Any] | None, say: Catalogue) -> None:
    assert answer_of("accept", content, approval(), say) == Answer("no", say("mcp.form.declined"))
