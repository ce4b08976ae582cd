"""Start-up from outside: `maia --version`, `maia -p hi` against a fake endpoint, and the same with one tool call."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from harness import MAIA, Measured, Row, at_most, clean_env, measure, python_baseline
from tests.fakes import fake_llm

RUNS = 7


def main() -> list[Row]:
    baseline = python_baseline()
    version = measure((*MAIA, "--version"), runs=RUNS)
    with fake_llm("text") as server:
        answer = _ask(server.url)
        first = server.chats()[-1]
        assert len(first["tools"]) >= 9, "all built-in tools are offered"
    with fake_llm("tool", tool_name="Bash", tool_args='{"command": "echo hi"}') as server:
        called = _ask(server.url, "--allow", "Bash(echo *)")
        results = [m for chat in server.chats() for m in chat["messages"] if m["role"] == "tool"]
        assert results, "the tool was never called"
    return [
        at_most("maia --version", version.cpu, "CPU s", 0.04, _beside(version, baseline)),
        at_most("maia -p hi", answer.cpu, "CPU s", 0.40, _beside(answer, baseline)),
        at_most("maia -p hi, peak memory", answer.peak_mb, "MB", 60),
        at_most("first request with all built-in tools", _bytes(first), "B", 12_000, "pi 5,500, Codex 41,000"),
        at_most("maia -p hi with one tool call", called.cpu, "CPU s", 0.50, _beside(called, baseline)),
        at_most("maia -p hi with one tool call, peak memory", called.peak_mb, "MB", None),
    ]


def _ask(url: str, *options: str) -> Measured:
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        (home / ".maia").mkdir(parents=True)
        work.mkdir()
        settings = {
            "LiteLLM_URL": url,
            "OpenAI_EndPoint": "/v1/chat/completions",
            "LiteLLM_Models": "/v1/models",
            "MaxContextTokens": 200_000,
        }
        (home / ".maia" / "settings.json").write_text(json.dumps(settings))
        return measure((*MAIA, "-p", "hi", *options), runs=RUNS, env=clean_env(home), cwd=work)


def _bytes(body: object) -> int:
    return len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())


def _beside(measured: Measured, baseline: Measured) -> str:
    ratio = measured.cpu / baseline.cpu
    return (
        f"best {measured.cpu_best:.3f}, wall {measured.wall:.2f} s, {ratio:.1f} × python -c pass ({baseline.cpu:.3f})"
    )
