"""What becomes of a call that nobody allowed yet: one pure table of level, verdict and whether somebody is there."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from maia.workspace.autonomy.categories import LEVELLED, Category

Level: TypeAlias = Literal[1, 2, 3]
"""Notice: ask first. Approve: propose, one click. Auto: act, then report (N-07.02)."""
GateVerdict: TypeAlias = Literal["allow", "deny", "escalate"]
"""What the check of a call says: harmless enough, never, or that a person must look."""
Course: TypeAlias = Literal["queue", "run", "refuse"]
"""Wait for a person, be made now, or be refused."""

NOTICE: Final[Level] = 1
APPROVE: Final[Level] = 2
AUTO: Final[Level] = 3
LEVELS: Final[tuple[Level, ...]] = (NOTICE, APPROVE, AUTO)


def may_rise(category: Category) -> bool:
    """Whether a category can be given another level than Notice (N-07.03)."""
    return LEVELLED.get(category, False)


def course(category: Category, level: Level, verdict: GateVerdict, *, attended: bool) -> Course:
    """What to do with a yellow or red call.

    In an attended chat levels do not count, and no check allows what a person's rules ask about (N-07.07). Elsewhere a
    denial holds at every level, what is escalated always waits, and only Auto lets a call be made (N-07.05).
    """
    if attended:
        return "queue"
    if verdict == "deny":
        return "refuse"
    is_free = verdict == "allow" and level == AUTO and may_rise(category)
    return "run" if is_free else "queue"
