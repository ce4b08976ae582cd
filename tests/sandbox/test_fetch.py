import asyncio
import gzip
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from maia.core.errors import ToolProblem
from maia.core.ports import Fetched
from maia.i18n.catalogue import Catalogue
from maia.sandbox import fetch as module
from maia.sandbox.fetch import WebFetcher

ZEROS = gzip.compress(bytes(50_000_000))
WORDS = gzip.compress(b"packed ") + gzip.compress(b"in two members")
Reply = Callable[["Pages"], None]


class Pages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        type(self).seen.append((self.path, self.headers["Host"]))
        name, _, value = self.path.lstrip("/").partition("/")
        getattr(self, f"page_{name}")(value)

    def reply(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for key, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def page_text(self, _: str) -> None:
        self.reply("héllo".encode("latin-1"), Content_Type="text/plain; charset=ISO-8859-1")

    def page_to(self, target: str) -> None:
        self.reply(b"", 302, Location=target)

    def page_loop(self, _: str) -> None:
        self.reply(b"", 301, Location="/loop")

    def page_hop(self, left: str) -> None:
        self.reply(b"", 302, Location=f"/hop/{int(left) - 1}" if int(left) > 1 else "/text")

    def page_error(self, _: str) -> None:
        self.reply(b"gone", 404, Content_Type="text/plain")

    def page_bomb(self, _: str) -> None:
        self.reply(ZEROS, Content_Encoding="gzip", Content_Type="text/plain")

    def page_packed(self, _: str) -> None:
        self.reply(WORDS, Content_Encoding="gzip", Content_Type="text/plain")

    def page_badpack(self, _: str) -> None:
        self.reply(b"not gzip at all", Content_Encoding="gzip")

    def page_brotli(self, _: str) -> None:
        self.reply(b"x", Content_Encoding="br")

    def page_big(self, size: str) -> None:
        self.reply(b"x" * int(size), Content_Type="text/plain")

    def page_endless(self, _: str) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            self.close_connection = True

    def page_slow(self, _: str) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            for _i in range(300):
                self.wfile.write(b".")
                time.sleep(0.1)
        except OSError:
            self.close_connection = True

    def page_headers(self, _: str) -> None:
        self.reply(json.dumps(dict(self.headers)).encode(), Content_Type="application/json")

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:  # a client that has heard enough is no error
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    pages = type("ThesePages", (Pages,), {"seen": []})
    with Server(("127.0.0.1", 0), pages) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def seen(server: Server) -> list[tuple[str, str]]:
    return server.RequestHandlerClass.seen  # type: ignore[attr-defined]


def loopback(_host: str, _port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def get(
    url: str,
    *,
    allowed: Callable[[str], bool] = lambda host: host == "site.test",
    resolve: Callable[[str, int], Sequence[str]] = loopback,
    proxy: str | None = None,
    max_bytes: int = 1_000_000,
    timeout: float = 5,
    tls: Callable[[], ssl.SSLContext] | None = None,
) -> Fetched:
    fetcher = WebFetcher(allowed, proxy_for=lambda _: proxy, resolve=resolve, tls=tls)
    return asyncio.run(fetcher.get(url, max_bytes=max_bytes, timeout=timeout))


def problem_of(url: str, **options: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        get(url, **options)
    for lang in ("fr", "en"):
        Catalogue(lang, strict=True)(caught.value.key, **caught.value.values)
    return caught.value


def at(server: Server, path: str, host: str = "site.test") -> str:
    return f"http://{host}:{server.server_port}/{path}"


def test_a_page_comes_from_the_checked_address_under_its_own_name(server: Server) -> None:
    assert get(at(server, "text")) == Fetched(at(server, "text"), 200, "text/plain", b"h\xe9llo", "iso-8859-1")
    assert seen(server) == [("/text", f"site.test:{server.server_port}")]


def test_the_request_says_who_asks_and_carries_no_cookie(server: Server) -> None:
    headers = json.loads(get(at(server, "headers")).body)
    assert headers["User-Agent"].startswith("maia/")
    assert {"Cookie", "Authorization", "Referer"} & set(headers) == set()


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"],
)
def test_a_local_address_is_refused_in_every_spelling(server: Server, host: str) -> None:
    assert problem_of(at(server, "text", host), resolve=module._resolved).key == "web.private"
    assert seen(server) == []


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["169.254.169.254"], ["::1"], ["64:ff9b::7f00:1"], ["fe80::1%2"]],
    ids=str,
)
def test_a_public_name_with_any_address_inside_is_refused(server: Server, addresses: list[str]) -> None:
    assert problem_of(at(server, "text", "evil.org"), resolve=lambda *_: addresses).key == "web.private"
    assert seen(server) == []


