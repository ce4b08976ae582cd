from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp import Client, types
from mcp.client.client import ConnectMode
from mcp.shared.exceptions import MCPError

from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameter
from maia.i18n.catalogue import Catalogue
from maia.orchestrator.calls import Identity
from maia.orchestrator.table import TABLE
from tests.orchestrator.doubles import FakeRuns, House, until

NAMES = [
    "run_agent", "run_agents_parallel", "agent_control", "list_agents", "get_agent_configs", "create_agent",
    "update_agent_config", "delete_agent", "create_prompt", "edit_prompt", "memory_store", "memory_search",
    "memory_runs", "config_example",
]  # fmt: skip
MODES: list[ConnectMode] = ["legacy", "auto"]


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def error_of(result: types.CallToolResult) -> JsonObject:
    assert result.is_error
    assert result.meta is not None
    return dict(result.meta)["maia/error"]


async def call(client: Client, name: str, /, **arguments: Any) -> types.CallToolResult:
    """Every answer that is no error has the form that its tool promises: the client checks it, and so do we."""
    result = await client.call_tool(name, arguments)
    if result.structured_content is not None:
        validator: Any = Draft202012Validator(TABLE[name].output)
        validator.validate(result.structured_content)
    return result


@pytest.mark.parametrize("mode", MODES)
def test_the_fourteen_tools_are_listed_with_schemas_descriptions_and_hints(mode: ConnectMode) -> None:
    async def work() -> None:
        async with House().client(mode) as client:
            tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema or {})
            assert tool.input_schema["additionalProperties"] is False
            assert tool.description
            assert tool.title
            assert tool.annotations is not None
        hints = {tool.name: tool.annotations for tool in tools}
        read_only = {name for name, hint in hints.items() if hint and hint.read_only_hint}
        assert read_only == {"list_agents", "get_agent_configs", "memory_search", "memory_runs", "config_example"}
        harmful = {name for name, hint in hints.items() if hint and hint.destructive_hint}
        assert harmful == {
            "run_agent", "run_agents_parallel", "agent_control", "update_agent_config", "delete_agent", "edit_prompt",
        }  # fmt: skip

    run(work)


def test_every_parameter_says_what_it_is_for() -> None:
    def rows(tool: str) -> list[Parameter]:
        return [row for row in TABLE[tool].parameters.rows if not row.description]

    assert {name: rows(name) for name in TABLE if rows(name)} == {}


@pytest.mark.parametrize("mode", MODES)
def test_a_run_is_waited_for_and_comes_back_as_data_and_as_text(mode: ConnectMode) -> None:
    async def work() -> None:
        house = House()
        told: list[str | None] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            assert progress > 0
            assert total is None
            told.append(message)

        async with house.client(mode) as client:
            result = await client.call_tool(
                "run_agent", {"agent": "prophet", "task": "tool now"}, progress_callback=hear
            )
            await until(lambda: {"step 1", "Bash: make", "Bash: 12 lines"} <= set(told))
        assert not result.is_error
        data = result.structured_content
        assert (data["run_id"], data["state"], data["outcome"], data["succeeded"]) == (
            "run-1",
            "ended",
            "finished",
            True,
        )
        assert (data["nickname"], data["model"], data["provider"]) == ("The Chaos Prophet", "fake-model", "fake")
        assert data["cost"] == {"usd": 0.0021, "source": "estimated"}
        assert data["usage"] == {"input": 12, "output": 3, "cache_read": 0, "cache_write": 0, "reasoning": 0}
        assert text_of(result) == (
            "Hello, tool now.\n\n— The Chaos Prophet · fake-model (fake) · 12 → 3 tokens · ~$0.0021 · run run-1"
        )
        wish = house.runs.runs["run-1"].wish
        assert (wish.agent, wish.task, wish.identity, wish.asking) == ("prophet", "tool now", "person", "refuse")

    run(work)


