"""Files as people see them, in a real Chromium: one server and one page for all. Skipped where there is no Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, Route, expect, sync_playwright

from tests.files import making
from tests.web.holding import Held
from tests.web.serving import Serving, serving
from tests.web.test_browser import CHROMIUM, FLAGS, PATIENCE, first_run, watched

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)"),
    # Playwright's own event loop leaves a closed socket behind.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NASTY = '<img src=x onerror="document.title=1">'
IBAN = "FR14 2004 1010 0505 0001 3M02 606"
SCRIPT: list[Any] = [
    {"text": "Seen."},
    {"call": {"name": "Write", "arguments": {"path": "out/report.md", "content": "# Report\n"}}},
    {"text": "Written."},
    {"text": "Again.", "repeat": True},
]


def file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "text/html", "buffer": content}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("files") / "data", "--allow", "Write(**)", script=SCRIPT) as running:
        yield running


@pytest.fixture(scope="module")
def page(server: Serving) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        context = browser.new_context(locale="fr-FR", viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        opened = context.new_page()
        first_run(opened, server)
        yield opened
        browser.close()


def items(page: Page, state: str = "") -> Locator:
    return page.locator(f".tray-item[data-state={state}]" if state else ".tray-item")


def drop(page: Page, names: list[str], how: str) -> None:
    """Files dropped on the page, or pasted into the message."""
    page.evaluate(
        """([names, how]) => {
          const data = new DataTransfer();
          for (const name of names) data.items.add(new File([name], name));
          const target = how === "paste" ? document.getElementById("message") : document.querySelector("h1");
          const how_ = { bubbles: true, cancelable: true };
          const event = how === "paste" ? new ClipboardEvent("paste", { clipboardData: data, ...how_ })
            : new DragEvent("drop", { dataTransfer: data, ...how_ });
          target.dispatchEvent(event);
        }""",
        [names, how],
    )


def test_files_come_from_home_go_with_the_message_and_stay_with_it(page: Page) -> None:
    told = watched(page)
    page.set_input_files("[data-files]", [file("photo.jpg", making.photograph()), file(f"{NASTY}.txt", b"x")])
    expect(items(page, "here")).to_have_count(2)
    page.reload()
    expect(items(page, "here")).to_have_count(2)
    expect(page.locator(".tray-item img")).to_have_js_property("naturalWidth", 30)
    page.set_input_files("[data-files]", file("vide.txt", b""))
    expect(items(page, "failed")).to_contain_text("Ce fichier est vide.")
    page.fill("#message", "Regarde")
    page.keyboard.press("Enter")
    expect(page.locator("[data-tray-said]")).to_contain_text("Non envoyé")
    page.get_by_role("button", name="Retirer vide.txt").click()
    expect(page.locator(".tray [data-act=remove]:focus")).to_have_count(1)
    page.focus("#message")
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations/*")
    said = page.locator("#t1-user")
    expect(said.locator(".thumb img")).to_have_js_property("naturalWidth", 30)
    expect(said.get_by_role("link", name="Ouvrir le fichier")).to_have_count(1)
    expect(page.locator("#t1-answer")).to_contain_text("Images non transmises au modèle (1)")
    expect(items(page)).to_have_count(0)
    page.reload()
    expect(page.locator("#t1-user .thumb")).to_have_count(1)
    expect(items(page)).to_have_count(0)
    assert told == []


def test_what_the_model_writes_is_under_its_answer_and_in_the_files_tab(page: Page) -> None:
    page.get_by_role("tab", name="Fichiers").click()
    expect(page.locator("#p-files .file-entry")).to_have_count(2)
    page.fill("#message", "Écris un rapport")
    page.keyboard.press("Enter")
    answer = page.locator("#t2-answer")
    expect(answer).to_contain_text("1 fichier a été écrit dans l'espace de travail")
    expect(answer.locator(".file-chip")).to_contain_text("report.md")
    expect(page.locator("#p-files .file-entry")).to_have_count(3)
    expect(page.locator("#p-files .file-entry").first).to_contain_text("Écrit à la réponse 2")
    with page.expect_popup() as opened:
        answer.get_by_role("link", name="Ouvrir le fichier report.md").click()
    expect(opened.value.locator("body")).to_have_text("# Report\n")
    opened.value.close()


def test_dropped_and_pasted_files_wait_and_are_told_of_a_blind_model_and_of_a_crowd(page: Page) -> None:
    drop(page, ["a.txt"], "drop")
    drop(page, ["b.txt"], "paste")
    expect(items(page, "here")).to_have_count(2)
    expect(page.locator(".tray-blind")).to_be_hidden()
    page.set_input_files("[data-files]", file("c.png", making.picture()))
    expect(page.locator(".tray-blind")).to_have_text(
        "offline ne peut pas voir d'images\u202f: il saura seulement qu'une image est jointe."
    )
    drop(page, [f"{n}.txt" for n in range(10_000)], "drop")
    expect(page.locator("[data-tray-said]")).to_contain_text("20 fichiers au plus partent avec un message.")
    expect(items(page, "here")).to_have_count(20)
    for _ in range(20):
        items(page).first.locator("[data-act=remove]").click()
    expect(items(page)).to_have_count(0)
    page.reload()
    expect(items(page)).to_have_count(0)


def test_a_file_on_its_way_is_waited_for_cancelled_and_tried_again(page: Page) -> None:
    held: list[Route] = []
    page.route("**/attachments?name=slow*", lambda route: held.append(route))
    page.set_input_files("[data-files]", [file("slow1.txt", b"1"), file("slow2.txt", b"2")])
    expect(items(page, "going")).to_have_count(2)
    page.get_by_role("button", name="Annuler slow1.txt").click()
    expect(items(page)).to_have_count(1)
    page.fill("#message", "avec slow2")
    page.keyboard.press("Enter")
    while not (second := [route for route in held if "name=slow2" in route.request.url]):
        page.wait_for_timeout(20)
    second[0].abort()
    expect(items(page, "failed")).to_contain_text("Le fichier n'est pas arrivé.")
    expect(page.locator("#message")).to_have_value("avec slow2")
    page.unroute("**/attachments?name=slow*")
    page.get_by_role("button", name="Réessayer slow2.txt").click()
    expect(items(page, "here")).to_have_count(1)
    page.focus("#message")
    page.keyboard.press("Enter")
    expect(page.locator("#t3-user")).to_contain_text("slow2.txt")
    expect(page.locator("#t3-answer .caption")).to_have_count(1)


def test_a_message_that_is_refused_gives_its_files_back_and_another_tab_knows(page: Page) -> None:
    page.set_input_files("[data-files]", file("d.txt", b"x"))
    expect(items(page, "here")).to_have_count(1)
    other = page.context.new_page()
    other.goto(page.url)
    expect(items(other, "here")).to_have_count(1)

    def refuse(route: Any) -> None:
        body = {"code": "privacy_blocked", "message": "IBAN", "types": ["iban"], "maskedContent": "[IBAN]"}
        route.fulfill(status=422, json=body)

    page.route("**/messages", refuse)
    page.fill("#message", IBAN)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Modifier le message").click()
    expect(page.locator("#message")).to_have_value(IBAN)
    expect(items(page, "here")).to_have_count(1)
    page.unroute("**/messages")
    page.fill("#message", "ohne")
    page.keyboard.press("Enter")
    expect(page.locator("#t4-user")).to_contain_text("d.txt")
    other.fill("#message", "zwei")
    expect(other.locator("#t4-answer .caption")).to_have_count(1)
    other.keyboard.press("Enter")
    expect(other.locator("#refusal")).to_contain_text("Un fichier n'est plus là")
    expect(items(other)).to_have_count(0)
    other.close()


def test_the_composer_fits_a_narrow_screen_with_files(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_input_files("[data-files]", [file("x" * 150 + ".txt", b"x"), file("y.png", making.picture())])
    expect(items(page, "here")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.focus("#message")
    page.keyboard.press("Tab")
    expect(page.locator("[data-attach]")).to_be_focused()


def test_files_taken_away_while_their_conversation_is_made_leave_the_way_to_the_others(
    page: Page, server: Serving
) -> None:
    page.goto(server.url)
    making_it = Held(page, "/api/v1/conversations")
    page.set_input_files("[data-files]", [file(f"{n}.txt", b"n") for n in range(4)])
    making_it.come()
    for _ in range(3):
        items(page).first.locator("[data-act=remove]").click()
    making_it.go_on()
    expect(items(page, "here")).to_have_count(1)
    items(page).first.locator("[data-act=remove]").click()
