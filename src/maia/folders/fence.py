"""The fence of one conversation: protected places are closed to every call, and file tools stay in its folders."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Final

from maia.core.permission import Rule, RuleSource, Sweep, Verdict
from maia.core.reason import Reason
from maia.folders.disk import lineage
from maia.folders.protected import is_secret_file
from maia.folders.refusals import Code
from maia.folders.safety import NOBODY, Safety
from maia.folders.searches import WORDS, SearchTarget, search_target

FILE_TOOLS = frozenset({"Read", "Write", "Edit", "Glob", "Grep"})
"""Confined to the folders (R-2.313). A command is not: it reads programs and libraries, and the sandbox holds it."""

KEPT_SECONDS = 2.0
"""How long what was seen of a folder is believed: a search asks about thousands of files."""

_SOURCE = RuleSource("built-in")
_MEMORIES: Final[frozenset[Code]] = frozenset(("providerHome", "vault"))
"""Where others keep what they remember: the model is told what it may look into instead (R-2.190)."""


class Fence:
    """`core.ports.Fence`. `roots` are the real paths of the conversation's folders, in which its file tools work.

    `also` may be read beside them: outputs that the model was told of. `look` makes a fresh `Safety`, so that places
    that appear are seen. No rule and no answer opens what is closed here (N-09.03).
    """

    def __init__(
        self,
        look: Callable[[], Safety],
        roots: Sequence[str],
        mine: Set[str] = NOBODY,
        also: Sequence[Path] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._roots = tuple(roots)
        self._mine = frozenset(mine)
        self._also = tuple(os.path.realpath(path) for path in also)
        self._clock = clock
        self._safety = look()
        self._until = 0.0
        self._seen: dict[str, Code | None] = {}
        self._searches: dict[tuple[str, Sweep], SearchTarget | None] = {}

    def closed(self, tool: str, given: str, resolved: str) -> tuple[Rule, Reason] | None:
        """See the port. What a path is, is looked at as written and where it leads (N-09.05)."""
        if self._is_told_of(resolved) and tool in ("Read", "Grep"):
            return None
        for path in dict.fromkeys((given, resolved)):
            if code := self._protected(path):
                words = "folders.closed_memory" if code in _MEMORIES else "folders.closed"
                return self._rule(tool, path), Reason(words, {"path": given})
        if tool in FILE_TOOLS and not _within(resolved, self._roots):
            return self._rule(tool, resolved), Reason("folders.outside", {"path": given})
        return None

    def searched(self, tool: str, given: str, resolved: str, sweep: Sweep) -> tuple[Rule, Reason] | None:
        """See the port. A search is judged where its folder really is."""
        self._forget()
        key = (resolved, sweep)
        if key not in self._searches:
            self._searches[key] = search_target(self._safety, resolved, sweep, self._mine)
        found = self._searches[key]
        if found is None:
            return None
        return self._rule(tool, resolved), Reason(WORDS[found], {"path": given, "search": found})

    def _is_told_of(self, path: str) -> bool:
        return _within(path, self._also)

    def _protected(self, path: str) -> Code | None:
        self._forget()
        folder, name = os.path.split(path)
        if is_secret_file(name) or self._safety.is_place(path):
            return self._safety.lies_in(path, self._mine)
        return self._code_of(path if self._safety.disk.state(path) != "file" else folder)

    def _code_of(self, folder: str) -> Code | None:
        if folder not in self._seen:
            self._seen[folder] = self._safety.lies_in(folder, self._mine)
        return self._seen[folder]

    def _forget(self) -> None:
        now = self._clock()
        if now >= self._until:
            self._safety, self._seen, self._searches = self._look(), {}, {}
            self._until = now + KEPT_SECONDS

    def _rule(self, tool: str, path: str) -> Rule:
        return Rule(Verdict.DENY, tool, path, f"{tool}({path})", _SOURCE)


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(each in folders for each in lineage(path))
