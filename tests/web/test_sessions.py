"""Terminal sessions open in the workspace, and its conversations at a terminal: real programs on one folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maia.core.costs import Cost
from maia.core.events import Answered, Event, StepStarted, TurnEnded, TurnStarted, UserSaid
from maia.core.messages import AssistantMessage, TextPart
from maia.store.journal import JsonlJournal
from tests.web.serving import ROOT, Serving, Visitor, serving

LOOK: list[Any] = [
    {"think": "hm", "text": "I look.", "call": {"name": "Glob", "arguments": {"pattern": "*.py"}}},
    {"text": "One file.", "usage": {"input": 120, "output": 4}, "cost": 0.5},
]
AGAIN: list[Any] = [{"text": "Yes.", "repeat": True}]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("print()\n")
    return folder


@pytest.fixture
def server(data: Path) -> Iterator[Serving]:
    with serving(data, script=AGAIN) as running:
        yield running


@pytest.fixture
def owner(server: Serving) -> Iterator[Visitor]:
    with Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield visitor


def at_terminal(project: Path, data: Path, *argv: str, script: list[Any] | None = None) -> str:
    """What `maia` prints there."""
    played = data.parent / "terminal.jsonl"
    played.write_text("".join(json.dumps(line) + "\n" for line in script or AGAIN), "utf-8")
    home = data / "home"
    home.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "HOME": str(home), "MAIA_DATA_DIR": str(data), "PYTHONPATH": str(ROOT / "src")}
    env |= {"MAIA_OFFLINE_SCRIPT": str(played), "MAIA_LANG": "en"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "maia", *argv],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def session_files(project: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted((project / ".maia" / ".sessions").glob("*.jsonl"))}


def opened(owner: Visitor, project: Path, name: str) -> tuple[int, Any]:
    done = owner.ask("POST", "/api/v1/terminal-sessions", {"folder": str(project), "name": name})
    return done.status_code, done.json()


def turns(owner: Visitor, conversation: str) -> list[tuple[str, str]]:
    found = owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]
    return [(each["role"], each["content"]) for each in found]


def write_session(project: Path, name: str, *events: Event) -> Path:
    path = project / ".maia" / ".sessions" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = JsonlJournal(path)
    for event in events:
        journal.append(event)
    journal.close()
    return path


def turn(number: int, said: str) -> list[Event]:
    answer = Answered(AssistantMessage((TextPart("Fine."),), "m", "p"), "end", "stop", None, Cost())
    ended = TurnEnded("finished", "end", "stop", None, Cost(), "m", "p", 1, 0, 0)
    return [TurnStarted(number, "m", "p"), UserSaid(said), StepStarted(1), answer, ended]


def test_a_session_goes_on_in_the_workspace_then_at_the_terminal_and_comes_back(
    project: Path, data: Path, owner: Visitor
) -> None:
    at_terminal(project, data, "-m", "offline", "-p", "What is here?", script=LOOK)
    before = session_files(project)
    (name,) = before
    listed = owner.ask("GET", f"/api/v1/terminal-sessions?folder={project}").json()["sessions"]
    assert [(each["name"], each["title"], each["conversationId"]) for each in listed] == [(name, "What is here?", None)]

    status, made = opened(owner, project, name)
    assert (status, made["isNew"], made["added"]) == (201, True, 1)
    conversation = made["conversationId"]
    assert opened(owner, project, name) == (200, {"conversationId": conversation, "isNew": False, "added": 0})
    whole = owner.ask("GET", f"/api/v1/conversations/{conversation}").json()
    assert [(f["path"], whole["title"], whole["status"]) for f in whole["folders"]] == [
        (str(project), "What is here?", "idle")
    ]
    meta = whole["messages"][1]["turnMeta"]
    assert (meta["tokens"]["output"], meta["cost"]["usd"], meta["model"], meta["toolCalls"]) == (4, 0.5, "offline", 1)
    owner.until_done(conversation, owner.say(conversation, "And now?")["cursor"])
    kinds = [frame.kind for frame in owner.until_done(conversation)]
    assert "ToolCallFinished" in kinds
    assert "ReasoningDelta" not in kinds
    assert session_files(project) == before, "the session's file is only read"

    shown = at_terminal(project, data, "sessions", "list")
    assert conversation in shown
    at_terminal(project, data, "-m", "offline", "--resume", conversation, "-p", "At the terminal")
    assert set(session_files(project)) == {name, f"conversation_{conversation}"}
    assert session_files(project)[name] == before[name]
    status, back = opened(owner, project, f"conversation_{conversation}")
    assert (status, back["conversationId"], back["added"]) == (200, conversation, 1)
    said = [("user", "What is here?"), ("assistant", "I look.\n\nOne file.")]
    said += [("user", "And now?"), ("assistant", "Yes."), ("user", "At the terminal"), ("assistant", "Yes.")]
    assert turns(owner, conversation) == said

    at_terminal(project, data, "-m", "offline", "--resume", conversation, "-p", "Once more")
    assert set(session_files(project)) == {name, f"conversation_{conversation}"}, "nothing new there: the same session"
    owner.until_done(conversation, owner.say(conversation, "Here, too")["cursor"])
    status, parted = opened(owner, project, f"conversation_{conversation}")
    assert (status, parted["isNew"], parted["added"]) == (201, True, 4), "both went on: they have parted"
    assert turns(owner, parted["conversationId"])[-2:] == [("user", "Once more"), ("assistant", "Yes.")]


def test_what_may_not_be_opened_is_refused_and_nothing_is_made(project: Path, data: Path, owner: Visitor) -> None:
    write_session(project, "good", *turn(1, "Hello"))
    write_session(project, "empty")
    elsewhere = project.parent / "elsewhere"
    write_session(elsewhere, "secret", *turn(1, "Not yours"))
    (project.parent / "linked" / ".maia").mkdir(parents=True)
    (project.parent / "linked" / ".maia" / ".sessions").symlink_to(elsewhere / ".maia" / ".sessions")
    (project / ".maia" / ".sessions" / "link.jsonl").symlink_to(elsewhere / ".maia" / ".sessions" / "secret.jsonl")
    untrusted = project.parent / "untrusted"
    write_session(untrusted, "good", *turn(1, "Hello"))
    (untrusted / ".maia" / "settings.json").write_text('{"MaxIterations": 3}')
    refused = {
        ("project", "nothing"): (404, "unknown"),
        ("project", "../../../elsewhere/.maia/.sessions/secret"): (404, "unknown"),
        ("project", "link"): (404, "unknown"),
        ("linked", "secret"): (404, "unknown"),
        ("project", "empty"): (400, "empty"),
        ("untrusted", "good"): (403, "untrusted"),
        ("gone", "good"): (400, "notFound"),
        (str(data), "good"): (400, "home"),  # a home folder lies in it here
    }
    for (folder, name), expected in refused.items():
        status, answer = opened(owner, project.parent / folder, name)
        assert (status, answer.get("code")) == expected, (folder, name, answer)
    assert owner.ask("GET", "/api/v1/conversations").json()["conversations"] == []
    names = owner.ask("GET", f"/api/v1/terminal-sessions?folder={project.parent / 'linked'}").json()
    assert names == {"sessions": []}


def test_a_session_that_a_terminal_writes_now_gives_the_turns_that_are_over(project: Path, owner: Visitor) -> None:
    path = write_session(project, "live", *turn(1, "One"), *turn(2, "Two")[:2])
    journal = JsonlJournal(path)
    listed = owner.ask("GET", f"/api/v1/terminal-sessions?folder={project}").json()["sessions"]
    assert [(each["name"], each["isGoingOn"]) for each in listed] == [("live", True)]
    _, made = opened(owner, project, "live")
    assert turns(owner, made["conversationId"]) == [("user", "One"), ("assistant", "Fine.")]
    journal.close()
    assert opened(owner, project, "live")[1] == {**made, "isNew": False, "added": 1}
    last = owner.ask("GET", f"/api/v1/conversations/{made['conversationId']}").json()["messages"][-1]
    assert (last["content"], last["turnMeta"]["error"]["code"]) == ("", "session_cut")


def test_what_a_session_says_is_text_on_its_page(project: Path, owner: Visitor) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    write_session(project, "n<b>", *turn(1, nasty))
    page = owner.ask("GET", f"/terminal?folder={project}").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<b>.jsonl" not in page
    assert "n<b>" not in page
    shown = owner.ask("GET", "/terminal?folder=" + "%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert shown.status_code == 400
    assert "<script>alert" not in shown.text
