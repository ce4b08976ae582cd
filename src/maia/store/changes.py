"""What file tools replaced, kept on disk so that undo and redo restore any edit without git (decisions §9).

`changes.jsonl` is append-only, one change, undo, redo or turn a line; contents lie beside it under their SHA-256. A
torn last line is skipped. A file is restored only while it still is what the tool left: the user's own edit is never
touched. One session writes one folder.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from maia.core.errors import system_words
from maia.core.fileread import MAX_FILE_BYTES, digest, read_regular
from maia.core.filewrite import remove_file, replace_file
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason

MAX_KEPT_BYTES: Final = 512 * 1024 * 1024
"""Contents kept for one session; beyond it the oldest go, and an undo that needs one says so."""

Scope: TypeAlias = Literal["call", "turn"]


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after one call. A digest of None: the file did not exist. `at` is Unix time."""

    call_id: str
    turn: int
    path: Path
    before: str | None
    after: str | None
    mode: int | None
    at: float
    undone: bool = False


@dataclass(frozen=True, slots=True)
class RestoredFile:
    """What undo or redo did with one file."""

    path: Path
    action: Literal["restored", "removed", "recreated"]


@dataclass(frozen=True, slots=True)
class UndoReport:
    """How an undo or redo ended: all of its files were restored, or none and `reason` says why."""

    outcome: Literal["done", "nothing", "refused"]
    files: tuple[RestoredFile, ...] = ()
    reason: Reason | None = None
    call_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """The way of one file: it must be `expected` now and becomes `wanted`."""

    path: Path
    expected: str | None
    wanted: str | None
    mode: int | None


class _Refused(Exception):
    def __init__(self, key: str, path: Path, **values: Any) -> None:
        super().__init__(key)
        self.reason = Reason(key, {"path": str(path), **values})


@dataclass(slots=True)
class _State:
    """Calls that were made, oldest first, and calls that were undone, the next to redo last."""

    done: list[list[Change]] = field(default_factory=list[list[Change]])
    undone: list[list[Change]] = field(default_factory=list[list[Change]])
    turn: int = 0

    def add(self, change: Change) -> None:
        self.undone.clear()
        last = self.done[-1][-1] if self.done else None
        if last and (last.call_id, last.turn) == (change.call_id, change.turn):
            self.done[-1].append(change)
        else:
            self.done.append([change])

    def move(self, what: Literal["undo", "redo"], count: int) -> None:
        source, target = (self.done, self.undone) if what == "undo" else (self.undone, self.done)
        for _ in range(min(count, len(source))):
            target.append(source.pop())

    def last_calls(self, what: Literal["undo", "redo"], scope: Scope) -> list[list[Change]]:
        """The calls that the next undo or redo is about, in the order in which they are to be taken."""
        calls = (self.done if what == "undo" else self.undone)[::-1]
        if scope == "call":
            return calls[:1]
        return [call for n, call in enumerate(calls) if all(c[0].turn == calls[0][0].turn for c in calls[: n + 1])]


