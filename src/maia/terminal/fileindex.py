"""The files of a folder for completion: listed in the background, searched in a tree of 150,000 within a keystroke."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal
from unicodedata import normalize

MAX_PATHS = 400_000
_FRESH_SECONDS = 10.0
_GIT_SECONDS = 30.0
_LISTED = 50
_NOT_WALKED = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"))


@dataclass(frozen=True, slots=True)
class Found:
    """Paths that match, best first; folders end in `/`. `total` is how many paths there are in all."""

    paths: tuple[str, ...]
    total: int
    more: bool = False
    note: Literal["", "indexing", "partial"] = ""


class PathTable:
    """An ordered list of paths with one lower-case text of all of them, so that a search is a scan at C speed.

    The order (few folders first, then short paths) is the ranking within a kind of match, so that a search may stop at
    the first hits.
    """

    __slots__ = ("_ends", "_text", "paths")

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = _ordered(paths)
        lowered = [_folded(path) for path in self.paths]
        self._text = "\n" + "\n".join(lowered) + "\n"
        self._ends = list(accumulate(len(path) + 1 for path in lowered))

    def search(self, query: str, limit: int = _LISTED) -> tuple[list[str], bool]:
        """At most `limit` paths, and whether there are more.

        First those whose name begins with the query, then those that hold it, then those that hold its letters in
        order. An empty query gives the first of all.
        """
        if not query:
            return self.paths[:limit], len(self.paths) > limit
        hits: dict[int, None] = {}
        for pattern in _patterns(_folded(query)):
            for found in pattern.finditer(self._text):
                hits.setdefault(bisect_right(self._ends, found.start()))
                if len(hits) > limit:
                    return [self.paths[place] for place in list(hits)[:limit]], True
            if len(hits) >= limit:
                break
        return [self.paths[place] for place in hits], False


def _ordered(paths: Sequence[str]) -> list[str]:
    """By number of folders, then by length, then as given: small sorts by one number each hold no other thread long."""
    buckets: dict[int, list[str]] = {}
    for path in paths:
        buckets.setdefault(path.count("/", 0, -1), []).append(path)
    for bucket in buckets.values():
        bucket.sort(key=len)
    return [path for depth in sorted(buckets) for path in buckets[depth]]


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFC", text).lower()


def _patterns(query: str) -> Iterator[re.Pattern[str]]:
    """Scans in the order of rank. None of them can backtrack: each step excludes what the next one looks for."""
    literal = re.escape(query)
    yield re.compile(f"\n{literal}[^\n]*")
    if "/" not in query[:-1]:
        yield re.compile(f"/{literal}[^/\n]*/?(?=\n)")
    yield re.compile(f"{literal}[^\n]*")
    if len(query) > 1:
        steps = "".join(f"[^{re.escape(char)}\n]*{re.escape(char)}" for char in query)
        yield re.compile(f"\n{steps}[^\n]*")


class FileIndex:
    """The paths below the launch folder. Nothing is read before `refresh`; then a thread lists, and again when stale.

    `on_ready` is called from that thread when a new list is there. Files that git ignores and `.git` are left out.
    """

    def __init__(
        self,
        launch: Path,
        home: Path,
        *,
        on_ready: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._launch = launch
        self._home = home
        self._on_ready = on_ready
        self._clock = clock
        self._table: PathTable | None = None
        self._partial = False
        self._listed_at = 0.0
        self._thread: threading.Thread | None = None

    def refresh(self) -> None:
        """List in the background unless that is going on or was done just now. Returns at once."""
        if self._thread is not None and self._thread.is_alive():
            return
        if self._table is not None and self._clock() - self._listed_at < _FRESH_SECONDS:
            return
        self._thread = threading.Thread(target=self._build, name="file-index", daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for a list that is being made; whether one is there."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._table is not None

    def search(self, query: str, limit: int = _LISTED) -> Found:
        """Paths that match the query, with what is known so far. Starts a listing where it is needed."""
        if query.startswith(("/", "~/", "../", "./")) or query == "~":
            return self._outside(query, limit)
        self.refresh()
        table = self._table
        if table is None:
            return Found((), 0, note="indexing")
        paths, more = table.search(query, limit)
        return Found(tuple(paths), len(table.paths), more, "partial" if self._partial else "")

    def _build(self) -> None:
        paths, self._partial = list_paths(self._launch)
        self._table = PathTable([*_folders_of(paths), *paths])
        self._listed_at = self._clock()
        if self._on_ready is not None:
            self._on_ready()

    def _outside(self, query: str, limit: int) -> Found:
        """Names in one folder, for a path that is absolute, in the home folder or above the launch folder."""
        head, _, name = query.rpartition("/")
        base = self._home / head[2:] if head[:1] == "~" else self._launch / (head + "/" if query[:1] == "/" else head)
        names: list[str] = []
        partial = False
        try:
            with os.scandir(base) as entries:
                for count, entry in enumerate(entries):
                    if count >= 10_000:
                        partial = True
                        break
                    if entry.name.lower().startswith(name.lower()) and _typeable(entry.name):
                        names.append(f"{head}/{entry.name}" + ("/" if _is_folder(entry) else ""))
        except (OSError, ValueError):
            pass
        names.sort(key=lambda path: (path[len(head) + 1 : len(head) + 2] == ".", path.lower()))
        return Found(tuple(names[:limit]), len(names), len(names) > limit, "partial" if partial else "")


def _folders_of(paths: Sequence[str]) -> list[str]:
    folders: dict[str, None] = {}
    for path in paths:
        end = path.rfind("/")
        while end > 0 and (folder := path[: end + 1]) not in folders:
            folders[folder] = None
            end = path.rfind("/", 0, end)
    return list(folders)


def _typeable(path: str) -> bool:
    """Whether a mention can name it: names that are no text, or hold control characters, cannot be typed."""
    return path.isprintable() or all(char.isprintable() or char in "\u00a0\u202f\u3000" for char in path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


# Listing -----------------------------------------------------------------------------------------------------------


def list_paths(launch: Path, limit: int = MAX_PATHS) -> tuple[list[str], bool]:
    """Files below a folder as relative paths, and whether the list is cut: as git sees them, else by a walk."""
    found = _from_git(launch)
    if found is None:
        return _walked(launch, limit)
    return found[:limit], len(found) > limit


def _from_git(launch: Path) -> list[str] | None:
    """Tracked and new files without ignored ones; None where there is no repository or no git.

    The repository's own configuration may not start a program here (core.fsmonitor), and nothing is locked.
    """
    kept = _git(launch, "--cached", "--others", "--exclude-standard")
    if kept is None:
        return None
    gone = set(_git(launch, "--deleted") or ())
    return [path for path in dict.fromkeys(kept) if path not in gone and _typeable(path)]


def _git(launch: Path, *options: str) -> list[str] | None:
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", *options],
            cwd=launch,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(done.stdout).split("\0")[:-1] if done.returncode == 0 else None


def _walked(launch: Path, limit: int) -> tuple[list[str], bool]:
    """The files by a walk, level by level, so that a cut list has the nearest ones. No link to a folder is entered."""
    paths: list[str] = []
    level = [""]
    while level:
        below: list[str] = []
        for folder in level:
            for entry in _entries(launch, folder):
                if len(paths) >= limit:
                    return paths, True
                if not _typeable(entry.name):
                    continue
                if _is_real_folder(entry):
                    if entry.name not in _NOT_WALKED:
                        below.append(f"{folder}{entry.name}/")
                else:
                    paths.append(folder + entry.name)
        level = below
    return paths, False


def _entries(launch: Path, folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(launch / folder) as entries:
            yield from entries
    except OSError:
        return


def _is_real_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
