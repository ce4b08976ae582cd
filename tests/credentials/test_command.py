from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from maia.app.keyground import words_of
from maia.app.keys import keys
from maia.core.errors import UsageProblem
from maia.credentials.prefixes import mask
from maia.credentials.problems import Problem
from maia.i18n.catalogue import Catalogue
from maia.terminal.options import parse
from tests.credentials.made import ANTHROPIC, MINIMAX, ZAI, fake, settings_file
from tests.e2e.program import Place, Ran

ALL = (MINIMAX, ZAI, ANTHROPIC)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, {"MAIA_KEYRING": "off"})


def no_key_in(ran: Ran, *tokens: str) -> None:
    for token in tokens or ALL:
        assert token not in ran.out + ran.err
        assert token[-12:] not in ran.out + ran.err


def everything_under(folder: Path) -> str:
    return "".join(p.read_text("utf-8", "replace") for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


# explain --------------------------------------------------------------------------------------------------------------


def test_a_key_on_standard_input_is_explained_as_data(place: Place) -> None:
    ran = place.run("keys", "explain", "--json", stdin=MINIMAX, MAIA_LANG="en")
    home = place.home / ".overmind/hermes/agent_central/.hermes"
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {
        "provider": "minimax-cn",
        "confidence": "exact",
        "region": "cn",
        "host": "api.minimaxi.com",
        "baseUrl": "https://api.minimaxi.com/anthropic",
        "envVars": [
            "MINIMAX_CN_API_KEY",
            "MINIMAX_CN_BASE_URL",
            "ANTHROPIC_MODEL",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_PROVIDER",
            "ANTHROPIC_BASE_URL",
        ],
        "warnings": [],
        "error": None,
        "decidedBy": "usual",
        "source": None,
        "token": f"sk-cp-…({len(MINIMAX)})",
        "rule": "sk-cp-",
        "signals": [{"signal": "token", "origin": "stdin", "value": f"sk-cp-…({len(MINIMAX)})", "provider": "minimax"}],
        "files": [str(home / ".env"), str(home / "auth.json")],
        "agentHome": [],
    }
    no_key_in(ran)


def test_a_variables_name_is_looked_up(place: Place) -> None:
    ran = place.run("keys", "explain", "GLM_API_KEY", "--json", GLM_API_KEY=ZAI, MINIMAX_API_KEY=MINIMAX)
    assert (ran.json["provider"], ran.json["source"], ran.json["error"]) == ("zai", "GLM_API_KEY", None)
    no_key_in(ran)


def test_a_settings_file_is_looked_through(place: Place) -> None:
    path = settings_file(place.folder, {"ANTHROPIC_AUTH_TOKEN": "$TOK", "ANTHROPIC_BASE_URL": "https://api.z.ai/x"})
    ran = place.run("keys", "explain", "--settings", str(path), "--json", TOK=MINIMAX, MAIA_LANG="en")
    error = ran.json["error"]
    assert (ran.code, error["code"], ran.json["host"]) == (1, "TOKEN_URL_CONFLICT", None)
    assert error["message"].startswith("The key is of minimax, but api.z.ai is a host of zai")
    assert [row["code"] for row in ran.json["warnings"]] == ["TOKEN_URL_CONFLICT"]
    no_key_in(ran)


def test_a_silent_pipe_beside_a_settings_file_is_not_waited_for(place: Place) -> None:
    path = settings_file(place.folder, {"ANTHROPIC_AUTH_TOKEN": MINIMAX})
    read, write = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "maia", "keys", "explain", "--settings", str(path), "--json"],
            cwd=place.folder,
            env=place.environment(),
            stdin=read,
            capture_output=True,
            timeout=30,
        )
    finally:
        os.close(read)
        os.close(write)
    assert json.loads(done.stdout)["provider"] == "minimax-cn"


