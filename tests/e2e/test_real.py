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
        permissions={"allow": ["Read", "Glob", "Grep"]},
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
    """The number of lines can only come from the command. A small model gets five tries here too."""
    count = (place.folder / "core" / "text.py").read_text().count("\n")
    with maia(place, width=110, height=40, MAIA_LANG="en") as term:
        term.until(HINT["en"])
        term.until("(server)", 60)
        assert any(_answered(term, str(count)) for _ in range(5)), f"five times no answer that names {count} lines"
        send(term, "/cost")
        term.until(_SETTINGS[MODEL])
        send(term, "/exit")
        term.until("code 0", 30)


def _answered(term: Term, count: str) -> bool:
    """Whether the answer to one request names the count. Each call is asked about, and approved."""
    send(term, "/clear")
    term.until(lambda rows: not any("✓ Bash" in row for row in rows), 30)
    send(term, "How many lines has core/text.py? Use the Bash tool to run exactly: wc -l core/text.py")
    term.until(lambda rows: not _is_at_rest(rows), 30)
    while True:
        rows = term.until(lambda rows: _is_asked(rows) or _is_at_rest(rows), 900)
        if _is_at_rest(rows):
            return any("✓ Bash" in row for row in rows) and any(count in row for row in rows)
        answer(term, "y")
        term.until(lambda rows: not _is_asked(rows), 60)


def _is_asked(rows: Sequence[str]) -> bool:
    return any("› Yes, once" in row for row in rows)


def _is_at_rest(rows: Sequence[str]) -> bool:
    return any(HINT["en"] in row for row in rows)
