"""Moves agents' homes from a workspace to the user's folder: listed first, copied, verified, the old one set aside."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.credentials.all_or_none import locked, make_private
from maia.credentials.problems import Problem, fail, info

DONE_SUFFIX: Final = ".migrated"
OK, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Move:
    """One agent's home, from `source` to `target`. `size` is in bytes; `conflicts` exist at the target and differ."""

    agent: str
    source: Path
    target: Path
    files: tuple[str, ...]
    size: int
    conflicts: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_free(self) -> bool:
        return not self.conflicts and not any(problem.level == "fail" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Migrated:
    """What was found or done; `code` is the exit code: 0 all well or nothing to do, 1 something could not be moved."""

    moves: tuple[Move, ...]
    code: int


def moves(workspace: Path, root: Path) -> tuple[Move, ...]:
    """What would be moved from `<workspace>/.overmind/hermes` to `root`. Reads only."""
    old = workspace / ".overmind" / "hermes"
    if not old.is_dir() or old.resolve() == root.resolve():
        return ()
    return tuple(_move(path, root) for path in sorted(old.glob("agent_*")) if (path / ".hermes").is_dir())


def _move(folder: Path, root: Path) -> Move:
    source, target = folder / ".hermes", root / folder.name / ".hermes"
    problems = [fail("UNSAFE_LINK", path=str(path)) for path in (folder, source) if path.is_symlink()]
    files: list[str] = []
    conflicts: list[str] = []
    size = 0
    for path in () if problems else _walk(source):
        name = str(path.relative_to(source))
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            problems.append(info("SKIPPED_FILE", path=name))  # a socket or pipe of a process that is gone
            continue
        files.append(name)
        size += path.lstat().st_size
        if os.path.lexists(target / name) and _print(target / name) != _print(path):
            conflicts.append(name)
    return Move(
        folder.name.removeprefix("agent_"), source, target, tuple(files), size, tuple(conflicts), tuple(problems)
    )


def migrate(workspace: Path, root: Path) -> Migrated:
    """Copy, verify, then rename each old folder to `.hermes.migrated`. Never overwrites; a second run finishes."""
    done = tuple(_moved(move) for move in moves(workspace, root))
    return Migrated(done, OK if all(move.is_free for move in done) else FAILED)


def preview(workspace: Path, root: Path) -> Migrated:
    """The same without touching anything."""
    found = moves(workspace, root)
    return Migrated(found, OK if all(move.is_free for move in found) else FAILED)


def _moved(move: Move) -> Move:
    if not move.is_free:
        return move
    try:
        make_private(move.target)
        with locked(move.source.parent / ".maia.lock", move.target / ".maia.lock"):
            _copy(move)
            different = tuple(n for n in move.files if _print(move.source / n) != _print(move.target / n))
            if different:
                return Move(move.agent, move.source, move.target, move.files, move.size, different)
            _set_aside(move.source)
    except OSError as error:
        problem = fail("WRITE_FAILED", path=str(error.filename or move.target), why=os.strerror(error.errno or 0))
        return Move(move.agent, move.source, move.target, move.files, move.size, problems=(*move.problems, problem))
    return move


def _copy(move: Move) -> None:
    for name in move.files:
        source, target = move.source / name, move.target / name
        if os.path.lexists(target):
            continue  # the same content: a copy that was interrupted
        make_private(target.parent)
        if source.is_symlink():
            target.symlink_to(os.readlink(source))
            continue
        spare = target.with_name(f".{target.name}.maia-new")
        with open(source, "rb") as old, open(_new(spare), "wb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
            os.fchmod(new.fileno(), stat.S_IMODE(source.stat().st_mode) & 0o700 | 0o600)
        os.utime(spare, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
        os.link(spare, target)  # fails where something stands by now
        spare.unlink()


def _new(path: Path) -> int:
    path.unlink(missing_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _set_aside(folder: Path) -> None:
    for n in range(1000):
        name = folder.with_name(folder.name + DONE_SUFFIX + (f".{n}" if n else ""))
        if not os.path.lexists(name):
            folder.rename(name)
            return


def _walk(folder: Path) -> Iterator[Path]:
    """Every file below, links not followed; our lock is not state."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            yield from _walk(entry)
        elif entry.name != ".maia.lock":
            yield entry


def _print(path: Path) -> str:
    """What a file holds, as a digest; a link's target."""
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    if not path.is_file():
        return "other"
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
