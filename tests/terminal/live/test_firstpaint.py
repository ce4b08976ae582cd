"""The first paint: keys typed while everything else still loads are seen at once, and none is lost or doubled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.terminal.live.tmux import needs_tmux, terminal

ROOT = Path(__file__).parents[3]
HEAVY = {
    "asyncio",
    "anthropic",
    "fastapi",
    "genai_prices",
    "html_to_markdown",
    "httpx2",
    "markdown_it",
    "mcp",
    "openai",
    "pathspec",
    "prompt_toolkit",
    "pydantic",
    "rich",
    "sqlite3",
    "ssl",
    "starlette",
    "tiktoken",
    "toktok",
    "tree_sitter",
    "wcwidth",
    "yaml",
}


def test_no_heavy_module_is_loaded_for_the_first_paint() -> None:
    program = "import maia.terminal.firstpaint, maia.i18n.catalogue, sys; print(*sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & HEAVY == set()
    assert not any(
        name.startswith(("maia.engine", "maia.llm", "maia.tools", "maia.store")) for name in done.stdout.split()
    )


@needs_tmux
def test_keys_typed_while_loading_are_seen_and_kept(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    with terminal(tmp_path, FAKE_LOAD_UNTIL=str(loaded)) as term:
        term.until("Écrivez")
        term.type("héllo wörld 😀x")
        term.keys("BSpace")
        term.until(lambda rows: rows[-3] == "▹▹▹▹▹ héllo wörld 😀")
        assert not any("%" in row for row in term.rows()[-1:])
        for letter in "abcdefghijklmnopqrstuvwxyz" * 2:
            term.type(letter)
            if letter == "k":
                loaded.touch()
        line = "▹▹▹▹▹ héllo wörld 😀" + "abcdefghijklmnopqrstuvwxyz" * 2
        term.until(lambda rows: "23%" in rows[-1] and rows[-3] == line)
        past = term.past()
        assert sum(set(row) == {"┈"} for row in past) == 2
        assert sum("maia 0.1" in row for row in past) == 1


@needs_tmux
def test_lines_sent_while_loading_wait_and_are_answered(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_LOAD="1.5") as term:
        term.until("Écrivez")
        for text in ("first", "second"):
            term.type(text)
            term.keys("Enter")
        term.until("❯ second")
        rows = term.until(lambda rows: sum("• deux" in row for row in rows) == 2)
        answered = [row for row in term.past() if row.startswith("❯")]
        assert answered == ["❯ first", "❯ second"]
        assert rows[-1].endswith("%")


@needs_tmux
def test_a_paste_while_loading_is_kept_exact(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_LOAD="1.5") as term:
        term.until("Écrivez")
        term.paste("one\ntwo\n")
        rows = term.until("23%")
        assert rows[-5:-2] == ["▹▹▹▹▹ one", "      two", ""] or rows[-5:-2] == ["▹▹▹▹▹ one", "      two", "      "]


@needs_tmux
@pytest.mark.parametrize(("keys", "code"), [(("C-d",), 0), (("C-c", "C-c"), 130)])
def test_leaving_while_loading_restores_the_terminal(tmp_path: Path, keys: tuple[str, ...], code: int) -> None:
    with terminal(tmp_path, FAKE_LOAD="30") as term:
        term.until("Écrivez")
        term.keys(*keys)
        term.until(f"code {code}")
        term.type("stty -a | grep -o ' icanon'")
        term.keys("Enter")
        term.until(" icanon")


@needs_tmux
def test_a_failure_while_loading_is_told_on_a_restored_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_LOAD="broken") as term:
        term.until("code 1")
        assert any("ValueError" in row for row in term.past())
        term.type("stty -a | grep -o ' icanon'")
        term.keys("Enter")
        term.until(" icanon")


@needs_tmux
def test_a_resize_while_loading_is_taken_over(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_LOAD="1.5") as term:
        term.until("Écrivez")
        term.type("draft")
        term.until("draft")
        term.resize(50, 20)
        rows = term.until(lambda rows: rows[-1].endswith("23%") and rows[-2] == "┈" * 50)
        assert rows[-3] == "▹▹▹▹▹ draft"
        assert sum(set(row) == {"┈"} for row in term.at_rest()) == 2
