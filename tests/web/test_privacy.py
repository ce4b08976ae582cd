"""A message with protected data, as the interface answers it: with a model that is not sure to be here."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from maia.workspace.calls.naming import SYSTEM as NAMING
from tests.fakes import FakeLlm, fake_llm
from tests.web.serving import Serving, Visitor, serving

IBAN = "FR76 3000 6000 0112 3456 7890 189"
TEXT = f"pay {IBAN} for jean@exemple.fr"


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeLlm]:
    with fake_llm("text", text="Noted.") as server:
        yield server


class _OutOfCredit(BaseHTTPRequestHandler):
    """A server on this machine that keeps what it is asked, and answers that there is no credit left."""

    asked: list[str]

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_POST(self) -> None:
        self.asked.append(self.rfile.read(int(self.headers["content-length"])).decode())
        body = b'{"error": {"message": "no credits left", "code": "insufficient_quota"}}'
        self.send_response(429)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def near() -> Iterator[tuple[str, list[str]]]:
    """The address of such a server, and what it was asked."""
    asked = list[str]()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Kept", (_OutOfCredit,), {"asked": asked}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory, fake: FakeLlm, near: tuple[str, list[str]]) -> Iterator[Serving]:
    """A server whose model is reached by an address that does not say that it is this machine."""
    data: Path = tmp_path_factory.mktemp("far") / "data"
    settings = data / "home" / ".maia" / "settings.json"
    settings.parent.mkdir(parents=True)
    away = fake.url.replace("127.0.0.1", "0.0.0.0")
    endpoints = {"near": {"url": near[0], "models": ["small"]}}
    settings.write_text(json.dumps({"LiteLLM_URL": away, "endpoints": endpoints}), "utf-8")
    with serving(data, "--model", "fake-model") as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server


@pytest.fixture
def owner(far: Serving) -> Iterator[Visitor]:
    with Visitor(far.url) as visitor:
        assert visitor.sign_in().status_code == 201
        yield visitor


def test_it_is_refused_with_its_types_and_the_text_that_may_be_sent(owner: Visitor, fake: FakeLlm) -> None:
    made = owner.conversation()
    path = f"/api/v1/conversations/{made}/messages"
    refused = owner.ask("POST", path, {"content": TEXT}, Accept_Language="en")
    assert refused.status_code == 422
    body = refused.json()
    assert "IBAN" in body.pop("message")
    assert body == {
        "error": "privacy_blocked",
        "code": "privacy_blocked",
        "types": ["iban"],
        "maskedContent": "pay [IBAN] for jean@exemple.fr",
    }
    assert IBAN not in refused.text
    assert owner.ask("GET", f"/api/v1/conversations/{made}").json()["messages"] == []
    assert IBAN not in json.dumps(fake.chats())


def test_with_privacy_mask_it_is_stored_and_sent_masked(owner: Visitor, fake: FakeLlm) -> None:
    made = owner.conversation()
    path = f"/api/v1/conversations/{made}/messages"
    assert owner.ask("POST", path, {"content": TEXT, "privacy": "mask"}).status_code == 202
    owner.until_done(made)
    kept = owner.ask("GET", f"/api/v1/conversations/{made}").json()["messages"]
    assert kept[0]["content"] == "pay [IBAN] for jean@exemple.fr"
    left = json.dumps(fake.chats())
    assert "pay [IBAN] for [EMAIL]" in left
    assert "jean@exemple.fr" not in left


@pytest.mark.parametrize("value", ["off", "", True, 1, ["mask"]])
def test_any_other_word_for_privacy_is_a_bad_request(owner: Visitor, value: object) -> None:
    path = f"/api/v1/conversations/{owner.conversation()}/messages"
    answer = owner.ask("POST", path, {"content": "hello", "privacy": value})
    assert (answer.status_code, answer.json()["error"]) == (400, "ValidationError")


def test_the_policy_is_read_changed_and_refused_with_what_is_wrong(owner: Visitor) -> None:
    path = "/api/v1/privacy/policy"
    first = owner.ask("GET", path).json()
    assert (first["source"], first["version"], first["actions"]["iban"]) == ("defaults", "regex@1/policy@1", "block")
    bad = owner.ask("PUT", path, {"actions": {"iban": "maybe"}, "localHosts": ["http://x"]})
    assert (bad.status_code, bad.json()["error"]) == (400, "invalid_policy")
    assert [issue["path"] for issue in bad.json()["issues"]] == ["actions.iban", "localHosts[0]"]
    assert owner.ask("GET", path).json() == first
    kept = {name: first[name] for name in ("enabled", "actions", "customPatterns", "localHosts", "audit")}
    changed = owner.ask("PUT", path, kept).json()
    assert (changed["source"], changed["version"]) == ("ui", "regex@1/policy@2")


def test_a_text_is_tried_and_no_value_comes_back(owner: Visitor) -> None:
    tried = owner.ask("POST", "/api/v1/privacy/scan", {"text": TEXT})
    assert IBAN not in tried.text
    body = tried.json()
    assert body.pop("version").startswith("regex@1/policy@")
    assert body == {
        "matches": [
            {"type": "iban", "start": 4, "end": 37, "action": "block", "value": "***"},
            {"type": "email", "start": 42, "end": 57, "action": "mask", "value": "***"},
        ],
        "inbound": {"refused": True, "types": ["iban"]},
        "egressPreview": "pay [IBAN] for [EMAIL]",
    }
    assert owner.ask("POST", "/api/v1/privacy/scan", {"text": "x" * 100_001}).status_code == 400


def test_of_two_who_change_the_policy_at_once_the_second_one_is_told(owner: Visitor) -> None:
    path = "/api/v1/privacy/policy"
    seen = owner.ask("GET", path)
    kept = {name: seen.json()[name] for name in ("enabled", "actions", "customPatterns", "localHosts", "audit")}
    first = owner.ask("PUT", path, kept, If_Match=seen.headers["etag"])
    assert (first.status_code, first.headers["etag"] == seen.headers["etag"]) == (200, False)
    late = owner.ask("PUT", path, {**kept, "enabled": False}, If_Match=seen.headers["etag"], Accept_Language="en")
    assert (late.status_code, late.json()["code"]) == (412, "policy_changed")
    assert first.json()["version"] in late.json()["message"]
    assert owner.ask("GET", path).json() == first.json()
    assert owner.ask("PUT", path, kept, If_Match=first.headers["etag"]).status_code == 200
    assert owner.ask("PUT", path, kept, If_Match="*").status_code == 200, "whoever wants that wins over all"


def test_what_the_mask_did_is_counted_by_type_and_tells_no_value(owner: Visitor) -> None:
    path = "/api/v1/privacy/counters"
    before = owner.ask("GET", path).json()
    made = owner.conversation("Named already")
    owner.ask("POST", f"/api/v1/conversations/{made}/messages", {"content": TEXT})
    owner.ask(
        "POST", f"/api/v1/conversations/{made}/messages", {"content": f"{TEXT}, TAJ: 123 456 788", "privacy": "mask"}
    )
    owner.until_done(made)
    after = owner.ask("GET", path).json()
    assert before.pop("since") == after.pop("since")
    kinds = {kind: after["masked"].get(kind, 0) - before["masked"].get(kind, 0) for kind in after["masked"]}
    assert {kind: n for kind, n in kinds.items() if n} == {"email": 1}
    assert after["counted"].get("taj_number", 0) - before["counted"].get("taj_number", 0) == 1
    more = {name: after[name] - before[name] for name in ("scanned", "refused", "sentMasked", "local", "withheld")}
    assert more == {"scanned": 1, "refused": 1, "sentMasked": 1, "local": 0, "withheld": 0}


def test_the_page_is_for_those_who_lead_and_only_the_owner_changes_or_tries(owner: Visitor, far: Serving) -> None:
    page = owner.ask("GET", "/privacy", Accept="text/html").text
    assert 'href="/privacy"' in page
    assert all(part in page for part in ('id="policy-said"', 'id="try"'))
    for role in ("admin", "user"):
        made = owner.ask("POST", "/api/v1/users", {"name": role, "email": f"{role}@example.org", "role": role}).json()
        with Visitor(far.url) as other:
            token = made["invitation"]["path"].partition("token=")[2]
            other.client.post("/join", data={"token": token, "password": "another horse"})
            other.csrf = other.ask("GET", "/api/v1/session").json()["csrf"]
            shown = other.ask("GET", "/privacy", Accept="text/html")
            assert shown.status_code == (200 if role == "admin" else 403)
            assert not any(part in shown.text for part in ('id="policy-said"', 'id="try"'))
            assert ('href="/privacy"' in other.ask("GET", "/", Accept="text/html").text) == (role == "admin")
            answers = [
                other.ask("GET", "/api/v1/privacy/counters").status_code,
                other.ask("GET", "/api/v1/privacy/policy").status_code,
                other.ask("PUT", "/api/v1/privacy/policy", {}).status_code,
                other.ask("POST", "/api/v1/privacy/scan", {"text": "x"}).status_code,
            ]
            assert answers == ([200, 200, 403, 403] if role == "admin" else [403] * 4)


def test_each_attempt_is_masked_for_whom_it_goes_to(owner: Visitor, fake: FakeLlm, near: tuple[str, list[str]]) -> None:
    _, asked_near = near
    providers = owner.ask("GET", "/api/v1/model/providers").json()["providers"]
    away = next(each for each in providers if each["id"] != "near" and each["models"])
    pairs = {"providerId": "near", "modelId": "small"}
    pairs |= {"fallbackProviderId": away["id"], "fallbackModelId": away["models"][0]["id"]}
    assert owner.ask("PUT", "/api/v1/routing/tiers/heartbeat", pairs).status_code == 200
    made = owner.conversation()
    owner.say(made, "write to jean@exemple.fr")
    titles = list[str]()
    for frame in owner.frames(made):
        titles += [frame.json["event"]["name"]] if frame.kind == "SessionRenamed" else []
        if len(titles) == 2:
            break
    assert titles == ["write to jean@exemple.fr", "Noted"]
    assert owner.ask("PUT", "/api/v1/routing/tiers/heartbeat", dict.fromkeys(pairs)).status_code == 200
    (raw,) = asked_near
    assert "write to jean@exemple.fr" in raw, "a model on this machine gets everything as it is"
    named = [body for body in fake.chats() if NAMING[:40] in json.dumps(body, ensure_ascii=False)]
    assert [body["messages"][-1]["content"] for body in named] == ["write to [EMAIL]"]


def test_keys_are_masked_too(owner: Visitor, fake: FakeLlm) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    assert owner.ask("POST", "/api/v1/privacy/scan", {"text": key}).json()["egressPreview"] == "[SECRET]"
    made = owner.conversation()
    owner.say(made, f"is {key} a key?")
    owner.until_done(made)
    assert key not in json.dumps(fake.chats())