def test_a_run_that_cannot_begin_says_why_and_what_is_there_instead() -> None:
    async def work() -> None:
        async with House().client() as client:
            result = await call(client, "run_agent", task="cannot please")
        assert result.structured_content is not None
        assert result.structured_content["failure"] == {
            "code": "models.no_such_model",
            "message": 'There is no model "nope".',
            "fix": "The closest: fake-model. The list: maia models, or /model.",
        }
        assert 'There is no model "nope".' in text_of(result)

    run(work)


def test_a_run_that_fails_is_an_error_with_its_data_and_our_words() -> None:
    async def work() -> None:
        async with House().client() as client:
            result = await call(client, "run_agent", task="fail please")
        assert result.is_error
        assert result.structured_content["failure"] == {
            "code": "failure.rate_limit",
            "message": "Too many requests, or the credit at this provider is used up.",
            "fix": "Wait a little, check the account's credit, or choose another model with /model.",
            "status": 429,
            "host": "api.example.org",
            "provider_text": "slow down␛[2J",
        }
        assert "> slow down␛[2J" in text_of(result)
        assert "\x1b" not in text_of(result)

    run(work)


def test_without_waiting_the_number_of_the_run_comes_at_once_and_the_run_goes_on() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            first = await call(client, "run_agent", task="slow one", wait=False)
            assert first.structured_content["state"] == "running"
            held = await call(client, "agent_control", action="wait", run_id="run-1", wait_seconds=0.05)
            assert held.structured_content["run"]["state"] == "running"
            house.runs.release.set()
            done = await call(client, "agent_control", action="wait", run_id="run-1")
            assert done.structured_content["run"]["outcome"] == "finished"

    run(work)


# Several at once -----------------------------------------------------------------------------------------------------


def test_of_several_tasks_each_has_its_result_whatever_the_others_come_to() -> None:
    async def work() -> None:
        tasks = [{"task": "hello a"}, {"task": "fail b"}, {"task": "hello c", "agent": "nobody"}]
        async with House().client() as client:
            result = await call(client, "run_agents_parallel", tasks=tasks)
        data = result.structured_content
        assert not result.is_error
        assert {name: data[name] for name in ("mode", "total", "succeeded", "failed", "winner")} == {
            "mode": "all", "total": 3, "succeeded": 1, "failed": 2, "winner": None,
        }  # fmt: skip
        assert [row["run"] and row["run"]["outcome"] for row in data["results"]] == ["finished", "failed", None]
        assert [row["error"] and row["error"]["code"] for row in data["results"]] == [None, None, "agents.none"]
        assert text_of(result).startswith("3 tasks, 1 finished well\n\n## 1\n\nHello, hello a.")

    run(work)


def test_the_first_success_is_a_success_and_the_others_are_then_stopped() -> None:
    async def work() -> None:
        house = House()
        tasks = [{"task": "slow a"}, {"task": "fail b"}, {"task": "hello c"}, {"task": "slow d"}]
        async with house.client() as client:
            result = await call(client, "run_agents_parallel", tasks=tasks, mode="first_success")
        data = result.structured_content
        assert (data["winner"], data["succeeded"]) == ("run-3", 1)
        assert [row["run"]["outcome"] for row in data["results"]] == ["stopped", "failed", "finished", "stopped"]
        assert sorted(house.runs.stopped) == ["run-1", "run-4"]

    run(work)


def test_a_run_that_fails_early_does_not_end_the_race() -> None:
    async def work() -> None:
        house = House()
        tasks = [{"task": "fail a"}, {"task": "slow b"}]
        async with house.client() as client:
            racing = asyncio.create_task(call(client, "run_agents_parallel", tasks=tasks, mode="first_success"))
            await until(lambda: "run-1" in house.runs.runs and house.runs.runs["run-1"].info.state == "ended")
            await asyncio.sleep(0.05)  # long enough for whoever would stop the other one
            house.runs.release.set()
            data = (await racing).structured_content
        assert data is not None
        assert (data["winner"], data["succeeded"], house.runs.stopped) == ("run-2", 1, [])

    run(work)


def test_a_race_that_nobody_wins_is_an_error_with_every_result() -> None:
    async def work() -> None:
        async with House().client() as client:
            tasks = [{"task": "fail a"}, {"task": "fail b"}]
            result = await call(client, "run_agents_parallel", tasks=tasks, mode="first_success")
        assert result.is_error
        assert result.structured_content["winner"] is None
        assert len(result.structured_content["results"]) == 2

    run(work)


