import itertools
from pathlib import Path
from typing import Any

from tests.web.serving import OWNER, Visitor, serving

WRITE = {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\ntwo\n"}}}
SCRIPT: list[Any] = list(itertools.chain.from_iterable([WRITE, {"text": "So far."}] for _ in range(4)))


def test_a_call_is_approved_by_the_interface_and_made_once(data: Path) -> None:
    with serving(data, script=SCRIPT) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation("Keys")
        visitor.say(conversation, "Write it")
        meta = visitor.until_done(conversation)[-1].json["turnMeta"]
        assert (meta["outcome"], meta["approvals"]) == ("waiting_approval", 1)
        (waiting,) = visitor.ask("GET", "/api/v1/approvals").json()["approvals"]
        assert {name: waiting[name] for name in ("status", "tool", "arguments", "askedBy", "conversationId")} == {
            "status": "open",
            "tool": "Write",
            "arguments": WRITE["call"]["arguments"],
            "askedBy": OWNER["name"],
            "conversationId": conversation,
        }
        assert waiting["reason"]
        done = visitor.ask("POST", f"/api/v1/approvals/{waiting['id']}", {"decision": "approve"})
        assert (done.status_code, done.json()["status"], done.json()["decidedBy"]) == (200, "approved", OWNER["name"])
        again = visitor.ask("POST", f"/api/v1/approvals/{waiting['id']}", {"decision": "refuse"})
        assert (again.status_code, again.json()["code"]) == (409, "already")
        read = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
        assert read["status"] == "idle"
        outcomes: list[str] = []
        for text in ("Try again", "Once more"):
            cursor = visitor.say(conversation, text)["cursor"]
            outcomes.append(visitor.until_done(conversation, cursor)[-1].json["turnMeta"]["outcome"])
        assert outcomes == ["finished", "waiting_approval"]
        listed = visitor.ask("GET", "/api/v1/approvals?decided=true").json()["approvals"]
        assert [(each["id"], each["status"]) for each in listed] == [(waiting["id"], "used")]


def test_a_bad_decision_and_a_request_that_is_not_there_are_told(data: Path) -> None:
    with serving(data, script=SCRIPT) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        assert visitor.ask("POST", "/api/v1/approvals/nothing", {"decision": "approve"}).status_code == 404
        assert visitor.ask("POST", "/api/v1/approvals/nothing", {"decision": "always"}).status_code == 400
        assert visitor.ask("GET", "/approvals/nothing", Accept="text/html").status_code == 404
        assert visitor.ask("GET", "/approvals?show=else").status_code == 400
