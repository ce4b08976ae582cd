"""What a server goes through: requests that dawdle or are huge, a full disk, a clock that jumps, no database."""

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from maia.i18n.catalogue import Catalogue
from tests.web.serving import OWNER, Serving, Visitor, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server is enough: nothing here depends on the kind of database."""
    with serving(tmp_path_factory.mktemp("hard") / "data") as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server


def connected(server: Serving) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)


HEAD = b"POST /api/v1/session HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
ODD = [
    pytest.param(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", id="a huge header"),
    pytest.param(b"GET /" + b"y" * 200_000 + b" HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", id="a huge address"),
    pytest.param(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 60_000, id="headers without end"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" * 40, id="another protocol"),
    pytest.param(HEAD + b"content-length: -1\r\n\r\n", id="a length below nothing"),
    pytest.param(HEAD + b"content-length: 5\r\ncontent-length: 9\r\n\r\nabcde", id="two lengths"),
    pytest.param(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n", id="a chunk of no size"),
    pytest.param(HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"f" * 60 + b"\r\n", id="a chunk of any size"),
    pytest.param(b"GET / HTTP/1.1\r\nhost: a\r\nhost: 127.0.0.1\r\n\r\n", id="two hosts"),
    pytest.param(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: \xff\xfe\x00=1\r\n\r\n", id="a cookie that is no text"),
]


@pytest.mark.parametrize("sent", ODD)
def test_an_odd_request_is_refused_and_the_next_one_served(served: Serving, owner: Visitor, sent: bytes) -> None:
    with closing(connected(served)) as line:
        try:
            line.sendall(sent)
            answer = line.recv(1000)
        except (ConnectionError, TimeoutError):
            answer = b""
    assert not answer or answer.split(b" ")[1][:1] in (b"3", b"4"), answer
    assert owner.ask("GET", "/health").status_code == 200


def test_many_who_dawdle_keep_nobody_out(served: Serving, owner: Visitor) -> None:
    lines = [connected(served) for _ in range(60)]
    for n, line in enumerate(lines):
        line.sendall(b"GET / HTTP/1.1\r\nho" if n % 2 else HEAD + b"content-length: 100\r\n\r\n{")
    assert owner.ask("GET", "/api/v1/session").status_code == 200
    for line in lines:
        line.close()


def test_while_the_disk_is_full_nothing_breaks_and_afterwards_all_goes_on(data: Path) -> None:
    with serving(data) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation("Before")
        visitor.say(conversation, "hello")
        visitor.until_done(conversation)
        before = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
        full(server.process.pid, True)
        made = (visitor.ask("POST", "/api/v1/conversations", {"title": "x" * 190}) for _ in range(40))
        answer = next(each for each in made if each.status_code != 201)
        assert (answer.status_code, answer.json()["code"]) == (503, "storage"), answer.text
        assert answer.json()["message"] in {Catalogue("en")("web.storage_full"), Catalogue("fr")("web.storage_full")}
        assert (
            visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": "x"}).status_code == 503
        )
        assert visitor.ask("GET", "/", Accept="text/html").status_code == 200
        assert visitor.ask("GET", f"/api/v1/conversations/{conversation}").json() == before
        full(server.process.pid, False)
        visitor.say(conversation, "again")
        visitor.until_done(conversation, before["cursor"])
        assert len(visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]) == 4


def full(process: int, now: bool) -> None:
    """No file of that process grows, as on a full disk."""
    resource.prlimit(process, resource.RLIMIT_FSIZE, (4096 if now else resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def test_a_clock_that_jumps_back_changes_no_order_and_signs_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    from maia.database import ids
    from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on

    real, ahead = time.time_ns, [0.0]
    monkeypatch.setattr(ids.time, "time_ns", lambda: real() + int(ahead[0] * 1e9))

    async def go() -> None:
        from maia.core.submission import Submission

        models = PlayedModels(PlayedWire(["Hello."]))
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            signed = await workspace.accounts.admit(user, "")
            row = await workspace.create(user, "", "fr")
            for n, jump in enumerate((0, -3600, 86_400, -7200), 1):
                ahead[0] = jump
                begun = await workspace.submit(user, await workspace.conversation(user, row.id), Submission(f"{n}"))
                await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is what counts
                assert begun.turn == n
                await workspace.accounts.changed()
                assert await workspace.accounts.who(signed.token) == user
            messages = await workspace.messages(row, 50)
            assert [each.text for each in messages if each.role == "user"] == ["1", "2", "3", "4"]
            page = await workspace.page(await workspace.conversation(user, row.id), 50)
            numbers = [each.seq for each in page.logged]
            assert numbers == sorted(numbers)
            assert [each.turn for each in page.logged] == sorted(each.turn for each in page.logged)

    asyncio.run(go())


def test_tries_do_not_wait_for_a_clock_that_jumps() -> None:
    from maia.workspace.people.tries import BY_EMAIL, Source, Tries

    tries, source = Tries(), Source("a@b", "here")
    for _ in range(BY_EMAIL):
        tries.failed(source)
    assert 0 < tries.wait(source) <= 900, "what runs on is not the clock on the wall"


def test_a_server_of_a_database_that_goes_away_and_comes_back_loses_nothing(data: Path, postgres: str) -> None:
    from sqlalchemy import create_engine, text

    from tests.databases import new_database

    url = new_database(postgres)
    name = url.rpartition("/")[2]
    script: list[Any] = [{"text": [f"word {n} " for n in range(40)], "wait": 0.03}, {"text": "Again.", "repeat": True}]
    admin = create_engine(
        f"{postgres.replace('postgresql', 'postgresql+psycopg')}/postgres", isolation_level="AUTOCOMMIT"
    )

    def switch(allowed: bool) -> None:
        with admin.connect() as connection:
            connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {str(allowed).lower()}"))
            if not allowed:
                kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :n"
                connection.execute(text(kill), {"n": name})

    with serving(data, "--database", url, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "go")
        time.sleep(0.3)
        switch(False)
        statuses = {visitor.ask("GET", "/api/v1/conversations").status_code for _ in range(3)}
        assert statuses <= {503}, statuses
        switch(True)
        wait_for(lambda: visitor.ask("GET", "/api/v1/session").status_code == 200)
        wait_for(lambda: len(answers(visitor, conversation)) == 1 and answers(visitor, conversation)[0].get("turnMeta"))
        answer = answers(visitor, conversation)[0]
        assert answer["content"].split() == [part for n in range(40) for part in ("word", str(n))], "every word, once"
        visitor.say(conversation, "more")
        wait_for(lambda: len(answers(visitor, conversation)) == 2)
    admin.dispose()


def answers(visitor: Visitor, conversation: str) -> list[dict[str, Any]]:
    found = visitor.ask("GET", f"/api/v1/conversations/{conversation}")
    return [each for each in found.json().get("messages", []) if each["role"] == "assistant"]


def wait_for(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_signing_in_takes_over_no_token_that_was_brought(served: Serving) -> None:
    with Visitor(served.url) as visitor:
        first = visitor.sign_in()
        name, token = first.headers["set-cookie"].partition(";")[0].split("=")
        visitor.client.cookies.clear()
        visitor.client.cookies.set(name, "planted-by-somebody-else")
        second = visitor.sign_in().headers["set-cookie"].partition(";")[0].split("=")[1]
        assert len({second, token, "planted-by-somebody-else"}) == 3
    with Visitor(served.url) as thief:
        thief.client.cookies.set(name, "planted-by-somebody-else")
        assert thief.ask("GET", "/api/v1/session").status_code == 401


def test_behind_https_cookies_are_for_https_alone_and_the_name_is_known(data: Path) -> None:
    with serving(data, MAIA_PUBLIC_URL="https://maia.example.org") as server, Visitor(server.url) as visitor:
        done = visitor.client.post(
            "/first-run",
            data={"token": server.token, **OWNER},
            headers={"Host": "maia.example.org", "Origin": "https://maia.example.org"},
        )
        kept = [each.lower() for each in done.headers.get_list("set-cookie")]
        assert len(kept) == 2
        assert all("; secure" in each and "httponly" in each and "samesite=strict" in each for each in kept)
        assert visitor.client.get("/health", headers={"Host": "evil.example.org"}).status_code == 421


def test_nothing_of_anybody_is_kept_on_the_way(owner: Visitor) -> None:
    conversation = owner.conversation("Kept nowhere")
    paths = ["/", "/users", "/account", "/api/v1/session", "/api/v1/conversations", f"/conversations/{conversation}"]
    for path in paths:
        assert owner.ask("GET", path, Accept="text/html").headers["cache-control"] == "no-store", path
    assert owner.ask("GET", "/api/v1/nowhere").headers["cache-control"] == "no-store"
