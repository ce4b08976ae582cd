"""The main job on a real model behind a real LiteLLM server: questions about a real repository, answered with tools.

Run by hand: start a LiteLLM server in front of a model with tool calls, set `MAIA_REAL_LITELLM_URL` (without `/v1`),
`MAIA_REAL_LITELLM_KEY` and `MAIA_REAL_LITELLM_MODEL`, and call `./test -m real`. A small model on two cores needs
minutes a turn.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.program import ROOT, Place
from tests.e2e.test_interactive import HINT, answer, maia, send
from tests.terminal.live.tmux import Term, needs_tmux

URL, KEY, MODEL = "MAIA_REAL_LITELLM_URL", "MAIA_REAL_LITELLM_KEY", "MAIA_REAL_LITELLM_MODEL"

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(URL not in os.environ, reason=f"needs {URL}, {KEY} and {MODEL}"),
]

_SETTINGS = {name: os.environ.get(name, "") for name in (URL, KEY, MODEL)}
"""Read at import: the tests' own environment has no keys."""


@pytest.fixture
def place() -> Iterator[Place]:
    """This repository's own source as the launch folder, and the real endpoint in the settings.

    The folder's name is short: a model of this size copies long paths wrongly.
    """
    with tempfile.TemporaryDirectory(prefix="m", dir="/tmp") as base:
        yield prepared(Place(Path(base)))


def prepared(place: Place) -> Place:
    shutil.copytree(ROOT / "src" / "maia" / "core", place.folder / "core", ignore=shutil.ignore_patterns("__pycache__"))
    place.settings(
        LiteLLM_URL=_SETTINGS[URL],
        OpenAI_EndPoint="/v1/chat/completions",
        LiteLLM_Models="/v1/models",
        LiteLLM_API_Key=_SETTINGS[KEY],
        model=_SETTINGS[MODEL],
        MaxOutputTokens=400,
        permissions={"allow": ["Read", "Glob", "Grep"], "deny": ["Edit", "Write"]},
    )
    return place


def test_headless_it_reads_the_repository_and_answers(place: Place) -> None:
    """A small model sometimes loses its way, so it gets five tries; the program itself gets none."""
    question = "What does core/text.py do? Read it and answer in two sentences."
    for _ in range(5):
        ran = place.run("-p", question, "--max-iterations", "6", "--output-format", "stream-json", timeout=1200)
        end = ran.events[-1]
        assert end["outcome"] in ("finished", "turn_limit")
        assert end["usage"]["input"] + end["usage"]["cacheRead"] > 1000
        status = {event["name"]: event["status"] for event in ran.of("ToolCallFinished")}
        if end["outcome"] == "finished" and status.get("Read") == "succeeded" and "text" in end["text"].lower():
            return
    pytest.fail("five times no answer from what it read")


@needs_tmux
def test_at_the_terminal_it_asks_runs_and_answers(place: Place) -> None:
    """Whatever the model says of what it saw, it says something below the row of the command, and the turn ends."""
    with maia(place, width=110, height=40, MAIA_LANG="en") as term:
        term.until(HINT["en"])
        term.until("(server)", 60)
        send(term, "Use the Bash tool to run exactly this command: wc -l core/text.py")
        _approve(term)
        rows = term.rows()
        ran = max(number for number, row in enumerate(rows) if "✓ Bash" in row)
        ended = next(number for number, row in enumerate(rows) if f"{_SETTINGS[MODEL]} ·" in row and "out" in row)
        assert any(row.strip() and "INFO" not in row for row in rows[ran + 1 : ended]), rows
        send(term, "/cost")
        term.until(_SETTINGS[MODEL])
        send(term, "/exit")
        term.until("code 0", 30)


def _approve(term: Term, most: int = 6) -> None:
    """Say yes to each call until the turn ends: a small model may want the same command again."""
    term.until(_is_asked, 900)
    for _ in range(most):
        answer(term, "y")
        term.until(lambda rows: not _is_asked(rows), 60)
        if not _is_asked(term.until(lambda rows: _is_asked(rows) or HINT["en"] in "\n".join(rows), 900)):
            return
    pytest.fail(f"more than {most} calls")


def _is_asked(rows: Sequence[str]) -> bool:
    return any("› Yes, once" in row for row in rows)
