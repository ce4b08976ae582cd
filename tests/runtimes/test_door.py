from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from maia.app.runtimes import guard_keys, without_blocked
from maia.core.errors import UsageProblem
from maia.runtimes.probe import is_older
from maia.runtimes.programs import BY_NAME
from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.e2e.program import Place, Ran
from tests.e2e.test_interactive import answer, send
from tests.e2e.test_interactive import maia as terminal
from tests.runtimes.doubles import AGENT
from tests.terminal.live.tmux import needs_tmux

PYTHON = Path(sys.executable).resolve()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    if find_wall("auto", Places(tmp_path, tmp_path)).wall is None:
        pytest.skip("no wall works here")
    return Place(tmp_path)


def install(place: Place, scenario: str, command: str = "qwen", version: str = "9.8.7") -> None:
    """The scripted program in the place of a real one on the PATH."""
    folder = place.base / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / command
    says = f'[ "$1" = --version ] && echo "qwen {version}" && exit'
    program.write_text(f"#!/bin/sh\n{says}\nexec {PYTHON} {AGENT} acp {scenario}\n", "utf-8")
    program.chmod(0o755)
    place.env["PATH"] = f"{folder}:{os.environ['PATH']}"


def maia(place: Place, scenario: str, *words: str) -> Ran:
    """maia as a process."""
    install(place, scenario)
    return place.run(*words)


def test_a_program_answers_headless_like_a_model(place: Place) -> None:
    ran = maia(place, "tool", "--runtime", "qwen", "-p", "Do it", "--output-format", "json", "--allow", "Bash")
    assert (ran.code, ran.json["text"], ran.json["provider"]) == (0, "The answer is 42.", "qwen"), ran.err
    assert (ran.json["toolCalls"], ran.json["cost"]) == (1, {"usd": 0.5, "source": "reported"})


def test_what_no_rule_allows_is_refused_where_nobody_can_be_asked(place: Place) -> None:
    ran = maia(place, "denied", "--runtime", "qwen", "-p", "Do it", "--output-format", "stream-json")
    assert [event["status"] for event in ran.of("ToolCallFinished")] == ["refused"]
    assert not (place.folder / "proof.txt").exists()


def test_a_session_goes_on_with_a_model_or_a_program(place: Place) -> None:
    maia(place, "text", "--runtime", "qwen", "-p", "Remember the word lemon")
    ran = maia(place, "resumed", "--runtime", "qwen", "--continue", "-p", "Which word?", "--output-format", "json")
    assert "Remember the word lemon" in ran.json["text"], (ran.json, ran.err)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--runtime", "qwenn"), 2, "qwen"),
        (("--runtime", "gemini"), 3, "npm install"),
    ],
)
def test_a_program_that_is_not_there_is_told(place: Place, words: tuple[str, ...], code: int, said: str) -> None:
    place.env["PATH"] = "/usr/bin:/bin"
    ran = place.run(*words, "-p", "hi", "--lang", "en")
    assert ran.code == code
    assert said in ran.err


def test_doctor_tells_version_and_access_of_what_is_there(place: Place) -> None:
    rows = json.loads(maia(place, "text", "doctor", "--json", "--lang", "en").out)
    mine = {row["check"]: row for row in rows if row["endpoint"] == "qwen"}
    assert (mine["runtime"]["state"], mine["runtime"]["values"]["version"]) == ("ok", "9.8.7")
    assert (mine["access"]["state"], mine["access"]["reason"]) == ("warn", "runtime.no_access")
    absent = next(row for row in rows if row["reason"] == "runtime.not_found")
    assert "kimi" in absent["values"]["names"]
    assert "qwen agent program" in maia(place, "text", "doctor", "--lang", "en").out


def test_doctor_tells_an_older_program_and_one_that_says_its_version_only_when_greeted(place: Place) -> None:
    install(place, "text", version="0.3.9")
    install(place, "text", "claude-agent-acp")
    rows = json.loads(place.run("doctor", "--json", "--lang", "en").out)
    found = {row["endpoint"]: row for row in rows if row["check"] == "runtime"}
    assert (found["qwen"]["state"], found["qwen"]["reason"]) == ("warn", "runtime.older")
    assert "npm install -g @qwen-code/qwen-code" in found["qwen"]["words"]
    assert (found["claude-acp"]["state"], found["claude-acp"]["values"]["version"]) == ("ok", "1.2.3")


def test_a_program_that_is_not_signed_in_says_how(place: Place) -> None:
    ran = maia(place, "auth", "--runtime", "qwen", "-p", "hi", "--lang", "en")
    said = " ".join(ran.err.split())
    assert ran.code == 1
    assert "it needs a key (OPENAI_API_KEY) or a sign-in in its own home" in said
    assert "sign in once with HOME=" in said


