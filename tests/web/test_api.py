import itertools
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.fakes import fake_llm
from tests.web.serving import Serving, Visitor, serving


def test_a_message_is_answered_and_told_as_it_happens(owner: Visitor) -> None:
    conversation = owner.conversation()
    begun = owner.say(conversation, "Bonjour, peux-tu lister les fichiers ?")
    assert begun["turn"] == 1
    frames = owner.until_done(conversation)
    kinds = [frame.kind for frame in frames if frame.kind != "Notice"]
    assert kinds[:4] == ["SessionRenamed", "TurnStarted", "binding", "UserSaid"]
    assert kinds[-2:] == ["TurnEnded", "done"]
    numbers = [int(frame.id) for frame in frames if frame.id]
    assert numbers == sorted(set(numbers)), "in order, none twice; pieces of text go when their whole is there"
    done = frames[-1].json
    assert done["messageId"] == begun["messageId"]
    assert done["turnMeta"]["outcome"] == "finished"
    read = owner.ask("GET", f"/api/v1/conversations/{conversation}").json()
    assert [(m["role"], m.get("turnMeta")) for m in read["messages"]] == [
        ("user", None),
        ("assistant", done["turnMeta"]),
    ]
    assert (read["status"], read["title"]) == ("idle", "Bonjour, peux-tu lister les fichiers ?")
    answered = [message["content"] for message in read["messages"] if message["role"] == "assistant"]
    assert not [each for each in answered if "Current date" in each], "the built-in assistant hears the message alone"
    assert "sdkSessionId" not in read


def test_what_a_turn_came_to_is_stored_in_full(data: Path) -> None:
    script = [
        {"think": "pondering quietly", "text": "On it. ", "call": {"name": "Glob", "arguments": {"pattern": "*"}}},
        {"text": "Nothing there.", "usage": {"input": 1200, "output": 30}, "cost": 0.0123},
    ]
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "Look around")
        meta = visitor.until_done(conversation)[-1].json["turnMeta"]
        assert meta["tokens"] == {"input": 1200, "output": 30, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0}
        assert meta["cost"] == {"usd": 0.0123, "source": "reported"}
        assert (meta["steps"], meta["toolCalls"], meta["approvals"], meta["error"]) == (2, 1, 0, None)
        assert (meta["provider"], meta["model"]) == ("offline", "offline")
        said = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"][1]["content"]
        assert said == "On it. \n\nNothing there."
        assert "pondering" not in json.dumps([f.json for f in visitor.until_done(conversation)]), (
            "reasoning stays nowhere"
        )


def test_an_error_is_never_the_text_of_a_message(data: Path) -> None:
    script = [{"text": "The first half", "fail": {"kind": "rate_limit", "status": 429, "text": "slow down please"}}]
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "Go")
        meta = visitor.until_done(conversation)[-1].json["turnMeta"]
        assert (meta["outcome"], meta["error"]["type"], meta["error"]["status"]) == ("failed", "rate_limit", 429)
        messages = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]
        assert messages[1]["content"] == "The first half"
        assert "slow down" not in json.dumps(messages)
        place = f"/api/v1/conversations/{conversation}"
        for archived in (True, False):
            visitor.ask("PATCH", place, {"archived": archived})
        changes = [(each["old"], each["new"]) for each in visitor.ask("GET", f"{place}/history").json()["entries"]]
        ran = [("running", "failed"), ("idle", "running")]
        assert changes == [("archived", "failed"), ("failed", "archived"), *ran], "as the pages call it"
        for page in ("/", "/board", "/board?view=list", f"/conversations/{conversation}"):
            assert "Error</span>" in visitor.client.get(page, headers={"Accept-Language": "en"}).text or page == "/"


def test_a_stream_goes_on_where_the_reader_left_it(owner: Visitor) -> None:
    conversation = owner.conversation()
    owner.say(conversation, "Bonjour")
    owner.until_done(conversation)
    whole = owner.until_done(conversation)  # of a turn that is over, pieces of text are not kept
    for cut in range(0, len(whole) - 2, 3):
        last = next((frame.id for frame in reversed(whole[:cut]) if frame.id), "0")
        rest = [frame for frame in whole if frame.id and int(frame.id) > int(last)]
        again = [f for f in owner.until_done(conversation, int(last)) if f.id]
        assert again == rest
        by_header = itertools.takewhile(lambda f: f.event != "done", owner.frames(conversation, last_event_id=last))
        assert [f for f in by_header if f.id] == rest


