"""How often signing in may fail: five times an e-mail and thirty times an address, within a quarter of an hour."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 900.0
BY_EMAIL, BY_ADDRESS = 5, 30
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Source:
    """Where a try comes from. `device` is a browser in which this person signed in before, empty for any other.

    Such a browser is counted alone: whoever guesses elsewhere locks the person out of new browsers only
    (owasp.org, Slow Down Online Guessing Attacks with Device Cookies).
    """

    email: str
    address: str
    device: str = ""

    @property
    def limits(self) -> tuple[tuple[tuple[str, str], int], ...]:
        """What is counted, with how many failures of each."""
        if self.device:
            return ((("device", self.device), BY_EMAIL),)
        return ((("email", self.email), BY_EMAIL), (("address", self.address), BY_ADDRESS))


class Tries:
    """Failures of the last quarter of an hour. Lives in the server's memory; a restart forgets them."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failed: dict[tuple[str, str], deque[float]] = {}

    def wait(self, source: Source) -> int:
        """Whole seconds until the next try is allowed, 0 for now."""
        return max(self._wait(key, most) for key, most in source.limits)

    def left(self, source: Source) -> int:
        """How many more failures there may be for whoever this is."""
        key, most = source.limits[0]
        return max(0, most - len(self._recent(key)))

    def failed(self, source: Source) -> None:
        if len(self._failed) >= _REMEMBERED:
            self._failed = {key: when for key in self._failed if (when := self._recent(key))}
        for key, _ in source.limits:
            self._failed.setdefault(key, deque(maxlen=BY_ADDRESS)).append(self._now())

    def succeeded(self, source: Source) -> None:
        """The last try, counted as it began, was none of the failures; those of this person are forgiven."""
        first, *others = (key for key, _ in source.limits)
        self._failed.pop(first, None)
        for key in others:
            if failed := self._failed.get(key):
                failed.pop()

    def _wait(self, key: tuple[str, str], most: int) -> int:
        recent = self._recent(key)
        return 0 if len(recent) < most else max(1, round(recent[-most] + WINDOW - self._now()))

    def _recent(self, key: tuple[str, str]) -> deque[float]:
        failed = self._failed.get(key, deque())
        while failed and failed[0] <= self._now() - WINDOW:
            failed.popleft()
        return failed
