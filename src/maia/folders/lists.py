"""The folders of a conversation as a list: checked whole when it is saved, looked at again for each run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.text import kept_name
from maia.folders.disk import Identity
from maia.folders.refusals import FolderRefused, Refusal
from maia.folders.safety import NOBODY, Safety

MAX_FOLDERS = 50
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Folder:
    """A named root as a person sets it; the first of a list is the primary one (R-2.312, N-14.06)."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that a run may use. `real` is where it led when it was looked at, `identity` what lay there."""

    name: str
    path: str
    real: str
    identity: Identity


@dataclass(frozen=True, slots=True)
class Working:
    """What a run has of a list: the first of `roots` is where it starts (R-2.314).

    `left_out` are refused as protected, `absent` merely missing (R-2.342).
    """

    roots: tuple[Root, ...] = ()
    left_out: tuple[Refusal, ...] = ()
    absent: tuple[Refusal, ...] = ()

    def joined(self, more: Working) -> Working:
        """With further folders behind its own, each once."""
        known = {each.real for each in self.roots}
        roots = (*self.roots, *(each for each in more.roots if each.real not in known))
        return Working(roots, (*self.left_out, *more.left_out), (*self.absent, *more.absent))

    def notices(self) -> tuple[Notice, ...]:
        """One notice for each folder that was left out (R-2.341)."""
        return tuple(Notice("warn", "folders.left_out", {"folder": each.path}) for each in self.left_out)


class ListRefused(MaiaError):
    """A list of folders that cannot be one: too long, or a name that is."""


def checked_list(folders: Sequence[Folder], safety: Safety, mine: Set[str] = NOBODY) -> tuple[Folder, ...]:
    """The list as it is saved: every folder of it is safe, also those saved earlier (R-2.346). Blocks.

    Names are trimmed, an empty one becomes the folder's own; paths are tidied, and the second entry of one path is
    dropped. Raises `FolderRefused` for the first folder that is refused, `ListRefused`.
    """
    if len(folders) > MAX_FOLDERS:
        raise ListRefused("folders.too_many", limit=MAX_FOLDERS)
    checked: dict[str, Folder] = {}
    for folder in folders:
        if isinstance(seen := safety.look(folder.path, mine), Refusal):
            raise FolderRefused(seen)
        path = safety.tidy(folder.path)
        checked.setdefault(path, Folder(_name(folder.name, path), path))
    return tuple(checked.values())


def working(folders: Iterable[Folder], safety: Safety, mine: Set[str] = NOBODY) -> Working:
    """What a run may use of a list that was saved before (R-2.339); the list itself stays as it is. Blocks."""
    roots: list[Root] = []
    refused: list[Refusal] = []
    for folder in folders:
        found = _root(folder, safety, mine)
        if isinstance(found, Root):
            roots.append(found)
        else:
            refused.append(found)
    left_out = tuple(each for each in refused if each.is_protected)
    absent = tuple(each for each in refused if not each.is_protected)
    return Working(tuple(roots), left_out, absent)


def _root(folder: Folder, safety: Safety, mine: Set[str]) -> Root | Refusal:
    """Held by what it leads to, as judged: a link that turns meanwhile leads nowhere new."""
    seen = safety.look(folder.path, mine)
    return seen if isinstance(seen, Refusal) else Root(folder.name, folder.path, seen.real, seen.identity)


def _name(name: str, path: str) -> str:
    name = kept_name(name) if name.strip() else os.path.basename(path)
    if not name:
        raise ListRefused("folders.name_unseen")
    if len(name) > MAX_NAME:
        raise ListRefused("folders.name_too_long", limit=MAX_NAME)
    return name
