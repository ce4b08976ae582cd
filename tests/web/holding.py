"""A request that is kept on its way, so that a test can act before its answer comes."""

from __future__ import annotations

from playwright.sync_api import Page

_HOLD = """(end) => {
  const real = globalThis.fetch;
  globalThis.fetch = async (address, given) => {
    if (!String(address).endsWith(end)) return real(address, given);
    globalThis.fetch = real;
    await new Promise((go) => { globalThis.goOn = go; });
    return real(address, given);
  };
}"""


class Held:
    """The next request whose address has such an end. It is held in the page: a route of Playwright stalls at times."""

    def __init__(self, page: Page, end: str) -> None:
        self._page = page
        page.evaluate(_HOLD, end)

    def come(self) -> None:
        """Wait until the page has asked."""
        self._page.wait_for_function("() => globalThis.goOn !== undefined")

    def go_on(self) -> None:
        """Let the request go to the server."""
        self._page.evaluate("() => goOn()")
