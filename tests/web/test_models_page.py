"""The picker, the effort field and the page of providers, in a real Chromium, in both languages."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from maia.i18n.catalogue import Catalogue, Lang
from maia.web.running.providers import price_words
from tests.fakes import FakeLlm, fake_llm
from tests.web.holding import broken
from tests.web.serving import OWNER, Serving, Visitor, serving
from tests.web.test_browser import browser, pytestmark

__all__ = ["browser", "pytestmark"]
MODELS = "claude-sonnet-5,gpt-5-mini,fake-model"


@pytest.fixture(scope="module")
def model() -> Iterator[FakeLlm]:
    with fake_llm("text", models=MODELS) as server:
        yield server


@pytest.fixture(scope="module")
def server(model: FakeLlm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    data: Path = tmp_path_factory.mktemp("models") / "data"
    home = data / "home" / ".maia"
    home.mkdir(parents=True)
    (home / "settings.json").write_text(json.dumps({"LiteLLM_URL": model.url}))
    with serving(data, started_with=None) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield server


@pytest.fixture
def visitor(server: Serving) -> Iterator[Visitor]:
    with Visitor(server.url) as signed:
        signed.sign_in()
        yield signed
        signed.ask("PATCH", "/api/v1/model/providers/litellm", {"enabled": True})
        signed.ask("PUT", "/api/v1/routing/automatic", {"allowed": False})


@pytest.fixture(params=["fr", "en"])
def lang(request: pytest.FixtureRequest) -> Lang:
    return request.param


@pytest.fixture
def page(browser: Browser, server: Serving, lang: Lang) -> Iterator[Page]:
    context = browser.new_context(locale=lang)
    page = context.new_page()
    page.goto(f"{server.url}/signin")
    page.fill("[name=email]", OWNER["email"])
    page.fill("[name=password]", OWNER["password"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/")
    yield page
    context.close()


def test_a_model_is_found_and_chosen_by_keyboard(page: Page, server: Serving, visitor: Visitor, lang: Lang) -> None:
    say = Catalogue(lang)
    conversation = visitor.conversation("Here")
    page.goto(f"{server.url}/conversations/{conversation}")
    summary = page.locator("#picker > summary")
    expect(summary).to_contain_text(say("picker.default"))
    expect(summary).to_have_attribute("title", re.compile(re.escape(say("binding.reason.default"))))
    typed_at = "summary => (summary.click(), document.activeElement.matches('#picker[open] input'))"
    assert summary.evaluate(typed_at), "the first letters reach the field, however quick they come"
    page.keyboard.press("Enter")
    expect(page.locator("#picker input")).to_be_focused()  # nothing was typed: nothing is chosen
    page.keyboard.press("Escape")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text(say("picker.default"))
    page.keyboard.press("Enter")
    expect(page.locator("#picker input")).to_be_focused()
    expect(page.locator("#picker h2")).to_have_text(say("picker.fixed", provider="LiteLLM"))
    auto = page.locator("#picker [data-choose]").first
    expect(auto).to_have_attribute("aria-disabled", "true")
    expect(auto).to_contain_text(say("picker.auto_off"))
    page.keyboard.type("gpt 5")
    expect(page.locator("#picker [data-find]:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(summary).to_contain_text("LiteLLM / gpt-5-mini")
    expect(summary).to_be_focused()
    expect(summary).to_have_attribute("title", re.compile(re.escape(say("binding.reason.pinned"))))
    kept = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()
    assert (kept["providerId"], kept["modelId"]) == ("litellm", "gpt-5-mini")


def test_the_effort_lists_what_the_model_has_and_shows_under_the_answer(
    page: Page, server: Serving, visitor: Visitor, lang: Lang
) -> None:
    say = Catalogue(lang)
    conversation = visitor.conversation("Here")
    path = f"/api/v1/conversations/{conversation}"
    visitor.ask("PATCH", path, {"providerId": "litellm", "modelId": "claude-sonnet-5"})
    page.goto(f"{server.url}/conversations/{conversation}")
    names = ("none", "low", "medium", "high", "xhigh", "max")
    levels = [say("effort.automatic"), *(say(f"effort.level.{each}") for each in names)]
    expect(page.locator("[data-effort] option")).to_have_text(levels)
    expect(page.locator("[data-effort]")).to_have_accessible_description(say("effort.help"))
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.locator("[data-effort]").select_option("max")
    expect(page.locator("[data-effort]")).to_have_value("max")
    visitor.ask("PATCH", path, {"providerId": "litellm", "modelId": "gpt-5-mini"})
    page.reload()
    moved = say("effort.moved_why", asked=levels[-1], sent=say("effort.level.high"), model="gpt-5-mini")
    expect(page.locator("[data-effort] option:checked")).to_have_text(moved)
    page.fill("#message", "Think")
    page.keyboard.press("Enter")
    chip = page.locator(".caption .chip")
    shown = say("effort.moved", asked=levels[-1], sent=say("effort.level.high"))
    expect(chip).to_have_text(say("effort.chip", level=shown))
    expect(page.locator(".caption b")).to_have_attribute("title", re.compile(re.escape(say("binding.reason.pinned"))))
    expect(page.locator(".caption b")).to_contain_text("LiteLLM · gpt-5-mini")


def test_a_chosen_model_that_is_off_is_shown_in_red_and_another_one_clears_it(
    page: Page, server: Serving, visitor: Visitor, lang: Lang
) -> None:
    say = Catalogue(lang)
    conversation = visitor.conversation("Here")
    path = f"/api/v1/conversations/{conversation}"
    visitor.ask("PATCH", path, {"providerId": "litellm", "modelId": "fake-model"})
    visitor.ask("PATCH", "/api/v1/model/providers/litellm/models", {"modelId": "fake-model", "enabled": False})
    page.goto(f"{server.url}/conversations/{conversation}")
    gone = say("binding.unavailable", provider="LiteLLM", model="fake-model")
    expect(page.locator("#picker > summary .bad")).to_have_text("LiteLLM / fake-model")
    expect(page.locator("#picker > summary")).to_have_attribute("title", gone)
    page.fill("#message", "Hello?")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text(gone)
    expect(page.locator("#message")).to_have_value("Hello?")
    page.locator("#picker > summary").click()
    page.locator("#picker [data-find]", has_text="gpt-5-mini").click()
    expect(page.locator("#picker > summary .bad")).to_have_count(0)
    expect(page.locator("#refusal")).to_be_empty()
    visitor.ask("PATCH", "/api/v1/model/providers/litellm/models", {"modelId": "fake-model", "enabled": True})


def test_providers_are_switched_refreshed_tried_and_routed(
    page: Page, server: Serving, visitor: Visitor, lang: Lang
) -> None:
    say = Catalogue(lang)
    page.goto(f"{server.url}/providers")
    card = page.locator("#p-litellm")
    expect(card.locator("h3")).to_contain_text("LiteLLM")
    expect(card).to_contain_text(say("provider.enabled", on=3, all=3))
    card.get_by_text(say("provider.refresh")).click()
    expect(page.locator("#said-litellm")).to_have_text(say("provider.refreshed_none"))
    card.get_by_text(say("provider.try")).click()
    expect(page.locator("#said-litellm")).to_contain_text("fake model")
    card.locator("[role=switch]").uncheck()
    expect(card.locator(".badge").first).to_have_text(say("provider.off"))
    card.locator("[role=switch]").check()
    expect(card.locator(".badge").first).to_have_text(say("provider.health.ready"))
    page.get_by_role("link", name=say("provider.tab.tiers")).click()
    page.get_by_label(say("provider.allow_auto")).check()
    expect(page.get_by_label(say("provider.allow_auto"))).to_be_checked()
    page.locator("[data-tier] [name=primary]").nth(2).select_option(label="LiteLLM / gpt-5-mini")
    expect(page.locator("[data-tier] [name=effort]").nth(2).locator("option")).to_have_count(5)
    tier = visitor.ask("GET", "/api/v1/routing/tiers/standard").json()
    assert (tier["providerId"], tier["modelId"]) == ("litellm", "gpt-5-mini")
    visitor.ask("PUT", "/api/v1/routing/tiers/standard", {})
    page.goto(f"{server.url}/providers")
    page.fill("#key-form [name=key]", "nobody's key at all")
    page.get_by_text(say("provider.look"), exact=True).click()
    expect(page.locator("#key-said")).not_to_be_empty()
    expect(page.locator("#key-form [name=key]")).to_have_attribute("type", "password")


def test_a_server_is_added_by_its_address_and_taken_back(
    page: Page, server: Serving, model: FakeLlm, lang: Lang
) -> None:
    say = Catalogue(lang)
    page.goto(f"{server.url}/providers")
    form = page.locator("#address-form")
    form.locator("[name=name]").fill("<b>Atelier</b>")
    form.locator("[name=url]").fill("ftp://127.0.0.1")
    page.keyboard.press("Enter")
    expect(page.locator("#address-said")).to_have_text(say("provider.not_http"))
    form.locator("[name=url]").fill(model.openai_url)
    form.locator("[name=key]").fill("k" * 24)
    page.keyboard.press("Enter")
    expect(page.locator("#address-said")).to_have_text(say("provider.added", name="<b>Atelier</b>", count=3))
    card = page.locator("#p-b-atelier-b")
    expect(card.locator("h3")).to_contain_text("<b>Atelier</b>")
    expect(card).to_contain_text(say("provider.enabled", on=3, all=3))
    expect(card).not_to_contain_text("k" * 24)
    card.get_by_text(say("provider.try")).click()
    expect(page.locator("#said-b-atelier-b")).to_contain_text("fake model")
    card.get_by_text(say("provider.remove")).click()
    expect(page.locator("#address-said")).to_have_text(say("provider.removed", name="<b>Atelier</b>"))
    expect(card).to_have_count(0)


def test_caps_are_set_and_kept(page: Page, server: Serving, visitor: Visitor, lang: Lang) -> None:
    say = Catalogue(lang)
    page.goto(f"{server.url}/providers?tab=budget")
    page.get_by_label(say("budget.cap.daily")).fill("12.50")
    page.get_by_label(say("budget.at.warn")).fill("110")
    page.keyboard.press("Enter")
    expect(page.locator("#budget-said")).to_have_text(say("budget.out_of_order"))
    page.get_by_label(say("budget.at.warn")).fill("50")
    page.keyboard.press("Enter")
    expect(page.locator("#budget-said")).to_have_text(say("budget.saved"))
    expect(page.get_by_label(say("budget.cap.daily"))).to_have_value("12.50")
    expect(page.locator("#providers .badge")).to_have_text(say("budget.level.free"))
    kept = visitor.ask("GET", "/api/v1/routing/budget").json()["budget"]
    assert (kept["daily"], kept["warnAt"], kept["weekly"]) == (12.5, 0.5, None)
    visitor.ask("PUT", "/api/v1/routing/budget", {"daily": None, "warnAt": 0.8})


@pytest.mark.parametrize(
    ("usd", "words"), [(3.0, "$3.00"), (0.25, "$0.25"), (0.075, "$0.075"), (0.0125, "$0.0125"), (0.0, "$0.00")]
)
def test_a_price_is_told_as_it_is(usd: float, words: str) -> None:
    assert price_words(usd) == words


@pytest.mark.usefixtures("visitor")
def test_what_did_not_reach_the_server_says_so_and_can_be_asked_again(page: Page, server: Serving, lang: Lang) -> None:
    lost = Catalogue(lang)("web.refused_lost")
    page.goto(f"{server.url}/providers")
    card, said = page.locator("#p-litellm"), page.locator("#said-litellm")
    switch, button = card.locator("h3 [data-switch]"), card.locator(".card-foot button").first
    with broken(page):
        button.click()
        expect(said).to_have_text(lost)
        expect(button).to_be_enabled()
        switch.click()
        expect(switch).to_be_checked()
        expect(switch).to_be_enabled()
        page.fill("#key-form [name=key]", "x")
        page.keyboard.press("Enter")
        expect(page.locator("#key-said")).to_have_text(lost)
    switch.click()
    expect(card.locator("h3 [data-switch]")).not_to_be_checked()