def test_a_model_on_a_server_answers_with_its_history_each_time(data: Path) -> None:
    home = data / "home" / ".maia"
    home.mkdir(parents=True)
    with fake_llm("text") as model:
        (home / "settings.json").write_text(json.dumps({"LiteLLM_URL": model.url}))
        with serving(data, "--model", "fake-model") as server, Visitor(server.url) as visitor:
            visitor.become_owner(server.token)
            conversation = visitor.conversation()
            visitor.say(conversation, "one")
            cursor = int([f for f in visitor.until_done(conversation) if f.id][-1].id)
            visitor.say(conversation, "two")
            meta = visitor.until_done(conversation, cursor)[-1].json["turnMeta"]
            assert meta["model"] == "fake-model"
            said = [(m["role"], m["content"]) for m in model.chats()[-1]["messages"] if m["role"] != "system"]
            assert [role for role, _ in said] == ["user", "assistant", "user"]
            assert said[0][1] == "one", "what was said before is sent as it was stored"
            time, _, asked = said[2][1].partition("\n\n")
            assert (time.startswith("Current date and time: "), asked) == (True, "two")
            read = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
            assert (read["modelId"], read["modelBinding"]) == ("fake-model", "pinned")


def test_a_second_message_waits_for_the_first_answer(data: Path) -> None:
    with serving(data, script=[{"text": "a", "wait": 30}]) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "one")
        refused = visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": "two"})
        assert (refused.status_code, refused.json()["code"]) == (409, "busy")
        assert any('"TextDelta"' in frame.data for frame in visitor.frames(conversation))
        assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/stop").json() == {"stopped": True}
        meta = visitor.until_done(conversation)[-1].json["turnMeta"]
        assert meta["outcome"] == "stopped"
        messages = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]
        assert [m["content"] for m in messages] == ["one", "a"]
        assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/stop").json() == {"stopped": False}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        pytest.param("POST", "/messages", {}, 400, id="no content"),
        pytest.param("POST", "/messages", {"content": ""}, 400, id="empty content"),
        pytest.param("POST", "/messages", {"content": " \n "}, 400, id="blank content"),
        pytest.param("POST", "/messages", {"content": 7}, 400, id="a number as content"),
        pytest.param("POST", "/messages", [], 400, id="a list"),
        pytest.param("PATCH", "", {"title": " "}, 400, id="a blank title"),
        pytest.param("PATCH", "", {"title": "x" * 201}, 400, id="a long title"),
        pytest.param("PATCH", "", {"sdkSessionId": "x"}, 200, id="an unknown field is left alone"),
        pytest.param("GET", "?before=0", None, 400, id="a turn that cannot be"),
        pytest.param("GET", "/events?cursor=-1", None, 400, id="a cursor that cannot be"),
    ],
)
def test_bad_input_gets_a_clear_answer(owner: Visitor, method: str, path: str, body: Any, status: int) -> None:
    conversation = owner.conversation("Here")
    answer = owner.ask(method, f"/api/v1/conversations/{conversation}{path}", body)
    assert answer.status_code == status, answer.text
    if status == 400:
        assert answer.json()["message"]
    assert owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["title"] == "Here"


def test_a_list_is_read_page_by_page(owner: Visitor) -> None:
    made = {owner.conversation(f"n {n}") for n in range(5)}
    seen: list[str] = []
    cursor = ""
    while True:
        page = owner.ask("GET", f"/api/v1/conversations?limit=2&cursor={cursor}").json()
        seen += [row["id"] for row in page["conversations"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert made <= set(seen)
    assert len(seen) == len(set(seen))
    assert owner.ask("GET", "/api/v1/conversations?cursor=nonsense").status_code == 400


def test_an_archived_conversation_leaves_the_list_and_comes_back(owner: Visitor) -> None:
    conversation = owner.conversation("Away")
    owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"archived": True})

    def listed(query: str) -> set[str]:
        return {row["id"] for row in owner.ask("GET", f"/api/v1/conversations{query}").json()["conversations"]}

    assert conversation not in listed("")
    assert conversation in listed("?archived=true")
    owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"archived": False})
    assert conversation in listed("")