@pytest.mark.parametrize("count", [0, 51])
def test_too_few_or_too_many_tasks_start_nothing(count: int) -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            result = await call(client, "run_agents_parallel", tasks=[{"task": "hello"}] * count)
        assert error_of(result)["code"] == "mcp.tasks_count"
        assert house.runs.runs == {}

    run(work)


# Taken back and gone -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_the_client_takes_back_stops_its_runs(mode: ConnectMode) -> None:
    async def work() -> None:
        house = House()
        async with house.client(mode) as client:
            waiting = asyncio.create_task(
                client.call_tool("run_agents_parallel", {"tasks": [{"task": "slow a"}, {"task": "slow b"}]})
            )
            await until(lambda: len(house.runs.runs) == 2)
            await asyncio.sleep(0.05)
            waiting.cancel()
            if mode == "legacy":
                await until(lambda: sorted(house.runs.stopped) == ["run-1", "run-2"])

    run(work)


def test_a_client_that_goes_away_stops_nothing() -> None:
    async def work() -> None:
        house = House()
        async with Client(house.door.server(), mode="legacy") as client:
            waiting = asyncio.create_task(client.call_tool("run_agent", {"task": "slow a"}))
            await until(lambda: bool(house.runs.runs))
            house.door.is_closing = True
        await asyncio.wait({waiting})
        assert waiting.exception() is not None
        assert house.runs.stopped == []
        house.runs.release.set()
        await until(lambda: house.runs.runs["run-1"].info.state == "ended")
        assert house.runs.runs["run-1"].info.outcome == "finished"

    run(work)


# Looking after runs --------------------------------------------------------------------------------------------------


def test_the_output_of_a_run_is_read_from_any_point_on() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            await call(client, "run_agent", task="tool now")
            whole = (await call(client, "agent_control", action="stream", run_id="run-1")).structured_content
            kinds = [note["kind"] for note in whole["notes"]]
            assert kinds == ["step", "tool_started", "tool_finished", "text", "ended"]
            assert whole["next_after"] == 5
            after = await call(client, "agent_control", action="stream", run_id="run-1", after=3)
            assert [note["seq"] for note in after.structured_content["notes"]] == [4, 5]
            since = whole["notes"][3]["time"]
            later = await call(client, "agent_control", action="stream", run_id="run-1", since=since)
            assert [note["kind"] for note in later.structured_content["notes"]][-2:] == ["text", "ended"]
            never = await call(client, "agent_control", action="stream", run_id="run-1", since=since + 60)
            assert never.structured_content["notes"] == []
            nothing = await call(client, "agent_control", action="stream", run_id="run-1", after=5)
            assert nothing.structured_content["notes"] == []
            assert text_of(nothing) == "Nothing new."

    run(work)


def test_a_poll_of_a_run_that_goes_on_comes_back_with_what_there_is() -> None:
    async def work() -> None:
        async with House().client() as client:
            await call(client, "run_agent", task="slow one", wait=False)
            async with asyncio.timeout(30):
                result = await call(client, "agent_control", action="stream", run_id="run-1")
            assert [note["kind"] for note in result.structured_content["notes"]] == ["step"]

    run(work)


