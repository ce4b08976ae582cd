"""Runs the real program as a subprocess, in a folder and a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """How one run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type, of a stream-json run."""
        return [event for event in self.events if event["type"] == kind]


def _hear_signals() -> None:
    """As a person's shell starts a program, also where the tests themselves run under `nohup`."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@dataclass
class Place:
    """A launch folder and a home; `settings` writes the home's settings file."""

    base: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)

    @property
    def folder(self) -> Path:
        return self.base / "work"

    @property
    def home(self) -> Path:
        return self.base / "home"

    def settings(self, **values: Any) -> None:
        path = self.home / ".maia" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values), "utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TERM", "TMPDIR")}
        return {**kept, "HOME": str(self.home), "PYTHONPATH": str(ROOT / "src"), "LANG": "C.UTF-8", **self.env, **more}

    def run(self, *words: str, stdin: str | bytes | None = None, timeout: float = 60, **env: str) -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "maia", *words],
            cwd=self.folder,
            env=self.environment(**env),
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ran.err, ran.err
        return ran

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "maia", *words],
            cwd=self.folder,
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_hear_signals,
        )
