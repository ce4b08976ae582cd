"""Where the workspaces of conversations lie, and how one is made (R-2.347–R-2.354, N-19.03, N-19.04)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from maia.core.events import Notice

RUNS = "_runs"
"""Beside the conversations: temporary folders of runs, no conversation's own (R-2.327)."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True, slots=True)
class Location:
    """`data` is the product's data folder; `workspaces` is None where no place for them is outside a git checkout."""

    data: Path
    workspaces: Path | None
    notices: tuple[Notice, ...] = ()


def find_location(env: Mapping[str, str], home: Path) -> Location:
    """Where data and workspaces lie; makes nothing. The variables' old names are accepted (decisions §2).

    Workspaces are never inside a git checkout: a program started there would take over the repository's instructions,
    its state and its rules (R-2.353).
    """
    data = _named(env, "DATA_DIR", home) or (home / ".maia" / "data").resolve()
    moved = _named(env, "WORKSPACES_DIR", home)
    places = [moved] if moved else []
    for place in (*places, data / "workspaces", *_of_the_person(env, home, data)):
        if not in_checkout(place):
            return Location(data, place, _told(moved, place))
    return Location(data, None, (Notice("warn", "folders.no_place", {"data": str(data)}),))


def _told(moved: Path | None, place: Path) -> tuple[Notice, ...]:
    if moved in (None, place):
        return ()
    return (Notice("warn", "folders.place_in_checkout", {"named": str(moved), "used": str(place)}),)


def _named(env: Mapping[str, str], name: str, home: Path) -> Path | None:
    text = env.get(f"MAIA_{name}") or env.get(f"EYAS_{name}")
    if not text:
        return None
    return (home / text[2:] if text.startswith("~/") else Path(text)).absolute().resolve()


def _of_the_person(env: Mapping[str, str], home: Path, data: Path) -> Iterator[Path]:
    """In the person's folder for application data; the hash of the data folder keeps two instances apart."""
    from hashlib import sha256

    named = env.get("XDG_DATA_HOME", "")
    base = Path(named) if os.path.isabs(named) else home / ".local" / "share"
    own = f"workspaces-{sha256(os.fsencode(data)).hexdigest()[:12]}"
    yield (base / "maia" / own).resolve()


def in_checkout(folder: Path) -> bool:
    """Whether a folder lies in a git checkout, or in a repository without one.

    Asked before every turn: by texts, since to join paths costs more than to look at them.
    """
    place = str(folder)
    while True:
        if _is_repository(place):
            return True
        above = os.path.dirname(place)
        if above == place:
            return False
        place = above


def _is_repository(folder: str) -> bool:
    base = folder.rstrip("/")
    if os.path.exists(f"{base}/.git"):
        return True
    return os.path.isfile(f"{base}/HEAD") and os.path.isdir(f"{base}/objects") and os.path.isdir(f"{base}/refs")


class Workspaces:
    """The folder in which each conversation has its own. Every failure is a None: then there is no folder (R-2.351).

    `is_near`: it is on the disk of `data`, so that who looks into it waits for no other machine.
    """

    def __init__(self, root: Path | None, data: Path | None = None) -> None:
        """Looks where they are; blocks."""
        self.root = root
        self.is_near = root is not None and data is not None and _disk(root) == _disk(data)

    def is_writable(self) -> bool:
        """Whether a workspace could be made now. Blocks; raises nothing."""
        if self.root is None or in_checkout(self.root):
            return False
        there = next((each for each in (self.root, *self.root.parents) if each.exists()), None)
        return there is not None and there.is_dir() and os.access(there, os.W_OK | os.X_OK)

    def of(self, conversation: str) -> Path | None:
        """The workspace of a conversation, made where there is none, for its owner alone. Blocks; raises nothing.

        None where the location cannot be written, lies in a git checkout by now, or holds something else of that name.
        """
        if self.root is None or not _ID.fullmatch(conversation):
            return None
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self.root / conversation if _is_made(self.root, conversation) else None
        except OSError:
            return None


def _disk(place: Path) -> int | None:
    """The disk that a folder is on, or would be made on."""
    for each in (place, *place.parents):
        with suppress(OSError):
            return os.stat(each).st_dev
    return None


def _is_made(root: Path, name: str) -> bool:
    """Make it inside the folder that `root` is now, following no link. Raises `OSError`."""
    if root.resolve() != root or in_checkout(root):
        return False
    within = os.open(root, _FOLDER)
    try:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=within)
        return _is_own(os.open(name, _FOLDER, dir_fd=within)) and os.access(root / name, os.W_OK | os.X_OK)
    finally:
        os.close(within)


def _is_own(handle: int) -> bool:
    """Whether the open folder is ours, closed to everybody else from here on. Closes it."""
    try:
        made = os.fstat(handle)
        if made.st_uid != os.geteuid():
            return False
        if stat.S_IMODE(made.st_mode) != 0o700:
            os.fchmod(handle, 0o700)
        return True
    finally:
        os.close(handle)
