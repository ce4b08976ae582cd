from __future__ import annotations

import asyncio
import gzip
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.secret import Secret
from maia.llm.target import WireOptions, WireTarget
from maia.llm.transport import CallFailed, Channel, get_json, join_url
from tests.llm.wires.serving import STREAM_HEAD, Asked, serving

KEY = "sk-very-secret-0123456789"


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def target(url: str, **options: Any) -> WireTarget:
    return WireTarget("fake", options.pop("format", "openai-chat"), url, key=Secret(KEY), **options)


async def asked_once(to: WireTarget, path: str = "/x") -> tuple[int, bytes]:
    channel = Channel(to)
    try:
        async with channel.exchange("POST", join_url(to.base_url, path), b"{}") as reply:
            return reply.status, await reply.read(10_000)
    finally:
        await channel.aclose()


async def failed_call(to: WireTarget, path: str = "/x") -> Failure:
    with pytest.raises(CallFailed) as caught:
        await asked_once(to, path)
    return caught.value.failure


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h/v1", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/", "chat/completions", "http://h/v1/chat/completions"),
        ("http://h", "/v1/messages?beta=true", "http://h/v1/messages?beta=true"),
        ("http://h/all", "", "http://h/all"),
        ("http://h", "https://other/x", "http://h/https://other/x"),
    ],
)
def test_base_and_path_join_with_one_slash(base: str, path: str, url: str) -> None:
    assert join_url(base, path) == url


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"authorization": f"Bearer {KEY}"}),
        ({"format": "anthropic-messages"}, {"x-api-key": KEY, "anthropic-version": "2023-06-01"}),
        (
            {"format": "anthropic-messages", "options": WireOptions(auth="bearer")},
            {"authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"},
        ),
        ({"options": WireOptions(auth="none")}, {}),
        ({"headers": {"X-Title": "maia"}}, {"authorization": f"Bearer {KEY}", "x-title": "maia"}),
        ({"headers": {"Authorization": "Token t"}}, {"authorization": "Token t"}),
    ],
)
def test_the_key_goes_where_the_endpoint_wants_it(options: dict[str, Any], expected: dict[str, str]) -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"{}")) as server:
            await asked_once(target(server.url, **options))
            names = ("authorization", "x-api-key", "anthropic-version", "x-title")
            assert {n: v for n, v in server.asked[0].headers.items() if n in names} == expected
            assert server.asked[0].headers["user-agent"].startswith("maia/")

    run(test)


def test_a_key_file_in_the_home_folder_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login other password other\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))

    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"{}")) as server:
            await asked_once(target(server.url))
            assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"

    run(test)


def test_user_and_password_in_the_url_are_sent_as_basic_and_never_shown() -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"{}")) as server:
            url = server.url.replace("//", "//me:p%40ss-word@")
            await asked_once(replace(target(url), key=None))
            assert server.asked[0].headers["authorization"] == "Basic bWU6cEBzcy13b3Jk"
            assert "@" not in Channel(target(url)).host

    run(test)


def test_calls_share_one_connection() -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"{}")) as server:
            channel = Channel(target(server.url))
            for _ in range(3):
                async with channel.exchange("POST", server.url, b"{}") as reply:
                    assert await reply.read(100) == b"{}"
            await channel.aclose()
            assert (len(server.asked), server.connections) == (3, 1)

    run(test)


def test_who_closes_its_way_cuts_no_other_that_shares_the_connections() -> None:
    async def test() -> None:
        go_on = asyncio.Event()

        async def slow(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            await asked.chunk(b"one")
            await go_on.wait()
            await asked.chunk(b"two")
            await asked.send(b"0\r\n\r\n")

        async with serving(slow) as server:
            mine, other = Channel(target(server.url)), Channel(target(server.url))
            async with mine.exchange("POST", server.url, b"{}") as reply:
                async with other.exchange("POST", server.url, b"{}"):
                    await other.aclose()
                go_on.set()
                assert await reply.read(100) == b"onetwo"
            await mine.aclose()

    run(test)


SURPLUS = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nanother"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nown", id="with a length"),
        pytest.param(STREAM_HEAD + b"3\r\nown\r\n0\r\n\r\n", id="streamed"),
    ],
)
def test_what_a_server_sends_beyond_an_answer_is_no_other_conversations_answer(answer: bytes) -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.send(answer + SURPLUS)) as server:
            channels = [Channel(target(server.url)) for _ in range(3)]
            for channel in channels:
                async with channel.exchange("POST", server.url, b"{}") as reply:
                    assert await reply.read(100) == b"own"
            for channel in channels:
                await channel.aclose()

    run(test)


def test_one_channel_works_in_several_event_loops() -> None:
    channel = Channel(target("http://127.0.0.1:1"))

    async def once() -> None:
        async with serving(lambda asked: asked.answer(200, b"ok")) as server:
            async with channel.exchange("GET", server.url) as reply:
                assert await reply.read(100) == b"ok"
            await channel.aclose()

    run(once)
    run(once)


