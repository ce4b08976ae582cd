"""A session that a real program answered goes on in the workspace and at the terminal again: `-m real`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.runtimes.test_real import PLACES, environment, programs, pytestmark, server, settle
from tests.web.serving import ROOT, Visitor, serving

__all__ = ["programs", "pytestmark", "server"]
ANSWER = "FAKE-ANSWER: the answer is 42."


@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode"])
def test_a_session_of_a_program_goes_on_in_the_workspace_and_comes_back(
    programs: Path, server: str, tmp_path: Path, name: str
) -> None:
    if not (programs / PLACES[name]).is_dir() or find_wall("auto", Places(tmp_path, tmp_path)).wall is None:
        pytest.skip(f"{name} is not installed there, or no wall works here")
    data, project = tmp_path / "data", tmp_path / "project"
    home = data / "home"
    project.mkdir()
    settle(home, server, name)
    world = environment(programs, server, name)

    def at_terminal(*words: str) -> list[dict[str, Any]]:
        env = {**os.environ, **world, "HOME": str(home), "MAIA_DATA_DIR": str(data), "PYTHONPATH": str(ROOT / "src")}
        argv = [sys.executable, "-P", "-m", "maia", *words, "--output-format", "stream-json"]
        ran = subprocess.run(argv, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=240)
        assert ran.returncode == 0, ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines()]

    assert at_terminal("--runtime", name, "-p", "One")[-1]["text"].endswith(ANSWER)
    with serving(data, started_with=None, **world) as running, Visitor(running.url) as visitor:
        visitor.client.timeout = 180
        visitor.become_owner(running.token)
        (session,) = visitor.ask("GET", f"/api/v1/terminal-sessions?folder={project}").json()["sessions"]
        asked = {"folder": str(project), "name": session["name"]}
        made = visitor.ask("POST", "/api/v1/terminal-sessions", asked)
        assert (made.status_code, made.json()["added"]) == (201, 1), made.text
        conversation = made.json()["conversationId"]
        chosen = {"providerId": f"{name}-cli", "modelId": "default"}
        assert visitor.ask("PATCH", f"/api/v1/conversations/{conversation}", chosen).status_code == 200
        visitor.until_done(conversation, visitor.say(conversation, "Two")["cursor"])

        back = at_terminal("--resume", conversation, "--runtime", name, "-p", "Three")
        assert back[-1]["text"].endswith(ANSWER)
        without = at_terminal("--resume", conversation, "-p", "Four")
        (told,) = [each["values"] for each in without if each.get("key") == "runtime.answered_session"]
        assert told["name"] == name
        again = visitor.ask("POST", "/api/v1/terminal-sessions", {**asked, "name": f"conversation_{conversation}"})
        assert again.json()["conversationId"] == conversation, again.text
        messages = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]
        assert [each["content"] for each in messages if each["role"] == "user"] == ["One", "Two", "Three", "Four"]
        assert all(each["content"].endswith(ANSWER) for each in messages if each["role"] == "assistant")
