"""`maia serve backup FILE` and `maia serve restore FILE`: an installation as one file, and back (issue 4, number 1)."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from maia import __version__
from maia.app.usage import wrong_words
from maia.backup.archive import Manifest, Member, Writer, checked, lines, members, reading, writing
from maia.backup.problems import BackupProblem
from maia.backup.swap import STAGE, Move, Plan, finish, moves_of, settle, stage_of
from maia.core.errors import system_words
from maia.folders.workspaces import Location, find_location
from maia.i18n.catalogue import Catalogue
from maia.launch import find_folders
from maia.terminal.options import Options

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

_TABLES, _FILES = "database/", "data/"
_BEFORE: Final = "before-"
"""How folders and schemas begin that keep what a restore replaced."""
_BESIDE: Final = ("", "-wal", "-shm", "-journal", ".lock")
"""What a database file has beside it."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Where everything of one workspace is."""

    url: URL
    location: Location

    @property
    def file(self) -> Path | None:
        """The database's file, None for a server."""
        is_file = self.url.get_backend_name() == "sqlite"
        return Path(str(self.url.database)).absolute() if is_file else None

    @property
    def workspaces(self) -> str:
        """Where workspaces lie, empty where that is not in the data folder: then they are in no backup (N-19.06)."""
        place = self.location.workspaces
        return str(place) if place is not None and place.is_relative_to(self.location.data) else ""

    def own_names(self) -> set[str]:
        """Entries of the data folder that are no content: the database, and what restores keep."""
        from maia.database.place import FILE_NAME

        data, file = self.location.data, self.file
        names = {FILE_NAME} | ({file.name} if file is not None and file.parent == data else set[str]())
        beside = {name + each for name in names for each in _BESIDE} | {f".{name}.restoring" for name in names}
        if not data.is_dir():
            return beside
        return {STAGE, *beside, *(each.name for each in data.iterdir() if each.name.startswith(_BEFORE))}


def backups(options: Options, say: Catalogue) -> int:
    """Run one of the two commands. Raises `MaiaError`; then nothing was changed."""
    from maia.database.address import database_url

    match options.command:
        case ("serve", "backup" | "restore" as act, file):
            pass
        case _:
            raise wrong_words("serve")
    location = find_location(os.environ, find_folders(os.environ).home)
    url = database_url(options.database or os.environ.get("MAIA_DATABASE_URL"), location.data)
    here = Installation(url, location)
    if act == "backup":
        _back_up(here, Path(file).absolute(), say)
    else:
        _restore(here, Path(file).absolute(), say, may_replace=options.replace)
    return 0


# Making one ----------------------------------------------------------------------------------------------------------


