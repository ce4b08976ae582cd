"""Where definitions lie, and how their files are read and written: never through a stranger's link, within a bound."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from maia.agents.document import MAX_BYTES
from maia.agents.header import Invalid
from maia.agents.names import checked_name
from maia.core.agent import AgentLevel
from maia.core.errors import SettingsProblem, UsageProblem, system_words
from maia.core.filelock import lock
from maia.core.fileread import read_bounded, read_regular
from maia.core.filewrite import replace_file

FILE: Final = "AGENT.md"
FOLDER: Final = Path(".maia/agents")
MOST_AGENTS: Final = 500
"""Of one place; more are left out with a warning."""


Noted: TypeAlias = Callable[[Path, bytes | None, bytes | None], None]


@dataclass(frozen=True, slots=True)
class Place:
    """One place of agents: `root` is the launch folder or the home folder.

    In a project nothing is read or written through a symbolic link: what it leads to is not part of what a person
    trusted. At home links are the person's own.
    """

    root: Path
    level: AgentLevel
    noted: Noted | None = field(default=None, compare=False, repr=False)
    """Told of every change: the file, what it held when it was read, what was written; None for nothing there."""

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    def agent(self, name: str) -> Path:
        return self.folder / name

    def shown(self, path: Path) -> str:
        """A path as people read it."""
        return f"{'.' if self.level == 'project' else '~'}/{path.relative_to(self.root)}"

    def names(self) -> list[str]:
        """The names of folders here, sorted; what cannot be a name is left out (`.trash`, stray files)."""
        try:
            with os.scandir(self.folder) as entries:
                found = [entry.name for entry in entries if entry.is_dir() and _is_name(entry.name)]
        except OSError:
            return []
        return sorted(found)

    def read(self, path: Path) -> tuple[str, os.stat_result]:
        """The text of a file here, and its state. Raises `OSError`, and `Invalid` for no UTF-8."""
        if self.level == "project":
            self.refuse_links(path)
            real = Path(os.path.realpath(path))
        else:
            read_bounded(path, MAX_BYTES)  # follows links, and refuses what is no regular file
            real = Path(os.path.realpath(path, strict=True))
        data, state = read_regular(real, MAX_BYTES)
        try:
            return data.decode("utf-8"), state
        except UnicodeDecodeError as error:
            raise Invalid("agents.bad.not_utf8", data.count(b"\n", 0, error.start) + 1) from None

    def write(self, path: Path, text: str, expected: os.stat_result | None) -> None:
        """Put a text in the place of the file that `read` gave the state of, None for a new one.

        Raises `OSError`: `FileChanged` where somebody else wrote meanwhile. What was there is then as it was.
        """
        if self.level == "project":
            self.refuse_links(path)
        mode = 0o644 if self.level == "project" else 0o600
        replace_file(Path(os.path.realpath(path)), text.encode(), expected, mode)

    def note(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        """Tell whoever wants to know what became of a file here; None for none, and both for a whole folder."""
        if self.noted is not None:
            self.noted(path, before, after)

    def refuse_links(self, path: Path) -> None:
        """Raises `OSError` (`ELOOP`) where a part of the path below the root is a link."""
        part = self.root
        for name in path.relative_to(self.root).parts:
            part /= name
            if part.is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(part))


def _is_name(name: str) -> bool:
    try:
        return checked_name(name) == name
    except UsageProblem:
        return False


@contextmanager
def one_writer(place: Place) -> Generator[None]:
    """One process at a time changes agents of a place; the folder itself carries the lock. Makes it where absent.

    Raises `SettingsProblem` where it cannot be made or written.
    """
    try:
        if place.level == "project":
            place.refuse_links(place.folder)
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(place.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise SettingsProblem("agents.folder", file=place.shown(place.folder), why=system_words(error)) from error
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


def markdown_files(folder: Path) -> Iterator[str]:
    """The names, without `.md`, of regular Markdown files in a folder, sorted."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.name.endswith(".md") and stat.S_ISREG(e.stat().st_mode)]
    except OSError:
        return
    yield from sorted(name.removesuffix(".md") for name in names if _is_name(name.removesuffix(".md")))
