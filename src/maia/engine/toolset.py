"""The only tools that an agent may use, and what that means for a program with tools of its own (N-03.11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from maia.core.delegation import DELEGATE_TO_AGENT, RUN_SPECIALIST
from maia.core.reason import Reason
from maia.core.tool import AnyTool

_NEEDED: Final[Mapping[str, str]] = {
    "write": "Write",
    "edit": "Edit",
    "delete": "Edit",
    "bash": "Bash",
    "webfetch": "WebFetch",
    "websearch": "WebFetch",
    "web_search": "WebFetch",
    "google_web_search": "WebFetch",
}
"""The tool of ours that must be listed before a program may use its own of that name. Looking at files needs none."""
_WRITES: Final = ("Write", "Edit", "Bash")


_LOOKS_UP: Final = frozenset(("MemorySearch", "MemoryExpand", "memory_search", "memory_expand", "search_memory"))


def _is_listed(name: str, names: frozenset[str]) -> bool:
    """A tool with two names is listed by either (R-2.457)."""
    either = (RUN_SPECIALIST, DELEGATE_TO_AGENT)
    return name in either and not names.isdisjoint(either)


@dataclass(frozen=True, slots=True)
class Toolset:
    """`names` are the tools that there are, by our names; None for all."""

    names: frozenset[str] | None = None

    def withholds(self, name: str) -> bool:
        """Whether a program may not use its own tool of this name."""
        needed = _NEEDED.get(name.casefold())
        return self.names is not None and needed is not None and needed not in self.names

    def bounded(self, tools: Mapping[str, AnyTool]) -> dict[str, AnyTool]:
        """Of tools that come beside the list only those that look something up (N-05.08)."""
        names = self.names
        if names is None:
            return dict(tools)
        return {
            name: tool for name, tool in tools.items() if name in _LOOKS_UP or name in names or _is_listed(name, names)
        }

    @property
    def may_write(self) -> bool:
        """Whether a program that cannot ask may be let write at all."""
        return not any(self.withholds(name) for name in _WRITES)


ALL: Final = Toolset()
NOT_OFFERED: Final = Reason("turn.not_offered")
"""Why a call of a tool beside the list is refused (N-05.09)."""
