"""The commands for scripts, to the letter of decisions §11: fields, exit codes, standard input, what goes to stderr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Place
from tests.fakes import fake_llm


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def rule_file(path: Path, **permissions: Any) -> str:
    path.write_text(json.dumps({"permissions": permissions}), "utf-8")
    return str(path)


# maia permissions check ---------------------------------------------------------------------------------------------


def test_a_check_answers_verdict_rule_reason_and_parts(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash(ls *)"], "deny": ["Bash(rm *)"]})
    ran = place.run("permissions", "check", "Bash", "ls; rm x", "--json")
    assert ran.code == 0
    assert list(ran.json) == ["verdict", "rule", "reason", "parts"]
    assert (ran.json["verdict"], ran.json["rule"]) == ("deny", "Bash(rm *)")
    assert [part["verdict"] for part in ran.json["parts"]] == ["allow", "deny"]


def test_a_value_may_come_from_standard_input(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash(ls *)"]})
    assert place.run("permissions", "check", "Bash", "-", "--json", stdin="ls -l").json["verdict"] == "allow"
    assert place.run("permissions", "check", "Bash", "-", "--json", stdin="rm x").json["verdict"] == "ask"


@pytest.mark.parametrize(
    "words",
    [
        ("check", "Bash", "ls && rm x", "--settings", "A", "B"),
        ("check", "Bash", "ls && rm x", "--settings", "A", "--settings", "B"),
        ("check", "--settings", "A", "--settings", "B", "Bash", "ls && rm x"),
    ],
    ids=["two words", "twice", "before the value"],
)
def test_several_settings_files_add_up(place: Place, words: tuple[str, ...]) -> None:
    files = {
        "A": rule_file(place.base / "a.json", allow=["Bash(ls *)"]),
        "B": rule_file(place.base / "b.json", deny=["Bash(rm *)"]),
    }
    ran = place.run("permissions", *(files.get(word, word) for word in words), "--json")
    assert (ran.code, ran.json["rule"]) == (0, "Bash(rm *)")


def test_words_after_the_value_are_files_only_beside_settings(place: Place) -> None:
    assert place.run("permissions", "check", "Bash", "ls", "more").code == 2


def test_a_check_may_be_of_another_folder(place: Place) -> None:
    place.settings(permissions={"allow": [f"Read({place.folder}/**)"]})
    there = place.base / "there"
    there.mkdir()
    assert place.run("permissions", "check", "Read", "x", "--json").json["verdict"] == "allow"
    assert place.run("permissions", "check", "Read", "x", "--cwd", str(there), "--json").json["verdict"] == "ask"
    ran = place.run("permissions", "check", "Read", "x", "--cwd", "nowhere")
    assert (ran.code, "This is no folder: nowhere" in ran.err) == (2, True)


# maia tokens, models, doctor ----------------------------------------------------------------------------------------


def test_tokens_of_standard_input_are_counted(place: Place) -> None:
    assert place.run("tokens", stdin="hello world").out == "2\n"
    assert place.run("tokens", "--json", stdin="bonjour à tous").json == {"tokens": 3, "encoding": "o200k_base"}
    assert place.run("tokens", stdin=b"\xff\x00").code == 0


def test_models_are_rows_and_what_is_wrong_is_told_aside(place: Place) -> None:
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, permissions={"allow": ["Bash(ls"]})
        ran = place.run("models", "--json")
    assert ran.code == 0
    assert [(row["id"], row["provider"]) for row in ran.json] == [("fake-model", "litellm"), ("offline", "offline")]
    assert set(ran.json[0]) >= {"contextWindow", "contextWindowSource", "maxOutputTokens", "efforts", "images", "price"}
    assert "Bash(ls" in ran.err


def checks(place: Place, *, code: int, **env: str) -> dict[str, dict[str, Any]]:
    """The rows of the doctor by what they are about, the last one of each."""
    ran = place.run("doctor", "--json", **env)
    assert ran.code == code, ran.out
    assert all({"endpoint", "check", "state", "reason", "values", "seconds", "words"} == set(row) for row in ran.json)
    return {row["check"]: row for row in ran.json}


def test_the_doctor_looks_at_settings_wall_and_server(place: Place) -> None:
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, sandbox="off")
        rows = checks(place, code=0)
    assert [*rows] == ["settings", "sandbox", "address", "key", "models", "stream", "tools", "window", "runtime"]
    assert [rows[name]["state"] for name in ("settings", "sandbox", "address", "stream")] == ["ok", "warn", "ok", "ok"]


def test_the_doctor_says_that_nothing_is_configured_and_what_to_do(place: Place) -> None:
    row = checks(place, code=3)["configured"]
    assert (row["state"], "LiteLLM_URL" in row["words"]) == ("fail", True)
    ran = place.run("doctor", "--lang", "fr")
    assert (ran.code, "Aucun modèle n'est configuré" in ran.out) == (3, True)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"LiteLLM_URL": "not a url"}, "LiteLLM_URL"),
        ({"LiteLLM_URl": "http://127.0.0.1:9"}, "LiteLLM_URl"),
        ({"permissions": {"allow": ["Bash(ls"]}}, "Bash(ls"),
    ],
    ids=["address", "key", "rule"],
)
def test_the_doctor_names_what_is_wrong_in_the_settings(place: Place, settings: dict[str, Any], named: str) -> None:
    place.settings(**settings)
    row = checks(place, code=3)["settings"]
    assert (row["state"], named in row["words"]) == ("warn", True)


def test_a_server_that_fails_its_checks_gives_the_exit_code_1(place: Place) -> None:
    place.settings(LiteLLM_URL="http://127.0.0.1:9")
    assert checks(place, code=1)["address"]["state"] == "fail"


def test_the_doctors_findings_stand_in_columns_in_the_readers_language_with_why_and_what_to_do(place: Place) -> None:
    place.settings(LiteLLM_URL="http://127.0.0.1:9")
    rows = place.run("doctor", "--lang", "fr").out.splitlines()
    failed = next(row for row in rows if row.startswith("FAIL"))
    assert failed.startswith("FAIL  litellm adresse")
    for words in ("Impossible de joindre 127.0.0.1:9.", "connexion refusée", "→ "):
        assert words in failed
    column = failed.index("Impossible")
    assert all(row[column - 1] == " " and row[column] != " " for row in rows)


# maia sessions ------------------------------------------------------------------------------------------------------


def test_no_sessions_are_said_to_be_none_beside_an_empty_list(place: Place) -> None:
    ran = place.run("sessions", "list", "--lang", "fr")
    assert (ran.code, ran.out, ran.err) == (0, "", "Aucune session n'est enregistrée dans ce dossier.\n")
    assert place.run("sessions", "list", "--json").json == []


def test_sessions_are_listed_shown_and_exported(place: Place) -> None:
    assert place.run("sessions", "list", "--json").json == []
    with fake_llm(text="Hello.") as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        name = place.run("-p", "one", "--output-format", "json").json["session"]
    (row,) = place.run("sessions", "list", "--json").json
    assert (set(row), row["name"], row["title"]) == ({"name", "modified", "tokens", "title", "path"}, name, "one")
    assert place.run("sessions", "list").out.startswith(name)
    assert "Hello." in place.run("sessions", "show", name).out
    events = place.run("sessions", "show", name, "--json").events
    assert [event["type"] for event in events][-1] == "TurnEnded"
    written = Path(place.run("sessions", "export", name, "talk.md").out.strip())
    assert (written, "Hello." in written.read_text("utf-8")) == (place.folder / "talk.md", True)


@pytest.mark.parametrize("action", ["show", "export"])
def test_an_unknown_session_is_told_with_what_there_is(place: Place, action: str) -> None:
    ran = place.run("sessions", action, "sesion_1")
    assert (ran.code, "There is no session sesion_1." in ran.err, "nearest" in ran.err) == (1, True, False)
    sessions = place.folder / ".maia" / ".sessions"
    (sessions / "session_1.jsonl").write_text("", "utf-8")
    assert "The nearest: session_1" in place.run("sessions", action, "sesion_1").err


def test_every_command_and_option_is_in_the_help(place: Place) -> None:
    for lang in ("en", "fr"):
        out = place.run("--help", "--lang", lang).out
        for word in (
            "permissions check",
            "sessions list",
            "models",
            "doctor",
            "tokens",
            "--max-iterations",
            "--add-dir",
        ):
            assert word in out
