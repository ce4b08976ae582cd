"""Colleagues act through a real server: what the model is told and offered, what it may not do, home threads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Serving, Visitor, serving

IRIS = """---
nickname: "Iris <b>é</b>"
description: Looks after invoices
tools: [read_file, Grep, memory_search, Nonesuch]
permissions:
  deny: ["Read(**/secret.txt)"]
effort: low
---

## Instructions system

You look after invoices with great care.

## Missions

Answer questions.

## Output

One line.
"""
MOLE = IRIS.replace("nickname", "group: specialist\nnickname").replace("Iris", "Mole")
SCRIPT: list[Any] = [
    [
        {"call": {"name": "Bash", "arguments": {"command": "touch was-run"}}},
        {"call": {"name": "Read", "arguments": {"path": "secret.txt"}}},
        {"call": {"name": "Read", "arguments": {"path": "open.txt"}}},
    ],
    {"text": "Done."},
    {"text": "Yes.", "repeat": True},
]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something that the colleague may read, and something that it may not."""
    folder = tmp_path_factory.mktemp("work")
    for name in ("secret.txt", "open.txt"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    data: Path = tmp_path_factory.mktemp("office") / "data"
    for name, text in (("iris", IRIS), ("mole", MOLE)):
        agent = data / "home" / ".maia" / "agents" / name / "AGENT.md"
        agent.parent.mkdir(parents=True)
        agent.write_text(text, "utf-8")
    with serving(data, script=SCRIPT) as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server


@pytest.fixture
def owner(office: Serving) -> Iterator[Visitor]:
    with Visitor(office.url) as visitor:
        visitor.sign_in()
        yield visitor


def test_a_colleague_is_told_who_it_is_and_can_do_only_what_it_was_offered(owner: Visitor, work: Path) -> None:
    folders = [{"name": "work", "path": str(work)}]
    made = owner.ask("POST", "/api/v1/conversations", {"agent": "iris", "folders": folders}).json()
    owner.say(made["id"], "Look")
    frames = owner.until_done(made["id"])
    ended = [each.json["event"] for each in frames if each.kind == "ToolCallFinished"]
    assert [(each["name"], each["status"]) for each in ended] == [
        ("Bash", "refused"),
        ("Read", "refused"),
        ("Read", "succeeded"),
    ]
    assert ended[0]["text"].startswith("Bash is not in this agent's toolset, which is: Read, Grep, Memory")
    assert "MemoryStore" not in ended[0]["text"]
    assert "secret.txt" in ended[1]["text"]
    assert not (work / "was-run").exists()
    assert [each.kind for each in frames if each.kind == "ApprovalRequested"] == []
    shown = owner.ask("GET", f"/api/v1/observability/compositions/{made['id']}").json()["composition"]
    sections = {each["name"]: each for each in shown["sections"]}
    assert "You look after invoices with great care." in sections["agent"]["text"]
    assert '"Read"' in sections["tools"]["text"]
    assert '"Bash"' not in sections["tools"]["text"]


def test_the_colleagues_and_agents_are_told_with_who_runs_them(owner: Visitor) -> None:
    listed = owner.ask("GET", "/api/v1/colleagues").json()["colleagues"]
    assert [(each["name"], each["group"], each["effort"], each["providerId"]) for each in listed] == [
        ("iris", "main", "low", None)
    ]
    agents = owner.ask("GET", "/api/v1/agents").json()["agents"]
    assert [(each["name"], each["group"]) for each in agents] == [("iris", "main"), ("mole", "specialist")]
    iris = owner.ask("GET", "/api/v1/agents/iris").json()
    assert (iris["tools"], iris["instructions"]) == (
        ["read_file", "Grep", "memory_search", "Nonesuch"],
        "You look after invoices with great care.",
    )
    assert owner.ask("GET", "/api/v1/agents/nobody").status_code == 404


def test_a_home_thread_is_opened_once_and_found_again(owner: Visitor) -> None:
    opened = owner.ask("POST", "/api/v1/colleagues/iris/home")
    assert opened.status_code == 200
    home = opened.json()
    assert (home["agent"], home["homeOf"], home["modelBinding"]) == ("iris", "iris", "inherit")
    assert owner.ask("POST", "/api/v1/colleagues/iris/home").json()["id"] == home["id"]
    page = owner.client.get("/colleagues/iris", follow_redirects=False)
    assert (page.status_code, page.headers["location"]) == (303, f"/conversations/{home['id']}")
    assert owner.ask("GET", "/api/v1/colleagues").json()["colleagues"][0]["homeId"] == home["id"]
    for stranger in ("mole", "nobody", "../iris"):
        assert owner.ask("POST", f"/api/v1/colleagues/{stranger}/home").status_code == 404