def test_options_are_signals(place: Place) -> None:
    there = place.run("keys", "explain", "--json", "--base-url", "https://api.minimax.io/anthropic", stdin=MINIMAX)
    hinted = place.run("keys", "explain", "--json", "--hint", "mistral", stdin="FAKE-opaque-token-1")
    assert (there.json["provider"], hinted.json["provider"]) == ("minimax", "mistral")
    assert there.json["signals"][1]["origin"] == "--base-url"


@pytest.mark.parametrize(
    ("stdin", "code"),
    [("", "EMPTY_TOKEN"), ("***", "MASKED_TOKEN"), ("$X", "MISSING_ENV_VAR"), ("FAKE-1", "UNKNOWN_PROVIDER")],
)
def test_what_is_wrong_is_an_error_with_words(stdin: str, code: str, place: Place) -> None:
    ran = place.run("keys", "explain", "--json", stdin=stdin)
    assert (ran.code, ran.json["error"]["code"]) == (1, code)
    assert len(ran.json["error"]["message"]) > 10
    assert "FAIL" in place.run("keys", "explain", stdin=stdin).out


def test_no_key_at_all_has_its_own_exit_code(place: Place) -> None:
    path = settings_file(place.folder, {"ANTHROPIC_MODEL": "m"})
    assert place.run("keys", "explain", "--settings", str(path), "--json").code == 3
    assert place.run("keys", "list").code == 3


@pytest.mark.parametrize("word", [*ALL, "AKIA" + "FAKE" * 4, "sk-x", "a/b", "A" * 200], ids=range(7))
def test_a_key_as_an_argument_is_refused_and_not_repeated(word: str, place: Place) -> None:
    for action in ("explain", "set", "check", "remove"):
        ran = place.run("keys", action, word, stdin="x")
        assert ran.code == 2
        assert word not in ran.out + ran.err


def test_a_person_reads_signals_winner_and_files(place: Place) -> None:
    ran = place.run(
        "keys", "explain", "MINIMAX_API_KEY", MINIMAX_API_KEY=MINIMAX, ANTHROPIC_PROVIDER="zai", MAIA_LANG="en"
    )
    assert "the hint (ANTHROPIC_PROVIDER): zai → zai" in ran.out
    assert "Provider: minimax-cn, confidence exact" in ran.out
    assert "WARN  The hint says zai, but it is minimax-cn" in ran.out
    assert "agent_central" in ran.out
    no_key_in(ran)


def test_a_key_typed_at_a_terminal_is_not_shown_and_is_tried_at_once(place: Place, refusing: str) -> None:
    main, child = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "maia", "keys", "set", "--base-url", refusing],
        cwd=place.folder,
        env=place.environment(),
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )
    os.close(child)
    seen = b""
    while b":" not in seen:
        seen += os.read(main, 1000)
    os.write(main, MINIMAX.encode() + b"\n")
    try:
        while chunk := os.read(main, 1000):
            seen += chunk
    except OSError:
        pass
    os.close(main)
    assert program.wait(30) == 0
    assert MINIMAX.encode() not in seen
    assert b"MINIMAX_CN_API_KEY" in seen
    assert b"127.0.0.1: " in seen.split(b"MINIMAX_CN_API_KEY")[-1]


# list, set, remove ----------------------------------------------------------------------------------------------------


def test_found_keys_are_listed_masked_with_their_place(place: Place) -> None:
    place.run("keys", "set", "GLM_API_KEY", stdin=ZAI)
    ran = place.run("keys", "list", "--json", MINIMAX_API_KEY=MINIMAX, ANTHROPIC_API_KEY=ANTHROPIC)
    assert [(row["variable"], row["where"], row["provider"], row["token"]) for row in json.loads(ran.out)] == [
        ("ANTHROPIC_API_KEY", "environment", "anthropic", mask(ANTHROPIC)),
        ("MINIMAX_API_KEY", "environment", "minimax-cn", mask(MINIMAX)),
        ("GLM_API_KEY", "keys", "zai", mask(ZAI)),
    ]
    no_key_in(ran)
    no_key_in(place.run("keys", "list", MINIMAX_API_KEY=MINIMAX))