def _back_up(here: Installation, target: Path, say: Catalogue) -> None:
    from sqlalchemy.exc import SQLAlchemyError

    from maia.database.connect import cause_of, open_engine
    from maia.database.dump import is_used, snapshot

    if here.file is not None and not here.file.exists():
        raise BackupProblem("backup.nothing", place=str(here.file))
    engine = open_engine(here.url)
    try:
        if not is_used(engine):
            raise BackupProblem("backup.nothing", place=_shown(here.url))
        with snapshot(engine) as state:
            manifest = Manifest(__version__, state.revision, time.time_ns() // 1_000_000, here.workspaces)
            with writing(target, manifest) as writer:
                for table in state.tables:
                    writer.add_lines(f"{_TABLES}{table.name}.jsonl", state.lines(table))
                kept, left_out = _add_files(writer, here, target)
    except SQLAlchemyError as error:
        raise BackupProblem("backup.database", problem=cause_of(error)) from error
    finally:
        engine.dispose()
    print(say("backup.made", kept, path=str(target)))
    if left_out:
        print(say("backup.left_out", left_out), file=sys.stderr)
    if here.location.workspaces is not None and not here.workspaces:
        print(say("backup.no_workspaces", place=str(here.location.workspaces)), file=sys.stderr)


def _add_files(writer: Writer, here: Installation, target: Path) -> tuple[int, int]:
    """All plain files of the data folder; how many there are, and how many entries are left out: links, devices."""
    kept = left_out = 0
    for path in _files(here.location.data, here.own_names()):
        if path in (target, target.with_name(f".{target.name}.part")):
            continue
        name = os.fsencode(path.relative_to(here.location.data)).decode("utf-8", "surrogateescape")
        if not path.is_symlink() and writer.add_file(_FILES + name, path):
            kept += 1
        else:
            left_out += 1
    return kept, left_out


def _files(data: Path, skipped: set[str]) -> Iterator[Path]:
    if not data.is_dir():
        return
    for top in sorted(data.iterdir()):
        if top.name in skipped:
            continue
        if top.is_symlink() or not top.is_dir():
            yield top
            continue
        for folder, names, found in os.walk(top):
            links = [name for name in names if os.path.islink(os.path.join(folder, name))]
            yield from (Path(folder, name) for name in sorted([*found, *links]))


# Putting one back ----------------------------------------------------------------------------------------------------


def _restore(here: Installation, source: Path, say: Catalogue, *, may_replace: bool) -> None:
    from sqlalchemy.exc import SQLAlchemyError

    from maia.database.connect import cause_of, hold, open_engine
    from maia.database.dump import is_used

    manifest = checked(source)
    _known(manifest, source)
    is_new = here.file is not None and not here.file.exists()  # to look is to make an empty one
    engine = open_engine(here.url)
    try:
        release = hold(engine).release
        try:
            finish_restore(here.url, here.location.data)
            if is_used(engine) and not may_replace:
                raise BackupProblem("backup.not_empty", place=_shown(here.url))
            before = _put(here, engine, source, manifest, is_new=is_new)
        finally:
            release()
    except SQLAlchemyError as error:
        raise BackupProblem("backup.database", problem=cause_of(error)) from error
    except OSError as error:
        raise BackupProblem("backup.disk", problem=system_words(error)) from error
    finally:
        engine.dispose()
    print(say("backup.restored", path=str(source)))
    if before:
        print(say("backup.before", place=before))


def _known(manifest: Manifest, source: Path) -> None:
    from maia.database.migrate import HEAD

    if manifest.revision > HEAD:
        raise BackupProblem("backup.newer", path=str(source))


def _put(here: Installation, engine: Engine, source: Path, manifest: Manifest, *, is_new: bool) -> str:
    """Make everything ready, then put it in its place; where the old state is, empty where there was none."""
    from maia.database.address import file_url
    from maia.database.connect import open_engine
    from maia.database.dump import is_used, loading

    data, marker = here.location.data, secrets.token_hex(8)
    name = f"{_BEFORE}{time.strftime('%Y%m%d-%H%M%S')}-{marker[:4]}"
    stage = stage_of(data)
    stage.mkdir(mode=0o700, parents=True)
    file, schema, was_used = here.file, name.replace("-", "_"), is_used(engine)
    filled = engine if file is None else open_engine(file_url(_staged(file)))
    try:
        with reading(source), loading(filled) as loader:
            loader.begin(manifest.revision, schema)
            for member in members(source):
                if member.name.startswith(_TABLES):
                    loader.fill(member.name.removeprefix(_TABLES).removesuffix(".jsonl"), lines(member.content))
                elif member.name.startswith(_FILES):
                    _write(stage / "files" / member.name.removeprefix(_FILES), member)
            loader.end(marker, manifest.workspaces, here.workspaces)
            moves = moves_of(data, stage / "files", data / name, sorted(here.own_names()))
            if mounted := [each.place for each in moves if os.path.ismount(each.place)]:
                raise BackupProblem("backup.mounted", place=mounted[0])
            if file is None:
                settle(data, Plan(marker, tuple(moves)))  # it holds once this block is committed
    finally:
        if filled is not engine:
            filled.dispose()
    if file is not None:
        moves += [_beside(file, each, data / name, None if each else _staged(file)) for each in _BESIDE[:4]]
        settle(data, Plan("", tuple(moves)))
    engine.dispose()
    finish_restore(here.url, data)
    if is_new:
        _drop_empty(moves[-len(_BESIDE[:4]) :])
    places = {str(Path(each.before).parent): None for each in moves if Path(each.before).exists()}
    return ", ".join([*places, *([schema] if file is None and was_used else [])])


def _drop_empty(moves: Sequence[Move]) -> None:
    """The database that was made only to look whether there is one is nobody's earlier state."""
    for each in moves:
        Path(each.before).unlink(missing_ok=True)
    folder = Path(moves[0].before).parent
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _staged(file: Path) -> Path:
    """Where a new database file is made ready: beside the old one, since no other disk gives it away in one go."""
    return file.with_name(f".{file.name}.restoring")


def _beside(file: Path, ending: str, before: Path, new: Path | None) -> Move:
    """The database file, or what it has beside it, which goes with the old one."""
    kept = before if file.parent == before.parent else file.with_name(f"{file.name}.{before.name}")
    return Move(f"{file}{ending}", str(new) if new else None, str(kept / (file.name + ending)))


def _write(path: Path, member: Member) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, member.mode | 0o600)
    with open(fd, "wb") as file:
        shutil.copyfileobj(member.content, file)
        file.flush()
        os.fsync(fd)


def resume_restore(url: URL, data: Path) -> None:
    """Before a server starts: end a restore that was interrupted. Raises `BackupProblem`, `DatabaseBusy`."""
    from maia.database.connect import hold, open_engine

    if not stage_of(data).exists():
        return
    engine = open_engine(url)
    try:
        release = hold(engine).release
        try:
            finish_restore(url, data)
        finally:
            release()
    finally:
        engine.dispose()


def finish_restore(url: URL, data: Path) -> None:
    """Carry out a restore that was interrupted after its point of no return; throw away what came before it.

    The caller keeps everybody else away. Raises `BackupProblem`.
    """
    from maia.database.connect import open_engine
    from maia.database.dump import knows

    if not stage_of(data).exists():
        return
    engine = open_engine(url)
    try:
        finish(data, lambda marker: knows(engine, marker))
        if (file := Installation(url, Location(data, None)).file) is not None:
            for ending in _BESIDE:
                Path(f"{_staged(file)}{ending}").unlink(missing_ok=True)
    except OSError as error:
        raise BackupProblem("backup.disk", problem=system_words(error)) from error
    finally:
        engine.dispose()


def _shown(url: URL) -> str:
    from maia.database.address import shown

    return shown(url)
