"""The board, the finder and what is done with a conversation from any page, in a real Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from maia.i18n.catalogue import Catalogue
from tests.web.holding import Held
from tests.web.serving import OWNER, Serving, Visitor, serving
from tests.web.test_browser import NASTY, PATIENCE, browser, pytestmark, watched

__all__ = ["browser", "pytestmark"]
FR = Catalogue("fr", strict=True)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("board") / "data") as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server


@pytest.fixture
def owner(desk: Serving) -> Iterator[Visitor]:
    with Visitor(desk.url) as visitor:
        visitor.sign_in()
        yield visitor


@pytest.fixture(scope="module")
def page(browser: Browser, desk: Serving) -> Iterator[Page]:
    context = browser.new_context(locale="fr-FR", viewport={"width": 1700, "height": 900})
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.goto(f"{desk.url}/signin")
    opened.fill("[name=email]", OWNER["email"])
    opened.fill("[name=password]", OWNER["password"])
    opened.keyboard.press("Enter")
    opened.wait_for_url(f"{desk.url}/")
    yield opened
    context.close()


def has(page: Page, n: int, *titles: str) -> None:
    expect(page.locator(".lane").nth(n).locator(".kcard b")).to_have_text(list(titles))


def drag(page: Page, title: str, to: int, *, low: bool = False) -> None:
    """Take a card by its title and let it go at the top or at the end of a lane, once it is there."""
    lists = page.locator(".lane-cards")
    page.wait_for_function("() => globalThis.Sortable?.get(document.querySelector('.lane-cards')) != null")
    box = lists.nth(to).bounding_box()
    held = page.locator(".kcard", has_text=title).locator(".badge").bounding_box()
    assert box is not None
    assert held is not None
    page.mouse.move(held["x"] + 4, held["y"] + 4)
    page.mouse.down()
    page.mouse.move(held["x"] + 14, held["y"] + 14, steps=3)
    y = box["y"] + (box["height"] - 6 if low else 6)
    for n in range(60):
        page.mouse.move(box["x"] + 40 + n % 5, y, steps=2)
        titles = lists.nth(to).locator(".kcard b").all_inner_texts()
        if title in titles and titles.index(title) == (len(titles) - 1 if low else 0):
            break
    page.mouse.up()


def test_a_card_moves_by_hand_in_every_tab_and_goes_back_where_the_server_refuses(
    page: Page, desk: Serving, owner: Visitor
) -> None:
    told = watched(page)
    owner.conversation("First")
    second = owner.conversation("Second")
    third = owner.ask("POST", "/api/v1/stages", {"name": "Short"}).json()["id"]
    page.goto(f"{desk.url}/board")
    other = page.context.new_page()
    other.goto(f"{desk.url}/board")
    has(page, 0, "Second", "First")
    drag(page, "First", 1)
    for each in (page, other):
        has(each, 0, "Second")
        has(each, 1, "First")
        expect(each.locator(".lane").nth(1).locator(".count")).to_have_text("1")
    drag(other, "Second", 1, low=True)
    for each in (page, other):
        has(each, 1, "First", "Second")
    page.reload()
    has(page, 1, "First", "Second")
    held = Held(page, "/move")
    drag(page, "Second", 4)
    held.come()
    owner.ask("DELETE", f"/api/v1/stages/{third}")
    held.go_on()
    expect(page.locator(".toast")).to_contain_text(FR("board.went_back"))
    expect(page.locator(".toast")).to_contain_text(FR("card.no_stage"))
    has(page, 1, "First", "Second")
    expect(page.locator(".lane")).to_have_count(4)
    owner.ask("DELETE", f"/api/v1/conversations/{second}")
    has(page, 1, "First")
    other.close()
    assert [each for each in told if "400" not in each] == []


def test_everything_on_the_board_is_done_by_keyboard(page: Page, desk: Serving, owner: Visitor) -> None:
    told = watched(page)
    page.goto(f"{desk.url}/board")
    page.locator("#new-card").press("Enter")
    page.keyboard.type(f"Keyboard {NASTY}")
    page.keyboard.press("Enter")
    expect(page.locator("#new-dialog")).to_be_hidden()
    expect(page.locator(".lane").first.locator(".kcard b").first).to_contain_text("Keyboard")
    made = owner.ask("GET", "/api/v1/search?q=keyboard").json()["found"][0]["id"]
    card = page.locator(f"#k-{made}")
    page.locator(f"#o-{made}").focus()
    page.keyboard.press("m")
    expect(page.locator("#record")).to_be_visible()
    expect(page.locator("#record [name=stageId]")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.locator("#record [name=labels]").fill("tax, été ")
    page.locator("#record [name=priority]").select_option("urgent")
    page.keyboard.press("Enter")
    expect(page.locator("#record")).to_be_hidden()
    expect(page.locator(".lane").nth(1).locator(".kcard").first).to_have_attribute("id", f"k-{made}")
    expect(card.locator(".chip")).to_have_text(["tax", "été"])
    expect(card).to_contain_text(FR("priority.urgent"))
    expect(page.locator(f"#o-{made}")).to_be_focused()
    page.locator(".lane").nth(1).locator(".lane-fold").focus()
    page.keyboard.press("Enter")
    expect(card).to_be_hidden()
    page.reload()
    expect(card).to_be_hidden()
    page.locator(".lane").nth(1).locator(".lane-fold").press("Enter")
    page.locator("[name=q]").fill("keyb")
    expect(page.locator(".kcard")).to_have_count(1)
    assert "q=keyb" in page.url
    page.locator("[name=priority]").first.select_option("low")
    expect(page.locator(".kcard")).to_have_count(0)
    expect(page.locator("#board-none")).to_contain_text("keyb")
    page.goto(f"{desk.url}/board?group=priority&label=tax")
    expect(page.locator(".lane").first.locator(".kcard")).to_have_count(1)
    assert page.title() != "owned"
    page.goto(f"{desk.url}/")
    page.keyboard.press("Control+k")
    page.keyboard.type("keyboard")
    expect(page.locator("#found [role=option]")).to_have_count(1)
    expect(page.locator("#found [role=option]")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/conversations/{made}")
    assert page.title() != "owned"
    assert told == []


def test_what_is_archived_or_deleted_from_the_list_has_an_undo(page: Page, desk: Serving, owner: Visitor) -> None:
    made = owner.conversation("Listed")
    page.goto(f"{desk.url}/board?view=list")
    row = page.locator(f"#k-{made}")
    page.locator(f"#p-{made}").press("Enter")
    expect(page.locator(f"#p-{made}")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".cards-table tbody tr").first).to_have_attribute("id", f"k-{made}")
    expect(page.locator(f"#p-{made}")).to_be_focused()
    page.locator(f"#a-{made}").press("Enter")
    expect(row).to_contain_text(FR("web.status.archived"))
    page.get_by_role("button", name=FR("board.undo")).press("Enter")
    expect(row).to_contain_text(FR("web.status.idle"))
    page.locator(f"#d-{made}").press("Enter")
    expect(row).to_have_count(0)
    page.get_by_role("button", name=FR("board.undo")).press("Enter")
    expect(row).to_have_count(1)
    page.goto(f"{desk.url}/conversations/{made}")
    page.locator(f"#nav-more-{made}").press("Enter")
    page.locator("#record [data-delete]").press("Enter")
    page.wait_for_url(f"{desk.url}/")
    page.get_by_role("button", name=FR("board.undo")).press("Enter")
    expect(page.locator(f'.nav a[href="/conversations/{made}"]')).to_have_count(1)


def test_a_card_gets_the_priority_of_its_lane(page: Page, desk: Serving, owner: Visitor) -> None:
    moved = owner.conversation("Pressing")
    owner.ask("PATCH", f"/api/v1/conversations/{moved}", {"priority": "urgent"})
    page.goto(f"{desk.url}/board?group=priority&q=pressing")
    has(page, 0, "Pressing")
    drag(page, "Pressing", 3)
    has(page, 3, "Pressing")
    expect(page.locator(".lane").nth(3).locator(".count")).to_have_text("1")
    assert owner.ask("GET", f"/api/v1/conversations/{moved}").json()["priority"] == "low"


def test_a_full_board_is_small_and_fits(page: Page, desk: Serving, owner: Visitor) -> None:
    for stage in owner.ask("GET", "/api/v1/projects").json()["stages"]:
        for n in range(21):
            fields = {"title": f"A card of some length, number {n}", "stageId": stage["id"], "dueOn": "2030-01-01"}
            owner.ask("POST", "/api/v1/conversations", fields)
    for address, width in (("/board", 390), ("/board", 1440), ("/board?view=list", 390), ("/board?view=list", 1440)):
        fresh = page.context.new_page()
        fresh.set_viewport_size({"width": width, "height": 844})
        answers: list[Response] = []
        fresh.on("response", lambda answer, answers=answers: answers.append(answer))
        fresh.goto(desk.url + address, wait_until="load")
        expect(fresh.locator("#board > *").first).to_be_visible()
        assert fresh.evaluate("document.documentElement.scrollWidth") <= width
        assert len(answers) <= 12
        assert sum(int(each.headers.get("content-length", 0)) for each in answers) <= 200_000
        fresh.close()
    unbroken = owner.conversation("m" * 200)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{desk.url}/board?view=list")
        expect(page.locator(f"#k-{unbroken}")).to_be_visible()
        assert page.evaluate("board.scrollWidth - board.clientWidth") <= 0
    page.goto(f"{desk.url}/board")
    page.locator(f"[data-record='{unbroken}']").last.click()
    expect(page.locator("#record-title")).to_be_visible()
    assert page.evaluate("(each => each.scrollWidth <= each.clientWidth)(document.getElementById('record'))")
    title, close = (
        page.locator("#record-title").bounding_box(),
        page.locator("#record [data-close]").first.bounding_box(),
    )
    assert title is not None
    assert close is not None
    assert close["x"] > title["x"] + title["width"] - 1
    page.keyboard.press("Escape")
    lane = page.locator(".lane").nth(2)
    expect(lane.locator(".kcard")).to_have_count(20)
    lane.locator(".lane-more").press("Enter")
    expect(lane.locator(".kcard")).to_have_count(21)


def test_a_stream_that_ended_out_of_sight_goes_on_when_somebody_looks(
    page: Page, desk: Serving, owner: Visitor
) -> None:
    page.goto(f"{desk.url}/board?q=seen")
    expect(page.locator(".lane").first).to_be_visible()
    page.evaluate("""() => {
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      maia.parts.stream.close();
      document.dispatchEvent(new Event("visibilitychange"));
    }""")
    owner.conversation("Seen again")
    assert page.evaluate("maia.parts.stream.readyState") == 2, "nobody looks"
    page.evaluate("() => { delete document.hidden; document.dispatchEvent(new Event('visibilitychange')); }")
    expect(page.locator(".kcard")).to_have_text([re.compile("Seen again")])