def test_a_run_is_killed_listed_and_gone_on_with() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            await call(client, "run_agent", task="slow one", wait=False)
            early = await call(client, "agent_control", action="resume", run_id="run-1", task="hello again")
            assert error_of(early)["code"] == "mcp.still_running"
            killed = await call(client, "agent_control", action="kill", run_id="run-1")
            assert killed.structured_content["run"]["outcome"] == "stopped"
            again = await call(client, "agent_control", action="resume", run_id="run-1", task="hello again")
            assert again.structured_content["run"]["text"] == "Hello, hello again."
            assert house.runs.runs["run-2"].wish.session == "session-run-1"
            listed = await call(client, "agent_control", action="list")
            assert [info["run_id"] for info in listed.structured_content["runs"]] == ["run-2", "run-1"]
            ended = await call(client, "agent_control", action="list", state="running")
            assert ended.structured_content["runs"] == []

    run(work)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "status"}, "mcp.no_run_id"),
        ({"action": "status", "run_id": "run-99"}, "runs.unknown"),
        ({"action": "answer", "run_id": "run-1"}, "mcp.no_answer"),
        ({"action": "answer", "run_id": "run-1", "answer": "once"}, "mcp.which_approval"),
        ({"action": "answer", "run_id": "run-1", "answer": "once", "approval_id": "x"}, "mcp.answered_already"),
        ({"action": "answer", "run_id": "run-1", "answer": "always"}, "tool.argument.choice"),
        ({"action": "resume", "run_id": "run-1"}, "mcp.no_task"),
        ({"action": "dance"}, "tool.argument.choice"),
        ({"action": "status", "runid": "run-1", "colour": "red"}, "tool.argument.unknown"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_code(arguments: JsonObject, code: str) -> None:
    async def work() -> None:
        async with House().client() as client:
            await call(client, "run_agent", task="hello")
            assert error_of(await call(client, "agent_control", **arguments))["code"] == code

    run(work)


# Identity ------------------------------------------------------------------------------------------------------------


def test_everybody_has_their_own_runs_and_memory_and_the_person_sees_all_runs() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            for name in ("client:a", "client:b", "agent:prophet"):
                house.identity = Identity(name)
                await call(client, "run_agent", task=f"hello {name}")
                await call(client, "memory_store", text=f"secret of {name}", tags=["x"])
            house.identity = Identity("client:b")
            assert [r["task"] for r in (await call(client, "memory_runs")).structured_content["runs"]] == [
                "hello client:b"
            ]
            for action in ("status", "stream", "wait", "kill"):
                other = await call(client, "agent_control", action=action, run_id="run-1")
                assert error_of(other)["code"] == "runs.unknown"
            found = await call(client, "memory_search", query="secret")
            assert [hit["text"] for hit in found.structured_content["hits"]] == ["secret of client:b"]
            newest = await call(client, "memory_search", tags=["x"])
            assert [hit["found_by"] for hit in newest.structured_content["hits"]] == ["recent"]
            house.identity = Identity()
            runs = (await call(client, "memory_runs")).structured_content["runs"]
            assert [info["run_id"] for info in runs] == ["run-3", "run-2", "run-1"]
            assert (await call(client, "memory_search", query="secret")).structured_content["hits"] == []

    run(work)


def test_an_identity_is_no_argument_of_any_tool() -> None:
    names = {row.name for tool in TABLE.values() for row in tool.parameters.rows}
    assert not {name for name in names if "identity" in name or "owner" in name or "user" in name}


# Agents and prompts --------------------------------------------------------------------------------------------------


def test_an_agent_is_made_shown_changed_run_by_its_prompt_and_taken_away() -> None:
    async def work() -> None:
        house = House()
        async with house.client() as client:
            made = await call(
                client, "create_agent", name="prophet", nickname="The Chaos Prophet 🔮", description="Says what breaks",
                instructions="Look.", deny=["Bash(rm:*)"], tools=["Read"],
            )  # fmt: skip
            assert made.structured_content["agent"]["permissions"]["deny"] == ["Bash(rm:*)"]
            again = await call(client, "create_agent", name="prophet", description="x", instructions="y")
            assert error_of(again)["code"] == "agents.exists"
            listed = await call(client, "list_agents")
            assert text_of(listed) == "The Chaos Prophet 🔮 (prophet) — Says what breaks"
            await call(client, "create_prompt", agent="prophet", name="review", text="Read $ARGUMENTS as {{who}}.")
            edited = await call(client, "edit_prompt", agent="prophet", name="review", text="Study", old_text="Read")
            assert edited.structured_content["difference"].startswith("-Read")
            ran = await call(
                client, "run_agent", agent="prophet", prompt="review", prompt_arguments="a.py",
                prompt_values={"who": "a critic"},
            )  # fmt: skip
            assert ran.structured_content["text"] == "Hello, Study a.py as a critic.."
            changed = await call(client, "update_agent_config", agent="prophet", model="sonnet", remove=["tools"])
            assert changed.structured_content["agent"]["model"] == "sonnet"
            shown = await call(client, "get_agent_configs", agent="The Chaos Prophet 🔮")
            assert "deny: Bash(rm:*)" in text_of(shown)
            assert shown.structured_content["agents"][0]["prompts"] == ["review"]
            gone = await call(client, "delete_agent", agent="prophet")
            assert gone.structured_content["moved_to"] == "~/.maia/.trash/agents/prophet"
            assert text_of(await call(client, "list_agents")).startswith("There are no agents yet")

    run(work)


def test_what_widens_the_rights_of_an_agent_is_no_argument() -> None:
    for tool in ("create_agent", "update_agent_config"):
        names = {row.name for row in TABLE[tool].parameters.rows}
        assert not names & {"allow", "folders", "key", "asks_nothing", "max_turns", "monthly_tokens", "permissions"}


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_examples_for_clients_are_what_their_formats_want(transport: str) -> None:
    async def work() -> None:
        async with House().client() as client:
            result = await call(client, "config_example", transport=transport)
        rows = {row["topic"]: row["content"] for row in result.structured_content["examples"]}
        assert set(rows) == {"claude-code", "codex", "opencode", "cursor", "vscode", "gemini", "agent"}
        for topic in ("claude-code", "opencode", "cursor", "vscode", "gemini"):
            json.loads(rows[topic])
        import tomllib

        tomllib.loads(rows["codex"])
        assert "Bearer maia" not in json.dumps(rows), "no token stands in an example"

    run(work)


# Anything at all -----------------------------------------------------------------------------------------------------


def test_an_unknown_tool_is_a_fault_of_the_protocol() -> None:
    async def work() -> None:
        async with House().client() as client:
            with pytest.raises(MCPError, match="Unknown tool: rm_rf"):
                await client.call_tool("rm_rf", {})

    run(work)


def test_a_defect_of_ours_is_words_without_the_inside_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(_self: FakeRuns, _wish: object) -> None:
        raise ZeroDivisionError("secret inside")

    async def work() -> None:
        house = House()
        monkeypatch.setattr(FakeRuns, "start", start)
        async with house.client() as client:
            result = await call(client, "run_agent", task="hello")
        assert error_of(result)["code"] == "cli.defect"
        assert "secret inside" not in text_of(result)
        assert [type(problem) for problem in house.defects] == [ZeroDivisionError]

    run(work)


def test_too_many_calls_at_once_are_refused_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.orchestrator.server.MOST_CALLS", 3)

    async def work() -> None:
        house = House()
        async with house.client() as client:
            waiting = [asyncio.create_task(call(client, "run_agent", task="slow one")) for _ in range(3)]
            await until(lambda: len(house.runs.runs) == 3)
            assert error_of(await call(client, "list_agents"))["code"] == "mcp.busy"
            house.runs.release.set()
            assert [result.is_error for result in await asyncio.gather(*waiting)] == [False] * 3
            assert not (await call(client, "list_agents")).is_error

    run(work)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def _arguments(name: str) -> st.SearchStrategy[JsonObject]:
    rows = TABLE[name].parameters.rows
    known = {row.name: st.sampled_from(row.choices) if row.choices else _JSON for row in rows}
    known.pop("wait_seconds", None)  # a long wait is no defect
    stray = st.dictionaries(st.text(max_size=8), _JSON, max_size=2)
    return st.tuples(st.fixed_dictionaries({}, optional=known), stray).map(lambda both: {**both[1], **both[0]})


@pytest.mark.parametrize("name", NAMES)
def test_whatever_arguments_come_the_answer_is_words_and_never_a_traceback(name: str) -> None:
    @given(arguments=_arguments(name))
    def any_arguments(arguments: JsonObject) -> None:
        async def work() -> None:
            house = House(Catalogue("fr", strict=True))
            house.runs.release.set()
            async with house.client("auto") as client, asyncio.timeout(60):
                result = await client.call_tool(name, arguments)
                assert house.defects == []
                assert "Traceback" not in str(result)

        run(work)

    any_arguments()
