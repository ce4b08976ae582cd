"""A real `maia serve` on a free port, and a browser's worth of HTTP without a browser."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.migrated import put_database

ROOT = Path(__file__).resolve().parents[2]
OWNER = {"name": "Léa Morel", "email": "lea@example.org", "password": "correct horse"}


@dataclass
class Serving:
    """A running server. `token` makes the first owner, empty when there is one."""

    url: str
    token: str
    process: subprocess.Popen[str]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(
    data: Path,
    *options: str,
    script: list[Any] | None = None,
    started_with: str | None = "offline",
    from_nothing: bool = False,
    **env: str,
) -> Generator[Serving]:
    """Start a server over a data folder. `script` is what the offline model plays, `started_with` the `--model`.

    Its database is there already, unless it is to begin `from_nothing`.
    """
    home = data / "home"
    home.mkdir(parents=True, exist_ok=True)
    if not from_nothing and "--database" not in options and "MAIA_DATABASE_URL" not in env:
        put_database(data / "maia.db")
    world = {**os.environ, "HOME": str(home), "MAIA_DATA_DIR": str(data), "PYTHONPATH": str(ROOT / "src"), **env}
    if script is not None:
        played = data / "script.jsonl"
        played.write_text("".join(json.dumps(line) + "\n" for line in script), "utf-8")
        world["MAIA_OFFLINE_SCRIPT"] = str(played)
    argv = [sys.executable, "-P", "-m", "maia", "serve", "--port", "0", *options]
    argv += ["--model", started_with] if started_with and "--model" not in options else []
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(argv, cwd=home, env=world, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"(http://\S+?)/(?:first-run\?token=(\S+))?$", line.strip())
        if found is None:
            process.kill()
            process.wait()
            errors.seek(0)
            raise RuntimeError(line + errors.read())
        try:
            yield Serving(found[1], found[2] or "", process)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
            process.stdout.close()


@dataclass
class Visitor:
    """Somebody with a cookie jar."""

    url: str
    client: httpx2.Client = field(init=False)
    csrf: str = ""

    def __post_init__(self) -> None:
        self.client = httpx2.Client(base_url=self.url, timeout=60)

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """A request as our pages make it."""
        given = {"X-CSRF-Token": self.csrf, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is None:
            return self.client.request(method, path, headers=given)
        return self.client.request(method, path, headers=given, json=body)

    def become_owner(self, token: str) -> None:
        """The first run."""
        done = self.client.post("/first-run", data={"token": token, **OWNER})
        assert (done.status_code, done.headers["location"]) == (303, "/"), done.text
        self.csrf = self.ask("GET", "/api/v1/session").json()["csrf"]

    def sign_in(self, email: str = OWNER["email"], password: str = OWNER["password"]) -> httpx2.Response:
        done = self.ask("POST", "/api/v1/session", {"email": email, "password": password})
        self.csrf = done.json().get("csrf", "")
        return done

    def conversation(self, title: str = "") -> str:
        return self.ask("POST", "/api/v1/conversations", {"title": title}).json()["id"]

    def upload(self, conversation: str, name: str, content: bytes, **headers: str) -> httpx2.Response:
        """Send a file up, as a picture whatever it is."""
        given = {"X-CSRF-Token": self.csrf, "Content-Type": "image/png", **headers}
        path = f"/api/v1/conversations/{conversation}/attachments"
        return self.client.post(path, params={"name": name}, content=content, headers=given)

    def say(self, conversation: str, content: str) -> dict[str, Any]:
        done = self.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": content})
        assert done.status_code == 202, done.text
        return done.json()

    def frames(self, conversation: str, cursor: int = 0, **headers: str) -> Iterator[Frame]:
        """The stream of a conversation, frame by frame, until the reader leaves it."""
        path = f"/api/v1/conversations/{conversation}/events?cursor={cursor}"
        with self.client.stream("GET", path, headers={n.replace("_", "-"): v for n, v in headers.items()}) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield from parsed(answer.iter_lines())

    def until_done(self, conversation: str, cursor: int = 0) -> list[Frame]:
        """All frames up to the next `done`."""
        seen: list[Frame] = []
        for frame in self.frames(conversation, cursor):
            seen.append(frame)
            if frame.event == "done":
                break
        return seen


@dataclass(frozen=True)
class Frame:
    """One frame of a stream."""

    id: str
    event: str
    data: str

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def kind(self) -> str:
        """The type of the event that it holds, or the frame's own name."""
        return self.event or self.json["event"]["type"]


def parsed(lines: Iterator[str]) -> Iterator[Frame]:
    """Frames of an event stream; comments are left out."""
    fields: dict[str, list[str]] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
        elif fields:
            if "data" in fields:
                yield Frame("".join(fields.get("id", [])), "".join(fields.get("event", [])), "\n".join(fields["data"]))
            fields = {}
