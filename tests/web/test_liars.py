"""Model servers that hang, flood and lie, through `maia serve`: one outcome, one message, what was written stays."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maia.i18n.catalogue import Catalogue
from tests.fakes import fake_llm
from tests.web.liar import NAMES, liar
from tests.web.serving import Serving, Visitor, parsed, serving

SCENARIOS = ("text", "tool2", "frag", "bytes", "truncated", "lying", "overflow", "rate", "busy", "cut", "slow", "big")
HELLO = "Hello from the fake model."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    data: Path = tmp_path_factory.mktemp("liars") / "data"
    home = data / "home" / ".maia"
    home.mkdir(parents=True)
    models = ",".join(f"fake-{name}" for name in SCENARIOS)
    options = {"tool_name": "Read", "tool_args": '{"file_path": "nowhere.txt"}', "delay": 0.2, "fail_times": 1}
    with liar() as url, fake_llm("text", models=models, **options) as fake:
        liars = {"url": url, "idle_timeout": 1, "models": list(NAMES)}
        (home / "settings.json").write_text(
            json.dumps({"endpoints": {"liar": liars, "fake": {"url": fake.openai_url}}})
        )
        with serving(data, started_with=None) as running, Visitor(running.url) as visitor:
            visitor.become_owner(running.token)
            yield running


@pytest.fixture(scope="module")
def visitor(server: Serving) -> Iterator[Visitor]:
    with Visitor(server.url) as signed:
        signed.sign_in()
        yield signed


FINISHED, CUT = ("finished", None), ("output_limit", None)
CASES: dict[str, tuple[tuple[str, str | None], str]] = {
    # name: ((outcome, message), what stays of the answer)
    "says-nothing": (("failed", "web.error.timeout"), ""),
    "hangs-in-the-middle": (("failed", "web.error.timeout"), "So "),
    "no-end": (("failed", "web.error.incomplete"), "Yes."),
    "wrong-json": (FINISHED, "Half whole"),
    "only-garbage": (("failed", "web.error.incomplete"), ""),
    "error-inside": (("failed", "web.error.other"), "Half"),
    "usage-backwards": (FINISHED, "Yes."),
    "usage-negative": (FINISHED, "Yes."),
    "another-name": (FINISHED, "Yes."),
    "empty": (FINISHED, ""),
    "filtered": (("refused", None), "I"),
    "cut-short": (CUT, "Half a sen"),
    "a-web-page": (("failed", "web.error.not_llm"), ""),
    "error-with-200": (("failed", "web.error.rate_limit"), ""),
    "refused-key": (("failed", "web.error.auth"), ""),
    "unknown-model": (("failed", "web.error.rejected"), ""),
    "too-long": (("failed", "web.error.too_long"), ""),
    "fake-text": (FINISHED, HELLO),
    "fake-tool2": (FINISHED, HELLO),
    "fake-frag": (FINISHED, HELLO),
    "fake-bytes": (FINISHED, HELLO),
    "fake-truncated": (CUT, ""),
    "fake-lying": (CUT, ""),
    "fake-overflow": (("failed", "web.error.too_long"), ""),
    "fake-rate": (FINISHED, HELLO),
    "fake-busy": (FINISHED, HELLO),
    "fake-cut": (("failed", "web.error.incomplete"), "Hello from th"),
    "fake-slow": (FINISHED, HELLO),
    "fake-big": (FINISHED, "x" * 200_000),
}


def asked(visitor: Visitor, name: str) -> str:
    """A conversation with that model, which was sent a message."""
    pair = {"providerId": "fake" if name.startswith("fake-") else "liar", "modelId": name}
    conversation = visitor.ask("POST", "/api/v1/conversations", {"title": name, **pair}).json()["id"]
    visitor.say(conversation, "Hello")
    return conversation


@pytest.mark.parametrize("name", CASES)
def test_whatever_a_server_does_there_is_one_outcome_and_one_message(visitor: Visitor, name: str) -> None:
    (outcome, message), text = CASES[name]
    conversation = asked(visitor, name)
    meta: dict[str, Any] = visitor.until_done(conversation)[-1].json["turnMeta"]
    assert meta["outcome"] == outcome
    read = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
    assert (read["messages"][1]["content"], read["status"]) == (text, "idle")
    page = visitor.ask("GET", f"/conversations/{conversation}", accept_language="en").text
    say, provider = Catalogue("en"), "fake" if name.startswith("fake-") else "liar"
    assert page.count('class="error" role="alert"') == (message is not None)
    if message is not None:
        assert f"<b>{say(message, provider=provider, model=name)}</b>" in page
        assert (say("web.error.kept") in page) is bool(text)
        settled = message in ("web.error.auth", "web.error.not_llm")
        assert (page.count(say("web.error.settings")) == 2) is settled, "one is the template of refusals (R-2.226)"
    assert "<script>alert" not in page
    assert "<b>fell</b>" not in page
    assert "sk-aaa" not in page


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("another-name", "cheaper-model", id="the caption names who really answered (R-2.063)"),
        pytest.param("usage-backwards", "m", id="a name of its own"),
    ],
)
def test_the_answer_is_told_as_that_of_the_model_that_the_server_names(
    visitor: Visitor, name: str, expected: str
) -> None:
    meta = visitor.until_done(asked(visitor, name))[-1].json["turnMeta"]
    assert (meta["provider"], meta["model"], meta["cost"]["usd"]) == ("liar", expected, None)


def test_an_endless_answer_is_stopped_by_a_person(visitor: Visitor) -> None:
    conversation = asked(visitor, "endless")
    for frame in visitor.frames(conversation):
        if frame.kind == "TextDelta":
            break
    assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/stop").status_code in (200, 202, 204)
    meta = visitor.until_done(conversation)[-1].json["turnMeta"]
    assert (meta["outcome"], meta["error"]) == ("stopped", None)
    kept = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"][1]["content"]
    assert kept.startswith("again and again")


def test_a_line_of_ten_million_characters_is_cut_off(visitor: Visitor) -> None:
    conversation = asked(visitor, "long-line")
    meta = visitor.until_done(conversation)[-1].json["turnMeta"]
    assert (meta["outcome"], meta["error"]["code"]) == ("failed", "endless")
    kept = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"][1]["content"]
    assert len(kept) == 4_000_000


def test_what_a_turn_tells_several_times_stands_once(visitor: Visitor) -> None:
    conversation = asked(visitor, "fake-lying")
    meta = visitor.until_done(conversation)[-1].json["turnMeta"]
    assert [each["key"] for each in meta["notices"]] == ["turn.call_cut"] * 3
    page = visitor.ask("GET", f"/conversations/{conversation}", accept_language="en").text
    assert page.count('<p class="notice">') == 1
    assert "(×\u00a03)" in page


def test_a_refusal_names_the_page_where_it_is_mended(visitor: Visitor) -> None:
    conversation = visitor.ask("POST", "/api/v1/conversations", {"providerId": "fake", "modelId": "fake-text"}).json()[
        "id"
    ]
    visitor.ask("PATCH", "/api/v1/model/providers/fake", {"enabled": False})
    refused = visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": "Hello"})
    visitor.ask("PATCH", "/api/v1/model/providers/fake", {"enabled": True})
    assert (refused.status_code, refused.json()["settings"]) == (409, "/providers")


# Calls outside any conversation (N-01.12) ----------------------------------------------------------------------------

ASK = {"model": "fake-text", "messages": [{"role": "user", "content": "Hello"}]}


def test_one_call_is_answered_whole_or_as_it_is_written(visitor: Visitor) -> None:
    fields = {"system": "Be short.", "maxTokens": 50, "temperature": 0.5, "stopSequences": ["END"], "tools": [1]}
    whole = visitor.ask("POST", "/api/v1/model/complete", {**ASK, **fields}).json()
    assert (whole["text"], whole["provider"], whole["stop"], whole["stopReason"]) == (HELLO, "fake", "end", "stop")
    assert (whole["tokens"]["input"], whole["cost"]["usd"]) == (12, None)
    streamed = visitor.ask("POST", "/api/v1/model/stream", {**ASK, "provider": "fake"}).text
    frames = list(parsed(iter([*streamed.splitlines(), ""])))
    assert "".join(frame.json["text"] for frame in frames[:-1]) == HELLO
    assert (frames[-1].event, frames[-1].json["stop"]) == ("done", "end")


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        pytest.param({"messages": []}, 400, "ValidationError", id="no message"),
        pytest.param({"messages": ASK["messages"] * 1_001}, 400, "ValidationError", id="too many messages"),
        pytest.param({"messages": [{"role": "system", "content": "x"}]}, 400, "ValidationError", id="another role"),
        pytest.param({"temperature": 2.1}, 400, "ValidationError", id="too hot"),
        pytest.param({"stopSequences": ["x"] * 17}, 400, "ValidationError", id="too many stop sequences"),
        pytest.param({"maxTokens": 0}, 400, "ValidationError", id="no tokens"),
        pytest.param({"effort": "deepest"}, 400, "EFFORT_UNSUPPORTED", id="a level that there is not"),
        pytest.param({"model": "nothing"}, 409, "model_binding_unavailable", id="an unknown model (N-01.11)"),
        pytest.param({"provider": "nobody"}, 409, "model_binding_unavailable", id="an unknown provider"),
        pytest.param({"model": "refused-key"}, 502, "auth", id="a provider that refuses"),
        pytest.param({"model": "a-web-page"}, 502, "not_llm", id="no model server"),
    ],
)
def test_a_call_that_cannot_be_made_is_told_why(
    visitor: Visitor, change: dict[str, Any], status: int, code: str
) -> None:
    refused = visitor.ask("POST", "/api/v1/model/complete", {**ASK, **change})
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert ("issues" in refused.json()) is (code == "ValidationError")


def test_a_stream_that_breaks_off_ends_with_its_error(visitor: Visitor) -> None:
    answer = visitor.ask("POST", "/api/v1/model/stream", {**ASK, "model": "hangs-in-the-middle"}).text
    frames = list(parsed(iter([*answer.splitlines(), ""])))
    assert [frame.event for frame in frames] == ["", "error"]
    assert (frames[0].json, frames[1].json["code"]) == ({"text": "So "}, "timeout")
