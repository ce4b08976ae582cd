"""Whether a folder is safe to work in: where it leads, what it lies in, and what lies in it (R-2.319–R-2.337)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from maia.core.text import can_be_kept
from maia.folders.disk import Disk, Identity, LocalDisk, SubFolder, lineage
from maia.folders.instance import Instance
from maia.folders.protected import (
    CONTAINS,
    OPEN_DATA,
    VAULT_MARK,
    Kind,
    Protected,
    is_secret_file,
    known_places,
    marked_folder,
)
from maia.folders.refusals import Code, Refusal
from maia.folders.walk import walk

EVERYBODY = ("/", "/home", "/Users")
"""Above the home folder of anybody."""

NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a path led when it was looked at, with every link followed, and what lay there."""

    real: str
    identity: Identity


class Safety:
    """What was known of protected places when it was made; the disk itself is looked at anew for each folder.

    Two paths are the same place when one thing lies at both: so neither case, nor a link, nor a bind mount leads past.
    """

    def __init__(self, instance: Instance, disk: Disk | None = None) -> None:
        self._instance = instance
        self.disk: Disk = disk or LocalDisk()
        self.places = known_places(instance)

    def look(self, path: str, mine: Set[str] = NOBODY) -> Seen | Refusal:
        """What a path leads to where that may be used, else why not. Blocks: up to 2,000 folders are looked at.

        `mine` are the conversations whose workspaces may be used: this one, and the same person's others (R-2.326).
        """
        if not path.startswith("/"):
            return Refusal("notAbsolute", path)
        if not can_be_kept(path):
            return Refusal("notFound", path)
        real = self.disk.real(path)
        identity = self.disk.identity(real)
        refused = self._refused(path, real, mine)
        if refused is not None or identity is None:
            return refused or Refusal("notFound", path)
        return Seen(real, identity)

    def _refused(self, path: str, real: str, mine: Set[str]) -> Refusal | None:
        given = _tidy(path)
        if self._is_home_or_above(given) or self._is_home_or_above(real):
            return Refusal("home", path)
        code = self.lies_in(given, mine) or self.lies_in(real, mine) or self._state(real)
        if code:
            return Refusal(code, path)
        if self.workspace_of(real):  # what a model made in its own workspace does not take the workspace from it
            return None
        held = self._holds_known(real) or self._holds_marked(real)
        return Refusal(held[0], path, held[1]) if held else None

    def lies_in(self, path: str, mine: Set[str] = NOBODY) -> Code | None:
        """What a tidy absolute path is, or lies in, of what is protected. Links in it are followed by `real` before."""
        if workspace := self.workspace_of(path):
            return None if workspace in mine else "otherWorkspace"
        names = path.split("/")
        if is_secret_file(names[-1]) and self.disk.state(path) != "folder":
            return "sensitive"
        is_open = any(self._same(each, self._open_data) for each in lineage(path))
        for depth, each in enumerate(lineage(path)):
            found = self._kind_of(each, names[: len(names) - depth], is_itself=depth == 0)
            if found and not (found == "maiaData" and is_open):
                return found
        return None

    def is_place(self, path: str) -> bool:
        """Whether a protected place has that very name."""
        return path in self._by_path

    def is_workspaces(self, place: Protected) -> bool:
        """Whether it is the folder of all workspaces."""
        return self._instance.workspaces is not None and place.path == _tidy(str(self._instance.workspaces))

    def is_database(self, place: Protected) -> bool:
        """Whether it is the file of the database."""
        return bool(self._database) and place.path == self._database

    def tidy(self, path: str) -> str:
        """An absolute path in the form in which it is kept: as given, but where it climbs, as it really leads."""
        return self.disk.real(path) if ".." in path.split("/") else _tidy(path)

    def named_conversations(self, paths: Iterable[str]) -> frozenset[str]:
        """The conversations whose workspaces the paths lead to: of these the caller asks whose they are."""
        reals = (self.disk.real(path) for path in paths if path.startswith("/") and can_be_kept(path))
        return frozenset(name for real in reals if (name := self.workspace_of(real)))

    # Where it lies

    def _kind_of(self, path: str, names: list[str], *, is_itself: bool) -> Kind | None:
        found = self._place_at(path)
        if found is not None:
            return found.kind
        if is_itself and self._same(path, self._database_folder):
            return "sensitive"
        if self.disk.state(os.path.join(path, VAULT_MARK)) == "folder":
            return "vault"
        return marked_folder(names) if path != "/" else None

    def _place_at(self, path: str) -> Protected | None:
        """The protected place that is this one, by its name or as the same thing."""
        found = self._by_path.get(path)
        if found is None and (identity := self.disk.identity(path)) is not None:
            found = self._by_identity.get(identity)
        return found

    def _is_home_or_above(self, path: str) -> bool:
        return path in EVERYBODY or self._same(path, self._above_home)

    def _same(self, path: str, places: Set[str]) -> bool:
        if path in places:
            return True
        identity = self.disk.identity(path)
        return identity is not None and any(self.disk.identity(each) == identity for each in places)

    def workspace_of(self, path: str) -> str | None:
        """The conversation in whose workspace a path lies; `_runs` for that of a run (R-2.327)."""
        root = self._instance.workspaces
        if root is None:
            return None
        below = ""
        for each in lineage(path):
            if below and self._same(each, frozenset((str(root),))):
                return os.path.basename(below)
            below = each
        return self._mounted_workspace(path, str(root))

    def _mounted_workspace(self, path: str, root: str) -> str | None:
        """The same for a workspace that is mounted in another place, too."""
        if (there := self.disk.identity(root)) is None:
            return None
        above = {identity for each in lineage(path) if (identity := self.disk.identity(each)) and each != "/"}
        if not any(device == there[0] for device, _ in above):
            return None
        return next((sub.name for sub in self.disk.sub_folders(root) if sub.identity in above), None)

    def _state(self, real: str) -> Code | None:
        match self.disk.state(real):
            case "folder":
                return None
            case "file":
                return "notDirectory"
            case "missing" | "unreadable":
                return "notFound"

    # What lies in it

    def _holds_known(self, real: str) -> tuple[Code, str] | None:
        """A place that has this folder above it, by either of its names."""
        identity = self.disk.identity(real)
        for place in self.places:
            code = "containsMaiaData" if place.path == self._database else CONTAINS.get(place.kind)
            if code is None or not (place.pledged or self.disk.identity(place.path)):
                continue
            for name in self.names_of(place):
                for above in lineage(os.path.dirname(name)):
                    if above == real or (identity is not None and self.disk.identity(above) == identity):
                        return code, real.rstrip("/") + name[len(above.rstrip("/")) :]
        return None

    def names_of(self, place: Protected) -> Iterable[str]:
        """Where the place stands, and where it leads."""
        folder, name = os.path.split(place.path)
        return dict.fromkeys((f"{self.disk.real(folder).rstrip('/')}/{name}", self.disk.real(place.path)))

    def _holds_marked(self, real: str) -> tuple[Code, str] | None:
        def look(folder: str, sub: SubFolder) -> tuple[Code, str] | None:
            path = f"{folder.rstrip('/')}/{sub.name}"
            if sub.name.casefold() == VAULT_MARK:
                return "containsVault", folder
            code = CONTAINS.get(self.sub_kind(path, sub) or "sensitive")
            return (code, path) if code else None

        return walk(real, self.disk, look)

    def sub_kind(self, path: str, sub: SubFolder) -> Kind | None:
        """What makes a folder in a folder a protected place that may lie in none, if anything does."""
        if (found := marked_folder(path.split("/"))) in CONTAINS:
            return found
        if sub.is_link:
            code = self.lies_in(self.disk.real(path))
            return next((kind for kind in CONTAINS if kind == code), None)
        place = self._by_path.get(path) or (self._by_identity.get(sub.identity) if sub.identity else None)
        return place.kind if place else None

    # Tables, made once

    @cached_property
    def _by_path(self) -> dict[str, Protected]:
        names = [(name, place) for place in self.places for name in (place.path, self.disk.real(place.path))]
        return dict(reversed(names))

    @cached_property
    def _by_identity(self) -> dict[Identity, Protected]:
        found = ((self.disk.identity(place.path), place) for place in reversed(self.places))
        return {identity: place for identity, place in found if identity is not None}

    @cached_property
    def _above_home(self) -> frozenset[str]:
        home = str(self._instance.home)
        if self.disk.state(home) == "missing":
            return frozenset()
        return frozenset((*lineage(_tidy(home)), *lineage(self.disk.real(home))))

    @cached_property
    def _open_data(self) -> frozenset[str]:
        return frozenset(os.path.join(str(self._instance.data), name) for name in OPEN_DATA)

    @cached_property
    def _database(self) -> str:
        return _tidy(str(self._instance.database or ""))

    @cached_property
    def _database_folder(self) -> frozenset[str]:
        folder = os.path.dirname(self._database)
        return frozenset((folder, self.disk.real(folder))) if folder else frozenset()


def _tidy(path: str) -> str:
    tidied = os.path.normpath(path)
    return tidied[1:] if tidied.startswith("//") else tidied
