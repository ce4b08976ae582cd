"""The real Hermes Agent 0.19 reads what is written for it, twice in a row, and sends each key to its own host only.

Run by hand: install `hermes-agent[anthropic]==0.19.0` in an own environment, set `HERMES_BIN` to its program, and
call `./test -m real tests/credentials`. Each run takes some 20 s.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from maia.credentials.hermes import child_environment, launch_options, write
from tests.credentials.made import ANTHROPIC, MINIMAX, ZAI, fake, vote

HERMES = os.environ.get("HERMES_BIN", "")

pytestmark = [pytest.mark.real, pytest.mark.skipif(not HERMES, reason="needs HERMES_BIN")]

_CONFIG = "security:\n  tirith_enabled: false\n  allow_lazy_installs: false\n"


class Answers(BaseHTTPRequestHandler):
    """Says PONG in both formats, and notes with which key it was asked."""

    asked: list[tuple[str, set[str]]]

    def do_GET(self) -> None:
        self._send(
            json.dumps({"object": "list", "data": [{"id": "fake-model", "object": "model"}]}), "application/json"
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        keys = {self.headers.get("x-api-key", ""), self.headers.get("Authorization", "").removeprefix("Bearer ")}
        self.asked.append((self.path, keys - {""}))
        if self.path.endswith("/messages"):
            self._send(
                "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _anthropic()), "text/event-stream"
            )
        elif body.get("stream"):
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in _openai()]
            self._send("".join(lines) + "data: [DONE]\n\n", "text/event-stream")
        else:
            message = {"role": "assistant", "content": "PONG"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send(json.dumps({"id": "x", "object": "chat.completion", "choices": [choice]}), "application/json")

    def _send(self, text: str, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _openai() -> Iterator[dict[str, Any]]:
    for delta, end in (({"role": "assistant", "content": "PONG"}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        yield {"id": "x", "object": "chat.completion.chunk", "model": "fake-model", "choices": [choice]}


def _anthropic() -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "fake-model", "content": [], "usage": usage}
    yield {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "PONG"}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, set[str]]]]]:
    asked: list[tuple[str, set[str]]] = []
    handler = type("Here", (Answers,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", asked
        http.shutdown()


@pytest.mark.parametrize(
    ("token", "path", "hint"),
    [
        pytest.param(ZAI, "/v1", "", id="zai"),
        pytest.param(MINIMAX, "/anthropic", "minimax", id="minimax"),
        pytest.param(MINIMAX, "/anthropic", "minimax-cn", id="minimax-cn"),
        pytest.param(fake("sk-proj-", 100), "/v1", "", id="openai"),
        pytest.param(ANTHROPIC, "", "", id="anthropic"),
        pytest.param("FAKE-gateway-key-123", "/v1", "", id="custom"),
        pytest.param(fake("gsk_", 56), "/v1", "", id="groq behind a proxy"),
    ],
)
def test_hermes_answers_twice_in_a_row_with_the_right_key(
    token: str, path: str, hint: str, server: tuple[str, list[tuple[str, set[str]]]], tmp_path: Path
) -> None:
    url, asked = server
    home = tmp_path / ".hermes"
    seen = vote(token, url + path, hint)
    assert seen.error is None
    for _ in range(2):
        assert write(seen, home, "fake-model").error is None
        if not (home / "config.yaml").exists():
            (home / "config.yaml").write_text(_CONFIG)
        asked.clear()
        done = subprocess.run(
            [HERMES, *launch_options(seen, "fake-model"), "-z", "say pong", "-t", "file"],
            env=child_environment(seen, home, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert "PONG" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
        assert asked
        assert set().union(*(keys for _, keys in asked)) == {token}
    stored = json.loads((home / "auth.json").read_text("utf-8"))["credential_pool"]
    assert [entry["access_token"] for entries in stored.values() for entry in entries if entry["id"] == "maia"] == [
        token
    ]
