import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeLlm, fake_llm
from tests.web.serving import Serving, Visitor, serving

MODEL = {"providerId": "litellm", "modelId": "fake-model"}
GONE = (
    "Le modèle LiteLLM / fake-model n'est pas disponible\u202f: lui ou son fournisseur est désactivé. Choisissez un "
    "autre modèle dans le sélecteur de modèle en haut de la conversation, ou activez-le dans Fournisseurs."
)
GONE_EN = (
    "The model LiteLLM / fake-model is not available: it or its provider is disabled. Choose another model in the "
    "model picker at the top of the conversation, or enable it in Providers."
)


@contextmanager
def on_a_server(
    data: Path, *options: str, pricing: Any = None, **more: Any
) -> Generator[tuple[Serving, Visitor, FakeLlm]]:
    """A workspace whose settings name one server."""
    home = data / "home" / ".maia"
    home.mkdir(parents=True, exist_ok=True)
    with fake_llm("text", models="fake-model,other-model", **more) as model:
        (home / "settings.json").write_text(json.dumps({"LiteLLM_URL": model.url, "model.pricing": pricing or {}}))
        with serving(data, *options, started_with=None) as server, Visitor(server.url) as visitor:
            visitor.become_owner(server.token)
            yield server, visitor, model


def provider(visitor: Visitor, name: str = "litellm") -> dict[str, Any]:
    return visitor.ask("GET", f"/api/v1/model/providers/{name}").json()


def test_the_servers_of_the_settings_are_providers_under_one_name(data: Path) -> None:
    with on_a_server(data) as (_, visitor, model):
        found = visitor.ask("GET", "/api/v1/model/providers").json()
        mine = next(each for each in found["providers"] if each["id"] == "litellm")
        assert (mine["name"], mine["kind"], mine["enabled"], mine["health"]) == ("LiteLLM", "local", True, "ready")
        assert mine["baseUrl"] == model.url
        assert "fake-model" in [each["id"] for each in mine["models"]]
        assert found["default"]["providerId"] == "litellm"
        assert all(each["id"] != "offline" for each in found["providers"]), "a script is no provider unless asked for"


def test_a_price_of_the_settings_is_listed_makes_the_cost_of_a_turn_and_counts_for_a_cap(data: Path) -> None:
    own = {"litellm/fake-model": {"input": 1000, "output": 50000}, "other-model": {"input": 0, "output": 7}}
    with on_a_server(data, pricing=own) as (_, visitor, _model):
        prices = {each["id"]: each["price"] for each in provider(visitor)["models"]}
        assert prices == {"fake-model": own["litellm/fake-model"], "other-model": own["other-model"]}
        conversation = visitor.conversation()
        asked = {"content": "Hello", **MODEL}
        assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", asked).status_code == 202
        done = next(frame.json for frame in visitor.until_done(conversation) if frame.event == "done")
        tokens = done["turnMeta"]["tokens"]
        usd = (tokens["input"] * 1000 + tokens["output"] * 50000) / 1e6
        assert done["turnMeta"]["cost"] == {"usd": pytest.approx(usd), "source": "estimated"}
        assert "$50000.00" in visitor.ask("GET", "/providers", accept="text/html").text
        assert visitor.ask("PUT", "/api/v1/routing/budget", {"daily": usd / 2}).status_code == 200
        refused = visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", asked)
        assert (refused.status_code, refused.json()["code"]) == (402, "budget_stop"), "a gateway here passes calls on"


def test_the_default_model_is_the_one_that_is_tried(data: Path) -> None:
    with on_a_server(data) as (_, visitor, _model):
        for model in ("other-model", "fake-model"):
            visitor.ask("PUT", "/api/v1/model/defaults", {**MODEL, "modelId": model})
            done = visitor.ask("POST", "/api/v1/model/providers/litellm/test", {})
            assert (done.status_code, done.json()["modelId"]) == (200, model)


def test_the_first_message_pins_the_default_and_says_why(data: Path) -> None:
    with on_a_server(data) as (_, visitor, _model):
        visitor.ask("PUT", "/api/v1/model/defaults", MODEL)
        conversation = visitor.conversation()
        before = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
        assert (before["modelId"], before["effectiveBinding"]["reason"]) == (None, "default")
        visitor.say(conversation, "Hello")
        frames = visitor.until_done(conversation)
        bound = next(frame.json for frame in frames if frame.event == "binding")
        assert bound == {
            "turn": 1,
            **MODEL,
            "why": {"reason": "default", "note": "", "effort": None, "effortAsked": None, "effortBy": ""},
        }
        after = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
        assert (after["providerId"], after["modelId"], after["modelBinding"]) == ("litellm", "fake-model", "pinned")
        binding = after["effectiveBinding"]
        assert (binding["providerName"], binding["modelId"], binding["reason"]) == ("LiteLLM", "fake-model", "pinned")
        assert "supportsImages" in binding
        assert after["autoRoutingEnabled"] is False


