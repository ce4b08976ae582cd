"""The same question again and again: a person is asked about one exact call twice in a turn, not 25 times (R-2.186)."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.messages import ToolCallPart
from maia.core.permission import Need

MOST_ASKED: Final = 2
"""How often one turn asks about the same tool with the same arguments."""
_LOOKING: Final = frozenset(("Read", "Glob", "Grep", "MemorySearch", "MemoryExpand"))
"""What changes nothing, so that a repeat after it is a repeat all the same."""


@dataclass(slots=True)
class Repeats:
    """What one turn asked about. A call that changes something, and is new, makes the others worth asking about again.

    So tests that a person allows one by one may run after each edit, while a model that goes in circles, over one call
    or over several, is told. `done` are the calls that the run made before it waited for a person (N-07.08).
    """

    done: Set[str] = frozenset()
    _asked: dict[str, int] = field(default_factory=dict[str, int])
    _passed: set[str] = field(default_factory=set[str])

    def is_done(self, call: ToolCallPart, needs: Sequence[Need]) -> bool:
        """Whether the run made this call before it waited, so that it would be made a second time."""
        return not _only_looks(needs) and call_key(call.name, call.arguments) in self.done

    def is_spent(self, call: ToolCallPart) -> bool:
        """Whether nobody should be asked about this call again."""
        return self._asked.get(call_key(call.name, call.arguments), 0) >= MOST_ASKED

    def asked(self, call: ToolCallPart) -> None:
        """Somebody is asked about it."""
        key = call_key(call.name, call.arguments)
        self._asked[key] = self._asked.get(key, 0) + 1

    def passed(self, call: ToolCallPart, needs: Sequence[Need]) -> None:
        """It may run."""
        key = call_key(call.name, call.arguments)
        if key in self._passed or _only_looks(needs):
            return
        self._passed.add(key)
        self.done = frozenset()
        self._asked = {key: self._asked[key]} if key in self._asked else {}


def call_key(tool: str, arguments: JsonObject) -> str:
    """Which call it is: the tool and its arguments, whatever their order."""
    return json.dumps([tool, arguments], sort_keys=True, default=repr)


def _only_looks(needs: Sequence[Need]) -> bool:
    return all(need.tool in _LOOKING for need in needs)
