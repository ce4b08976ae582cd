"""Real clients and the official test programs against `maia mcp`: `-m real`.

MAIA_REAL_MCP_TOOLS names a folder with `node_modules` that hold `@modelcontextprotocol/conformance` and
`@modelcontextprotocol/inspector`; MAIA_REAL_CLAUDE and MAIA_REAL_OPENCODE name the programs. They need node on the
PATH. What is not named is skipped.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeLlm, fake_llm
from tests.orchestrator.test_processes import MAIA, ROOT, environment, served

pytestmark = pytest.mark.real

NAMED = {name: value for name, value in os.environ.items() if name.startswith("MAIA_REAL_")}
"""Read before tests clean the environment."""
SCENARIOS = ("server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection")
"""Of the conformance suite: those that need nothing of a server but itself."""


@pytest.fixture
def tools() -> Path:
    return _named("MAIA_REAL_MCP_TOOLS") / "node_modules" / ".bin"


def _named(variable: str) -> Path:
    if not (named := NAMED.get(variable, "")):
        pytest.skip(f"{variable} is not set")
    return Path(named)


@contextmanager
def through_proxy(port: int, token: str) -> Generator[str]:
    """The address under which a program reaches a server without knowing its token."""
    proxy = Path(__file__).with_name("bearer_proxy.py")
    with subprocess.Popen([sys.executable, proxy, str(port), token], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://localhost:{process.stdout.readline().strip()}/mcp"
        finally:
            process.terminate()


def conformance(tools: Path, url: str, *options: str) -> str:
    done = subprocess.run(
        [tools / "conformance", "server", "--url", url, *options], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_maia_mcp_itself_passes_what_the_conformance_suite_can_ask_of_it(
    tools: Path, tmp_path: Path, scenario: str
) -> None:
    with served(tmp_path) as server, through_proxy(server.port, server.token) as url:
        assert re.search(r"[1-9]\d*/[1-9]\d*|[1-9]\d* passed", conformance(tools, url, "--scenario", scenario))


def test_the_same_server_with_the_fixtures_of_the_suite_passes_every_scenario(tools: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.orchestrator.everything"],
        cwd=ROOT, env=environment() | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            with through_proxy(port, "any") as url:
                summary = conformance(tools, url, "--suite", "all").partition("SUMMARY")[2]
        finally:
            process.terminate()
    assert "✗" not in summary
    assert summary.count("✓") >= 30


def test_the_inspector_lists_and_calls_over_both_transports(tools: Path, tmp_path: Path) -> None:
    maia = tmp_path / "maia"
    maia.write_text(f'#!/bin/sh\nHOME={os.environ["HOME"]} PYTHONPATH={ROOT / "src"} exec {" ".join(MAIA)} "$@"\n')
    maia.chmod(0o755)
    with served(tmp_path) as server:
        header = ("--transport", "http", "--header", f"Authorization: Bearer {server.token}")
        for target in ((str(maia), "mcp"), (server.url, *header)):
            listed = _inspect(tools, *target, "--method", "tools/list")
            assert len(listed["tools"]) == 14
            called = _inspect(
                tools, *target, "--method", "tools/call", "--tool-name", "config_example", "--tool-arg", "topic=codex"
            )
            assert called["structuredContent"]["examples"][0]["topic"] == "codex"


def _inspect(tools: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run([tools / "mcp-inspector", "--cli", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


# Agents in the hands of other agents ---------------------------------------------------------------------------------


@contextmanager
def two_models(tool: str) -> Generator[tuple[FakeLlm, FakeLlm]]:
    """The client's model, which calls that tool, and the one of maia's agent, which answers."""
    arguments = json.dumps({"agent": "The Chaos Prophet", "task": "Say what will break"})
    with fake_llm("tool", tool_name=tool, tool_args=arguments) as theirs, fake_llm("text", text="Everything.") as ours:
        yield theirs, ours


def prophet(home: Path, model: FakeLlm) -> dict[str, str]:
    """A home with one agent, and the environment in which maia is started."""
    (home / ".maia").mkdir(parents=True)
    settings = {"LiteLLM_URL": model.url, "model": "fake-model"}
    (home / ".maia" / "settings.json").write_text(json.dumps(settings))
    env = environment() | {"HOME": str(home)}
    subprocess.run(
        [*MAIA, "agents", "create", "prophet", "--global", "--set", "nickname=The Chaos Prophet",
         "--set", "description=Says what breaks", "--set", "instructions=Prophesy."],
        cwd=home, env=env, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return {"HOME": str(home), "PYTHONPATH": env["PYTHONPATH"]}


def was_told(model: FakeLlm) -> None:
    """The agent got its own instructions and the task, and nothing of the client's conversation."""
    (body,) = model.chats()
    assert "Prophesy." in json.dumps(body)
    assert "Say what will break" in json.dumps(body)


def test_claude_code_runs_an_agent_of_maia(tmp_path: Path) -> None:
    claude = _named("MAIA_REAL_CLAUDE")
    with two_models("mcp__maia__run_agent") as (theirs, ours):
        env = prophet(tmp_path / "home", ours)
        entry = {"command": MAIA[0], "args": [*MAIA[1:], "mcp"], "env": env}
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"maia": entry}}))
        done = subprocess.run(
            [claude, "-p", "Ask the prophet", "--output-format", "stream-json", "--verbose", "--model", "fake-model",
             "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__maia__run_agent",
             "--setting-sources", ""],
            cwd=tmp_path, capture_output=True, text=True, timeout=180,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "theirs"), "ANTHROPIC_BASE_URL": theirs.url,
                 "ANTHROPIC_API_KEY": "dummy", "ENABLE_TOOL_SEARCH": "false", "DISABLE_AUTOUPDATER": "1",
                 "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        results = [line for line in done.stdout.splitlines() if '"tool_result"' in line]
        assert "Everything." in results[0]
        assert "The Chaos Prophet" in results[0]
        was_told(ours)


def test_opencode_runs_an_agent_of_maia(tmp_path: Path) -> None:
    opencode = _named("MAIA_REAL_OPENCODE")
    with two_models("maia_run_agent") as (theirs, ours):
        env = prophet(tmp_path / "home", ours)
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": theirs.openai_url, "apiKey": "dummy"},
                    "models": {"fake-model": {"limit": {"context": 128000, "output": 8192}}}}  # fmt: skip
        config = {
            "autoupdate": False, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
            "provider": {"fake": provider},
            "mcp": {"maia": {"type": "local", "command": [*MAIA, "mcp"], "environment": env, "enabled": True}},
        }  # fmt: skip
        (tmp_path / "opencode.json").write_text(json.dumps(config))
        done = subprocess.run(
            [opencode, "run", "--format", "json", "Ask the prophet"],
            cwd=tmp_path, capture_output=True, text=True, timeout=180,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "theirs"), "OPENCODE_DISABLE_AUTOUPDATE": "1",
                 "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        (used,) = [line for line in done.stdout.splitlines() if '"tool_use"' in line]
        assert "Everything." in used
        was_told(ours)