@pytest.mark.parametrize(("lang", "words"), [("fr", GONE), ("en", GONE_EN)])
def test_a_chosen_model_that_is_off_refuses_and_nothing_is_stored(data: Path, lang: str, words: str) -> None:
    with on_a_server(data) as (_, visitor, _model):
        conversation = visitor.conversation()
        path = f"/api/v1/conversations/{conversation}"
        assert visitor.ask("PATCH", path, MODEL).status_code == 200
        visitor.ask("PATCH", "/api/v1/model/providers/litellm", {"enabled": False})
        refused = visitor.ask("POST", f"{path}/messages", {"content": "Hello"}, accept_language=lang)
        assert (refused.status_code, refused.json()["code"]) == (409, "model_binding_unavailable")
        assert refused.json()["message"] == words
        read = visitor.ask("GET", path).json()
        assert (read["messages"], read["title"], read["status"]) == ([], "", "idle")
        assert read["effectiveBinding"]["error"] == "model_binding_unavailable"
        visitor.ask("PATCH", "/api/v1/model/providers/litellm", {"enabled": True})
        visitor.say(conversation, "Hello again")
        assert visitor.until_done(conversation)[-1].json["turnMeta"]["outcome"] == "finished"


def test_without_any_model_the_message_is_refused(data: Path) -> None:
    with serving(data, started_with=None, PATH="/nowhere") as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        refused = visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": "Hello"})
        assert (refused.status_code, refused.json()["code"]) == (409, "no_model_configured")
        assert refused.json()["message"].startswith("No model is configured")
        assert visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"] == []


def test_a_pair_is_sent_whole_and_validated(data: Path) -> None:
    with on_a_server(data) as (_, visitor, _model):
        conversation = visitor.conversation()
        path = f"/api/v1/conversations/{conversation}"
        for body in ({"providerId": "litellm"}, {"modelId": "fake-model"}):
            assert visitor.ask("PATCH", path, body).json()["code"] == "ValidationError"
            half = visitor.ask("POST", f"{path}/messages", {"content": "x", **body})
            assert (half.status_code, half.json()["code"]) == (400, "ValidationError")
        for wrong in ({**MODEL, "modelId": "nothing"}, {**MODEL, "providerId": "nobody"}):
            refused = visitor.ask("PATCH", path, wrong)
            assert (refused.status_code, refused.json()["code"]) == (400, "model_binding_unavailable")
        assert visitor.ask("GET", path).json()["modelId"] is None
        refused = visitor.ask("PATCH", path, {"modelBinding": "inherit"})
        assert (refused.status_code, refused.json()["code"]) == (400, "binding_inherit_needs_agent")
        visitor.ask("PATCH", path, {"sdkSessionId": "x", "modelByPerson": True})
        assert "sdkSessionId" not in visitor.ask("GET", path).json()


def test_a_new_conversation_keeps_only_what_can_answer(data: Path) -> None:
    with on_a_server(data) as (_, visitor, _model):

        def made(**body: Any) -> dict[str, Any]:
            answer = visitor.ask("POST", "/api/v1/conversations", body)
            return {"status": answer.status_code, **answer.json()}

        assert made(**MODEL)["modelId"] == "fake-model"
        assert made(providerId="litellm", modelId="nothing")["modelId"] is None
        assert made(modelId="fake-model")["modelId"] is None
        assert made(modelBinding="auto")["modelBinding"] == "auto"
        assert made(modelBinding="inherit")["code"] == "binding_inherit_needs_agent"
        assert made(modelBinding="sometimes")["code"] == "ValidationError"
        assert made(effort="deepest", **MODEL)["code"] == "EFFORT_UNSUPPORTED"


def test_an_override_answers_one_turn_only(data: Path) -> None:
    with on_a_server(data) as (_, visitor, model):
        other = next(each["id"] for each in provider(visitor)["models"] if each["id"] != "fake-model")
        visitor.ask("PUT", "/api/v1/model/defaults", MODEL)
        conversation = visitor.conversation()
        begun = visitor.ask(
            "POST",
            f"/api/v1/conversations/{conversation}/messages",
            {"content": "Hello", "providerId": "litellm", "modelId": other},
        )
        assert begun.status_code == 202, begun.text
        visitor.until_done(conversation)
        assert model.chats()[-1]["model"] == other
        assert visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["modelId"] is None


