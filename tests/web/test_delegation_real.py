"""Real agent programs hand work on in the workspace (N-06.01): `-m real`, with AGENT_PROGRAMS_DIR as for the others.

The model of both ends is scripted. It calls what maia lends the program by the name under which the program shows it.
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.runtimes.test_real import (
    HIDES_LENT,
    NEVER_ASKS,
    PLACES,
    environment,
    programs,
    pytestmark,
    server,
    settle,
)
from tests.web.serving import Frame, Visitor, serving
from tests.web.test_delegation import below, staffed

__all__ = ["programs", "pytestmark", "server"]
DELEGATING = [name for name in PLACES if name not in HIDES_LENT]


class Office:
    """A workspace with all programs on its PATH."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor

    def asked(self, name: str, tool: str, **args: str) -> str:
        """The id of a new conversation in which that program's model was told to make one call."""
        conversation = self.visitor.conversation()
        ids = [each["id"] for each in self.visitor.ask("GET", "/api/v1/model/providers").json()["providers"]]
        provider = next((each for each in ids if each in (name, f"{name}-cli")), None)
        if provider is None:
            pytest.skip(f"{name} is not installed there")
        model = self.visitor.ask("GET", f"/api/v1/model/providers/{provider}").json()["models"][0]["id"]
        chosen = {"providerId": provider, "modelId": model}
        done = self.visitor.ask("PATCH", f"/api/v1/conversations/{conversation}", chosen)
        assert done.status_code == 200, done.text
        self.say(conversation, tool, args)
        return conversation

    def say(self, conversation: str, tool: str, args: Mapping[str, str]) -> dict[str, Any]:
        """Tell the model there to make that call."""
        call = json.dumps({"tool": f".*{tool}", "args": args})
        return self.visitor.say(conversation, f"CALL[[{call}]]")

    def all_frames(self, conversation: str) -> list[Frame]:
        """What was told in the two turns of a conversation."""
        found: list[Frame] = []
        for frame in self.visitor.frames(conversation):
            found.append(frame)
            if sum(each.event == "done" for each in found) == 2:
                break
        return found

    def one_below(self, conversation: str) -> dict[str, Any]:
        until = time.monotonic() + 60
        while not (found := below(self.visitor, conversation)):
            assert time.monotonic() < until, "nothing was delegated"
            time.sleep(0.2)
        (child,) = found
        return child


@pytest.fixture(scope="module")
def office(programs: Path, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    top = tmp_path_factory.mktemp("office")
    if find_wall("auto", Places(top, top)).wall is None:
        pytest.skip("no wall works here")
    home = staffed(top / "data") / "home"
    settle(home, server, *PLACES)
    with (
        serving(top / "data", script=None, **environment(programs, server, *PLACES)) as made,
        Visitor(made.url) as visitor,
    ):
        visitor.client.timeout = 180
        visitor.become_owner(made.token)
        yield Office(visitor)


def rows(frames: list[Frame]) -> list[tuple[str, str]]:
    told = [frame.json["event"] for frame in frames if not frame.event]
    return [(each["name"], each["status"]) for each in told if each["type"] == "ToolCallFinished"]


@pytest.mark.parametrize("name", DELEGATING)
def test_a_specialist_does_the_task_and_its_answer_comes_back(office: Office, name: str) -> None:
    conversation = office.asked(name, "run_specialist", agent="mole", task="Say something")
    frames = office.visitor.until_done(conversation)
    assert rows(frames) == [("run_specialist", "succeeded")]
    child = office.one_below(conversation)
    assert (child["kind"], child["agent"], child["outcome"]) == ("specialist", "mole", "finished")
    told = frames[-1].json["turnMeta"]
    print(name, told["seconds"], "s, cost", told["cost"], "delegated", told["delegated"])


@pytest.mark.parametrize("name", DELEGATING)
def test_stop_ends_what_a_program_waits_for(office: Office, name: str) -> None:
    conversation = office.asked(name, "run_specialist", agent="mole", task="DAWDLE a little")
    child = office.one_below(conversation)
    assert office.visitor.ask("POST", f"/api/v1/conversations/{conversation}/stop").status_code < 300
    frames = office.visitor.until_done(conversation)
    assert frames[-1].json["turnMeta"]["outcome"] == "stopped"
    assert office.one_below(conversation)["outcome"] == "stopped"
    assert child["id"] == office.one_below(conversation)["id"]


@pytest.mark.parametrize("name", [name for name in DELEGATING if name not in NEVER_ASKS])
def test_a_call_of_a_specialist_waits_for_approval_and_is_made_after_it(office: Office, name: str) -> None:
    conversation = office.asked(name, "run_specialist", agent="mole", task="USETOOL please")
    office.visitor.until_done(conversation)
    child = office.one_below(conversation)
    assert (child["status"], child["outcome"]) == ("waiting_approval", "waiting_approval")
    assert office.visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["status"] == "waiting_approval"
    waiting = office.visitor.ask("GET", "/api/v1/approvals").json()["approvals"]
    (mine,) = [each for each in waiting if each["conversationId"] == child["id"]]
    office.visitor.ask("POST", f"/api/v1/approvals/{mine['id']}", {"decision": "approve"})
    again = {"agent": "mole", "task": "USETOOL again", "conversation": child["id"]}
    said = office.say(conversation, "run_specialist", again)
    office.visitor.until_done(conversation, said["cursor"])
    assert office.one_below(conversation)["outcome"] == "finished"
    assert rows(office.all_frames(child["id"])) == [("Bash", "refused"), ("Bash", "succeeded")]


@pytest.mark.parametrize("name", DELEGATING)
def test_a_card_and_a_conversation_of_its_own_are_made_by_a_program(office: Office, name: str) -> None:
    conversation = office.asked(name, "assign_task", agent="iris", title="Pay", task="Say something")
    assert rows(office.visitor.until_done(conversation)) == [("assign_task", "succeeded")]
    card = office.one_below(conversation)
    assert (card["kind"], card["agent"], card["title"]) == ("card", "iris", "Pay")
    office.visitor.until_done(card["id"])
    assert office.one_below(conversation)["outcome"] == "finished"
    said = office.say(conversation, "create_sub_conversation", {"title": "Beside", "message": "Say something"})
    assert rows(office.visitor.until_done(conversation, said["cursor"])) == [("create_sub_conversation", "succeeded")]
    (thread,) = [each for each in below(office.visitor, conversation) if each["id"] != card["id"]]
    assert (thread["kind"], thread["title"]) == ("sub", "Beside")
    assert office.visitor.until_done(thread["id"])[-1].json["turnMeta"]["outcome"] == "finished"
