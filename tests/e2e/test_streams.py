from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.program import Place, Ran

PROMPT = ("-p", "help", "--model", "offline")
BOTH = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def run(place: Place, redirections: str, *words: str, **env: str) -> Ran:
    """The program as a shell starts it, with its streams closed or sent elsewhere."""
    script = f'"$@" {redirections}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", sys.executable, "-m", "maia", *words],
        cwd=place.folder,
        env=place.environment(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in ran.err
    assert "Exception ignored" not in ran.err
    return ran


@BOTH
@pytest.mark.parametrize("redirections", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_stream_that_is_closed_or_full_beside_the_answer_changes_nothing(
    place: Place, redirections: str, unbuffered: str
) -> None:
    ran = run(place, redirections, *PROMPT, PYTHONUNBUFFERED=unbuffered)
    assert (ran.code, ran.err if "2>" not in redirections else "") == (0, ran.err)
    assert bool(ran.out) == (">&-" not in redirections.replace("2>&-", ""))
    (session,) = (place.folder / ".maia" / ".sessions").glob("*.jsonl")
    assert session.read_bytes().startswith(b'{"v":1,')
    assert all(line.startswith(b'{"v":1,') for line in session.read_bytes().splitlines())


@BOTH
@pytest.mark.parametrize(
    "words",
    [
        PROMPT,
        (*PROMPT, "--output-format", "json"),
        (*PROMPT, "--output-format", "stream-json"),
        ("--version",),
        ("--help",),
        ("models",),
        ("permissions", "check", "Bash", "ls"),
    ],
    ids=" ".join,
)
def test_a_full_disk_behind_standard_output_is_told_and_is_no_defect(
    place: Place, words: tuple[str, ...], unbuffered: str
) -> None:
    ran = run(place, ">/dev/full", *words, PYTHONUNBUFFERED=unbuffered, TMPDIR=str(place.base))
    assert ran.code == 1
    assert "No space left on device" in ran.err
    assert list(place.base.glob("maia-report-*")) == []


def test_a_wrong_option_keeps_its_exit_code_where_no_words_can_be_written(place: Place) -> None:
    assert [run(place, to, "--nonsense").code for to in ("2>&-", "2>/dev/full")] == [2, 2]


@pytest.mark.parametrize("redirections", ["</dev/null", "<&-", "<empty"])
def test_nobody_and_nothing_to_ask_is_told(place: Place, redirections: str) -> None:
    (place.folder / "empty").touch()
    ran = run(place, redirections, "--model", "offline")
    assert (ran.code, ran.out) == (2, "")
    assert "maia -p" in ran.err


EVIL = "a\x1b]0;owned\x07b\x9b31mc\u202ed"


@pytest.mark.parametrize(
    "words",
    [
        ("-p", "go", "--model", "offline"),
        ("-p", "go", "--model", "offline", "--output-format", "json"),
        ("-p", "go", "--model", "offline", "--output-format", "stream-json"),
        ("sessions", "show", "kept"),
        ("sessions", "show", "kept", "--json"),
        ("models",),
        ("models", "--json"),
    ],
    ids=" ".join,
)
def test_what_a_model_says_cannot_act_on_a_terminal_and_reaches_a_pipe_unchanged(
    place: Place, words: tuple[str, ...]
) -> None:
    place.settings(endpoints={"far": {"url": "http://127.0.0.1:9", "models": [EVIL]}})
    (place.folder / "script").write_text(json.dumps({"text": EVIL, "repeat": True}))
    place.env["MAIA_OFFLINE_SCRIPT"] = "script"
    if words[0] == "sessions":
        run(place, "", "-p", "go", "--model", "offline")
        (session,) = (place.folder / ".maia" / ".sessions").glob("*.jsonl")
        session.rename(session.with_name("kept.jsonl"))
    shown = on_terminal(place, *words)
    assert "owned" in shown
    assert not set(EVIL) & set(shown) - set("a0owned;]b31mc")
    piped = run(place, "", *words).out
    assert words == ("models",) or EVIL in piped or json.dumps(EVIL, ensure_ascii=False)[1:-1] in piped


def on_terminal(place: Place, *words: str) -> str:
    """What the program writes when standard output is a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "maia", *words],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    data = b""
    with suppress(OSError):  # Linux: the end of a terminal that nobody holds any more
        while piece := os.read(ours, 65_536):
            data += piece
    os.close(ours)
    child.wait(30)
    return data.decode()