def test_keys_in_the_settings_are_listed_with_their_server(place: Place) -> None:
    server = {"name": "work", "format": "openai-chat", "url": "https://llm.example.org/v1", "key": ZAI}
    place.settings(LiteLLM_URL="http://127.0.0.1:9", LiteLLM_API_Key=ANTHROPIC, endpoints=[server])
    ran = place.run("keys", "list", "--json")
    assert [(row["variable"], row["where"], row["provider"]) for row in json.loads(ran.out)] == [
        ("LiteLLM_API_Key", "settings.json", "litellm"),
        ("endpoints.work", "settings.json", "work"),
    ]
    no_key_in(ran)
    no_key_in(place.run("keys", "list"))


@pytest.mark.parametrize(("lang", "word"), [("fr", "environnement"), ("en", "environment")])
def test_where_a_key_was_is_said_in_the_readers_language(place: Place, lang: str, word: str) -> None:
    listed = place.run("keys", "list", MINIMAX_API_KEY=MINIMAX, MAIA_LANG=lang)
    missing = place.run("keys", "explain", "GLM_API_KEY", MAIA_LANG=lang)
    assert [word in listed.out, f"({word})" in missing.out + missing.err] == [True, True]


def test_a_pasted_key_is_kept_under_its_providers_variable(place: Place) -> None:
    ran = place.run("keys", "set", stdin=f"{ZAI}\n", MAIA_LANG="en")
    assert ran.out.startswith(f"GLM_API_KEY: the key …({len(ZAI)}) is kept in an encrypted file")
    seen = place.run("keys", "explain", "GLM_API_KEY", "--json").json
    assert (seen["provider"], seen["error"]) == ("zai", None)
    no_key_in(ran)
    assert ZAI not in everything_under(place.home)


def test_a_key_of_nobody_needs_a_name(place: Place) -> None:
    assert place.run("keys", "set", stdin="FAKE-opaque-token-1").code == 1
    assert place.run("keys", "set", "MISTRAL_API_KEY", stdin="FAKE-opaque-token-1").code == 0