def test_a_renamed_conversation_tells_its_readers_and_keeps_the_name(owner: Visitor) -> None:
    conversation = owner.conversation()
    owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"title": "  Mon   titre "})
    frame = next(owner.frames(conversation))
    assert (frame.kind, frame.json["event"]["name"]) == ("SessionRenamed", "Mon titre")
    owner.say(conversation, "Bonjour")
    owner.until_done(conversation)
    assert owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["title"] == "Mon titre"


def test_the_interface_describes_itself(owner: Visitor) -> None:
    page = owner.ask("GET", "/api/v1/openapi.json").json()
    assert "/api/v1/conversations/{conversation_id}/messages" in page["paths"]
    assert all(path.startswith("/api/v1/") for path in page["paths"])


def test_health_needs_nobody(served: Serving) -> None:
    with Visitor(served.url) as stranger:
        assert stranger.ask("GET", "/health").json()["status"] == "ok"


ODD = ["\x00", "\ud800", "a\x00b", "\ud83d", "%00", "../..", "é", "𝕏", "\u202e", "x" * 3000, "' OR 1=1 --"]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_no_text_however_odd_breaks_the_server(owner: Visitor, odd: str) -> None:
    """No status of 500 and above; what is accepted can be read again."""
    body = json.dumps({"title": odd, "content": odd, "email": odd, "password": odd, "lang": odd, "theme": odd})
    headers = {"X-CSRF-Token": owner.csrf, "Content-Type": "application/json"}
    conversation = owner.conversation("Here")
    path = f"/api/v1/conversations/{conversation}"
    quoted = quote(odd, safe="", errors="replace")
    requests = [
        ("POST", "/api/v1/conversations"),
        ("PATCH", path),
        ("POST", f"{path}/messages"),
        ("PATCH", "/api/v1/session/preferences"),
        ("GET", f"/api/v1/conversations/{quoted}"),
        ("GET", f"/conversations/{quoted}"),
        ("GET", f"/ui/stream?conversation={quoted}"),
        ("GET", f"/api/v1/conversations?cursor={quoted}&limit={quoted}"),
        ("GET", f"{path}/events?cursor={quoted}"),
        ("GET", f"/static/{quoted}/{quoted}"),
        ("GET", f"/signin?next={quoted}"),
        ("GET", f"/first-run?token={quoted}"),
    ]
    for method, where in requests:
        answer = owner.client.request(method, where, content=body if method != "GET" else None, headers=headers)
        assert answer.status_code < 500, (method, where, answer.text)
    if owner.ask("GET", path).json()["status"] == "running":
        owner.until_done(conversation)
    assert owner.ask("GET", path).status_code == 200
    assert owner.ask("GET", f"/conversations/{conversation}", Accept="text/html").status_code == 200


def test_no_sign_in_however_odd_breaks_the_server(data: Path) -> None:
    with serving(data) as server, Visitor(server.url) as stranger:
        stranger.become_owner(server.token)
        for odd in ODD:
            quoted = quote(odd, safe="", errors="replace")
            body = json.dumps({"email": odd, "password": odd})
            form = f"email={quoted}&password={quoted}&token={quoted}&next={quoted}&name={quoted}"
            for where, content in (("/api/v1/session", body), ("/signin", form), ("/first-run", form)):
                kind = "application/json" if content is body else "application/x-www-form-urlencoded"
                answer = stranger.client.post(where, content=content, headers={"Content-Type": kind})
                assert answer.status_code < 500, (where, answer.text)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"content": ' + b"[" * 50_000])
def test_no_body_however_broken_breaks_the_server(owner: Visitor, content: bytes) -> None:
    conversation = owner.conversation()
    headers = {"X-CSRF-Token": owner.csrf, "Content-Type": "application/json"}
    for path in (f"/api/v1/conversations/{conversation}/messages", "/api/v1/conversations", "/api/v1/session"):
        answer = owner.client.post(path, content=content, headers=headers)
        assert answer.status_code in (400, 422), (path, answer.status_code, answer.text)
