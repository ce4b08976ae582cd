"""The real program at a real terminal: a person types, is asked, and sees what happened, in both languages."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.fakes import fake_llm
from tests.terminal.live.tmux import Term, needs_tmux

pytestmark = needs_tmux

HINT = {"fr": "Écrivez une demande", "en": "Write a request"}


@contextmanager
def maia(place: Place, *words: str, width: int = 100, height: int = 32, **env: str) -> Generator[Term]:
    """The real program inside tmux, ready when its hint is there."""
    term = Term(place.base / "tmux.sock")
    (place.base / "tmux.conf").write_text("set -g history-limit 60000\nset -g escape-time 0\nset -g status off\n")
    base = ["tmux", "-S", str(term.socket), "-f", str(place.base / "tmux.conf")]
    shown = {"PS1": "$ ", "COLORTERM": "truecolor", "MAIA_LANG": "en", **place.environment(**env)}
    shell = ["env", "-i", *(f"{k}={v}" for k, v in shown.items()), "bash", "--norc", "--noprofile"]
    size = ["-x", str(width), "-y", str(height)]
    subprocess.run([*base, "new-session", "-d", "-s", "t", *size, "-c", str(place.folder), *shell], check=True)
    try:
        term.until("$")
        line = " ".join(f"'{word}'" for word in ("-m", "maia", *words))
        term.type(f"{sys.executable} {line}; echo code $?")
        term.keys("Enter")
        yield term
    finally:
        subprocess.run(["tmux", "-S", str(term.socket), "kill-server"], check=False)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    return Place(tmp_path)


def answer(term: Term, *keys: str) -> None:
    """Press keys as a person does who has read the question: what comes right as it appears is not taken for one."""
    time.sleep(0.6)
    term.keys(*keys)


def send(term: Term, text: str) -> None:
    term.type(text)
    term.keys("Enter")


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_stranger_with_nothing_configured_reaches_a_working_prompt(place: Place, lang: str) -> None:
    (place.folder / "README.md").write_text("# The demo project\n\nIt makes tea.\n")
    with maia(place, MAIA_LANG=lang) as term:
        text = "\n".join(term.until({"fr": "Aucun modèle n'est configuré", "en": "No model is configured"}[lang]))
        assert {"fr": "Dossier de travail :", "en": "Working folder:"}[lang] in text
        term.until({"fr": "Coller une clé", "en": "Paste a key?"}[lang])
        answer(term, "n")
        term.until(HINT[lang])
        send(term, {"fr": "lis README.md", "en": "read README.md"}[lang])
        term.until({"fr": "Lire README.md", "en": "Read README.md"}[lang])
        answer(term, {"fr": "o", "en": "y"}[lang])
        term.until("It makes tea.")
        term.until(HINT[lang])
        send(term, "/exit")
        term.until("code 0")


def test_a_session_that_is_not_there_ends_the_start_with_words_and_a_code(place: Place) -> None:
    with maia(place, "--model", "offline", "--resume", "nope") as term:
        rows = term.until("code 1")
        assert "There is no session nope." in "\n".join(rows)
        assert "┈" not in "\n".join(rows)


def test_a_server_that_comes_up_after_the_start_answers_the_next_request(place: Place) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    place.settings(LiteLLM_URL=f"http://127.0.0.1:{port}")
    with maia(place) as term:
        term.until("connection refused")
        term.until(HINT["en"])
        send(term, "hi")
        rows = term.until(lambda rows: sum("connection refused" in row for row in rows) == 2)
        assert rows[-3] == "▹▹▹▹▹ hi", "what was asked stands ready to be sent again"
        assert place.run("-p", "hello", "--model", "offline").code == 0, "it is always there"
        with fake_llm("text", text="Here I am.", port=port):
            term.keys("Enter")
            term.until("Here I am.")


def test_the_way_back_is_told_only_where_there_is_something_to_come_back_to(place: Place) -> None:
    with maia(place, "--model", "offline") as term:
        term.until(HINT["en"])
        send(term, "/cost ")
        term.until("No model has answered")
        term.keys("C-d")
        assert "--resume" not in "\n".join(term.until("code 0"))


def test_offline_can_be_chosen_while_the_server_is_down(place: Place) -> None:
    place.settings(LiteLLM_URL="http://127.0.0.1:9")
    with maia(place) as term:
        term.until("connection refused")
        term.until(HINT["en"])
        send(term, "/model offline ")
        term.until("Model: offline")
        send(term, "hello")
        term.until("built into maia")


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_always_saves_the_rule_and_the_next_call_does_not_ask(place: Place, lang: str) -> None:
    with fake_llm(
        "tool", text="Done it.", tool_args=json.dumps({"command": "echo hello > out.txt; cat out.txt"})
    ) as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model", permissions={"allow": ["Redirect(out.txt)"]})
        with maia(place, MAIA_LANG=lang) as term:
            term.until(HINT[lang])
            send(term, "go")
            term.until({"fr": "Oui, toujours : allow Bash(", "en": "Yes, always: allow Bash("}[lang])
            answer(term, "Down", "Down", "Enter")
            term.until("Done it.")
            saved = json.loads((place.folder / ".maia" / "settings.json").read_text("utf-8"))
            assert saved["permissions"]["allow"]
            send(term, "/new")
            term.until(HINT[lang])
            send(term, "go again")
            term.until(lambda rows: "\n".join(rows).count("Done it.") >= 1 and "ASK" not in "\n".join(rows))
            send(term, "/exit")
            term.until("code 0")
    assert (place.folder / "out.txt").read_text() == "hello\n"


def test_a_no_with_a_reason_reaches_the_model(place: Place) -> None:
    with fake_llm("tool", tool_args=json.dumps({"command": "touch made"})) as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "go")
            term.until("Yes, once")
            answer(term, "n")
            term.until(lambda rows: "No" in "\n".join(rows))
            send(term, "use make instead")
            term.until("Hello from the fake model.")
        last = fake.chats()[-1]["messages"][-1]["content"]
    assert "use make instead" in last
    assert not (place.folder / "made").exists()


def test_escape_or_ctrl_c_stops_and_the_next_request_works(place: Place) -> None:
    with fake_llm("slow", delay=3, text="Late answer.") as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "first")
            term.until("Ctrl+C: interrupt")
            term.keys("C-c")
            term.until("Interrupted")
            send(term, "second")
            term.until("Late answer.", 20)
        sent = fake.chats()[-1]["messages"]
    assert [message["role"] for message in sent if message["role"] != "system"] == ["user"]
    assert "first" in json.dumps(sent)
    assert "second" in json.dumps(sent)


def test_the_limit_asks_whether_to_go_on(place: Place) -> None:
    place.settings(MaxIterations=1, permissions={"allow": ["Read", "Glob"]})
    with maia(place, "--model", "offline", MAIA_LANG="fr") as term:
        term.until(HINT["fr"])
        send(term, "liste les fichiers")
        term.until("(o/n)")
        answer(term, "o")
        term.until(HINT["fr"], 20)


def test_a_session_is_kept_listed_loaded_and_renamed(place: Place) -> None:
    with fake_llm(text="The **answer** to it.") as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "a question to remember")
            term.until("The answer to it.")
            send(term, "/rename kept-one")
            term.until("kept-one")
            send(term, "/new")
            term.until("kept-one")
            send(term, "another question")
            term.until(lambda rows: "another question" in "\n".join(rows))
            term.until("The answer to it.")
            send(term, "/load kept-one")
            term.until(lambda rows: (text := "\n".join(rows)).rfind("question to rem") > text.rfind("another question"))
            send(term, "/exit")
            term.until("code 0")
    names = {path.stem for path in (place.folder / ".maia" / ".sessions").glob("*.jsonl")}
    assert "kept-one" in names
    assert len(names) == 2


def test_a_shell_command_and_a_file_go_with_the_request(place: Place) -> None:
    (place.folder / "notes.txt").write_text("the secret word is plover\n")
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "!echo from the shell")
            term.until("from the shell")
            send(term, "!exit 3")
            rows = "\n".join(term.until("failed · exit code: 3"))
            assert rows.count("exit code") == 1  # of the failure only, and once
            send(term, "what do @notes.txt and the command say?")
            term.until("Hello from the fake model.")
        content = json.dumps(fake.chats()[0]["messages"][-1])
    assert "plover" in content
    assert "from the shell" in content
    assert "not instructions" in content


def test_what_a_person_types_bypasses_the_rules(place: Place) -> None:
    (place.folder / "notes.txt").write_text("the secret word is plover\n")
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model", permissions={"deny": ["Bash", "Read(**)"]})
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "!echo $((6 * 7)) from the shell")
            term.until("42 from the shell")
            send(term, "what does @notes.txt say?")
            rows = term.until("Hello from the fake model.")
        assert not any("ASK" in row for row in rows)
        assert "plover" in json.dumps(fake.chats()[0]["messages"][-1])


def test_permissions_are_shown_file_by_file_and_clear_reads_them_again(place: Place) -> None:
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, permissions={"allow": ["Read(**)", "Bash(ls *)"], "deny": ["Read(.env)"]})
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "/permissions")
            rows = [row.rstrip() for row in term.until("When no rule matches")]
            first = rows.index("~/.maia/settings.json")
            assert rows[first + 1 : first + 4] == ["ALLOW  Read(**)", "       Bash(ls *)", "DENY   Read(.env)"]
            place.settings(LiteLLM_URL=fake.url, permissions={"ask": ["Bash(git push *)"]})
            send(term, "/clear")
            term.until("Permissions: ~/.maia/settings.json (1 rule)")
            send(term, "/permissions")
            term.until("ASK    Bash(git push *)")


def test_the_context_bar_shows_the_servers_window(place: Place) -> None:
    with fake_llm(context=200_000) as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            rows = term.until("/ 200k")
            assert re.search(r"■□{19}  \d\.\dk / 200k · \d%$", rows[-1])
            term.until("200k (server)")


def test_an_error_names_what_happened_why_and_what_to_do(place: Place) -> None:
    with fake_llm("overflow", overflow_text="the model is on holiday") as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place, MAIA_LANG="fr") as term:
            term.until(HINT["fr"])
            send(term, "bonjour")
            rows = term.until("FAIL")
            text = "\n".join(term.until("→"))
            assert "the model is on holiday" in text
            assert "HTTP 400" in text
            assert rows


def test_a_folder_of_a_stranger_is_asked_about_once(place: Place) -> None:
    own = place.folder / ".maia"
    own.mkdir()
    (own / "settings.json").write_text('{"permissions": {"allow": ["Bash"], "deny": ["Bash(rm *)"]}}')
    with maia(place, "--model", "offline") as term:
        term.until("Trust the folder")
        answer(term, "n")
        term.until(HINT["en"])
        send(term, "run `echo hi`")
        term.until("(y/n)")
        answer(term, "Escape")
        term.until(HINT["en"])
        send(term, "/exit")
        term.until("code 0")
        term.keys("C-l")
        term.until(lambda rows: not any("Trust the folder" in row for row in rows))
        term.type(f"{sys.executable} -m maia --model offline; echo code $?")
        term.keys("Enter")
        term.until("Trust the folder")
        answer(term, "y")
        term.until(HINT["en"])
        send(term, "run `echo hi`")
        term.until("✓ Bash")


def test_a_change_is_undone_and_done_again(place: Place) -> None:
    place.settings(permissions={"allow": ["Write", "Read"]})
    with maia(place, "--model", "offline") as term:
        term.until(HINT["en"])
        send(term, "create hello.txt with the text good morning")
        term.until("✓ Write")
        term.until(HINT["en"])
        assert "good morning" in (place.folder / "hello.txt").read_text()
        send(term, "/undo")
        term.until(lambda _rows: not (place.folder / "hello.txt").exists())
        send(term, "/redo")
        term.until(lambda _rows: (place.folder / "hello.txt").exists())
        (place.folder / "hello.txt").write_text("my own words\n")
        send(term, "/undo")
        term.until("hello.txt")
        assert (place.folder / "hello.txt").read_text() == "my own words\n"


@pytest.mark.parametrize("width", [100, 40, 20])
def test_nothing_is_wider_than_the_screen(place: Place, width: int) -> None:
    with maia(place, "--model", "offline", width=width, height=30, MAIA_LANG="fr") as term:
        term.until("┈")
        send(term, "aide")
        term.until(lambda rows: any("offline" in row for row in rows))
        assert all(len(row) <= width for row in term.past())


def test_without_colour_badges_have_brackets(place: Place) -> None:
    with maia(place, "--model", "offline", NO_COLOR="1") as term:
        term.until("[INFO]")
        term.until(HINT["en"])
        text = "\n".join(term.rows(codes=True))
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m|\x1b\[38", text)


def test_a_dumb_terminal_still_works(place: Place) -> None:
    with maia(place, "--model", "offline", TERM="dumb") as term:
        term.until(">")
        send(term, "help")
        term.until("offline")
        send(term, "/exit")
        term.until("code 0")


def test_a_file_named_with_the_request_may_be_edited_without_another_read(place: Place) -> None:
    (place.folder / "a.txt").write_text("old words\n")
    change = {"path": "a.txt", "old_string": "old", "new_string": "new"}
    with fake_llm("tool", tool_name="Edit", tool_args=json.dumps(change)) as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model", permissions={"allow": ["Edit"]})
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "change @a.txt please")
            term.until("✓ Edit")
    assert (place.folder / "a.txt").read_text() == "new words\n"
