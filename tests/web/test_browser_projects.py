"""The page of projects in a real Chromium: everything of it by keyboard."""

from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from maia.i18n.catalogue import Catalogue
from tests.web.serving import Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    NASTY,
    browser,
    context,
    first_run,
    pytestmark,
    watched,
)
from tests.web.test_cards import AGENT
from tests.web.test_hard_times import wait_for

__all__ = ["browser", "context", "pytestmark"]
FR = Catalogue("fr", strict=True)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).press("Enter")


def test_projects_types_and_stages_are_made_changed_and_ordered(
    context: BrowserContext, data: Path, tmp_path: Path
) -> None:
    agent = data / "home" / ".maia" / "agents" / "iris" / "AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text(AGENT, "utf-8")
    code = tmp_path / "code"
    code.mkdir()
    with serving(data) as server, Visitor(server.url) as owner:
        page = context.new_page()
        told = watched(page)
        first_run(page, server)
        owner.sign_in()
        page.goto(f"{server.url}/projects")
        expect(page.locator("#plan-projects .empty")).to_be_visible()
        press(page, FR("plan.new_type"))
        page.locator("#plan [name=name]").fill(f"Client {NASTY}")
        page.locator("#plan [name=priority]").select_option("high")
        page.locator("#plan [name=prompt]").fill(f"Cite {NASTY}")
        press(page, FR("plan.create"))
        expect(page.locator("#plan-types .item")).to_contain_text("Client <script>")
        press(page, FR("plan.new_project"))
        press(page, FR("plan.create"))
        expect(page.locator("#plan .problem")).to_have_text(f"{FR('plan.missing')} {FR('plan.name')}")
        page.locator("#plan [name=name]").fill(f"Invoicing {NASTY}")
        page.locator("#plan [name=typeId]").select_option(index=1)
        page.locator("#plan [name=agent]").select_option("iris")
        page.locator("#plan [name=colour]").nth(3).check(force=True)
        page.locator("#plan [name=prompt]").fill("+ En euros.")
        press(page, FR("folder.add"))
        page.locator("#plan [data-folder-path]").fill(str(data))
        press(page, FR("plan.create"))
        expect(page.locator("#plan .problem")).to_contain_text(str(data))
        page.locator("#plan [data-folder-path]").fill(str(code))
        press(page, FR("plan.create"))
        expect(page.locator("#plan")).to_be_hidden()
        card = page.locator("#plan-projects .card")
        expect(card).to_have_count(1)
        expect(card).to_contain_text(FR("plan.folders", n=1))
        expect(card).to_contain_text("Iris")
        expect(card.locator(".mark")).to_have_class("mark hue3 mark-lg")
        assert page.title() != "owned"
        row = owner.ask("GET", "/api/v1/projects").json()["projects"][0]
        made = owner.ask("POST", f"/api/v1/projects/{row['id']}/conversations", {"title": "One"}).json()
        read = owner.ask("GET", f"/api/v1/conversations/{made['id']}").json()
        assert (read["agent"], read["priority"], read["folders"][0]["path"]) == ("iris", "high", str(code))
        expect(card).to_contain_text(FR("plan.has_prompt"))
        assert row["prompt"] == "+ En euros."
        press(page, FR("plan.edit_one", name=FR("plan.master")))
        expect(page.locator("#plan pre").first).to_contain_text("maia", use_inner_text=False)
        page.locator("#plan [name=prompt]").fill(f"Bref. {NASTY}")
        press(page, FR("board.save"))
        expect(page.locator("#plan-master .wrap")).to_have_text(f"Bref. {NASTY}")
        page.goto(f"{server.url}/board")
        page.locator("[data-record]").first.click()
        page.locator("#record [name=prompt]").fill(f"En vers. {NASTY}")
        page.locator("#record .btn-primary").click()
        expect(page.locator("#record")).to_be_hidden()
        assert owner.ask("GET", f"/api/v1/conversations/{made['id']}").json()["prompt"] == f"En vers. {NASTY}"
        page.goto(f"{server.url}/projects")
        press(page, FR("plan.new_stage"))
        page.locator("#plan [name=name]").fill("Waiting")
        page.locator("#plan [name=wipLimit]").fill("2")
        page.locator("#plan [name=folded]").check()
        press(page, FR("plan.create"))
        stages = page.locator("#plan-stages .item")
        expect(stages.last).to_contain_text("Waiting")
        expect(stages.last).to_contain_text(FR("board.wip", n=2))
        press(page, FR("plan.up", name="Waiting"))
        expect(stages.nth(3)).to_contain_text("Waiting")
        expect(page.get_by_role("button", name=FR("plan.up", name="Waiting"))).to_be_focused()
        wait_for(lambda: owner.ask("GET", "/api/v1/projects").json()["stages"][3]["name"] == "Waiting")
        press(page, FR("plan.edit_one", name="Waiting"))
        page.locator("#plan summary").press("Enter")
        page.locator("#plan [data-remove]").press("Enter")
        expect(stages).to_have_count(4)
        assert [each for each in told if "400" not in each] == []
