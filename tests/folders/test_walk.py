"""Bounds and sameness, on a disk that is a value."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from maia.folders.disk import LocalDisk, lineage
from maia.folders.instance import Instance
from maia.folders.refusals import Refusal
from maia.folders.safety import Safety
from maia.folders.walk import MAX_FOLDERS
from tests.folders.modeldisk import ModelDisk

HOME = "/h/ann"
INSTANCE = Instance(Path(HOME), Path(HOME, ".maia"), Path("/srv/data"), Path("/srv/ws"))


def refusal(disk: ModelDisk, path: str, *mine: str, instance: Instance = INSTANCE) -> Refusal | None:
    seen = Safety(instance, disk).look(path, frozenset(mine))
    return seen if isinstance(seen, Refusal) else None


# Bounds --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("levels", "is_seen"), [(1, True), (8, True), (9, False)])
def test_a_vault_is_found_down_to_the_eighth_level(levels: int, is_seen: bool) -> None:
    vault = "/p" + "/d" * levels
    disk = ModelDisk(HOME, f"{vault}/.obsidian")
    assert refusal(disk, "/p") == (Refusal("containsVault", "/p", vault) if is_seen else None)


def test_no_more_than_two_thousand_folders_are_listed_the_nearest_first() -> None:
    disk = ModelDisk(HOME, *(f"/p/{n:05}" for n in range(3 * MAX_FOLDERS)), "/p/00000/a/deep/.obsidian")
    assert refusal(disk, "/p") is None
    assert len(disk.looked) <= MAX_FOLDERS
    assert "/p/00000/a" not in disk.looked
    near = ModelDisk(HOME, *(f"/p/{n:05}/x/y" for n in range(MAX_FOLDERS)), "/p/zz/.obsidian")
    near.folder("/p/zz")
    few = ModelDisk(HOME, *(f"/p/{n:05}/x/y" for n in range(MAX_FOLDERS - 5)), "/p/zz/.obsidian")
    assert refusal(few, "/p") == Refusal("containsVault", "/p", "/p/zz")
    assert refusal(near, "/p") is None


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", "node_modules", "Node_Modules"])
def test_folders_of_version_control_and_packages_are_not_gone_into(name: str) -> None:
    disk = ModelDisk(HOME, f"/p/{name}/Vault/.obsidian", f"/p/{name}/ai-memory")
    assert refusal(disk, "/p") is None
    assert [each for each in disk.looked if name in each] == []


def test_what_cannot_be_listed_hides_nothing_else() -> None:
    disk = ModelDisk(HOME, "/p/closed/x", "/p/open/ai-memory")
    disk.folder("/p/closed").is_readable = False
    assert refusal(disk, "/p") == Refusal("containsVault", "/p", "/p/open/ai-memory")
    assert refusal(disk, "/p/closed") == Refusal("notFound", "/p/closed")


def test_a_folder_with_endless_names_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.folders.disk.MAX_ENTRIES", 10)
    for n in range(30):
        (tmp_path / f"{n:02}").mkdir()
    assert len(LocalDisk().sub_folders(str(tmp_path))) == 10


# The same place by another name --------------------------------------------------------------------------------------


def test_another_case_is_the_same_place_where_case_does_not_count() -> None:
    disk = ModelDisk(f"{HOME}/.claude/x", f"{HOME}/.config/opencode", "/srv/ws/c1", folds_case=True)
    paths = ("/H/ANN", "/h/Ann/.CLAUDE/X", "/h/ann/.Config", "/SRV", "/Srv/WS/C1")
    codes = [found.code if (found := refusal(disk, path)) else None for path in paths]
    assert codes == ["home", "providerHome", "containsProviderHome", "containsMaiaData", "otherWorkspace"]


def test_a_folder_that_is_mounted_in_two_places_is_protected_in_both() -> None:
    disk = ModelDisk(HOME, f"{HOME}/.claude/skills", "/srv/ws/c2/x", "/mnt")
    disk.bind("/mnt/store", f"{HOME}/.claude")
    disk.bind("/mnt/deep/home", HOME)
    disk.bind("/mnt/ws", "/srv/ws")
    disk.bind("/mnt/one", "/srv/ws/c2")
    disk.bind("/mnt/h", "/h")
    codes = {
        path: found.code if (found := refusal(disk, path)) else None
        for path in ("/mnt/store/skills", "/mnt/deep/home", "/mnt/h", "/mnt/ws", "/mnt/ws/c2", "/mnt/one", "/mnt/one/x")
    }
    assert codes == {
        "/mnt/store/skills": "providerHome",
        "/mnt/deep/home": "home",
        "/mnt/h": "home",
        "/mnt/ws": "maiaData",
        "/mnt/ws/c2": "otherWorkspace",
        "/mnt/one": "otherWorkspace",
        "/mnt/one/x": "otherWorkspace",
    }
    assert refusal(disk, "/mnt/one", "c2") is None


def test_a_folder_above_a_protected_place_is_known_where_it_is_mounted_too() -> None:
    disk = ModelDisk(HOME, f"{HOME}/a/b/c/d/e/f/g/h/i/j/mem", "/mnt")
    disk.bind("/mnt/a", f"{HOME}/a")
    there = replace(INSTANCE, foreign=(Path(HOME, "a/b/c/d/e/f/g/h/i/j/mem"),))
    found = Refusal("containsVault", "/mnt/a", "/mnt/a/b/c/d/e/f/g/h/i/j/mem")
    assert refusal(disk, "/mnt/a", instance=there) == found


def test_a_protected_place_that_is_mounted_inside_is_found() -> None:
    disk = ModelDisk(HOME, f"{HOME}/.claude", "/p/a/b")
    disk.bind("/p/a/b/c", f"{HOME}/.claude")
    assert refusal(disk, "/p") == Refusal("containsProviderHome", "/p", "/p/a/b/c")


# Everything that a model file system can look like -------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", ".obsidian", "ai-memory", ".claude", "memory", ".ssh", ".git", "c1", "opencode"])
TOPS = ["/p", HOME, f"{HOME}/.config", "/srv", "/srv/data", "/srv/ws", "/srv/data/studio"]
PATHS = st.tuples(st.sampled_from(TOPS), st.lists(NAMES, max_size=4)).map(lambda parts: "/".join((parts[0], *parts[1])))


@st.composite
def disks(draw: st.DrawFn) -> ModelDisk:
    folders = draw(st.lists(PATHS, max_size=8))
    disk = ModelDisk(HOME, "/p", *folders)
    note(f"folders {folders}")
    for place, target in draw(st.lists(st.tuples(PATHS, PATHS), max_size=3)):
        disk.folder(os.path.dirname(place))
        if disk.state(place) == "missing":
            disk.link(place, target)
            note(f"link {place} -> {target}")
    return disk


def reached(disk: ModelDisk, path: str) -> set[str]:
    """Every real folder that somebody who goes down from `path`, links included, can stand in."""
    found: set[str] = set()
    waiting = [disk.real(path)]
    while waiting:
        real = waiting.pop()
        if real in found:
            continue
        found.add(real)
        waiting += [disk.real(f"{real.rstrip('/')}/{sub.name}") for sub in disk.sub_folders(real)]
    return found


def is_note(disk: ModelDisk, real: str) -> bool:
    if any(os.path.basename(each) == "ai-memory" for each in lineage(real)):
        return True
    return any(disk.state(f"{each.rstrip('/')}/.obsidian") == "folder" for each in lineage(real))


@given(disks(), PATHS)
def test_who_goes_down_without_links_from_a_folder_that_may_be_used_meets_nothing_protected(
    disk: ModelDisk, path: str
) -> None:
    if refusal(disk, path) is not None:
        return
    real = disk.real(path)
    stores = [f"{HOME}/.claude", f"{HOME}/.config/opencode", f"{HOME}/.maia", "/srv/ws", *INSTANCE.foreign]
    below = [each for each in reached(disk, path) if each == real or each.startswith(f"{real}/")]
    met = [each for each in below if "/.git/" not in f"{each[len(real) :]}/" and is_note(disk, each)]
    met += [each for each in below for store in stores if disk.real(str(store)) == each and disk.identity(each)]
    assert met == []
    assert real not in (HOME, "/", "/h", "/srv", "/srv/data")


@given(disks(), PATHS)
def test_every_link_to_a_folder_is_judged_at_least_as_strictly_as_the_folder(disk: ModelDisk, path: str) -> None:
    target = disk.real(path)
    disk.link("/link", path)
    strict, through = refusal(disk, target), refusal(disk, "/link")
    assert (through is None) <= (strict is None)


@given(disks(), PATHS, st.sampled_from(["/", "/.", "//", "/./"]))
def test_how_a_path_is_written_changes_nothing(disk: ModelDisk, path: str, ending: str) -> None:
    one, other = refusal(disk, path), refusal(disk, path + ending)
    assert (one and (one.code, one.found)) == (other and (other.code, other.found))


@given(disks(), PATHS)
def test_what_is_found_inside_lies_inside(disk: ModelDisk, path: str) -> None:
    found = refusal(disk, path)
    if found is None or found.found is None:
        assert found is None or not found.code.startswith("contains")
        return
    assert found.code.startswith("contains")
    assert found.found.startswith(f"{disk.real(path)}/")
