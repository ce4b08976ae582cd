from typing import Any

import pytest

from maia.core.jsonvalue import JsonObject
from maia.i18n.catalogue import Catalogue, Lang
from maia.web.drawing.delivered import delivered
from tests.web.serving import Serving, Visitor

EVIL = "</memory-x></textarea><script>alert(1)</script> ask lea@example.org"
MEMORY: JsonObject = {
    "sizedFor": {"model": "sonnet", "window": 200_000},
    "recall": {"items": 12, "expanded": 2, "tokens": 900, "budget": 1200, "ids": [], "withheld": None},
    "lookups": {"calls": 1, "limit": 3, "items": 6},
    "promptChannel": None,
}


def test_notes_are_kept_found_changed_and_forgotten_by_their_person(owner: Visitor, served: Serving) -> None:
    made = owner.ask("POST", "/api/v1/memory/notes", {"text": EVIL, "standing": True})
    assert made.status_code == 201
    note = made.json()
    assert note | {"id": "", "createdAt": "", "changedAt": ""} == {
        "id": "", "text": EVIL.replace("lea@example.org", "[EMAIL]"), "scope": "global", "scopeId": None,
        "origin": "person", "standing": True, "important": False, "recalled": True, "conversationId": None,
        "createdAt": "", "changedAt": "",
    }  # fmt: skip
    place = f"/api/v1/memory/notes/{note['id']}"
    assert [each["id"] for each in owner.ask("GET", "/api/v1/memory/notes?q=script").json()["notes"]] == [note["id"]]
    page = owner.ask("GET", "/memory").text
    assert "<script>alert(1)" not in page
    assert "&lt;/textarea&gt;" in page
    assert owner.ask("PATCH", place, {"important": True}).json()["important"] is True
    for body in ({"text": " "}, {"text": "x", "scope": "project", "scopeId": "nope"}, {"text": "x" * 4_001}, {}):
        assert owner.ask("POST", "/api/v1/memory/notes", body).status_code in (400, 422), body
    for path in ("nope", "0" * 26):
        assert owner.ask("DELETE", f"/api/v1/memory/notes/{path}").status_code == 404
    with Visitor(served.url) as nobody:
        assert nobody.ask("GET", place.rpartition("/")[0]).status_code == 401
    assert owner.ask("DELETE", place).status_code == 204
    assert owner.ask("GET", "/api/v1/memory/notes").json() == {"notes": [], "count": 0, "most": 2_000}


def test_what_was_delivered_is_told_as_data(owner: Visitor) -> None:
    note = owner.ask("POST", "/api/v1/memory/notes", {"text": "Dates are ISO 8601", "standing": True}).json()
    made = owner.conversation()
    owner.say(made, "Hello")
    owner.until_done(made)
    found = owner.ask("GET", f"/api/v1/observability/compositions/{made}").json()["composition"]
    told = found["delivery"]
    assert {name: told[name] for name in ("hits", "expanded", "ids", "withheld", "promptChannel")} == {
        "hits": 1, "expanded": 0, "ids": [f"vt:{note['id']}"], "withheld": None, "promptChannel": None,
    }  # fmt: skip
    assert 0 < told["tokens"] <= told["budget"] == 600
    assert found["drillDown"] == {"calls": 0, "reads": 0, "limit": 3}
    tools = next(each for each in found["sections"] if each["name"] == "tools")
    assert {name: tools["egress"][name] for name in ("masked", "spans", "skipped")} == {
        "masked": 0, "spans": [], "skipped": "unscanned",
    }  # fmt: skip
    owner.ask("DELETE", f"/api/v1/memory/notes/{note['id']}")


