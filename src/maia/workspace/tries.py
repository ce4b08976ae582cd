"""How often signing in may fail: five times an e-mail and thirty times an address, within a quarter of an hour."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW = 900.0
BY_EMAIL, BY_ADDRESS = 5, 30
_REMEMBERED = 10_000


class Tries:
    """Failures of the last quarter of an hour. Lives in the server's memory; a restart forgets them."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failed: dict[tuple[str, str], deque[float]] = {}

    def wait(self, email: str, address: str) -> int:
        """Whole seconds until the next try is allowed, 0 for now."""
        waits = (self._wait(("email", email), BY_EMAIL), self._wait(("address", address), BY_ADDRESS))
        return max(waits)

    def left(self, email: str) -> int:
        """How many more failures this e-mail has."""
        return max(0, BY_EMAIL - len(self._recent(("email", email))))

    def failed(self, email: str, address: str) -> None:
        if len(self._failed) >= _REMEMBERED:
            self._failed = {key: when for key in self._failed if (when := self._recent(key))}
        for key in (("email", email), ("address", address)):
            self._failed.setdefault(key, deque(maxlen=BY_ADDRESS)).append(self._now())

    def succeeded(self, email: str, address: str) -> None:
        """The last try, counted as it began, was none of the failures; those of this e-mail are forgiven."""
        self._failed.pop(("email", email), None)
        if failed := self._failed.get(("address", address)):
            failed.pop()

    def _wait(self, key: tuple[str, str], most: int) -> int:
        recent = self._recent(key)
        return 0 if len(recent) < most else max(1, round(recent[-most] + WINDOW - self._now()))

    def _recent(self, key: tuple[str, str]) -> deque[float]:
        failed = self._failed.get(key, deque())
        while failed and failed[0] <= self._now() - WINDOW:
            failed.popleft()
        return failed