def test_a_rule_allows_exactly_one_host(server: Server) -> None:
    allowed = {"allowed": lambda host: host == "localhost", "resolve": module._resolved}
    assert get(at(server, "text", "localhost"), **allowed).status == 200
    assert problem_of(at(server, "text", "127.0.0.1"), **allowed).key == "web.private"


def test_a_name_is_resolved_once_so_that_it_cannot_change_in_between(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "is_public", lambda address: address == "127.0.0.1")
    asked: list[str] = []

    def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    assert get(at(server, "text", "rebind.org"), resolve=resolve).status == 200
    assert asked == ["rebind.org"]


def test_each_redirect_is_checked_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_public", lambda address: address == "127.0.0.1")
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    assert problem_of(at(server, "to//text", "rebind.org"), resolve=lambda *_: next(answers)).key == "web.private"
    assert [path for path, _ in seen(server)] == ["/to//text"]


def test_redirects_on_one_host_are_followed(server: Server) -> None:
    assert get(at(server, "hop/5")).url == at(server, "text")


def test_a_redirect_to_another_host_is_given_back(server: Server) -> None:
    got = get(at(server, "to/https://other.org/x?y=1"))
    assert (got.redirect_to, got.body) == ("https://other.org/x?y=1", b"")
    assert len(seen(server)) == 1


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("hop/6", "web.redirects"),
        ("loop", "web.redirects"),
        ("to/file:///etc/passwd", "web.bad_scheme"),
        ("to/http://a:b@other.org/", "web.bad_credentials"),
        ("big/1000001", "web.too_large"),
        ("endless", "web.too_large"),
        ("badpack", "web.unreachable"),
        ("brotli", "web.packing"),
    ],
)
def test_what_cannot_be_fetched_says_why(server: Server, path: str, key: str) -> None:
    assert problem_of(at(server, path)).key == key


def test_an_error_page_is_a_page(server: Server) -> None:
    assert (get(at(server, "error")).status, get(at(server, "error")).body) == (404, b"gone")


def test_packed_pages_are_unpacked(server: Server) -> None:
    assert get(at(server, "packed")).body == b"packed in two members"


def test_a_small_archive_of_a_huge_page_stops_early(server: Server) -> None:
    get(at(server, "text"))
    tracemalloc.start()
    assert problem_of(at(server, "bomb")).key == "web.too_large"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000


def test_the_time_is_for_everything(server: Server) -> None:
    began = time.monotonic()
    assert problem_of(at(server, "slow"), timeout=0.5).key == "web.timeout"
    assert time.monotonic() - began < 25, "a page that goes on for longer than that, with a byte now and then"


def test_another_address_is_tried_where_the_first_does_not_answer(server: Server) -> None:
    assert get(at(server, "text"), resolve=lambda *_: ["127.0.0.9", "127.0.0.1"]).status == 200


def test_a_closed_port_and_an_unknown_name_are_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert problem_of(f"http://site.test:{port}/").key == "web.unreachable"

    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    assert problem_of("http://nowhere.org/", resolve=unknown).values == {
        "host": "nowhere.org",
        "problem": "Name or service not known",
    }


def test_a_proxy_is_asked_for_public_names_only(server: Server) -> None:
    proxy = f"http://127.0.0.1:{server.server_port}"

    def never(host: str, _port: int) -> Sequence[str]:
        raise AssertionError(host)

    asked = [
        problem_of(f"http://{host}/", proxy=proxy, resolve=never).key for host in ("10.0.0.1", "localhost", "0x7f.1")
    ]
    assert (asked, seen(server)) == (["web.private"] * 3, [])
    pages = server.RequestHandlerClass
    setattr(pages, "page_http:", Pages.page_text)
    assert get("http://public.org/text", proxy=proxy, resolve=never).status == 200
    assert seen(server) == [("http://public.org/text", "public.org")]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_the_certificate_must_be_the_hosts_own_although_its_address_is_dialled(server: Server, tmp_path: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=site.test"),
            *("-addext", "subjectAltName=DNS:site.test", "-keyout", "key.pem", "-out", "cert.pem"),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)

    def trust() -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))

    port = server.server_port
    options: dict[str, Any] = {"allowed": lambda _: True, "tls": trust}
    assert get(f"https://site.test:{port}/text", **options).status == 200
    assert problem_of(f"https://other.test:{port}/text", **options).key == "web.unreachable"
    assert problem_of(f"https://site.test:{port}/text", allowed=lambda _: True).key == "web.unreachable"
    down = get(f"https://site.test:{port}/to/http://site.test:{port}/text", **options)
    assert down.redirect_to == f"http://site.test:{port}/text"