def test_a_kept_key_reaches_the_model_servers_and_is_forgotten_again(place: Place) -> None:
    place.run("keys", "set", "OPENAI_API_KEY", stdin=fake("sk-proj-", 100))
    ran = place.run("doctor", "--json", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert "openai" in ran.out
    no_key_in(ran, fake("sk-proj-", 100))
    assert place.run("keys", "remove", "OPENAI_API_KEY").code == 0
    assert place.run("keys", "remove", "OPENAI_API_KEY").code == 2
    assert place.run("keys", "list").code == 3


# check ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def refusing() -> Iterator[str]:
    """A server that answers 401 and repeats the key in its words."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"error": {"message": f"bad key {self.headers.get('Authorization')}"}}).encode()
            self.send_response(401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/v1"
        http.shutdown()


def test_a_refused_key_is_told_without_being_repeated(refusing: str, place: Place) -> None:
    ran = place.run("keys", "check", "-", "--json", "--base-url", refusing, stdin=fake("sk-proj-", 100))
    assert (ran.code, ran.json["ok"], ran.json["failure"], ran.json["status"]) == (1, False, "auth", 401)
    no_key_in(ran, fake("sk-proj-", 100))


def test_a_key_that_is_accepted_tells_the_models(place: Place) -> None:
    from tests.fakes import fake_llm

    with fake_llm("text") as llm:
        ran = place.run("keys", "check", "-", "--json", "--base-url", llm.openai_url, stdin=fake("sk-proj-", 100))
    assert (ran.code, ran.json["ok"], ran.json["models"], ran.json["provider"]) == (0, True, 1, "openai")


def test_a_key_that_may_go_nowhere_is_not_tried(place: Place) -> None:
    ran = place.run("keys", "check", "-", "--base-url", "https://api.z.ai/x", stdin=MINIMAX, MAIA_LANG="en")
    assert (ran.code, "api.z.ai is a host of zai" in ran.err) == (1, True)


# hermes, migrate ------------------------------------------------------------------------------------------------------


def test_a_dry_run_shows_masked_what_would_change_and_writes_nothing(place: Place) -> None:
    path = settings_file(
        place.folder, {"ANTHROPIC_AUTH_TOKEN": MINIMAX, "ANTHROPIC_MODEL": "MiniMax-M3"}, "settings_bob.json"
    )
    ran = place.run("keys", "hermes", "--settings", str(path), "--dry-run")
    assert f"+ANTHROPIC_AUTH_TOKEN=sk-cp-…({len(MINIMAX)})" in ran.out
    assert (ran.code, (place.home / ".overmind").exists()) == (0, False)
    no_key_in(ran)
    ran = place.run("keys", "hermes", "--settings", str(path))
    home = place.home / ".overmind/hermes/agent_bob/.hermes"
    assert (ran.code, f"MINIMAX_CN_API_KEY={MINIMAX}" in (home / ".env").read_text()) == (0, True)
    no_key_in(ran)


def test_what_was_written_is_no_signal_when_the_settings_change(place: Place) -> None:
    for token, url in ((MINIMAX, "https://api.minimax.io/anthropic"), (ZAI, "https://api.z.ai/api/paas/v4")):
        path = settings_file(place.folder, {"ANTHROPIC_AUTH_TOKEN": token, "ANTHROPIC_BASE_URL": url})
        assert place.run("keys", "hermes", "--settings", str(path)).code == 0
    path = settings_file(place.folder, {"ANTHROPIC_AUTH_TOKEN": MINIMAX})
    assert place.run("keys", "hermes", "--settings", str(path)).code == 0


def test_a_conflict_and_a_bad_name_write_nothing(place: Place) -> None:
    path = settings_file(place.folder, {"ANTHROPIC_AUTH_TOKEN": MINIMAX, "ANTHROPIC_BASE_URL": "https://api.z.ai"})
    assert place.run("keys", "hermes", "--settings", str(path)).code == 1
    assert place.run("keys", "hermes", "../../x", MINIMAX_API_KEY=MINIMAX).code == 1
    assert not (place.home / ".overmind").exists()


def test_migrating_is_shown_then_done_then_nothing(place: Place) -> None:
    old = place.folder / ".overmind/hermes/agent_a/.hermes"
    old.mkdir(parents=True)
    (old / ".env").write_text("A=1\n")
    assert json.loads(place.run("keys", "migrate", "--dry-run", "--json").out)[0]["files"] == [".env"]
    assert old.exists()
    assert place.run("keys", "migrate").code == 0
    assert (place.home / ".overmind/hermes/agent_a/.hermes/.env").read_text() == "A=1\n"
    assert (place.run("keys", "migrate").code, place.run("keys", "migrate", "x").code) == (0, 2)


# Words ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["what"], ["explain", "A", "B"], ["list", "A"], ["remove"], ["migrate", "x"]])
def test_wrong_words_say_how_the_command_is_written(words: list[str], say: Catalogue) -> None:
    with pytest.raises(UsageProblem) as problem:
        keys(parse(["keys", *words]), say)
    assert problem.value.key == "cli.wrong_words"


def test_a_settings_problem_says_its_reason_in_words(say: Catalogue) -> None:
    reasons = ("missing", "env", "text", "json", "dangling", "unreadable", "not_a_file", "too_big", "not_utf8")
    for reason in (*reasons, "not_an_object"):
        problem = Problem("BAD_SETTINGS", "fail", {"where": "f:1:2", "reason": reason})
        assert words_of(problem, say).startswith("f:1:2")
