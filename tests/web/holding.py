"""A request that is kept on its way, so that a test can act before its answer comes."""

from __future__ import annotations

from playwright.sync_api import Page, Route


class Held:
    """The next request to such an address. Nothing is done inside Playwright's own callback: that stalls at times."""

    def __init__(self, page: Page, address: str, times: int = 1) -> None:
        self._page = page
        self._routes: list[Route] = []
        page.route(address, lambda route: self._routes.append(route), times=times)

    def come(self, name: str = "") -> Route:
        """Wait until the page has asked, with `name` in the address; `continue_` of what comes back lets it go on."""
        for _ in range(1500):
            for route in self._routes:
                if name in route.request.url:
                    return route
            self._page.wait_for_timeout(20)
        raise AssertionError("the page has not asked")
