"""A request that is kept on its way, so that a test can act before its answer comes."""

from __future__ import annotations

from playwright.sync_api import Page, Route


class Held:
    """The next request to such an address. Nothing is done inside Playwright's own callback: that stalls at times."""

    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        self._routes: list[Route] = []
        page.route(address, lambda route: self._routes.append(route), times=1)

    def come(self) -> Route:
        """Wait until the page has asked; `continue_` of what comes back lets the request go on."""
        while not self._routes:
            self._page.wait_for_timeout(20)
        return self._routes[0]
