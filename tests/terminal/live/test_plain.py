"""Plain lines for screen readers and dumb terminals: each change is one new line, said once."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

FAKE = Path(__file__).with_name("fake.py")
ROOT = Path(__file__).parents[3]
QUIET: dict[str, str] = {"MAIA_SCREEN_READER": "1"}
DUMB: dict[str, str] = {"TERM": "dumb"}


@contextmanager
def plain(folder: Path, **more: str) -> Generator[Any]:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        **more,
    }
    child = pexpect.spawn(sys.executable, [str(FAKE)], env=env, encoding="utf-8", timeout=60, dimensions=(24, 100))
    try:
        yield child
    finally:
        child.close(force=True)


@pytest.mark.parametrize("mode", [QUIET, DUMB], ids=["reader", "dumb"])
def test_a_request_and_its_answer_without_any_drawing(tmp_path: Path, mode: dict[str, str]) -> None:
    with plain(tmp_path, **mode) as term:
        term.expect_exact("\n> ")
        term.sendline("bonjour")
        term.expect("L'arrondi est fig")
        term.expect_exact("\n> ")
        said = term.before
        assert said.count("deux") == 2
        assert "\x1b" not in said
        assert "┈" not in said
        assert "▹" not in said
        term.sendline("/exit")
        term.expect(pexpect.EOF)
        term.close()
        assert term.exitstatus == 0


@pytest.mark.parametrize(("mode", "badge"), [(QUIET, "INFO. "), (DUMB, "[INFO] ")], ids=["reader", "dumb"])
def test_news_stand_on_rows_of_their_own_and_the_prompt_comes_again(
    tmp_path: Path, mode: dict[str, str], badge: str
) -> None:
    with plain(tmp_path, FAKE_NEWS="late", **mode) as term:
        term.expect_exact(f"\n> \r\n{badge}Conversation enregistrée\u202f: late\r\n> ")


def test_a_request_is_not_repeated_under_the_prompt_where_it_was_typed(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("bonjour")
        term.expect_exact("\n> ")
        assert term.before.count("bonjour") == 1
        assert "❯" not in term.before


def test_a_reader_hears_outputs_without_the_bars_beside_them(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("!seq")
        term.expect_exact("\n> ")
        assert "\nline 0\r\nline 1" in term.before
        assert "│" not in term.before


def test_a_reader_hears_the_context_after_an_answer(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("bonjour")
        term.expect("Contexte.*: 23 pour cent")


def test_a_question_is_answered_by_a_line(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("ask")
        term.expect("Répondez o, s, t ou n.")
        term.expect_exact("? ")
        term.sendline("peut-être")
        term.expect("Répondez o, s, t ou n.")
        term.sendline("n trop tôt")
        term.expect("trop tôt")
        term.expect_exact("\n> ")


def test_a_list_is_numbered(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("/model")
        term.expect_exact("2. qwen3-coder:30b, litellm, 200k\r\n")
        term.expect_exact("? ")
        term.sendline("3")
        term.expect("mistral-small")
        term.expect_exact("\n> ")
        term.sendline("/load")
        term.expect(r"3\. session_2, \S.*, arrondi\r\n")
        term.sendline("")
        term.expect_exact("\n> ")


def test_ctrl_c_stops_a_turn_and_twice_leaves(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("slow")
        term.expect("slow")
        term.expect("réflexion")
        term.sendintr()
        term.expect("Interrompu")
        term.expect_exact("> ")
        term.sendintr()
        term.expect("encore une fois")
        term.sendintr()
        term.expect(pexpect.EOF)


def test_end_of_input_leaves(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendeof()
        term.expect(pexpect.EOF)
        term.close()
        assert term.exitstatus == 0


def test_the_end_of_input_refuses_the_open_question_and_leaves(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("ask")
        term.expect("Répondez")
        term.sendeof()
        term.expect(pexpect.EOF)
        term.close()
        assert term.exitstatus == 0


def test_lines_typed_ahead_are_sent_one_after_the_other_and_answer_no_question(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.send("ask\n")
        term.expect("Répondez")
        term.sendline("o")
        term.send("one\ntwo\\\nthree\n")
        term.expect("one")
        term.expect("Contexte")
        term.expect("three")
        term.expect("Contexte")


def test_a_stored_turn_that_was_cut_asks_nothing(tmp_path: Path) -> None:
    with plain(tmp_path, **QUIET) as term:
        term.expect_exact("\n> ")
        term.sendline("/load session_cut")
        term.expect("cut request")
        term.expect_exact("\n> ")
        assert "Répondez" not in term.before
