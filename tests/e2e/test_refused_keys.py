"""A key that a server refuses is explained by its shape, in every door, and is never shown.

The server stands on this machine as the proxy of a plain address, so that real host names are met without leaving it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.credentials.made import MINIMAX, fake
from tests.e2e.program import Place
from tests.e2e.test_interactive import HINT, send
from tests.e2e.test_interactive import maia as terminal
from tests.terminal.live.tmux import needs_tmux

CN = "https://api.minimaxi.com/anthropic"
GLOBAL = "http://api.minimax.io/anthropic"
ADMIN = fake("sk-ant-admin01-", 60)


@dataclass
class Proxy:
    """Lists one model and refuses every answer with 401, repeating the key in its words."""

    url: str
    asked: list[str] = field(default_factory=list[str])


@contextmanager
def refusing_proxy(*, lists: bool = True) -> Generator[Proxy]:
    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            proxy.asked.append(self.path)
            self._answer(200, {"data": [{"id": "minimax-m3"}]}) if lists else self._refuse()

        def do_POST(self) -> None:
            proxy.asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._refuse()

        def _refuse(self) -> None:
            key = self.headers.get("x-api-key") or self.headers.get("Authorization")
            self._answer(401, {"error": {"type": "authentication_error", "message": f"invalid key {key}"}})

        def _answer(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        proxy = Proxy(f"http://127.0.0.1:{http.server_port}")
        yield proxy
        http.shutdown()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with refusing_proxy() as proxy:
        yield proxy


@pytest.fixture
def place(tmp_path: Path, proxy: Proxy) -> Place:
    return Place(tmp_path, {"HTTP_PROXY": proxy.url, "MINIMAX_API_KEY": MINIMAX, "MINIMAX_BASE_URL": GLOBAL})


def kept(place: Place) -> str:
    """Everything that the run left on the disk."""
    return "".join(path.read_text("utf-8", "replace") for path in place.base.rglob("*") if path.is_file())


def test_a_refused_turn_tells_the_other_region(place: Place, proxy: Proxy, lang: str) -> None:
    ran = place.run("-p", "hi", "--lang", lang)
    assert ran.code == 1
    assert proxy.asked[-1] == "http://api.minimax.io/anthropic/v1/messages"
    said = " ".join(ran.err.split())
    assert "HTTP 401" in said
    assert "api.minimax.io" in said
    assert {"fr": "ne valent que dans leur région", "en": "hold in their region only"}[lang] in said
    remedy = {"fr": f"→ Mettez {CN} dans MINIMAX_BASE_URL", "en": f"→ Put {CN} in MINIMAX_BASE_URL"}
    assert remedy[lang] in said
    assert MINIMAX not in ran.err + ran.out + kept(place)


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_scripts_get_it_as_data_and_in_words(place: Place, form: str) -> None:
    ran = place.run("-p", "hi", "--lang", "en", "--output-format", form)
    ended = ran.json if form == "json" else ran.events[-1]
    values = {
        "provider": "minimax",
        "host": "api.minimax.io",
        "variable": "MINIMAX_BASE_URL",
        "other": "api.minimaxi.com",
        "url": CN,
    }
    assert ended["failure"]["why"] == {"key": "keys.code.try_other_region", "values": values}
    assert f"Put {CN} in MINIMAX_BASE_URL" in ended["message"]
    assert MINIMAX not in ran.out + ran.err


def test_the_doctor_says_the_same(place: Place) -> None:
    ran = place.run("doctor", "--json", "--lang", "en")
    rows: Any = ran.json
    row = next(row for row in rows if row["state"] == "fail")
    assert f"Put {CN} in MINIMAX_BASE_URL" in row["words"]
    assert MINIMAX not in ran.out + ran.err


def test_a_list_that_is_refused_is_explained_too(tmp_path: Path) -> None:
    with refusing_proxy(lists=False) as proxy:
        env = {"HTTP_PROXY": proxy.url, "MINIMAX_API_KEY": MINIMAX, "MINIMAX_BASE_URL": GLOBAL}
        ran = Place(tmp_path, env).run("-p", "hi", "--lang", "en")
    assert f"Put {CN} in MINIMAX_BASE_URL" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("key", "says"),
    [
        pytest.param("sk-ant-api03-***", "This is a masked key, not the key (ANTHROPIC_API_KEY).", id="masked"),
        pytest.param(ADMIN, "This is an administration key of anthropic", id="not for inference"),
        pytest.param(fake("sk-ant-api03-", 20), "it may be cut", id="cut"),
    ],
)
def test_a_key_that_can_ask_no_model_is_named(place: Place, key: str, says: str) -> None:
    place.env |= {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": "http://api.anthropic.com", "MINIMAX_API_KEY": ""}
    place.env.pop("MINIMAX_BASE_URL")
    ran = place.run("-p", "hi", "--lang", "en")
    assert ran.code == 1
    assert says in " ".join(ran.err.split())
    assert key not in ran.err


@needs_tmux
def test_the_terminal_says_it_and_shows_no_key(place: Place, lang: str) -> None:
    with terminal(place, width=120, MAIA_LANG=lang) as term:
        term.until(HINT[lang])
        send(term, "hi")
        term.until(f"{CN} {'dans' if lang == 'fr' else 'in'} MINIMAX_BASE_URL")
        assert MINIMAX not in "\n".join(term.past())
    assert MINIMAX not in kept(place)
