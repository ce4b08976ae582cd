"""The terminal of OpenCode over its line, with a scripted program in place of the real one."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from maia.workspace.terminals import MOST
from tests.sandbox.running import living
from tests.web.opencode_double import stand_in
from tests.web.serving import Serving, Visitor, serving

KEYS = {"ANTHROPIC_API_KEY": "not-a-key-of-anybody", "OPENCODE_API_KEY": "nor-this-one"}
API = "/api/v1/opencode"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    base = tmp_path_factory.mktemp("opencode")
    with serving(base / "data", PATH=stand_in(base / "bin"), script=None, started_with="offline", **KEYS) as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server, base


@pytest.fixture
def owner(world: tuple[Serving, Path]) -> Iterator[Visitor]:
    with Visitor(world[0].url) as visitor:
        visitor.sign_in()
        yield visitor


@pytest.fixture
def admin(owner: Visitor) -> Iterator[Visitor]:
    with joined(owner, "admin") as visitor:
        yield visitor


@contextmanager
def joined(owner: Visitor, role: str) -> Generator[Visitor]:
    """Somebody new with that role."""
    email = f"{role}-{time.monotonic_ns()}@example.org"
    done = owner.ask("POST", "/api/v1/users", {"name": role, "email": email, "role": role}).json()
    with Visitor(owner.url) as visitor:
        token = done["invitation"]["path"].partition("token=")[2]
        visitor.client.post("/join", data={"token": token, "password": "another horse"})
        visitor.csrf = visitor.ask("GET", "/api/v1/session").json()["csrf"]
        yield visitor


def asked(visitor: Visitor, conversation: str) -> Any:
    return visitor.ask("POST", f"{API}/sessions", {"conversationId": conversation})


def dial(visitor: Visitor, path: str, **headers: str) -> ClientConnection:
    """A line as a browser opens it."""
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items())
    given = {"Origin": visitor.url, "Cookie": cookies, **{n.replace("_", "-"): v for n, v in headers.items()}}
    origin = given.pop("Origin")
    address = visitor.url.replace("http", "ws") + path
    return connect(address, additional_headers=given, origin=Origin(origin) if origin else None, compression=None)


def opened(visitor: Visitor, conversation: str, query: str = "?columns=100&rows=30") -> ClientConnection:
    done = asked(visitor, conversation)
    assert done.status_code == 201, done.text
    return dial(visitor, done.json()["line"] + query)


def until(line: ClientConnection, word: str) -> str:
    """What the program shows up to a word; what was shown is said to be seen."""
    seen = b""
    while word.encode() not in seen:
        message = line.recv(timeout=60)
        assert isinstance(message, bytes), message
        seen += message
        line.send(json.dumps({"type": "seen", "bytes": len(message)}))
    return seen.decode()


def over(line: ClientConnection) -> dict[str, Any]:
    """What the line says at last."""
    while True:
        message = line.recv(timeout=60)
        if isinstance(message, str) and (told := json.loads(message))["type"] == "over":
            with pytest.raises(ConnectionClosed):
                line.recv(timeout=60)
            return told


def test_who_may_open_a_terminal(owner: Visitor) -> None:
    for role, may in (("owner", True), ("admin", True), ("user", False), ("guest", False)):
        with joined(owner, role) if role != "owner" else joined(owner, "admin") as somebody:
            visitor = owner if role == "owner" else somebody
            assert visitor.ask("GET", f"{API}/access").json() == {"terminal": may, "settings": may}
            if role != "guest":
                assert asked(visitor, visitor.conversation()).status_code == (201 if may else 403)


def test_without_the_right_no_terminal_and_of_another_persons_conversation_none_is_there(
    owner: Visitor, admin: Visitor
) -> None:
    conversation = owner.conversation()
    done = asked(admin, conversation)
    assert (done.status_code, done.json()["code"]) == (404, "not_found")
    for other in ("x" * 26, "../..", ""):
        assert asked(admin, other).status_code == 404
    with joined(owner, "user") as member:
        done = asked(member, conversation)
        assert (done.status_code, done.json()["code"]) == (403, "not_allowed")
        with pytest.raises(InvalidStatus, match="403"):
            dial(member, asked(owner, conversation).json()["line"])


def test_a_line_is_opened_by_our_pages_alone_and_a_ticket_once(owner: Visitor, admin: Visitor) -> None:
    conversation = owner.conversation()
    path = asked(owner, conversation).json()["line"]
    other_name = owner.url.replace("127.0.0.1", "localhost")
    for headers in ({"Origin": each} for each in ("http://evil.example", "null", "", other_name)):
        with pytest.raises(InvalidStatus, match="403"):
            dial(owner, path, **headers)
    with pytest.raises(InvalidStatus, match="403"):
        dial(owner, path, Cookie="")
    address = ("127.0.0.1", int(owner.url.rpartition(":")[2]))
    cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in owner.client.cookies.items())}
    with pytest.raises(InvalidStatus, match="403"):
        connect(
            f"ws://evil.example{path}", address=address, origin=Origin("http://evil.example"),
            additional_headers=cookies,
        )  # fmt: skip
    with pytest.raises(InvalidStatus, match="403"):
        dial(admin, path)
    with dial(owner, path) as line:
        until(line, "double")
    for used in (path, f"{API}/terminal/none", "/api/v1/other"):
        with pytest.raises(InvalidStatus, match="403"):
            dial(owner, used)


def test_the_program_works_in_the_first_folder_without_our_keys_and_sees_nobody_elses(
    owner: Visitor, world: tuple[Serving, Path]
) -> None:
    _, base = world
    first, second = base / "first", base / "second"
    first.mkdir()
    second.mkdir()
    conversation, other = owner.conversation(), owner.conversation()
    folders = [{"name": "", "path": str(first)}, {"name": "", "path": str(second)}]
    done = owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"folders": folders})
    assert done.status_code == 200, done.text
    foreign = owner.ask("GET", f"/api/v1/conversations/{other}").json()["folders"][0]["path"]
    Path(foreign, "canary").write_text("cage seven")
    database = base / "data" / "maia.db"
    assert database.exists()
    with opened(owner, conversation) as line:
        assert f"in {first}" in until(line, str(first))
        line.send(b"env\n")
        env = dict(each.split("=", 1) for each in until(line, "XDG_STATE_HOME").split("\r\n") if "=" in each)
        assert not set(KEYS) & set(env)
        assert not [name for name, value in env.items() if "not-a-key" in value or name.startswith("MAIA_DATA")]
        assert (env["TERM"], env["COLORTERM"], "NO_COLOR" in env) == ("xterm-256color", "truecolor", False)
        for place, answer in ((first / "a", "touched"), (second / "b", "touched")):
            line.send(f"touch {place}\n".encode())
            until(line, answer)
        for place in (f"{foreign}/canary", database, base / "data" / "home" / ".maia" / "keys"):
            line.send(f"cat {place}\n".encode())
            assert "cage seven" not in until(line, "refused")
    assert (first / "a").read_text() == (second / "b").read_text() == "made\n"


def test_left_out_folders_are_named_and_without_any_it_opens_in_the_workspace(
    owner: Visitor, world: tuple[Serving, Path]
) -> None:
    gone = world[1] / "gone"
    gone.mkdir()
    conversation = owner.conversation()
    own = owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["folders"][0]["path"]
    owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"folders": [{"name": "", "path": str(gone)}]})
    gone.rmdir()
    done = asked(owner, conversation).json()
    assert done["folder"] == own
    assert [each["path"] for each in done["leftOut"]] == [str(gone)]
    assert done["leftOut"][0]["message"]


def test_size_keys_and_a_long_paste_arrive(owner: Visitor) -> None:
    with opened(owner, owner.conversation()) as line:
        line.send(b"size\n")
        until(line, "100x30")
        line.send(json.dumps({"type": "resize", "columns": 47, "rows": 9999}))
        line.send(b"size\n")
        until(line, "47x300")
        line.send(json.dumps({"type": "ping"}))
        line.send("héé 日本\n".encode())
        until(line, "<héé 日本>")
        for _ in range(40):
            line.send(b"y" * 60 + b"\n")
        until(line, "<" + "y" * 60 + ">")


def test_what_none_of_our_pages_says_ends_the_line(owner: Visitor) -> None:
    with opened(owner, owner.conversation()) as line:
        line.send('{"type":"kill"}')
        assert over(line)["why"] == "malformed"


def test_output_that_is_not_taken_stops_the_program_and_goes_on_when_it_is(owner: Visitor) -> None:
    conversation = owner.conversation()
    with opened(owner, conversation) as line:
        until(line, "double")
        line.send(b"flood 5000\n")
        seen, quiet = b"", 0
        while not quiet or (len(seen) <= 200_000 and quiet < 30):
            try:
                message = line.recv(timeout=1)
                assert isinstance(message, bytes)
                seen += message
            except TimeoutError:
                quiet += 1
        assert 200_000 < len(seen) < 400_000
        line.send(json.dumps({"type": "seen", "bytes": 200_000}))
        until(line, "flooded")


def test_the_end_of_the_program_is_told_and_nothing_of_it_is_kept(owner: Visitor, world: tuple[Serving, Path]) -> None:
    conversation = owner.conversation()
    for code, words in ((0, "OpenCode has ended."), (3, "OpenCode ended with code 3.")):
        with opened(owner, conversation) as line:
            line.send(b"canary-in-the-terminal\n")
            until(line, "<canary")
            line.send(f"exit {code}\n".encode())
            told = over(line)
            assert (told["why"], told["message"]) == ("ended", words)
    seen = owner.ask("GET", f"/api/v1/conversations/{conversation}").json()
    assert "canary" not in json.dumps(seen)
    acts = owner.ask("GET", "/api/v1/audit?action=terminals").json()
    assert [each["action"] for each in acts["acts"]][:2] == ["terminals.opened"] * 2
    assert "canary" not in json.dumps(acts)
    with sqlite3.connect(world[1] / "data" / "maia.db") as database:
        assert b"canary-in-the" not in "\n".join(database.iterdump()).encode()


def test_a_second_page_is_told_and_takes_the_terminal_over(owner: Visitor, admin: Visitor) -> None:
    conversation, word = owner.conversation(), f"first-{os.getpid()}"
    with opened(owner, conversation) as first:
        first.send(f"sleep {word}\n".encode())
        until(first, "asleep")
        with opened(admin, admin.conversation()) as others:
            until(others, "double")
            done = asked(owner, conversation).json()
            assert done["isOpen"]
            with dial(owner, done["line"]) as second:
                assert over(first)["why"] == "taken"
                until(second, "double")
                assert living(word) == []
                others.send(b"still here\n")
                until(others, "<still here>")
    assert not asked(owner, owner.conversation()).json()["isOpen"]


def test_eight_terminals_run_at_once_and_no_more(owner: Visitor) -> None:
    early = asked(owner, owner.conversation()).json()["line"]
    with ExitStack() as open_ones:
        lines = [open_ones.enter_context(opened(owner, owner.conversation())) for _ in range(MOST)]
        for line in lines:
            until(line, "double")
        done = asked(owner, owner.conversation())
        assert (done.status_code, done.json()["code"]) == (409, "opencode_too_many")
        with dial(owner, early) as line:
            told = over(line)
            assert (told["why"], told["message"]) == ("failed", done.json()["message"])
        lines[0].close()
        while asked(owner, owner.conversation()).status_code != 201:
            time.sleep(0.05)


def test_leaving_ends_the_whole_tree(owner: Visitor) -> None:
    word = f"left-{os.getpid()}"
    with opened(owner, owner.conversation()) as line:
        line.send(f"sleep {word}\n".encode())
        until(line, "asleep")
    assert living(word) == []


@pytest.mark.parametrize("loss", ["another role", "archived"])
def test_who_loses_the_right_loses_the_terminal_at_once_and_is_told_why(owner: Visitor, loss: str) -> None:
    word = f"lost-{os.getpid()}"
    with joined(owner, "admin") as admin, opened(admin, admin.conversation()) as line:
        line.send(f"sleep {word}\n".encode())
        until(line, "asleep")
        path = f"/api/v1/users/{admin.ask('GET', '/api/v1/session').json()['id']}"
        done = owner.ask("DELETE", path) if loss == "archived" else owner.ask("PATCH", path, {"role": "user"})
        assert done.status_code == 200
        told = over(line)
        assert (told["why"], "no longer have the right" in told["message"]) == ("right", True)
        assert living(word) == []


def test_signing_out_ends_it_and_another_theme_does_not(owner: Visitor) -> None:
    conversation = owner.conversation()
    with opened(owner, conversation) as line:
        until(line, "double")
        owner.ask("PATCH", "/api/v1/session/preferences", {"theme": "dark"})
        line.send(b"on\n")
        until(line, "<on>")
        owner.ask("DELETE", "/api/v1/session")
        assert over(line)["why"] == "right"


def test_a_conversation_that_is_deleted_has_no_terminal_any_more(owner: Visitor) -> None:
    conversation = owner.conversation()
    own = asked(owner, conversation).json()["folder"]
    with opened(owner, conversation) as line:
        until(line, "double")
        owner.ask("DELETE", f"/api/v1/conversations/{conversation}")
        line.send(f"touch {own}/made\n".encode())
        assert over(line)["why"] == "right"
    assert not Path(own, "made").exists()


def test_a_program_that_is_missing_or_cannot_run_is_told_with_its_remedy(
    owner: Visitor, world: tuple[Serving, Path]
) -> None:
    conversation, program = owner.conversation(), world[1] / "bin" / "opencode"
    path = asked(owner, conversation).json()["line"]
    program.rename(program.with_name("away"))
    try:
        done = asked(owner, conversation)
        assert (done.status_code, done.json()["code"]) == (409, "absent")
        assert "opencode-ai" in done.json()["remedy"]
        with dial(owner, path) as line:
            told = over(line)
            assert (told["why"], "opencode-ai" in told["message"]) == ("failed", True)
        program.write_text("#!/nowhere/python\n")
        program.chmod(0o755)
        with opened(owner, conversation) as line:
            assert over(line)["why"] in ("failed", "ended")
    finally:
        program.with_name("away").rename(program)
    with opened(owner, conversation) as line:
        until(line, "double")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_terminals_end_with_the_server(tmp_path: Path, number: signal.Signals) -> None:
    word = f"server-{os.getpid()}"
    with serving(tmp_path / "data", PATH=stand_in(tmp_path / "bin")) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        with opened(visitor, visitor.conversation()) as line:
            line.send(f"sleep {word}\n".encode())
            until(line, "asleep")
            server.stop(number)
        assert living(word) == []
