"""The page of privacy as its owner sees it, in a real Chromium. Skipped where there is none."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.holding import Held
from tests.web.serving import Serving, Visitor
from tests.web.test_browser import browser, context, pytestmark, watched
from tests.web.test_privacy import IBAN, fake, far, near
from tests.web.test_privacy_card import signed_in

__all__ = ["browser", "context", "fake", "far", "near", "pytestmark"]


@pytest.mark.parametrize("lang", ["fr"])
def test_a_policy_is_changed_corrected_and_tried_and_who_came_second_decides(
    context: BrowserContext, far: Serving, lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page = context.new_page()
    told = watched(page)
    page.set_viewport_size({"width": 390, "height": 844})
    signed_in(page, far)
    page.goto(f"{far.url}/privacy")
    said = page.locator("#policy-said")
    phone = page.get_by_role("radiogroup", name=say("privacy.type.phone"))
    phone.get_by_label(say("privacy.action.mask")).focus()
    page.keyboard.press("ArrowRight")
    expect(phone.get_by_label(say("privacy.action.block"))).to_be_checked()
    expect(said).to_have_text(say("privacy.unsaved"))
    with page.expect_event("dialog") as leaving:
        page.evaluate("void setTimeout(() => location.assign('/'))")
    assert leaving.value.type == "beforeunload"
    leaving.value.dismiss()
    page.get_by_role("button", name=say("privacy.pattern.add")).focus()
    page.keyboard.press("Enter")
    page.keyboard.type("<b>Dossier</b>")
    row = page.locator(".pattern")
    row.get_by_label(say("privacy.pattern.expression")).fill("(a")
    row.get_by_label(say("privacy.pattern.type")).fill("dossier")
    hosts = page.get_by_label(say("privacy.hosts"))
    hosts.fill("gpu.lan\n\nhttp://x:80")
    page.get_by_role("button", name=say("privacy.save")).click()
    expect(said).to_have_text(say("privacy.wrong"))
    expression = row.get_by_label(say("privacy.pattern.expression"))
    expect(expression).to_be_focused()
    expect(expression).to_have_accessible_description(say("privacy.issue.pattern"))
    expect(page.locator(".wrong").last).to_have_text(say("privacy.host_line", line=3, words=say("privacy.issue.host")))
    expression.fill("CF-[0-9]{4}")
    hosts.fill("gpu.lan")
    page.keyboard.press("Tab")

    held = Held(page, "/api/v1/privacy/policy")
    page.keyboard.press("Enter")
    held.come()
    hosts.fill("gpu.lan\nlate.lan")
    with page.expect_response("**/api/v1/privacy/policy") as first:
        held.go_on()
    assert first.value.json()["localHosts"] == ["gpu.lan"]
    expect(page.get_by_role("button", name=say("privacy.save"))).to_be_enabled()
    expect(said).to_have_text(say("privacy.unsaved"))
    page.get_by_role("button", name=say("privacy.save")).click()
    expect(said).to_contain_text("regex@1/policy@")
    expect(page.locator(".wrong")).to_have_count(0)
    expect(page.locator("#policy-state")).to_contain_text(say("privacy.source.ui"))

    page.get_by_label(say("privacy.try.text")).fill(f"\U0001f642 pour CF-1234\nvirez à {IBAN}")
    page.get_by_role("button", name=say("privacy.try.do")).click()
    tried = page.locator("#tried")
    expect(tried.locator("[data-verdict=refused]")).to_have_text(say("privacy.try.refused", types="IBAN"))
    found = [
        ("<b>Dossier</b>", say("privacy.try.place", line=1, start=8, end=14), say("privacy.action.mask")),
        ("IBAN", say("privacy.try.place", line=2, start=9, end=41), say("privacy.action.block")),
    ]
    expect(tried.locator("td")).to_have_text([word for row in found for word in row])
    expect(tried.locator("mark")).to_have_text(["[DOSSIER]", "[IBAN]"])
    assert IBAN not in tried.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    with Visitor(far.url) as other:
        other.sign_in()
        kept = other.ask("GET", "/api/v1/privacy/policy").json()
        names = ("enabled", "actions", "customPatterns", "localHosts", "audit")
        body = {name: kept[name] for name in names} | {"localHosts": ["theirs.lan"]}
        assert other.ask("PUT", "/api/v1/privacy/policy", body).status_code == 200
        page.get_by_label(say("privacy.enabled")).uncheck()
        page.get_by_role("button", name=say("privacy.save")).click()
        expect(page.locator("#conflict h3")).to_have_text(say("privacy.conflict"))
        assert other.ask("GET", "/api/v1/privacy/policy").json()["localHosts"] == ["theirs.lan"]
        page.get_by_role("button", name=say("privacy.conflict.mine")).click()
        expect(page.locator("#policy-off")).to_be_visible()
        now = other.ask("GET", "/api/v1/privacy/policy").json()
        assert (now["enabled"], now["actions"]["phone"], now["localHosts"]) == (False, "block", ["gpu.lan", "late.lan"])
        assert [each["name"] for each in now["customPatterns"]] == ["<b>Dossier</b>"]
    assert [line for line in told if "400" not in line and "412" not in line] == []
