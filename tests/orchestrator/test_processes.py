from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client, types
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client

from maia.core.jsonvalue import JsonObject
from tests.fakes import fake_llm

ROOT = Path(__file__).resolve().parents[2]
MAIA = (sys.executable, "-P", "-m", "maia")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "src")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Generator[None]:
    """A model that answers at once, or as slowly as the test wants it."""
    delay: float = getattr(request, "param", 0)
    with fake_llm("slow" if delay else "text", delay=delay) as server:
        settings = Path(os.environ["HOME"], ".maia", "settings.json")
        settings.parent.mkdir()
        settings.write_text(json.dumps({"LiteLLM_URL": server.url, "model": "fake-model"}))
        yield


def call(number: int, tool: str, **arguments: Any) -> JsonObject:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


# Standard input and output -------------------------------------------------------------------------------------------


class Spoken:
    """A process that is spoken to line by line, well or badly."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*MAIA, "mcp", *options],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: JsonObject | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> JsonObject:
        assert self.process.stdout is not None
        return cast(JsonObject, json.loads(self.process.stdout.readline()))

    def answer_to(self, number: object) -> JsonObject:
        """The answer to that request; what comes before it is let go."""
        while (message := self.read()).get("id") != number or "method" in message:
            pass
        return message

    def greet(self) -> JsonObject:
        self.send(INITIALIZE, INITIALIZED)
        return self.answer_to(0)

    def end(self, seconds: float = 10) -> tuple[int, bytes, bytes]:
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out, err


@contextmanager
def spoken(folder: Path, *options: str) -> Generator[Spoken]:
    program = Spoken(folder, *options)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()
        for stream in (program.process.stdin, program.process.stdout, program.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.usefixtures("model")
def test_a_run_over_stdio_is_answered_by_a_real_engine(folder: Path, mode: ConnectMode) -> None:
    async def work() -> None:
        server = StdioServerParameters(command=MAIA[0], args=[*MAIA[1:], "mcp"], cwd=folder, env=environment())
        async with Client(stdio_client(server), mode=mode) as client, asyncio.timeout(60):
            result = await client.call_tool("run_agent", {"task": "hello"})
            assert result.structured_content["text"] == "Hello from the fake model."
            assert result.structured_content["folder"] == str(folder)
            listed = await client.call_tool("memory_runs", {})
            assert [info["run_id"] for info in listed.structured_content["runs"]] == [
                result.structured_content["run_id"]
            ]

    run(work)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_real_run_asks_the_person_through_the_client_and_does_what_they_said(folder: Path, mode: ConnectMode) -> None:
    asked: list[str] = []

    async def person(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert context is not None
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "once"})

    async def work() -> None:
        server = StdioServerParameters(command=MAIA[0], args=[*MAIA[1:], "mcp"], cwd=folder, env=environment())
        client = Client(stdio_client(server), mode=mode, elicitation_callback=person)
        async with client, asyncio.timeout(60):
            result = await client.call_tool("run_agent", {"task": "make it"})
            assert result.structured_content["outcome"] == "finished"

    with fake_llm("tool", tool_name="Bash", tool_args='{"command": "echo made > made.txt"}') as server:
        settings = Path(os.environ["HOME"], ".maia", "settings.json")
        settings.parent.mkdir()
        rules = {"ask": ["Bash(echo *)"]}
        settings.write_text(json.dumps({"LiteLLM_URL": server.url, "model": "fake-model", "permissions": rules}))
        run(work)
    assert len(asked) == 1
    assert "echo made > made.txt" in asked[0]
    assert "ask Bash(echo *)" in asked[0]
    assert (folder / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_revision_that_clients_speak_is_answered_in_it(folder: Path, version: str) -> None:
    with spoken(folder) as program:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        program.send(INITIALIZE | {"params": params}, INITIALIZED)
        answer = program.answer_to(0)["result"]
        assert answer["protocolVersion"] == version
        assert answer["serverInfo"]["name"] == "maia"
        program.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert len(program.answer_to(1)["result"]["tools"]) == 14


def test_the_end_of_the_input_ends_the_front_at_once(folder: Path) -> None:
    with spoken(folder) as program:
        program.greet()
        code, out, err = program.end()
        assert (code, out, err) == (0, b"", b"")


def test_a_signal_ends_the_front(folder: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with spoken(folder) as program:
            program.greet()
            program.process.send_signal(number)
            assert program.process.wait(10) == 0


def test_garbage_is_answered_and_the_next_line_is_read(folder: Path) -> None:
    with spoken(folder) as program:
        program.greet()
        program.send(
            b"\n", b"   \r\n", b"garbage\n", b'{"half": \n', b"[]\n", b'"text"\n', b'{"id": 5}\n',
            b'{"jsonrpc": "2.0", "id": true, "method": 3}\n', b"\xff\xfe\x00\n", b"[" * 5000 + b"\n",
            b'{"jsonrpc":"2.0","id":77,"method":"no/such/method"}\n',
            b'{"jsonrpc":"2.0","method":"notifications/no-such"}\n',
        )  # fmt: skip
        program.send({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
        answers: list[JsonObject] = []
        while not answers or answers[-1].get("id") != 9:
            answers.append(program.read())
        codes = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
        parse, invalid, unknown = -32700, -32600, -32601
        assert sorted(codes, key=str) == sorted(
            [
                (None, parse), (None, parse), (None, invalid), (None, invalid), (5, invalid), (None, invalid),
                (None, parse), (None, parse), (77, unknown),
            ],
            key=str,
        )  # fmt: skip
        assert len(answers[-1]["result"]["tools"]) == 14


def test_fifty_megabytes_of_arguments_are_refused_by_their_number_and_are_not_held(folder: Path) -> None:
    with spoken(folder) as program:
        program.greet()
        status = Path(f"/proc/{program.process.pid}/status")

        def peak() -> int:
            rows = dict(row.split(":", 1) for row in status.read_text().splitlines())
            return int(rows["VmHWM"].split()[0]) // 1024

        before = peak()
        head = b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"memory_store","arguments":{"text":"'
        program.send(head, *([b"x" * 1_000_000] * 50), b'"}}}\n')
        refused = program.answer_to(8)
        assert (refused["error"]["code"], refused["error"]["message"]) == (-32600, "Message of more than 10 MB")
        assert peak() - before < 40
        program.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        assert program.answer_to(9)["result"] == {}


def test_a_flood_is_answered_whole(folder: Path) -> None:
    with spoken(folder) as program:
        program.greet()
        count = 3_000

        def flood() -> None:
            program.send(*({"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(1, count + 1)))

        import threading

        sender = threading.Thread(target=flood)
        sender.start()
        time.sleep(0.5)  # nobody reads meanwhile
        seen = {program.read()["id"] for _ in range(count)}
        sender.join()
        assert seen == set(range(1, count + 1))


@pytest.mark.parametrize("model", [1.5], indirect=True)
@pytest.mark.usefixtures("model")
def test_a_run_goes_on_when_its_client_is_gone_and_another_client_finds_its_end(folder: Path) -> None:
    with spoken(folder) as program:
        program.greet()
        program.send(call(1, "run_agent", task="hello", wait=False))
        run_id = program.answer_to(1)["result"]["structuredContent"]["run_id"]
        program.send(call(2, "agent_control", action="wait", run_id=run_id))
        program.process.kill()
        program.process.wait()
    with spoken(folder) as program:
        program.greet()
        program.send(call(1, "agent_control", action="wait", run_id=run_id))
        info = program.answer_to(1)["result"]["structuredContent"]["run"]
        assert (info["outcome"], info["text"]) == ("finished", "Hello from the fake model.")


@pytest.mark.parametrize("model", [20], indirect=True)
@pytest.mark.usefixtures("model")
def test_a_call_taken_back_stops_its_run_and_a_silent_one_is_told_of(
    folder: Path,
) -> None:
    with spoken(folder) as program:
        program.greet()
        request = call(1, "run_agent", task="hello")
        request["params"]["_meta"] = {"progressToken": "p"}
        program.send(request)
        told = program.read()
        assert told["method"] == "notifications/progress"
        assert told["params"]["progressToken"] == "p"
        heartbeat = program.read()["params"]
        assert heartbeat["progress"] > told["params"]["progress"]
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        program.send(cancelled)
        deadline = time.monotonic() + 60
        outcome = None
        while outcome is None and time.monotonic() < deadline:
            program.send(call(2, "memory_runs"))
            outcome = program.answer_to(2)["result"]["structuredContent"]["runs"][0]["outcome"]
        assert outcome == "stopped"


def test_who_starts_it_as_an_agent_needs_that_agents_token(folder: Path) -> None:
    made = subprocess.run(
        [*MAIA, "mcp", "token", "create", "laptop", "--json"],
        cwd=folder, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    token = json.loads(made.stdout)["token"]
    for given in ("", token):
        done = subprocess.run(
            [*MAIA, "mcp", "--as", "prophet"],
            cwd=folder, env=environment() | {"MAIA_MCP_TOKEN": given}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 2
        assert "MAIA_MCP_TOKEN" in done.stderr
        assert token not in done.stderr


@pytest.mark.parametrize("options", [(), ("--as", "prophet")], ids=["the person", "an agent"])
def test_nothing_that_is_started_gets_the_token_with_which_it_was_started(
    folder: Path, options: tuple[str, ...]
) -> None:
    create = ["agents", "create", "prophet", "--global", "--set", "description=x", "--set", "instructions=y"]
    subprocess.run([*MAIA, *create], cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)
    token = token_for(folder, "run", "--as", "prophet")
    code = "import os; from maia.__main__ import main; main(); print(os.environ.get('MAIA_MCP_TOKEN'))"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp", *options],
        cwd=folder, env=environment() | {"MAIA_MCP_TOKEN": token}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["None"]


def test_an_agent_that_calls_for_itself_has_its_own_memory_and_no_other(folder: Path) -> None:
    create = ["agents", "create", "prophet", "--global", "--set", "description=x", "--set", "instructions=y"]
    create += ["--set", "nickname=The Prophet"]
    subprocess.run([*MAIA, *create], cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)
    token = token_for(folder, "run", "--as", "prophet")

    def speak(*messages: JsonObject, token: str = "", options: tuple[str, ...] = ()) -> list[JsonObject]:
        os.environ["MAIA_MCP_TOKEN"] = token
        with spoken(folder, *options) as program:
            program.greet()
            program.send(*messages)
            return [program.answer_to(message["id"])["result"]["structuredContent"] for message in messages]

    speak(call(1, "memory_store", text="the sea is rising"), token=token, options=("--as", "The Prophet"))
    (found,) = speak(call(1, "memory_search", query="sea"), token=token, options=("--as", "prophet"))
    assert [hit["text"] for hit in found["hits"]] == ["the sea is rising"]
    (nothing,) = speak(call(1, "memory_search", query="sea"))
    assert nothing["hits"] == []
    command = [*MAIA, "memory", "search", "sea", "--agent", "prophet"]
    shown = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    assert "the sea is rising" in shown.stdout


# HTTP ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    """A process that serves http. `token` is the person's."""

    url: str
    token: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def post(self, message: object, token: str | None = None, **headers: str) -> httpx2.Response:
        sent = {
            "Authorization": f"Bearer {self.token if token is None else token}" if token != "" else "",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return httpx2.post(self.url, content=body, headers={k: v for k, v in sent.items() if v}, timeout=60)


@contextmanager
def served(folder: Path) -> Generator[Served]:
    process = subprocess.Popen(
        [*MAIA, "mcp", "--transport", "http", "--port", "0"],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        url = process.stdout.readline().split()[-1]
        token = process.stdout.readline().split()[-1]
        yield Served(url, token, process)
    finally:
        process.terminate()
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")


def token_for(folder: Path, name: str, *options: str) -> str:
    done = subprocess.run(
        [*MAIA, "mcp", "token", "create", name, *options],
        cwd=folder, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@asynccontextmanager
async def http_client(server: Served, token: str, mode: ConnectMode = "legacy") -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.usefixtures("model")
def test_two_clients_at_once_over_http_have_their_own_runs_and_the_person_sees_both(
    folder: Path, mode: ConnectMode
) -> None:
    async def work(server: Served) -> None:
        a, b = token_for(folder, "a"), token_for(folder, "b")

        async def one(token: str, task: str) -> list[str]:
            async with http_client(server, token, mode) as client:
                result = await client.call_tool("run_agent", {"task": task})
                assert result.structured_content["outcome"] == "finished"
                listed = await client.call_tool("memory_runs", {})
                return [info["task"] for info in listed.structured_content["runs"]]

        async with asyncio.timeout(60):
            assert await asyncio.gather(one(a, "hello a"), one(b, "hello b")) == [["hello a"], ["hello b"]]
            assert sorted(await one(server.token, "hello me")) == ["hello a", "hello b", "hello me"]

    with served(folder) as server:
        run(lambda: work(server))


def test_nobody_gets_in_without_a_token_or_under_another_name(folder: Path) -> None:
    with served(folder) as server:
        assert server.post(INITIALIZE).status_code == 200
        refused = [
            server.post(INITIALIZE, token="").status_code,
            server.post(INITIALIZE, token="maia_mcp_wrong").status_code,
            server.post(INITIALIZE, Authorization=f"Basic {server.token}").status_code,
            server.post(INITIALIZE, Host="evil.example").status_code,
            server.post(INITIALIZE, Host=f"evil.example:{server.port}").status_code,
            server.post(INITIALIZE, Origin="https://evil.example").status_code,
            server.post(INITIALIZE, Origin="null").status_code,
            httpx2.get(server.url.removesuffix("/mcp")).status_code,
            httpx2.get(server.url).status_code,
        ]
        assert refused == [401, 401, 401, 421, 421, 403, 403, 404, 401]
        here = f"http://localhost:{server.port}"
        assert server.post(INITIALIZE, Origin=here, Host=f"localhost:{server.port}").status_code == 200


def test_a_session_is_for_whoever_opened_it_alone(folder: Path) -> None:
    with served(folder) as server:
        other = token_for(folder, "other")
        session = server.post(INITIALIZE).headers["mcp-session-id"]
        headers = {"mcp_session_id": session, "mcp_protocol_version": "2025-06-18"}
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert server.post(INITIALIZED, **headers).status_code == 202
        assert server.post(listing, **headers).status_code == 200
        assert server.post(listing, token=other, **headers).status_code == 404


def test_what_is_too_big_or_no_message_is_refused_and_others_go_on(folder: Path) -> None:
    with served(folder) as server:
        big = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (11 * 1024 * 1024) + b'"}}'
        assert server.post(big).status_code == 413
        assert server.post(b"garbage").status_code == 400
        assert server.post(b"").status_code == 400
        assert server.post(b"[" * 10_000).status_code == 400
        assert server.post(INITIALIZE).status_code == 200


def test_a_revoked_token_is_one_at_once(folder: Path) -> None:
    with served(folder) as server:
        token = token_for(folder, "laptop")
        assert server.post(INITIALIZE, token=token).status_code == 200
        subprocess.run([*MAIA, "mcp", "token", "revoke", "laptop"], cwd=folder, env=environment(), check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        assert server.post(INITIALIZE, token=token).status_code == 401


def test_a_port_that_is_taken_and_options_that_do_not_fit_are_told(folder: Path) -> None:
    with served(folder) as server:
        cases = {
            ("--transport", "http", "--port", str(server.port)): "--port 0",
            ("--transport", "http", "--port", "70000"): "70000",
            ("--transport", "http", "--host", "no such host"): "no such host",
            ("--transport", "http", "--as", "prophet"): "--as",
            ("--port", "80"): "--transport http",
            ("--transport", "carrier-pigeon"): "stdio, http",
            ("token", "destroy"): "token revoke NAME",
        }
        for words, said in cases.items():
            done = subprocess.run(
                [*MAIA, "mcp", *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=60,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            assert done.returncode == 2, words
            assert said in done.stderr, words
