from pathlib import Path

import pytest

from maia.core.events import Notice
from maia.folders.lists import MAX_FOLDERS, Folder, ListRefused, Root, Working, checked_list, working
from maia.folders.refusals import FolderRefused, Refusal
from maia.folders.safety import Safety
from maia.i18n.catalogue import Catalogue
from tests.folders.conftest import World


def identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def test_a_list_is_kept_in_its_order_with_names_and_paths_tidied(world: World) -> None:
    one, two = world.made("srv/one"), world.made("srv/two")
    written = (Folder("  Two  words ", f"{two}/"), Folder("", f"{one}/../one/."), Folder("again", str(two)))
    assert checked_list(written, Safety(world.instance)) == (Folder("Two words", str(two)), Folder("one", str(one)))


def test_one_refused_folder_refuses_the_whole_list_and_is_named(world: World) -> None:
    fine = world.made("srv/fine")
    with pytest.raises(FolderRefused) as refused:
        checked_list((Folder("fine", str(fine)), Folder("home", str(world.home))), Safety(world.instance))
    assert refused.value.refusal == Refusal("home", str(world.home))


def test_a_folder_saved_before_and_refused_now_keeps_the_list_from_being_saved(world: World) -> None:
    project = world.made("srv/project")
    saved = checked_list((Folder("p", str(project)),), Safety(world.instance))
    (project / "notes/.obsidian").mkdir(parents=True)
    with pytest.raises(FolderRefused) as refused:
        checked_list((*saved, Folder("new", str(world.made("srv/new")))), Safety(world.instance))
    assert refused.value.refusal == Refusal("containsVault", str(project), f"{project}/notes")


@pytest.mark.parametrize(
    ("count", "name", "key"), [(MAX_FOLDERS + 1, "x", "folders.too_many"), (1, "x" * 201, "folders.name_too_long")]
)
def test_a_list_that_is_none_is_refused(world: World, count: int, name: str, key: str) -> None:
    folders = [Folder(name, str(world.made(f"srv/{n}"))) for n in range(count)]
    with pytest.raises(ListRefused) as refused:
        checked_list(folders, Safety(world.instance))
    assert refused.value.key == key


def test_a_run_has_what_is_safe_now_and_is_told_what_was_left_out(world: World) -> None:
    fine, vault, gone = world.made("srv/fine"), world.made("srv/notes/.obsidian").parent, world.top / "srv/gone"
    found = working([Folder("v", str(vault)), Folder("g", str(gone)), Folder("f", str(fine))], Safety(world.instance))
    assert found == Working(
        (Root("f", str(fine), str(fine), identity(fine)),),
        (Refusal("vault", str(vault)),),
        (Refusal("notFound", str(gone)),),
    )
    assert found.notices() == (Notice("warn", "folders.left_out", {"folder": str(vault)}),)


def test_the_notice_names_the_folder_and_what_to_change() -> None:
    french, english = (Catalogue(lang)("folders.left_out", folder="/srv/notes") for lang in ("fr", "en"))
    assert french.startswith("Le dossier /srv/notes a été écarté de ce tour\u202f: maia ne laisse plus un modèle")
    assert french.endswith("Modifiez les Dossiers de cette conversation ou de son projet.")
    assert english.startswith("The folder /srv/notes was left out of this turn: ")
    assert english.endswith("Change the Folders of this conversation or of its project.")


# Between the look and the use ----------------------------------------------------------------------------------------


def test_a_link_that_turns_after_the_look_leads_nowhere_new(world: World) -> None:
    fine, store, link = world.made("srv/fine"), world.made("home/ann/.claude"), world.top / "srv/link"
    link.symlink_to(fine)
    root = working([Folder("l", str(link))], Safety(world.instance)).roots[0]
    link.unlink()
    link.symlink_to(store)
    assert (root.path, root.real) == (str(link), str(fine))
    assert working([Folder("l", str(link))], Safety(world.instance)).left_out == (Refusal("providerHome", str(link)),)


def test_a_vault_that_appears_after_the_save_leaves_the_folder_out(world: World) -> None:
    project = world.made("srv/project")
    folders = [Folder("p", str(project))]
    assert working(folders, Safety(world.instance)).left_out == ()
    (project / ".obsidian").mkdir()
    assert working(folders, Safety(world.instance)) == Working((), (Refusal("vault", str(project)),))
