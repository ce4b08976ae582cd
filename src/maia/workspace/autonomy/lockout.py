"""Three denials within ten minutes lock the tools of a conversation and of all below it for ten minutes (N-08.06)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

LOCKED_MS: Final = 600_000
"""How long a lock holds, and within which time denials come together."""
MOST_DENIALS: Final = 3


def locked_until(denied: Sequence[int]) -> int:
    """Until when (milliseconds since 1970) the tools are locked by denials at these times, the oldest first; 0: never.

    What is denied while the tools are locked does not count, and after a lock the count begins anew.
    """
    until, near = 0, list[int]()
    for at in denied:
        if at < until:
            continue
        near = [each for each in near if each > at - LOCKED_MS] + [at]
        if len(near) >= MOST_DENIALS:
            until, near = at + LOCKED_MS, []
    return until


class Lockouts:
    """The denials that may still matter, each under the conversation above all that delegated where it was."""

    def __init__(self) -> None:
        self._denied: dict[str, list[int]] = {}

    def recall(self, denied: Iterable[tuple[str, int]]) -> None:
        """Denials that an earlier server kept, as (conversation above all, when), the oldest first."""
        for conversation_id, at in denied:
            self._denied.setdefault(conversation_id, []).append(at)

    def note(self, conversation_id: str, at: int) -> bool:
        """One more denial; True when it locks the tools."""
        before = self.until(conversation_id, at)
        kept = [each for each in self._denied.get(conversation_id, ()) if each > at - 2 * LOCKED_MS]
        self._denied[conversation_id] = [*kept, at]
        return before == 0 and self.until(conversation_id, at) > 0

    def until(self, conversation_id: str, now: int) -> int:
        """Until when the tools of a conversation are locked; 0 when they are not."""
        until = locked_until(self._denied.get(conversation_id, ()))
        return until if until > now else 0