def test_routing_happens_only_where_it_is_wanted_and_allowed(data: Path) -> None:
    with on_a_server(data) as (_, visitor, model):
        names = [each["id"] for each in provider(visitor)["models"]][:2]
        for tier, name in (("standard", names[0]), ("code", names[1])):
            body = {"providerId": "litellm", "modelId": name}
            assert visitor.ask("PUT", f"/api/v1/routing/tiers/{tier}", body).status_code == 200
        conversation = visitor.ask("POST", "/api/v1/conversations", {"modelBinding": "auto"}).json()["id"]
        path = f"/api/v1/conversations/{conversation}"
        assert visitor.ask("GET", path).json()["effectiveBinding"]["note"] == "auto-routing-off"
        assert visitor.ask("PUT", "/api/v1/routing/automatic", {"allowed": True}).json() == {"autoRoutingEnabled": True}
        assert visitor.ask("GET", path).json()["effectiveBinding"]["reason"] == "auto"
        visitor.say(conversation, "Fix the bug in parse()")
        visitor.until_done(conversation)
        assert model.chats()[-1]["model"] == names[1]
        assert visitor.ask("GET", path).json()["modelId"] is None, "an Auto conversation keeps no model"
        unknown = visitor.ask("PUT", "/api/v1/routing/tiers/nightly", {})
        assert unknown.status_code == 404
        tiers = {each["tier"]: each["effort"] for each in visitor.ask("GET", "/api/v1/routing/tiers").json()["tiers"]}
        low = dict.fromkeys(("triage", "quick", "heartbeat"), "low")
        assert tiers == {**low, **dict.fromkeys(("standard", "complex", "code"))}, "N-04.01, N-04.02"
        visitor.ask("PUT", "/api/v1/routing/tiers/heartbeat", {"providerId": "litellm", "modelId": names[0]})
        found = {each["group"]: each for each in visitor.ask("GET", "/api/v1/routing/auxiliary").json()["groups"]}
        titles = {"group": "titles", "providerId": "litellm", "modelId": names[0], "origin": "tier"}
        assert found["titles"] == {**titles, "tier": "heartbeat", "reason": None}
        assert (found["triage"]["reason"], found["memory"]["tier"]) == ("tier_not_configured", "heartbeat")


def test_caps_are_set_by_who_may_and_read_by_all(owner: Visitor) -> None:
    usual = {"daily": None, "weekly": None, "monthly": None, "warnAt": 0.8, "downgradeAt": 1.0, "hardStopAt": 1.2}
    path = "/api/v1/routing/budget"
    before = owner.ask("GET", path).json()
    assert (before["budget"], before["level"], before["period"]) == (usual, "free", None)
    kept = owner.ask("PUT", path, {"daily": 12.5, "warnAt": 0.5}).json()
    assert kept["budget"] == {**usual, "daily": 12.5, "warnAt": 0.5}
    assert kept["period"] == "daily"
    for wrong, code in (
        ({"weekly": -1}, "invalid_budget"),
        ({"warnAt": 3}, "invalid_budget"),
        ({"monthly": "ten"}, "ValidationError"),
        ({"monthly": True}, "ValidationError"),
    ):
        refused = owner.ask("PUT", path, wrong)
        assert (refused.status_code, refused.json()["code"]) == (400, code), wrong
    assert owner.ask("PUT", path, {"daily": None, "warnAt": 0.8}).json()["budget"] == usual