def test_providers_are_compared_over_up_to_ninety_days(owner: Visitor, served: Serving) -> None:
    path = "/api/v1/observability/memory-parity"
    made = owner.conversation()
    owner.say(made, "Hello")
    owner.until_done(made)
    told = owner.ask("GET", path).json()
    (row,) = told["providers"]
    assert told["days"] == 7
    assert row == {**row, "providerId": "offline", "lookupsPerTurn": 0.0}
    assert row["turns"] >= row["withMemory"] >= 0
    assert owner.ask("GET", f"{path}?days=90").json() == {**told, "days": 90}
    for bad in ("0", "91", "x", ""):
        assert owner.ask("GET", f"{path}?days={bad}").status_code == 400, bad
    assert path in owner.ask("GET", "/api/v1/openapi.json").json()["paths"]
    page = owner.ask("GET", "/observability?days=30").text
    assert f"{row['withMemory']} sur {row['turns']}" in page or f"{row['withMemory']} of {row['turns']}" in page
    with Visitor(served.url) as nobody:
        assert nobody.ask("GET", path).status_code == 401


def test_settings_of_the_installation_are_read_and_changed_all_or_none(owner: Visitor) -> None:
    unset = {"i18n.timezone": None, "memory.index.budgetChars": None, "observability.contextRetentionDays": None}
    assert owner.ask("GET", "/api/v1/settings").json() == {"settings": unset}
    wanted = {"i18n.timezone": "Asia/Tokyo", "memory.index.budgetChars": 4_800}
    assert owner.ask("PATCH", "/api/v1/settings", wanted).json() == {"settings": {**unset, **wanted}}
    for bad in ({"i18n.timezone": "Nowhere"}, {"memory.index.budgetChars": -1, "i18n.timezone": None}, {"x": 1}):
        assert owner.ask("PATCH", "/api/v1/settings", bad).status_code == 400
    made = owner.conversation()
    owner.say(made, "Hello")
    owner.until_done(made)
    found = owner.ask("GET", f"/api/v1/observability/compositions/{made}").json()["composition"]
    assert found["delivery"]["budget"] == 1_200
    clock = next(each["text"] for each in found["sections"] if each["name"] == "turn-time")
    assert clock.endswith("Asia/Tokyo (UTC+09:00).")
    assert owner.ask("PATCH", "/api/v1/settings", dict.fromkeys(wanted)).json() == {"settings": unset}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param({}, "Sized for sonnet · window of 200,000 tokens", id="sized"),
        pytest.param(
            {"sizedFor": {"model": "m", "window": None}},
            "Sized for m · unknown window, 100k-token base used",
            id="nobody knows the window",
        ),
        pytest.param({}, "12 items recalled (2 in full) · 900 / 1,200 tokens", id="recalled"),
        pytest.param({"recall": {"withheld": "nothing"}}, "No memory recalled for this message", id="nothing"),
        pytest.param(
            {"recall": {"withheld": "no_room"}},
            "Recall withheld: the model's window leaves no room",
            id="no room",
        ),
        pytest.param(
            {"recall": {"withheld": "failed"}},
            "Recall withheld: recall failed and the turn got only the time",
            id="failed",
        ),
        pytest.param({}, "Memory look-ups: 1 of 3 calls this turn · 6 items read", id="looked up"),
        pytest.param({"lookups": {"calls": None, "items": 6}}, "6 items read", id="not counted yet"),
        pytest.param(
            {"lookups": None},
            "Memory look-ups unavailable: memory tools do not reach this model",
            id="no tools",
        ),
        pytest.param({"promptChannel": "message"}, "System prompt: delivered in the message", id="by message"),
        pytest.param(
            {"promptChannel": "unverified"},
            "System prompt: sent as system prompt (unverified)",
            id="as a system prompt",
        ),
        pytest.param(
            {"promptChannel": "verified"}, "System prompt: delivered as system prompt (verified)", id="confirmed"
        ),
    ],
)
def test_each_fact_of_what_was_delivered_has_its_line(change: JsonObject, line: str) -> None:
    assert line in told({**MEMORY, **change}, "en")
    assert len(told({**MEMORY, **change}, "fr")) == len(told({**MEMORY, **change}, "en"))


def test_a_turn_that_was_recorded_before_has_no_box() -> None:
    assert told({"maskedResults": {}}, "en") == []


def told(memory: JsonObject, lang: Lang) -> list[Any]:
    return list(delivered(memory, Catalogue(lang, strict=True), lambda value: f"{value:,}"))
