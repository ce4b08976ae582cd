"""Model vendors by their real names, on this machine: a proxy that answers for their hosts, with an own certificate.

Programs reach it by `HTTPS_PROXY` and trust it by `SSL_CERT_FILE`; nothing leaves 127.0.0.1.
"""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")

ANSWER = "Hello from the vendor."


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up in the middle is no failure of a test."""


@dataclass
class Vendors:
    """`env` is what a program needs to reach them; `asked` is every request so far, as `METHOD host path`."""

    env: dict[str, str]
    asked: list[str] = field(default_factory=list[str])


@contextmanager
def vendors(folder: Path, models: Mapping[str, Sequence[str] | None]) -> Generator[Vendors]:
    """Hosts with the models that each lists; None for one that refuses every key, repeating it in its words.

    Answers to prompts are those of the Anthropic format.
    """
    cert, key = _certificate(folder, models)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        host = ""

        def do_CONNECT(self) -> None:
            self.host = self.path.rpartition(":")[0]
            self.send_response(200)
            self.end_headers()
            try:
                secure: Any = context.wrap_socket(self.connection, server_side=True)
            except OSError:
                self.close_connection = True
                return
            self.connection, self.rfile, self.wfile = secure, secure.makefile("rb"), secure.makefile("wb", 0)
            self.close_connection = False

        def do_GET(self) -> None:
            known = self._known()
            if known is not None:
                self._answer(200, "application/json", json.dumps({"data": [{"id": name} for name in known]}))

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self._known() is not None:
                self._answer(200, "text/event-stream", _stream())

        def _known(self) -> Sequence[str] | None:
            there.asked.append(f"{self.command} {self.host} {self.path}")
            known = models.get(self.host)
            if known is None:
                sent = self.headers.get("x-api-key") or self.headers.get("Authorization")
                body = {"error": {"type": "authentication_error", "message": f"invalid key {sent}"}}
                self._answer(401, "application/json", json.dumps(body))
            return known

        def _answer(self, status: int, kind: str, body: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with _Server(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{http.server_port}"
        there = Vendors({"HTTPS_PROXY": url, "HTTP_PROXY": url, "SSL_CERT_FILE": str(cert)})
        yield there
        http.shutdown()


def _certificate(folder: Path, hosts: Mapping[str, object]) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    cert, key = folder / "vendors.pem", folder / "vendors.key"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    argv = ["openssl", "req", "-x509", *curve, "-nodes", "-days", "2", "-subj", "/CN=test"]
    names = "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts)
    files = ["-addext", names, "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*argv, *files], check=True, capture_output=True)
    return cert, key


def _stream() -> str:
    usage = {"input_tokens": 9, "output_tokens": 4}
    events: list[Any] = [
        {"type": "message_start", "message": {"id": "m", "model": "m", "usage": usage, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