def test_a_cancelled_call_closes_its_connection_at_once() -> None:
    async def test() -> None:
        closed = asyncio.Event()

        async def forever(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            await asked.chunk(b"data: 1\n\n")
            await asked.gone()
            closed.set()

        async with serving(forever) as server:
            channel = Channel(target(server.url))
            first = asyncio.Event()

            async def call() -> None:
                async with channel.exchange("POST", server.url, b"{}") as reply:
                    async for _ in reply.chunks:
                        first.set()

            task = asyncio.create_task(call())
            await asyncio.wait_for(first.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(closed.wait(), 30)
            await channel.aclose()

    run(test)


def test_leaving_an_answer_unread_closes_its_connection() -> None:
    async def test() -> None:
        closed = asyncio.Event()

        async def forever(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            await asked.chunk(b"data: 1\n\n")
            await asked.gone()
            closed.set()

        async with serving(forever) as server:
            channel = Channel(target(server.url))
            async with channel.exchange("POST", server.url, b"{}") as reply:
                assert reply.status == 200
            await asyncio.wait_for(closed.wait(), 30)
            await channel.aclose()

    run(test)


@pytest.mark.parametrize("after", [b"", STREAM_HEAD, STREAM_HEAD + b"3\r\nabc\r\n"], ids=["silent", "head", "half"])
def test_a_half_open_socket_times_out(after: bytes) -> None:
    async def test() -> None:
        async def silent(asked: Asked) -> None:
            await asked.send(after)
            await asked.gone()

        async with serving(silent) as server:
            start = time.monotonic()
            failure = await failed_call(target(server.url, idle_timeout=0.3))
            assert failure.kind == "timeout"
            assert time.monotonic() - start < 30

    run(test)


def test_a_stream_that_goes_on_outlives_the_idle_timeout() -> None:
    async def test(idle: float) -> tuple[int, bytes]:
        async def slow(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            for _ in range(12):
                await asyncio.sleep(idle / 10)
                await asked.chunk(b"x")
            await asked.send(b"0\r\n\r\n")

        async with serving(slow) as server:
            return await asked_once(target(server.url, idle_timeout=idle))

    try:
        got = asyncio.run(test(1))
    except CallFailed:  # a busy machine stood still for so long
        got = asyncio.run(test(10))
    assert got == (200, b"x" * 12)


def test_a_server_that_does_not_accept_times_out_while_connecting() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(address)

        async def test() -> None:
            failure = await failed_call(target(f"http://127.0.0.1:{address[1]}", connect_timeout=0.3))
            assert failure.kind == "timeout"

        run(test)
        for one in waiting:
            one.close()


def test_nobody_at_the_address_is_a_network_failure() -> None:
    async def test() -> None:
        failure = await failed_call(target("http://127.0.0.1:1"))
        assert (failure.kind, failure.host) == ("network", "127.0.0.1:1")
        assert failure.provider_text == "Connection refused"

    run(test)


def test_a_name_that_does_not_exist_is_a_network_failure() -> None:
    async def test() -> None:
        assert (await failed_call(target("http://no-such-host.invalid"))).kind == "network"

    run(test)


@pytest.mark.parametrize("url", ["", "localhost:4000", "ftp://h/", "http://", "http://[::1", "http://h:port/", "://"])
def test_an_address_that_is_none_is_a_network_failure_without_a_traceback(url: str) -> None:
    async def test() -> None:
        failure = await failed_call(replace(target("http://h"), base_url=url), "")
        assert (failure.kind, failure.code) == ("network", "InvalidURL")

    run(test)


@pytest.mark.parametrize(
    "answer",
    [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", b"\x16\x03\x01\x02\x00"],
    ids=["nothing", "no HTTP", "short body", "TLS on a plain port"],
)
def test_a_server_that_breaks_off_is_a_network_failure(answer: bytes) -> None:
    async def test() -> None:
        async def breaks(asked: Asked) -> None:
            await asked.send(answer)
            asked.writer.close()

        async with serving(breaks) as server:
            assert (await failed_call(target(server.url))).kind == "network"

    run(test)


def test_speaking_tls_to_a_plain_server_is_a_network_failure() -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"{}")) as server:
            failure = await failed_call(target(server.url.replace("http:", "https:"), connect_timeout=2))
            assert failure.kind in ("network", "timeout")

    run(test)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate for 127.0.0.1 that no system trusts, made now and gone afterwards."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    argv = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "key"), "-out", str(folder / "cert")]
    subprocess.run([*argv.split(), *files], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", None])
def test_certificates_are_checked_and_an_own_authority_can_be_named(
    authority: Path, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "cert", authority / "key")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if variable:
        monkeypatch.setenv(variable, str(authority / "cert"))

    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"safe"), context) as server:
            if variable:
                assert await asked_once(target(server.url)) == (200, b"safe")
            else:
                failure = await failed_call(target(server.url))
                assert (failure.kind, failure.code) == ("network", "certificate")
                assert "certificate verify failed" in failure.provider_text
                assert server.asked == []

    run(test)


@pytest.mark.parametrize("key", ["sk-é-secret-value", "sk-line\nbreak-secret", "sk-\x00-secret"])
def test_a_key_that_no_header_can_carry_is_told_without_quoting_it(key: str) -> None:
    async def test() -> None:
        failure = await failed_call(replace(target("http://127.0.0.1:1"), key=Secret(key)))
        assert (failure.kind, failure.code) == ("auth", "malformed_key")
        assert "secret" not in repr(failure)

    run(test)


def test_blanks_around_a_key_are_taken_off() -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"{}")) as server:
            await asked_once(replace(target(server.url), key=Secret(f" {KEY}\n")))
            assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"

    run(test)


