"""Requests of a page that are kept on their way, or answered as no server of a test would."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

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


_INSTEAD = """(status) => {
  const real = globalThis.fetch;
  globalThis.heal = () => { globalThis.fetch = real; };
  const told = () => new Response(JSON.stringify({ message: "Not now." }), { status });
  globalThis.fetch = async () => status ? told() : Promise.reject(new TypeError("no line"));
}"""


@contextmanager
def broken(page: Page, status: int = 0) -> Generator[None]:
    """While this lasts, whatever a script asks is answered with that status; with none there is no line at all."""
    page.evaluate(_INSTEAD, status)
    yield
    page.evaluate("() => heal()")