def test_the_effort_goes_to_the_model_as_far_as_it_has_one(data: Path) -> None:
    home = data / "home" / ".maia"
    home.mkdir(parents=True)
    with fake_llm("text") as model:
        entry = {"url": f"{model.url}/v1", "models": ["gpt-5-mini", "fake-model"]}
        (home / "settings.json").write_text(json.dumps({"endpoints": {"mine": entry}}))
        with serving(data, started_with=None) as server, Visitor(server.url) as visitor:
            visitor.become_owner(server.token)
            conversation = visitor.conversation()
            path = f"/api/v1/conversations/{conversation}"
            assert visitor.ask("PATCH", path, {"providerId": "mine", "modelId": "gpt-5-mini"}).status_code == 200
            options = visitor.ask("GET", f"{path}/effort-options").json()
            assert (options["levels"], options["current"]) == (["minimal", "low", "medium", "high"], None)
            refused = visitor.ask("PATCH", path, {"effort": "max"})
            assert (refused.status_code, refused.json()["code"], refused.json()["levels"]) == (
                400,
                "EFFORT_UNSUPPORTED",
                ["minimal", "low", "medium", "high"],
            )
            assert visitor.ask("PATCH", path, {"effort": "high"}).json()["effort"] == "high"
            visitor.say(conversation, "Think")
            frames = visitor.until_done(conversation)
            assert model.chats()[-1]["reasoning_effort"] == "high"
            why = next(frame.json for frame in frames if frame.event == "binding")["why"]
            assert (why["effort"], why["effortAsked"], why["effortBy"]) == ("high", "high", "conversation")
            assert (
                visitor.ask("PATCH", path, {"providerId": "mine", "modelId": "fake-model"}).json()["effort"] == "high"
            )
            visitor.say(conversation, "And now")
            visitor.until_done(conversation, int([f for f in frames if f.id][-1].id))
            assert "reasoning_effort" not in model.chats()[-1], "nothing is known of this model"
            assert visitor.ask("PATCH", path, {"effort": None}).json()["effort"] is None
            both = visitor.ask("GET", "/api/v1/model/effort-options?providerId=mine&modelId=gpt-5-mini").json()
            assert both["levels"] == ["minimal", "low", "medium", "high"]


def test_a_refresh_and_a_test_call_tell_what_they_found(data: Path) -> None:
    with on_a_server(data) as (_, visitor, model):
        done = visitor.ask("POST", "/api/v1/model/providers/litellm/models/refresh")
        assert (done.status_code, done.json()["missing"], done.json()["restored"]) == (200, [], [])
        tried = visitor.ask("POST", "/api/v1/model/providers/litellm/test", {"modelId": "fake-model"})
        assert tried.status_code == 200, tried.text
        assert tried.json()["text"]
        assert model.chats()[-1]["model"] == "fake-model"
        assert visitor.ask("POST", "/api/v1/model/providers/nobody/models/refresh").status_code == 404


def test_a_server_that_is_gone_changes_no_list(data: Path) -> None:
    home = data / "home" / ".maia"
    home.mkdir(parents=True)
    with fake_llm("text") as model:
        (home / "settings.json").write_text(json.dumps({"LiteLLM_URL": model.url}))
        with serving(data, started_with=None) as server, Visitor(server.url) as visitor:
            visitor.become_owner(server.token)
            before = provider(visitor)["models"]
    with serving(data, started_with=None) as server, Visitor(server.url) as visitor:
        visitor.sign_in()
        refused = visitor.ask("POST", "/api/v1/model/providers/litellm/models/refresh")
        assert (refused.status_code, refused.json()["code"]) == (502, "ModelDiscoveryFailed")
        assert provider(visitor)["models"] == before
        assert provider(visitor)["health"] == "unreachable"
        tried = visitor.ask("POST", "/api/v1/model/providers/litellm/test", {"modelId": before[0]["id"]})
        assert (tried.status_code, tried.json()["code"]) == (502, "network")


def test_a_key_is_kept_encrypted_and_never_shown(data: Path) -> None:
    key = "sk-or-v1-" + "0123456789abcdef" * 4
    with fake_llm("text") as model:
        there = serving(
            data,
            started_with=None,
            PATH="/nowhere",
            MAIA_ALLOW_OPENROUTER="1",
            MAIA_KEYRING="off",
            OPENROUTER_BASE_URL=model.openai_url,
        )
        with there as server, Visitor(server.url) as visitor:
            visitor.become_owner(server.token)
            look = visitor.ask("POST", "/api/v1/model/keys/look", {"key": key})
            assert (look.json()["provider"], look.json()["name"]) == ("openrouter", "OpenRouter")
            assert key not in look.text
            kept = visitor.ask("POST", "/api/v1/model/providers", {"key": key, "provider": "openai"})
            assert (kept.status_code, kept.json()["id"]) == (201, "openrouter"), "its maker's, whatever is said"
            assert key not in kept.text
            junk = visitor.ask("POST", "/api/v1/model/providers", {"key": "hello"})
            assert junk.status_code == 400
            assert junk.json()["message"]
            listed = visitor.ask("GET", "/api/v1/model/providers")
            assert "openrouter" in [each["id"] for each in listed.json()["providers"]]
    files = [path.read_bytes() for path in data.rglob("*") if path.is_file()]
    assert all(key.encode() not in content for content in files)