def test_a_key_never_shows() -> None:
    to = target("http://h", headers={"X-Api-Key": KEY})
    assert KEY not in repr(to) + str(to.key) + f"{to.key}" + repr(Channel(to))


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_on_the_same_host_is_followed_with_its_body(status: int) -> None:
    async def test() -> None:
        async def moved(asked: Asked) -> None:
            if asked.path == "/x":
                await asked.answer(status, b"", location="/y/")
            else:
                await asked.answer(200, asked.body)

        async with serving(moved) as server:
            assert await asked_once(target(server.url)) == (200, b"{}")
            assert [asked.path for asked in server.asked] == ["/x", "/y/"]

    run(test)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_never_followed(status: int) -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"stolen")) as thief:
            elsewhere = thief.url.replace("127.0.0.1", "localhost")

            async with serving(lambda asked: asked.answer(status, b"", location=elsewhere)) as server:
                assert (await asked_once(target(server.url)))[0] == status
            assert thief.asked == []

    run(test)


def test_a_redirect_in_a_circle_ends() -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(308, b"", location="/x")) as server:
            assert (await failed_call(target(server.url))).kind == "not_llm"

    run(test)


def test_a_proxy_is_never_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY")

    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"direct")) as server:
            assert await asked_once(target(server.url)) == (200, b"direct")

    run(test)


def test_a_proxy_of_the_environment_is_used_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b"proxied")) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pass@"))
            monkeypatch.delenv("NO_PROXY")
            assert await asked_once(target("http://llm.example.org")) == (200, b"proxied")
            assert proxy.asked[0].path == "http://llm.example.org/x"
            assert proxy.asked[0].headers["proxy-authorization"] == "Basic bWU6cGFzcw=="

            monkeypatch.setenv("no_proxy", "example.org")
            assert (await failed_call(target("http://llm.example.org"))).kind == "network"

    run(test)


@pytest.mark.parametrize("proxy", ["ftp://x", "http://", "http://h:port", "socks5://127.0.0.1:1", "é://"])
def test_a_proxy_that_cannot_be_used_is_a_network_failure(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    monkeypatch.delenv("NO_PROXY")

    async def test() -> None:
        assert (await failed_call(target("http://llm.example.org"))).kind == "network"

    run(test)


def test_a_compressed_answer_is_read_although_none_was_asked_for() -> None:
    async def test() -> None:
        body = gzip.compress(b"hello")
        async with serving(lambda asked: asked.answer(200, body, content_encoding="gzip")) as server:
            assert await asked_once(target(server.url)) == (200, b"hello")
            assert server.asked[0].headers["accept-encoding"] == "identity"

        async with serving(lambda asked: asked.answer(200, b"no gzip", content_encoding="gzip")) as server:
            assert (await failed_call(target(server.url))).kind == "network"

    run(test)


def test_json_is_got_from_the_target() -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(200, b'{"data": []}')) as server:
            assert await get_json(target(server.url + "/v1"), "/models") == {"data": []}
            assert (server.asked[0].method, server.asked[0].path) == ("GET", "/v1/models")

    run(test)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, b'{"error":{"message":"bad key %s"}}' % KEY.encode(), "auth"),
        (200, b"<html><title>Welcome</title></html>", "not_llm"),
        (200, b"plain", "not_llm"),
        (404, b"404 page not found", "not_llm"),
        (500, b'{"error":"x"}', "overloaded"),
    ],
)
def test_json_that_cannot_be_got_raises_what_happened(status: int, body: bytes, kind: str) -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(status, body)) as server:
            with pytest.raises(ModelFailed) as caught:
                await get_json(target(server.url), "/models")
        assert caught.value.failure.kind == kind
        assert KEY not in repr(caught.value.failure)
        assert caught.value.__cause__ is None

    run(test)


def test_the_http_engine_is_loaded_by_the_first_call_only() -> None:
    code = (
        "import sys, maia.llm.open, maia.llm.target as t, maia.llm.wires.http, maia.llm.wires.openai_chat\n"
        "maia.llm.open.open_wire(t.WireTarget('x', 'openai-chat', 'http://127.0.0.1:1'))\n"
        "print([m for m in ('httpcore2', 'httpx2', 'anyio', 'h11', 'pydantic_ai', 'openai') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="src", check=True)
    assert done.stdout.strip() == "[]"
