"""Doubles that several rooms use: a fake model server as a subprocess on a free port of 127.0.0.1."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).with_name("fake_llm.py")


@dataclass(frozen=True)
class FakeLlm:
    """A running fake server. `url` has no path; OpenAI clients add `/v1`. `log` gets one JSON line a request."""

    url: str
    log: Path

    @property
    def openai_url(self) -> str:
        return self.url + "/v1"

    def requests(self) -> list[dict[str, Any]]:
        """What was asked so far, oldest first; each has `path`, `model`, `messages` (a count) and the whole `body`."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def chats(self) -> list[dict[str, Any]]:
        """Bodies of the model calls so far."""
        return [r["body"] for r in self.requests() if r["method"] == "POST"]


@contextmanager
def fake_llm(scenario: str = "text", **options: Any) -> Generator[FakeLlm]:
    """Start `fake_llm.py` with a scenario. Options are its command-line options: `tool_name="Read"`, `delay=0.2`…"""
    with tempfile.TemporaryDirectory(prefix="maia-fake-") as folder:
        log = Path(folder, "requests.jsonl")
        argv = [sys.executable, str(_SCRIPT), "--port", "0", "--scenario", scenario, "--log", str(log), "--log-bodies"]
        for name, value in options.items():
            argv += [f"--{name.replace('_', '-')}", str(value)]
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            yield FakeLlm(server.stdout.readline().split()[3], log)
        finally:
            server.terminate()
            server.wait(10)
            server.stdout.close()
