"""The pages of agents in a real Chromium, in both languages: made, changed, switched off, removed, put back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from maia.i18n.catalogue import Catalogue, Lang
from maia.i18n.formats import number
from tests.web.holding import Held
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_agents_api import BROKEN, IRIS
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    pytestmark,
    watched,
)
from tests.web.test_privacy_card import signed_in

__all__ = ["browser", "context", "pytestmark"]
HOSTILE = "Looks <img src=x onerror=alert(1)> after"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    data: Path = tmp_path_factory.mktemp("office") / "data"
    agents = data / "home" / ".maia" / "agents"
    iris = IRIS.replace("Looks after", HOSTILE)
    mole = iris.replace("nickname: Iris", "nickname: Mole\ngroup: specialist\nmodel: nowhere/gone")
    for name, text in (("iris", iris), ("torn", BROKEN), ("mole", mole)):
        (agents / name).mkdir(parents=True)
        (agents / name / "AGENT.md").write_text(text, "utf-8")
    with serving(data, script=[{"text": "Yes.", "repeat": True}]) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield server, agents


def opened(context: BrowserContext, server: Serving) -> tuple[Page, list[str]]:
    page = context.new_page()
    told = watched(page)
    signed_in(page, server)
    return page, told


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_agents_are_listed_made_by_keyboard_removed_and_put_back(
    context: BrowserContext, office: tuple[Serving, Path], lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page, told = opened(context, office[0])
    page.locator("#nav a[href='/agents']").click()
    torn = page.locator("#agent-torn")
    expect(torn).to_contain_text("~/.maia/agents/torn/AGENT.md")
    expect(torn.locator(".badge").last).to_have_text(say("agentpage.badge.broken"))
    expect(page.locator("#agent-iris .clamp")).to_have_text(f"{HOSTILE} invoices")
    expect(page.locator("#agent-mole .problem")).to_have_text("nowhere/gone")
    page.get_by_role("link", name=say("agentpage.show.specialist")).click()
    expect(page.locator(".agent-card h2")).to_contain_text(["Mole", "torn"])
    page.locator(".topbar [data-agent-new]").focus()
    page.keyboard.press("Enter")
    page.keyboard.type(f"Basile {lang}")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label(say("agentpage.type.observer"))).to_be_checked()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/agents/basile-{lang}")
    expect(page.get_by_label(say("agentpage.field.instructions"))).to_have_value(
        say("agentpage.begin.observer.instructions")
    )
    expect(page.locator("[name=tool]:checked")).to_have_count(4)
    expect(page.locator("#colleagues")).to_contain_text(f"Basile {lang}")
    page.locator(".agent-remove summary").click()
    page.get_by_role("button", name=say("agentpage.remove_now", name=f"Basile {lang}")).click()
    page.wait_for_url("**/agents?removed=*")
    expect(page.locator(".agent-undo")).to_contain_text(say("agentpage.removed_one", name=f"basile-{lang}"))
    page.locator(".agent-undo [data-restore]").click()
    page.wait_for_url(f"**/agents/basile-{lang}")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert told == []


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_definition_is_changed_field_by_field_and_a_file_that_changed_is_told(
    context: BrowserContext, office: tuple[Serving, Path], lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page, told = opened(context, office[0])
    file = office[1] / f"ada-{lang}" / "AGENT.md"
    file.parent.mkdir()
    file.write_text(IRIS.replace("nickname: Iris", f"nickname: Ada {lang}\nmodel: nowhere/gone"), "utf-8")
    page.goto(f"{office[0].url}/agents/ada-{lang}")
    gone = page.locator("#agent-model-gone")
    expect(gone).to_be_visible()
    page.get_by_role("button", name=say("agentpage.model.reset")).click()
    expect(gone).to_be_hidden()
    expect(page.locator("[name=maxTurns]")).to_have_value("10")
    page.get_by_label(say("quota.field")).fill("2000000")
    search = page.get_by_label(say("agentpage.tools.find"))
    search.fill("bas")
    expect(page.locator(".agent-checks li:visible")).to_have_count(1)
    page.get_by_label("Bash").check()
    page.get_by_label(say("agentpage.field.constraints")).fill("never pays\n\nasks twice ")
    expect(page.locator("[data-said]")).to_have_text(say("agentpage.unsaved"))
    page.get_by_role("button", name=say("agentpage.save")).click()
    expect(page.locator("[data-said]")).to_have_text(say("agentpage.saved"))
    of = {"used": "0", "limit": number(2_000_000, lang), "percent": 0}
    expect(page.locator("#agent-quota")).to_contain_text(say("quota.of", **of))
    text = file.read_text("utf-8")
    for line in (
        "tools: [Read, Bash, Grep]",
        "constraints: [never pays, asks twice]",
        "max_turns: 10",
        "monthly_tokens: 2000000",
        "# kept by hand",
    ):
        assert line in text
    assert "model:" not in text
    file.write_text(text.replace("tools:", "x-new: 1\ntools:"), "utf-8")
    page.get_by_label(say("agentpage.field.goal")).fill("Books.\nRight ones.")
    page.get_by_role("button", name=say("agentpage.save"), exact=True).click()
    expect(page.locator("[data-said]")).to_contain_text(
        say("agents.changed", file=f"~/.maia/agents/ada-{lang}/AGENT.md")
    )
    page.get_by_role("button", name=say("agentpage.keep_mine")).click()
    expect(page.locator("[data-said]")).to_have_text(say("agentpage.saved"))
    text = file.read_text("utf-8")
    assert "x-new: 1\n" in text
    assert "goal: |-\n  Books.\n  Right ones.\n" in text
    page.get_by_role("button", name=say("agentpage.disable")).click()
    expect(page.locator("#agent-head .badge").last).to_have_text(say("agentpage.badge.disabled"))
    expect(page.locator("#colleagues")).not_to_contain_text(f"Ada {lang}")
    page.get_by_role("link", name=say("agentpage.tab.workspace")).click()
    expect(page.locator(".agent")).to_contain_text(say("agentpage.home_never"))
    expect(page.locator("#agent-quota")).to_contain_text(say("quota.of", **of))
    assert [each for each in told if "409" not in each] == []


def test_what_is_typed_while_the_form_is_saved_stays_unsaved_and_enter_twice_makes_one_agent(
    context: BrowserContext, office: tuple[Serving, Path]
) -> None:
    say = Catalogue("fr", strict=True)
    page, told = opened(context, office[0])
    page.goto(f"{office[0].url}/agents")
    page.locator(".topbar [data-agent-new]").click()
    page.locator("#agent-new [name=nickname]").fill("Zoé")
    page.evaluate("for (const _ of [1, 2]) document.getElementById('agent-new').querySelector('form').requestSubmit()")
    page.wait_for_url("**/agents/zoe")
    page.locator("[name=maxTurns]").fill("12")
    note = page.locator("[data-said]")
    expect(note).to_have_text(say("agentpage.unsaved"))
    goal = page.get_by_label(say("agentpage.field.goal"))
    goal.fill("first")

    held = Held(page, "/api/v1/agents/zoe")
    page.get_by_role("button", name=say("agentpage.save")).click()
    held.come()
    goal.fill("first and second")
    held.go_on()
    expect(page.get_by_role("button", name=say("agentpage.save"))).to_be_enabled()
    expect(note).to_have_text(say("agentpage.unsaved"))
    file = office[1] / "zoe" / "AGENT.md"
    assert "goal: first\n" in file.read_text("utf-8")
    page.get_by_role("button", name=say("agentpage.save")).click()
    expect(note).to_have_text(say("agentpage.saved"))
    assert "goal: first and second\n" in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8").replace("goal: first and second", "goal: by hand"), "utf-8")
    page.get_by_role("button", name=say("agentpage.disable")).click()
    expect(page.get_by_role("button", name=say("agentpage.take_theirs"))).to_be_visible()
    assert [each for each in told if "409" not in each] == []
