"""A model server that hangs, floods and lies: the model's name says how. It listens on a free port of 127.0.0.1."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STOP_FLOOD = threading.Event()


def chunk(text: str = "", finish: str | None = None, model: str = "m", **more: Any) -> bytes:
    """One frame of a chat completion."""
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    return frame({"id": "x", "object": "chat.completion.chunk", "model": model, "choices": [choice], **more})


def frame(value: Any) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def usage(given: Any, got: Any) -> bytes:
    told = {"prompt_tokens": given, "completion_tokens": got, "total_tokens": 0}
    return frame({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": told})


DONE = b"data: [DONE]\n\n"


def endless() -> Iterator[bytes]:
    while not STOP_FLOOD.is_set():
        yield chunk("again and again ")
        time.sleep(0.001)


def hanging() -> Iterator[bytes]:
    yield chunk("So ")
    STOP_FLOOD.wait(30)


ANSWERS: dict[str, Callable[[], Iterator[bytes]]] = {
    "hangs-in-the-middle": hanging,
    "endless": endless,
    "wrong-json": lambda: iter([chunk("Half "), frame(b'{"choices": [{'), chunk("whole", "stop"), DONE]),
    "only-garbage": lambda: iter([frame(b"\xff\xfe not json"), DONE]),
    "error-inside": lambda: iter(
        [chunk("Half"), frame({"error": {"message": "the engine <b>fell</b>", "type": "server_error", "code": "E1"}})]
    ),
    "usage-backwards": lambda: iter([chunk("Yes."), usage(900, 40), usage(10, 2), chunk("", "stop"), DONE]),
    "usage-negative": lambda: iter([chunk("Yes.", "stop"), usage(-5, "many"), DONE]),
    "long-line": lambda: iter([chunk("y" * 10_000_000, "stop"), DONE]),
    "another-name": lambda: iter([chunk("Yes.", model="cheaper-model"), chunk("", "stop", "cheaper-model"), DONE]),
    "no-end": lambda: iter([chunk("Yes.")]),
    "empty": lambda: iter([chunk("", "stop"), DONE]),
    "filtered": lambda: iter([chunk("I"), chunk("", "content_filter"), DONE]),
    "cut-short": lambda: iter([chunk("Half a sen", "length"), usage(9, 3), DONE]),
    "ends-twice": lambda: iter([chunk("Yes.", "stop"), chunk("No.", "stop"), DONE, chunk("More", "stop"), DONE]),
}
WHOLE: dict[str, tuple[int, str, bytes]] = {
    "a-web-page": (200, "text/html", b"<!doctype html><title>Sign in</title><script>alert(1)</script>"),
    "error-with-200": (
        200,
        "application/json",
        b'{"error": {"message": "no credits left", "code": "insufficient_quota"}}',
    ),
    "refused-key": (
        401,
        "application/json",
        b'{"error": {"message": "bad key sk-' + b"a" * 20 + b'", "code": "invalid_api_key"}}',
    ),
    "unknown-model": (404, "application/json", b'{"error": {"message": "no such model", "code": "model_not_found"}}'),
    "too-long": (400, "application/json", b'{"error": {"message": "prompt is too long", "code": "x"}}'),
}
NAMES = (*ANSWERS, *WHOLE, "says-nothing")


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_GET(self) -> None:
        self._whole(200, "application/json", json.dumps({"data": [{"id": name} for name in NAMES]}).encode())

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = asked["model"]
        if name in WHOLE:
            self._whole(*WHOLE[name])
        elif name == "says-nothing":
            STOP_FLOOD.wait(30)
        else:
            self._stream(ANSWERS[name]())

    def _whole(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, frames: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        with suppress(ConnectionError):
            for each in frames:
                self.wfile.write(each)
                self.wfile.flush()
        self.close_connection = True


@contextmanager
def liar() -> Generator[str]:
    """The base address of a running one."""
    STOP_FLOOD.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        STOP_FLOOD.set()
        server.shutdown()
        server.server_close()
        thread.join()