def test_of_several_keys_of_a_program_none_is_blamed(place: Place) -> None:
    install(place, "auth", "opencode")
    keys = {"ANTHROPIC_API_KEY": "sk-ant-api03-" + "FAKE" * 2, "OPENAI_API_KEY": "sk-proj-" + "FAKE" * 20}
    ran = place.run("--runtime", "opencode", "-p", "hi", "--output-format", "json", **keys)
    assert ran.json["failure"]["why"]["key"] == "runtime.not_signed_in"


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("0.23.9", "0.24.4", True),
        ("0.24.0", "0.24.4", False),
        ("1.0.0", "0.24.4", False),
        ("1.9.9", "2.1.332", True),
        ("2.0.1", "2.1.332", False),
        ("2", "2.1", False),
    ],
)
def test_only_an_older_series_counts_as_older(version: str, than: str, older: bool) -> None:
    assert is_older(version, than) is older


@needs_tmux
@pytest.mark.parametrize(("lang", "yes"), [("fr", "o"), ("en", "y")])
def test_in_the_terminal_a_person_answers_the_question_of_a_program(place: Place, lang: str, yes: str) -> None:
    install(place, "tool")
    with terminal(place, "--runtime", "qwen", MAIA_LANG=lang) as term:
        term.until({"fr": "Écrivez une demande", "en": "Write a request"}[lang])
        send(term, "Do it")
        term.until("echo hi > proof.txt")
        answer(term, yes)
        text = "\n".join(term.until("The answer is 42."))
        assert (place.folder / "proof.txt").read_text() == "hi\n"
        assert "I try." in text
        term.until({"fr": "Écrivez une demande", "en": "Write a request"}[lang])
        send(term, "/exit")
        term.until("code 0")


@needs_tmux
def test_what_a_program_asked_to_change_can_be_undone_and_done_again(place: Place) -> None:
    notes, made = place.folder / "notes.txt", place.folder / "made" / "more.txt"
    notes.write_text("old\n")
    install(place, "edits")
    with terminal(place, "--runtime", "qwen", "--allow", "Edit", "--allow", "Write") as term:
        term.until("Write a request")
        send(term, "Do it")
        term.until("The answer is 42.")
        assert (notes.read_text(), made.read_text()) == ("new\n", "more\n")
        term.until("Write a request")
        send(term, "/undo ")
        term.until("notes.txt")
        term.until(lambda _rows: notes.read_text() == "old\n" and not made.exists())
        send(term, "/redo ")
        term.until(lambda _rows: notes.read_text() == "new\n" and made.exists())
        send(term, "/diff ")
        term.until("+ 1 │ new")


def test_a_key_of_one_company_never_goes_to_the_host_of_another() -> None:
    key = "sk-ant-api03-" + "A" * 80 + "-" + "B" * 12 + "AA"
    guard_keys(BY_NAME["claude-code"], {"ANTHROPIC_API_KEY": key})
    with pytest.raises(UsageProblem) as caught:  # Codex would send it to api.openai.com
        guard_keys(BY_NAME["codex"], {"OPENAI_API_KEY": key})
    assert caught.value.values["host"] == "api.openai.com"
    guard_keys(BY_NAME["claude-code"], {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": "https://api.anthropic.com"})
    with pytest.raises(UsageProblem):
        guard_keys(BY_NAME["claude-code"], {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": "https://api.deepseek.com"})


def test_a_program_gets_a_key_of_openrouter_only_where_its_setting_allows_it() -> None:
    env = {"ANTHROPIC_API_KEY": "FAKE", "OPENROUTER_API_KEY": "sk-or-v1-" + "FAKE" * 16}
    kept, notices = without_blocked(BY_NAME["opencode"], env)
    assert kept == {"ANTHROPIC_API_KEY": "FAKE"}
    assert [(n.key, n.values["setting"]) for n in notices] == [
        ("keys.code.openrouter_blocked", "MAIA_ALLOW_OPENROUTER")
    ]
    allowed = env | {"MAIA_ALLOW_OPENROUTER": "1"}
    assert without_blocked(BY_NAME["opencode"], allowed) == (allowed, ())


def test_a_key_that_a_programs_server_refuses_is_explained_by_its_shape(place: Place) -> None:
    place.env |= {"OPENAI_API_KEY": "sk-proj-" + "FAKE" * 20, "OPENAI_BASE_URL": "https://gateway.example.org/v1"}
    ran = maia(place, "auth", "--runtime", "qwen", "-p", "hi", "--lang", "en", "--output-format", "json")
    assert (ran.code, ran.json["failure"]["kind"]) == (1, "auth")
    values = ran.json["failure"]["why"]["values"]
    assert (values["provider"], values["host"], values["own"]) == ("openai", "gateway.example.org", "api.openai.com")
    assert "FAKE" not in ran.out + ran.err
