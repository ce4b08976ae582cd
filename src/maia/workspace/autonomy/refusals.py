"""What kind of refusal it was, as a code without any value, and whether it counts for the lock (N-09.04, N-08.06)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from maia.core.reason import Reason
from maia.database.autonomy import Checkpoint
from maia.engine.gate import CHECKED


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal without what it was about."""

    checkpoint: Checkpoint
    code: str
    counts: bool = False


LOCKED: Final = Reason("autonomy.tools_locked")
"""While the tools are locked."""
_BY_KEY: Final[Mapping[str, Refused]] = {
    "folders.closed": Refused("deterministic", "protected"),
    "folders.closed_memory": Refused("deterministic", "protected"),
    "folders.outside": Refused("deterministic", "outside"),
    "turn.not_offered": Refused("deterministic", "not_offered"),
    "perm.rule": Refused("deterministic", "rule", counts=True),
    LOCKED.key: Refused("lockout", "locked"),
    CHECKED.key: Refused("judge", "check", counts=True),
}
_SEARCHES: Final = "folders.search."
"""Keys of searches that would have come to a protected place."""
_TOO_BROAD: Final = Refused("deterministic", "too_broad")
OTHER: Final = Refused("deterministic", "other")


def refused_by(reason: Reason) -> Refused:
    """What kind of refusal a reason is. Protected places never count towards the lock."""
    if reason.key.startswith(_SEARCHES):
        return _TOO_BROAD
    return _BY_KEY.get(reason.key, OTHER)
