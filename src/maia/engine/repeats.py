"""The same question again and again: a person is asked about one exact call twice in a turn, not 25 times (R-2.186)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from maia.core.types import Need, ToolCallPart

MOST_ASKED: Final = 2
"""How often one turn asks about the same tool with the same arguments."""
_LOOKING: Final = frozenset(("Read", "Glob", "Grep", "MemorySearch", "MemoryExpand"))
"""What changes nothing, so that a repeat after it is a repeat all the same."""


@dataclass(slots=True)
class Repeats:
    """What one turn asked about. A call that changes something, and is new, makes the others worth asking about again.

    So tests that a person allows one by one may run after each edit, while a model that goes in circles, over one call
    or over several, is told.
    """

    _asked: dict[str, int] = field(default_factory=dict[str, int])
    _passed: set[str] = field(default_factory=set[str])

    def is_spent(self, call: ToolCallPart) -> bool:
        """Whether nobody should be asked about this call again."""
        return self._asked.get(_key(call), 0) >= MOST_ASKED

    def asked(self, call: ToolCallPart) -> None:
        """Somebody is asked about it."""
        key = _key(call)
        self._asked[key] = self._asked.get(key, 0) + 1

    def passed(self, call: ToolCallPart, needs: Sequence[Need]) -> None:
        """It may run."""
        key = _key(call)
        if key in self._passed or all(need.tool in _LOOKING for need in needs):
            return
        self._passed.add(key)
        self._asked = {key: self._asked[key]} if key in self._asked else {}


def _key(call: ToolCallPart) -> str:
    return json.dumps([call.name, call.arguments], sort_keys=True, default=repr)
