"""What a turn used, of programs that only tell the sum of their session."""

from __future__ import annotations

from maia.core.costs import Usage


def usage_since(total: Usage | None, before: Usage | None) -> Usage | None:
    """The usage of this turn. A sum that became smaller is a new one, which counts from nothing."""
    if total is None or before is None:
        return total
    if total.prompt < before.prompt or total.output < before.output:
        return total
    return Usage(
        max(0, total.input - before.input),
        total.output - before.output,
        max(0, total.cache_read - before.cache_read),
        max(0, total.cache_write - before.cache_write),
        max(0, total.reasoning - before.reasoning),
    )


def cost_since(total: float | None, before: float | None) -> float | None:
    """The dollars of this turn, in the same way."""
    if total is None or before is None or total < before:
        return total
    return total - before
