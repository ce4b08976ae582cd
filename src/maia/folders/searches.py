"""Whether a search of a folder would come to a protected place, and whose that is (N-09.06–N-09.08)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatchcase
from typing import Final, Literal, TypeAlias

from maia.core.permission import Sweep
from maia.folders.disk import SubFolder, lineage
from maia.folders.protected import VAULT_MARK, Kind, Protected
from maia.folders.safety import NOBODY, Safety
from maia.folders.walk import walk

SearchTarget: TypeAlias = Literal["foreign-memory", "maia-data", "provider-home", "other-workspace"]

WORDS: Final[Mapping[SearchTarget, str]] = {
    "foreign-memory": "folders.search.foreign_memory",
    "maia-data": "folders.search.maia_data",
    "provider-home": "folders.search.provider_home",
    "other-workspace": "folders.search.other_workspace",
}
"""What the model is told (R-2.191, R-2.192); where a search would come to several, the first one is named."""


def search_target(safety: Safety, real: str, sweep: Sweep, mine: Set[str] = NOBODY) -> SearchTarget | None:
    """What a search that starts in the folder `real` would come to, None where it comes to nothing protected.

    Blocks: known places first, then up to 2,000 folders are looked at. In a workspace of `mine` nothing is looked for:
    what a model made there takes nothing from it.
    """
    if safety.workspace_of(real) in mine:
        return None
    known = {_owner(place, safety) for place, below in _known(safety, real) if _comes_to(sweep, below, safety, place)}
    found: SearchTarget | None = next((target for target in WORDS if target in known), None)
    return found or _marked(safety, real, sweep)


def _known(safety: Safety, real: str) -> Iterator[tuple[Protected, str]]:
    """The known places that are this folder or lie in it, each with its path below it."""
    identity = safety.disk.identity(real)
    for place in safety.places:
        if place.kind == "sensitive" and not safety.is_database(place):
            continue
        if not (place.pledged or safety.disk.identity(place.path)):
            continue
        for name in safety.names_of(place):
            for above in lineage(name):
                if above == real or (identity is not None and safety.disk.identity(above) == identity):
                    yield place, name[len(above.rstrip("/")) :].strip("/")


def _comes_to(sweep: Sweep, below: str, safety: Safety, place: Protected) -> bool:
    return reaches(sweep, below, is_folder=safety.disk.state(place.path) != "file")


def _owner(place: Protected, safety: Safety) -> SearchTarget:
    if safety.is_workspaces(place):
        return "other-workspace"
    if place.kind == "providerHome" and place.pledged:
        return "provider-home"
    return "maia-data" if place.kind in ("maiaData", "sensitive") else "foreign-memory"


def _marked(safety: Safety, real: str, sweep: Sweep) -> SearchTarget | None:
    """A folder that is protected wherever it lies: a vault, an `ai-memory`, the memory of an assistant."""
    prefix = real.rstrip("/") + "/"

    def look(folder: str, sub: SubFolder) -> SearchTarget | None:
        path = folder if sub.name.casefold() == VAULT_MARK else f"{folder.rstrip('/')}/{sub.name}"
        kind: Kind | None = "vault" if path == folder else safety.sub_kind(path, sub)
        if kind is None or not reaches(sweep, path.removeprefix(prefix) if path != real else "", is_folder=True):
            return None
        return "maia-data" if kind == "maiaData" else "foreign-memory"

    return walk(real, safety.disk, look)


# How far a search reaches --------------------------------------------------------------------------------------------


def reaches(sweep: Sweep, below: str, *, is_folder: bool) -> bool:
    """Whether a search comes to the content of a place, given its path below the folder ("" is the folder itself).

    In doubt it does: any file may lie in a folder.
    """
    names = below.casefold().split("/") if below else []
    if sweep.levels is not None and len(names) + is_folder > sweep.levels:
        return False
    return not sweep.globs or any(_may_match(glob, names, is_folder=is_folder) for glob in sweep.globs)


def _may_match(glob: str, names: list[str], *, is_folder: bool) -> bool:
    glob = _without_braces(glob.casefold()).removeprefix("./")
    if "/" not in glob.rstrip("/"):
        return is_folder or not names or fnmatchcase(names[-1], glob.rstrip("/"))
    return _leads_to(glob.strip("/").split("/"), names, is_folder=is_folder)


def _leads_to(parts: list[str], names: list[str], *, is_folder: bool) -> bool:
    if not names:
        return is_folder or all(part == "**" for part in parts)
    if not parts:
        return True  # it names a folder above the place
    if parts[0] == "**":
        return any(_leads_to(parts[1:], names[at:], is_folder=is_folder) for at in range(len(names) + 1))
    return fnmatchcase(names[0], parts[0]) and _leads_to(parts[1:], names[1:], is_folder=is_folder)


def _without_braces(glob: str) -> str:
    """`*.{ts,tsx}` as `*.*`: each of its choices and more."""
    kept: list[str] = []
    depth = 0
    for char in glob:
        if char == "{":
            kept.append("*" if depth == 0 else "")
            depth += 1
        elif char == "}" and depth:
            depth -= 1
        elif depth == 0:
            kept.append(char)
    return "".join(kept) if depth == 0 else "**"
