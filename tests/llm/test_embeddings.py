import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from maia.core.errors import ModelFailed
from maia.core.secret import Secret
from maia.llm.embeddings import EmbeddingsClient, NoEmbeddings, embeddings_path
from maia.llm.target import WireTarget


@dataclass
class Server:
    """Answers every request with one status and body, and remembers what was asked."""

    status: int = 200
    body: Any = None
    url: str = ""
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list[Any])


@contextmanager
def serving(status: int, body: Any) -> Generator[Server]:
    server = Server(status, body)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, data))
            answer = server.body if isinstance(server.body, bytes) else json.dumps(server.body).encode()
            self.send_response(server.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def ask(server: Server, *texts: str, path: str = "/v1/chat/completions", key: str = "") -> list[list[float]]:
    async def work() -> list[list[float]]:
        client = EmbeddingsClient(
            WireTarget("x", "openai-chat", server.url, path, Secret(key) if key else None), "small"
        )
        try:
            return [list(vector) for vector in await client.embed(texts)]
        finally:
            await client.aclose()

    return asyncio.run(work())


def row(index: int, *numbers: float) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": list(numbers)}


def test_vectors_come_in_the_order_of_the_texts() -> None:
    with serving(200, {"data": [row(1, 0, 1), row(0, 1, 0.5)]}) as server:
        assert ask(server, "a", "é", key="k") == [[1.0, 0.5], [0.0, 1.0]]
    ((path, headers, body),) = server.asked
    assert (path, headers["authorization"]) == ("/v1/embeddings", "Bearer k")
    assert body == {"model": "small", "input": ["a", "é"]}


@pytest.mark.parametrize(
    ("chat", "path"),
    [
        ("/v1/chat/completions", "/v1/embeddings"),
        ("/chat/completions", "/embeddings"),
        ("/chat/completions/", "/embeddings"),
        ("chat/completions", "/embeddings"),
        ("/api/chat", "/embeddings"),
        ("", "/embeddings"),
    ],
)
def test_the_path_goes_with_that_of_chats(chat: str, path: str) -> None:
    assert embeddings_path(chat) == path


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"data": [row(0, 1)]}, id="too few"),
        pytest.param({"data": [row(0, 1), row(1, 1), row(2, 1)]}, id="too many"),
        pytest.param({"data": [row(0, 1), row(1)]}, id="an empty one"),
        pytest.param({"data": [{"index": 0, "embedding": "AAAA"}, row(1, 1)]}, id="text"),
        pytest.param({"data": [{"index": 0, "embedding": [True]}, row(1, 1)]}, id="no numbers"),
        pytest.param({"data": [1, 2]}, id="no objects"),
        pytest.param({"data": [{"index": "a", "embedding": [1]}, row(1, 1)]}, id="no order"),
        pytest.param({"data": None}, id="no data"),
        pytest.param({"models": []}, id="something else"),
        pytest.param([], id="a list"),
        pytest.param(b"<html>", id="a page"),
    ],
)
def test_an_answer_of_another_shape_is_a_failure(body: Any) -> None:
    with serving(200, body) as server, pytest.raises(ModelFailed):
        ask(server, "a", "b")


def test_a_refusal_says_why_and_never_the_key() -> None:
    key = "test-" + "k3y" * 10
    with serving(401, {"error": {"message": f"bad key {key}"}}) as server, pytest.raises(ModelFailed) as caught:
        ask(server, "a", key=key)
    assert caught.value.failure.kind == "auth"
    assert key not in repr(caught.value.failure)


def test_a_server_that_is_not_there_is_a_failure() -> None:
    with serving(200, {}) as server:
        pass
    with pytest.raises(ModelFailed) as caught:
        ask(server, "a")
    assert caught.value.failure.kind == "network"


def test_a_model_is_named_with_its_host() -> None:
    client = EmbeddingsClient(WireTarget("x", "openai-chat", "http://127.0.0.1:1/v1"), "small")
    assert client.name == "127.0.0.1:1/small"


def test_where_no_model_can_be_asked_that_is_the_failure() -> None:
    with pytest.raises(ModelFailed) as caught:
        asyncio.run(NoEmbeddings("x/y").embed(["a"]))
    assert caught.value.failure.kind == "not_configured"