class Changes:
    """The `ChangeLog` of one session. Nothing is read or made before it is needed; safe to use from several threads."""

    def __init__(self, folder: Path, *, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._folder = folder
        self._max_kept = max_kept_bytes
        self._lock = threading.Lock()
        self._loaded: _State | None = None
        self._kept_bytes = 0

    def record(self, call_id: str, path: Path, before: bytes | None, after: bytes | None, mode: int | None) -> None:
        """Remember one change that was made; `mode` are the permission bits of the file.

        Never raises for a disk that is full: then this change cannot be undone, and an undo says so.
        """
        with self._lock:
            state = self._state()
            before_name, after_name = self._keep(before), self._keep(after)
            change = Change(call_id, state.turn, path, before_name, after_name, mode, time.time())
            state.add(change)
            self._append(_to_json(change))
            if self._kept_bytes > self._max_kept:
                self._prune(state)

    def begin_turn(self) -> None:
        """Changes from here on belong to another turn: `undo("turn")` takes them back together."""
        with self._lock:
            state = self._state()
            if state.done and state.done[-1][-1].turn == state.turn:
                state.turn += 1
                self._append({"turn": state.turn})

    def undo(self, scope: Scope = "call") -> UndoReport:
        """Take back the last call, or all calls of the last turn that changed something."""
        return self._go("undo", scope)

    def redo(self, scope: Scope = "call") -> UndoReport:
        """Make again what the last undo took back. A new change ends what can be made again."""
        return self._go("redo", scope)

    def history(self) -> tuple[Change, ...]:
        """Every change, in the order in which they were made, with those that are undone marked."""
        with self._lock:
            state = self._state()
            done = [change for call in state.done for change in call]
            return (*done, *(_undone(change) for call in reversed(state.undone) for change in call))

    def content(self, name: str | None) -> bytes | None:
        """A content by its digest in a `Change`; None where there was no file, or it is no longer kept."""
        if name is None:
            return None
        try:
            return self._blob(name).read_bytes()
        except OSError:
            return None

    def _go(self, what: Literal["undo", "redo"], scope: Scope) -> UndoReport:
        with self._lock:
            state = self._state()
            calls = state.last_calls(what, scope)
            if not calls:
                return UndoReport("nothing", reason=Reason(f"change.nothing_to_{what}"))
            try:
                steps = _steps([change for call in calls for change in (call[::-1] if what == "undo" else call)], what)
                files = self._take(steps)
            except _Refused as refused:
                return UndoReport("refused", reason=refused.reason)
            state.move(what, len(calls))
            self._append({what: len(calls)})
            return UndoReport("done", files, call_ids=tuple(call[0].call_id for call in calls))

    def _take(self, steps: Sequence[_Step]) -> tuple[RestoredFile, ...]:
        """All steps or none: every file is looked at before the first is touched."""
        ready = [(step, *self._checked(step)) for step in steps]
        taken: list[tuple[_Step, bytes | None]] = []
        for step, now, stat, wanted in ready:
            try:
                _put(step.path, wanted, stat, step.mode)
            except OSError as problem:
                for earlier, content in reversed(taken):
                    with suppress(OSError):  # the reason to tell is the first one
                        _put(earlier.path, content, _stat(earlier.path), earlier.mode)
                raise _Refused("change.failed", step.path, reason=system_words(problem)) from None
            taken.append((step, now))
        return tuple(RestoredFile(step.path, _action(now, wanted)) for step, now, _, wanted in ready)

    def _checked(self, step: _Step) -> tuple[bytes | None, os.stat_result | None, bytes | None]:
        """The content and state of the file now, and the content it is to have."""
        try:
            now, stat = read_regular(step.path)
        except FileNotFoundError:
            now, stat = None, None
        except OSError as problem:
            raise _edited_or_failed(step.path, problem) from None
        if (None if now is None else digest(now)) != step.expected:
            raise _Refused("change.edited_since", step.path)
        return now, stat, None if step.wanted is None else self._content(step.path, step.wanted)

    # The folder ------------------------------------------------------------------------------------------------------

    def _state(self) -> _State:
        if self._loaded is None:
            self._loaded = _State()
            for entry in self._entries():
                _replay(self._loaded, entry)
            self._kept_bytes = sum(size for _, size in self._blobs())
        return self._loaded

    def _entries(self) -> Iterator[JsonObject]:
        with suppress(FileNotFoundError), open(self._journal, "rb") as file:
            for line in file:
                try:
                    entry = read_json(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield cast(JsonObject, entry)

    def _append(self, entry: JsonObject) -> None:
        with suppress(OSError):  # see `record`
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._journal, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(fd).st_size
                torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                os.write(fd, (b"\n" if torn else b"") + json.dumps(entry).encode() + b"\n")
            finally:
                os.close(fd)

    @property
    def _journal(self) -> Path:
        return self._folder / "changes.jsonl"

    def _blob(self, name: str) -> Path:
        return self._folder / "contents" / name

    def _blobs(self) -> list[tuple[str, int]]:
        try:
            with os.scandir(self._folder / "contents") as found:
                return [(entry.name, entry.stat().st_size) for entry in found]
        except OSError:
            return []

    def _keep(self, data: bytes | None) -> str | None:
        """The digest of a content, which is kept unless it is too big or the disk is full."""
        if data is None:
            return None
        name = digest(data)
        blob = self._blob(name)
        if len(data) <= MAX_FILE_BYTES and not blob.exists():
            spare = blob.with_name(f"{secrets.token_hex(8)}.tmp")
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                blob.parent.mkdir(mode=0o700, exist_ok=True)
                with open(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                    file.write(data)
                os.replace(spare, blob)
                self._kept_bytes += len(data)
            except OSError:
                with suppress(OSError):
                    os.unlink(spare)
        return name

    def _content(self, path: Path, name: str) -> bytes:
        try:
            data = self._blob(name).read_bytes()
        except OSError:
            raise _Refused("change.not_kept", path) from None
        if digest(data) != name:
            raise _Refused("change.not_kept", path)
        return data

    def _prune(self, state: _State) -> None:
        """Delete what only the oldest changes need, until a quarter is free again."""
        sizes = dict(self._blobs())
        kept: set[str] = set()
        total = 0
        for call in [*state.undone, *reversed(state.done)]:
            for name in (name for change in call for name in (change.before, change.after) if name in sizes):
                if name not in kept and total + sizes[name] <= self._max_kept * 3 // 4:
                    kept.add(name)
                    total += sizes[name]
        for name in sizes.keys() - kept:
            with suppress(OSError):
                self._blob(name).unlink()
        self._kept_bytes = total


def _steps(changes: list[Change], what: Literal["undo", "redo"]) -> list[_Step]:
    """One step a file: from what the last of its changes left to what the first one found.

    Raises `_Refused` when somebody edited the file between two of them: that edit would be lost.
    """
    steps: dict[Path, _Step] = {}
    for change in changes:
        here, there = (change.after, change.before) if what == "undo" else (change.before, change.after)
        known = steps.get(change.path)
        if known and known.wanted != here:
            raise _Refused("change.edited_since", change.path)
        steps[change.path] = _Step(change.path, known.expected if known else here, there, change.mode)
    return list(steps.values())


def _put(path: Path, data: bytes | None, stat: os.stat_result | None, mode: int | None) -> None:
    if data is not None:
        replace_file(path, data, stat, mode)
    elif stat is not None:
        remove_file(path)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _action(now: bytes | None, wanted: bytes | None) -> Literal["restored", "removed", "recreated"]:
    if wanted is None:
        return "removed"
    return "recreated" if now is None else "restored"


def _edited_or_failed(path: Path, problem: OSError) -> _Refused:
    """Another kind of file, or a much bigger one, stands there now: somebody put it there."""
    if problem.errno in (errno.EISDIR, errno.EINVAL, errno.EFBIG, errno.ELOOP):
        return _Refused("change.edited_since", path)
    return _Refused("change.failed", path, reason=system_words(problem))


def _undone(change: Change) -> Change:
    return Change(
        change.call_id, change.turn, change.path, change.before, change.after, change.mode, change.at, undone=True
    )


# The journal's lines -------------------------------------------------------------------------------------------------


def _to_json(change: Change) -> JsonObject:
    return {
        "change": change.call_id,
        "turn": change.turn,
        "path": str(change.path),
        "before": change.before,
        "after": change.after,
        "mode": change.mode,
        "at": change.at,
    }


def _replay(state: _State, entry: JsonObject) -> None:
    """Apply one line. What a newer version wrote, or what is damaged, is left out."""
    for what in ("undo", "redo"):
        if isinstance(entry.get(what), int):
            state.move(what, entry[what])
            return
    turn = entry.get("turn")
    if isinstance(turn, int):
        state.turn = max(state.turn, turn)
    match entry:
        case {"change": str(call_id), "path": str(path), "before": before, "after": after}:
            if all(_is_optional(name, str) for name in (before, after)) and _is_optional(entry.get("mode"), int):
                at = float(entry.get("at") or 0)
                state.add(Change(call_id, state.turn, Path(path), before, after, entry.get("mode"), at))
        case _:
            return


def _is_optional(value: object, kind: type[object]) -> bool:
    return value is None or isinstance(value, kind)
