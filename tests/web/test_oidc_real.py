"""Signing in at a real provider, in Chromium: `-m real`, with OIDC_PROVIDER_MODULES naming a folder of node modules.

`npm install oidc-provider` makes one; nothing is installed here.
"""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.oidc_provider import CLIENT, SECRET
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_browser import browser  # pyright: ignore[reportUnusedImport] - a fixture
from tests.web.test_browser import pytestmark as needs_chromium

__all__ = ["browser"]
MODULES = Path(os.environ.get("OIDC_PROVIDER_MODULES", "/nowhere"))
NODE = os.environ.get("OIDC_PROVIDER_NODE") or shutil.which("node") or ""
pytestmark = [
    *needs_chromium,
    pytest.mark.real,
    pytest.mark.skipif(not (NODE and (MODULES / "oidc-provider").is_dir()), reason="OIDC_PROVIDER_MODULES names none"),
]
NEXT = re.compile(r"/signin/oidc/return|/$")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class World:
    """A workspace, and where its provider is when it runs."""

    def __init__(self, server: Serving, owner: Visitor, at: int) -> None:
        self.server, self.owner, self.at = server, owner, at

    @contextmanager
    def provider(self, ahead: int = 0) -> Generator[None]:
        """The provider runs, its clock so many seconds ahead."""
        script, back = Path(__file__).with_name("oidc_real.mjs"), f"{self.server.url}/signin/oidc/return"
        argv = [NODE, str(script), str(MODULES), str(self.at), back, str(ahead)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                yield
            finally:
                process.kill()

    def role(self, page: Page) -> str:
        """The role of who is signed in, empty for nobody."""
        answer = page.request.get(f"{self.server.url}/api/v1/session")
        return answer.json()["role"] if answer.ok else ""

    def enter(self, page: Page, who: str, changed: Callable[[str], str] = str) -> None:
        """Sign in over there; the address that leads there may be changed on the way."""
        page.goto(f"{self.server.url}/signin")
        if changed is str:
            page.click("a[href^='/signin/oidc']")
        else:
            away = page.request.get(f"{self.server.url}/signin/oidc", max_redirects=0)
            page.goto(changed(away.headers["location"]))
        page.fill("[name=login]", who)
        page.fill("[name=password]", "any")
        page.click("[type=submit]")
        page.click("text=Continue")
        page.wait_for_url(NEXT)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    at = free_port()
    told: dict[str, str] = {
        "MAIA_OIDC_ISSUER": f"http://127.0.0.1:{at}",
        "MAIA_OIDC_CLIENT_ID": CLIENT,
        "MAIA_OIDC_CLIENT_SECRET": SECRET,
        "MAIA_OIDC_DOMAINS": "example.org",
        "MAIA_OIDC_ROLE": "user",
        "MAIA_OIDC_NAME": "Exemple",
    }
    with serving(tmp_path_factory.mktemp("oidc") / "data", script=None, **told) as server, Visitor(server.url) as owner:
        owner.become_owner(server.token)
        yield World(server, owner, at)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="fr-FR")
    yield context.new_page()
    context.close()


def test_a_provider_that_is_down_is_told_and_the_password_is_still_there(world: World, page: Page) -> None:
    page.goto(f"{world.server.url}/signin")
    page.click("a[href^='/signin/oidc']")
    expect(page.locator("body")).to_contain_text("Exemple ne répond pas")
    page.fill("[name=email]", "lea@example.org")
    page.fill("[name=password]", "correct horse")
    page.click("button[type=submit], .btn-primary")
    page.wait_for_url(f"{world.server.url}/")
    assert world.role(page) == "owner"


def test_somebody_signs_in_out_and_in_again_and_stays_out_once_archived(world: World, page: Page) -> None:
    with world.provider():
        world.enter(page, "ana")
        page.wait_for_url(f"{world.server.url}/")
        assert world.role(page) == "user"
        user = page.request.get(f"{world.server.url}/api/v1/session").json()
        assert (user["name"], user["email"]) == ("ana Élan", "ana@example.org")
        page.evaluate("document.querySelector('#sign-out').click()")
        page.wait_for_url("**/signin**")
        assert world.role(page) == ""
        page.click("a[href^='/signin/oidc']")
        page.wait_for_url(f"{world.server.url}/")
        assert world.role(page) == "user"
        assert world.owner.ask("DELETE", f"/api/v1/users/{user['id']}").status_code == 200
        assert world.role(page) == ""
        page.goto(f"{world.server.url}/signin/oidc")
        expect(page.locator("body")).to_contain_text("Ce compte est archivé")
        assert world.role(page) == ""


def test_who_turns_back_and_who_is_not_vouched_for_is_told_so(world: World, page: Page) -> None:
    with world.provider():
        page.goto(f"{world.server.url}/signin")
        page.click("a[href^='/signin/oidc']")
        page.click("text=Cancel")
        expect(page.locator("body")).to_contain_text("Le fournisseur a refusé la connexion\u202f: access_denied")
        world.enter(page, "mallory")
        expect(page.locator("body")).to_contain_text("Exemple n'a pas vérifié votre adresse e-mail")
        assert world.role(page) == ""


@pytest.mark.parametrize(
    ("name", "told"),
    [("state", "a pris trop de temps"), ("nonce", "ne peut pas être accepté"), ("code_challenge", "ne répond pas")],
)
def test_what_was_changed_on_the_way_lets_nobody_in(world: World, page: Page, name: str, told: str) -> None:
    with world.provider():
        world.enter(page, "bea", lambda address: re.sub(f"{name}=[^&]+", f"{name}={'x' * 43}", address))
        expect(page.locator("body")).to_contain_text(told)
        assert world.role(page) == ""


@pytest.mark.parametrize(("ahead", "role"), [(50, "user"), (300, "")])
def test_its_clock_may_differ_by_a_minute(world: World, page: Page, ahead: int, role: str) -> None:
    with world.provider(ahead):
        world.enter(page, "cora")
        if role:
            page.wait_for_url(f"{world.server.url}/")
        else:
            expect(page.locator("body")).to_contain_text("L'heure de Exemple")
        assert world.role(page) == role
