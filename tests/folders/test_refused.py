import os
from typing import get_args

import pytest

from maia.folders.instance import find_instance, foreign_paths
from maia.folders.refusals import Code, FolderRefused, Refusal
from maia.folders.safety import Safety, Seen
from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang
from tests.folders.conftest import World

NEEDS_RIGHTS = pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")


def test_a_project_folder_is_fine_and_its_real_place_is_told(world: World) -> None:
    project = world.made("home/ann/project", "home/ann/project/.claude", "home/ann/project/src")
    (project / ".env").write_text("KEY=1")
    (project / "CLAUDE.md").touch()
    found = project.stat()
    assert Safety(world.instance).look(str(project)) == Seen(str(project), (found.st_dev, found.st_ino))


@pytest.mark.parametrize("path", ["/", "//", "/.", "/home", "/Users", "/tmp/.."])
def test_the_root_and_what_is_above_every_home_is_refused(world: World, path: str) -> None:
    assert world.refusal(path) == Refusal("home", path)


@pytest.mark.parametrize("written", ["", "/", "/.", "/..", "/project/..", "/project/../", "/../ann", "/./."])
def test_the_home_folder_and_what_is_above_it_is_refused_however_it_is_written(world: World, written: str) -> None:
    world.made("home/ann/project")
    assert world.code(f"{world.home}{written}") == "home"


@pytest.mark.parametrize(
    "store",
    [
        ".claude",
        ".grok",
        ".codex",
        ".gemini",
        ".cursor",
        ".codeium",
        ".kimi",
        ".agents",
        ".config/agents",
        ".copilot",
        ".config/opencode",
        ".local/share/opencode",
        ".local/state/opencode",
    ],
)
def test_the_store_of_another_assistant_is_refused_and_so_is_what_contains_it(world: World, store: str) -> None:
    inside = world.made(f"home/ann/{store}/deep/er")
    assert [world.code(each) for each in (inside, inside.parent, world.home / store)] == ["providerHome"] * 3
    above = (world.home / store).parent
    if above != world.home:
        assert world.refusal(above) == Refusal("containsProviderHome", str(above), f"{world.home}/{store}")


def test_the_settings_file_of_an_assistant_is_its_store_too(world: World) -> None:
    (world.home / ".claude.json").write_text("{}")
    assert world.code(world.home / ".claude.json") == "providerHome"


def test_the_store_that_a_variable_moved_is_refused(world: World) -> None:
    moved, base = world.made("srv/claude"), world.made("srv/share")
    world.made("srv/share/opencode/log")
    env = {"CLAUDE_CONFIG_DIR": str(moved), "XDG_DATA_HOME": str(base)}
    own = world.instance
    instance = find_instance(env, own.home, own.data, own.workspaces)
    there = World(world.top, instance)
    assert there.code(moved) == "providerHome"
    assert there.refusal(base) == Refusal("containsProviderHome", str(base), f"{base}/opencode")


@pytest.mark.parametrize("tool", [".claude", ".grok", ".agents", ".Claude"])
def test_the_memory_of_an_assistant_in_a_repository_is_refused_with_the_repository(world: World, tool: str) -> None:
    memory = world.made(f"srv/repo/{tool}/projects/memory")
    world.made(f"srv/repo/{tool}/projects/memory/notes", "srv/repo/memory", "srv/other/memory")
    assert world.code(memory / "notes") == "providerHome"
    assert world.refusal(world.top / "srv/repo") == Refusal(
        "containsProviderHome", str(world.top / "srv/repo"), str(memory)
    )
    assert world.code(world.top / "srv/repo/memory") is None
    assert world.code(world.top / "srv/other") is None


def test_the_logins_that_are_kept_for_programs_are_the_store_of_an_assistant(world: World) -> None:
    login = world.made("home/ann/.maia/data/cli-homes/grok/.grok")
    assert world.code(login) == "providerHome"
    assert world.code(world.instance.data / "cli-homes") == "providerHome"


def test_a_vault_is_known_by_its_mark_above_within_and_below(world: World) -> None:
    vault = world.made("srv/docs/Vault/a/b", "srv/docs/Vault/.obsidian").parent
    assert [world.code(each) for each in (vault, vault / "a/b", vault / ".obsidian")] == ["vault"] * 3
    assert world.refusal(vault.parent) == Refusal("containsVault", str(vault.parent), str(vault))


@pytest.mark.parametrize("settings", [".config/obsidian", "Library/Application Support/obsidian"])
def test_a_vault_that_obsidian_lists_is_refused_without_any_mark(world: World, settings: str) -> None:
    vault = world.made("srv/docs/plain/sub", "srv/docs/plain")
    folder = world.made(f"home/ann/{settings}")
    (folder / "obsidian.json").write_text(f'{{"vaults": {{"a": {{"path": "{vault}"}}, "b": 1, "c": {{"path": 2}}}}}}')
    assert [world.code(each) for each in (vault, vault / "sub", folder)] == ["vault"] * 3
    assert world.refusal(vault.parent) == Refusal("containsVault", str(vault.parent), str(vault))
    assert world.code(folder.parent) == "containsVault"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"vaults": []}', '{"vaults": {"a": {"path": "relative"}}}', "[" * 99999]
)
def test_a_list_of_vaults_that_cannot_be_read_protects_nothing_and_breaks_nothing(world: World, text: str) -> None:
    (world.made("home/ann/.config/obsidian") / "obsidian.json").write_text(text)
    assert world.code(world.made("srv/project")) is None


@pytest.mark.parametrize("name", ["ai-memory", "AI-Memory"])
def test_a_folder_named_ai_memory_is_a_memory_wherever_it_lies(world: World, name: str) -> None:
    memory = world.made(f"srv/a/b/{name}/deep", f"srv/a/b/{name}")
    assert [world.code(memory), world.code(memory / "deep")] == ["vault", "vault"]
    assert world.refusal(world.top / "srv/a") == Refusal("containsVault", str(world.top / "srv/a"), str(memory))


def test_foreign_memories_of_the_settings_are_refused_also_before_they_are_there(world: World) -> None:
    paths, notices = foreign_paths(["~/notes", f"{world.top}/srv/mem/", "relative", "/"], world.home)
    assert paths == (world.home / "notes", world.top / "srv/mem")
    assert [(notice.key, notice.values["path"]) for notice in notices] == [
        ("folders.foreign_ignored", "relative"),
        ("folders.foreign_ignored", "/"),
    ]
    there = world.having(foreign=paths)
    srv = world.made("srv")
    assert there.refusal(srv) == Refusal("containsVault", str(srv), f"{srv}/mem")
    assert there.code(world.made("home/ann/notes/deep")) == "vault"


def test_the_own_data_is_refused_but_for_what_is_open(world: World) -> None:
    data = world.instance.data
    for name in ("memory", "studio/one", "browser/downloads/today", "browser/profile"):
        (data / name).mkdir(parents=True)
    codes = {name: world.code(data / name) for name in ("", "memory", "browser", "browser/profile", "workspaces")}
    assert set(codes.values()) == {"maiaData"}
    assert world.code(world.instance.config) == "maiaData"
    for name in ("studio", "studio/one", "browser/downloads", "browser/downloads/today"):
        assert world.code(data / name) is None


def test_a_link_in_an_open_part_of_the_data_opens_nothing_else(world: World) -> None:
    studio = world.made("home/ann/.maia/data/studio")
    (world.instance.data / "keys").mkdir()
    (studio / "out").symlink_to(world.instance.data / "keys")
    assert world.code(studio / "out") == "maiaData"
    assert world.refusal(studio) == Refusal("containsMaiaData", str(studio), f"{studio}/out")


@pytest.mark.parametrize("is_there", [True, False], ids=["there", "not yet"])
def test_what_contains_the_own_data_is_refused_with_what_was_found(world: World, is_there: bool) -> None:
    checkout = world.made("srv/checkout")
    data = checkout / "data"
    if is_there:
        data.mkdir()
    moved = world.having(data=data, workspaces=world.top / "srv/away/ws")
    assert moved.refusal(checkout) == Refusal("containsMaiaData", str(checkout), str(data))
    assert moved.refusal(world.made("srv/away")) == Refusal(
        "containsMaiaData", f"{world.top}/srv/away", f"{world.top}/srv/away/ws"
    )
    assert moved.code(world.instance.config) == "maiaData"


def test_the_folder_of_the_database_is_sensitive_and_what_contains_it_contains_data(world: World) -> None:
    base = world.made("srv/project", "srv/db")
    there = world.having(database=base / "maia.db")
    assert there.code(base) == "sensitive"
    assert there.refusal(base.parent) == Refusal("containsMaiaData", str(base.parent), f"{base}/maia.db")
    assert there.code(world.top / "srv/project") is None


@pytest.mark.parametrize("name", [".ssh", ".ssh/keys", ".gnupg", ".SSH", "project/.ssh"])
def test_folders_of_keys_are_sensitive(world: World, name: str) -> None:
    assert world.code(world.made(f"home/ann/{name}")) == "sensitive"


@pytest.mark.parametrize("name", [".env", ".env.local", "master.key"])
def test_files_of_keys_are_sensitive_and_not_merely_files(world: World, name: str) -> None:
    file = world.made("srv/project") / name
    file.touch()
    assert world.code(file) == "sensitive"
    assert world.code(file.parent) is None


def test_an_example_of_such_a_file_is_merely_a_file(world: World) -> None:
    file = world.made("srv/project") / ".env.example"
    file.touch()
    assert world.code(file) == "notDirectory"


def test_an_environment_of_python_named_env_is_a_folder_like_any_other(world: World) -> None:
    assert world.code(world.made("srv/project/.env")) is None


@pytest.mark.parametrize("path", ["", ".", "project", "./project", "~/project", "C:\\project", "\x00"])
def test_a_path_that_is_not_absolute_is_refused(world: World, path: str) -> None:
    assert world.refusal(path) == Refusal("notAbsolute", path)


@pytest.mark.parametrize("path", ["/no/such/folder", "/a\x00b", "/" + "x" * 5000, "/\udcff"])
def test_a_folder_that_is_not_there_is_refused(world: World, path: str) -> None:
    assert world.refusal(path) == Refusal("notFound", path)


def test_a_file_a_fifo_and_a_link_to_nowhere_are_no_folders(world: World) -> None:
    top = world.made("srv")
    (top / "file").touch()
    os.mkfifo(top / "fifo")
    (top / "link").symlink_to(top / "nowhere")
    (top / "circle").symlink_to(top / "circle")
    assert [world.code(top / name) for name in ("file", "file/", "fifo", "file/sub")] == [
        "notDirectory",
        "notDirectory",
        "notDirectory",
        "notFound",
    ]
    assert [world.code(top / name) for name in ("link", "circle")] == ["notFound", "notFound"]


@NEEDS_RIGHTS
def test_a_folder_that_cannot_be_read_is_not_found(world: World) -> None:
    folder = world.made("srv/closed")
    folder.chmod(0)
    try:
        assert world.code(folder) == "notFound"
    finally:
        folder.chmod(0o700)


def test_a_folder_that_the_system_refuses_to_list_is_not_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: object, _mode: int) -> bool:
        return False

    monkeypatch.setattr(os, "access", refused)
    assert world.code(world.made("srv/project")) == "notFound"


# Workspaces ----------------------------------------------------------------------------------------------------------


def test_a_workspace_is_for_its_conversation_and_the_same_persons_others(world: World) -> None:
    mine, theirs = world.made("home/ann/.maia/data/workspaces/c1/sub"), world.instance.data / "workspaces/c2"
    theirs.mkdir()
    assert [world.code(mine, "c1"), world.code(mine.parent, "c0", "c1")] == [None, None]
    assert [world.code(mine), world.code(theirs, "c1"), world.code(f"{mine}/../../c2", "c1")] == ["otherWorkspace"] * 3
    assert world.code(theirs.parent, "c1", "c2") == "maiaData"
    assert world.code(theirs.parent / "c1/gone", "c1") == "notFound"


def test_the_folder_of_a_run_is_nobodys(world: World) -> None:
    run = world.made("home/ann/.maia/data/workspaces/_runs/r1")
    assert [world.code(run, "c1"), world.code(run.parent, "c1")] == ["otherWorkspace", "otherWorkspace"]


def test_a_link_to_a_workspace_is_that_workspace(world: World) -> None:
    theirs = world.made("home/ann/.maia/data/workspaces/c2")
    link = world.made("srv") / "link"
    link.symlink_to(theirs)
    assert [world.code(link), world.code(link, "c2")] == ["otherWorkspace", None]
    assert Safety(world.instance).named_conversations([str(link), "/srv", "x"]) == {"c2"}


def test_a_link_in_the_own_workspace_opens_no_other_one(world: World) -> None:
    mine, theirs = (world.made(f"home/ann/.maia/data/workspaces/{name}") for name in ("c1", "c2"))
    (mine / "door").symlink_to(theirs)
    assert world.code(mine / "door", "c1") == "otherWorkspace"
    assert world.code(mine, "c1") is None


def test_what_a_model_made_in_its_workspace_does_not_take_it_away(world: World) -> None:
    mine = world.made("home/ann/.maia/data/workspaces/c1")
    (mine / "notes/.obsidian").mkdir(parents=True)
    (mine / "ai-memory").mkdir()
    assert [world.code(mine, "c1"), world.code(mine / "notes", "c1")] == [None, None]


# Links and names -----------------------------------------------------------------------------------------------------


def test_a_link_is_judged_as_written_and_where_it_leads(world: World) -> None:
    store, plain = world.made("home/ann/.claude/skills"), world.made("srv/plain")
    (plain / "in").symlink_to(store)
    (store / "out").symlink_to(plain)
    assert world.code(plain / "in") == "providerHome"
    assert world.code(store / "out") == "providerHome"


def test_a_store_that_is_itself_a_link_is_protected_where_it_really_lies(world: World) -> None:
    dotfiles = world.made("srv/dotfiles/claude", "srv/dotfiles")
    (world.home / ".claude").symlink_to(dotfiles / "claude")
    assert world.code(dotfiles / "claude") == "providerHome"
    assert world.refusal(dotfiles) == Refusal("containsProviderHome", str(dotfiles), f"{dotfiles}/claude")


def test_a_link_to_a_protected_place_counts_as_the_place(world: World) -> None:
    vault = world.made("srv/Vault/.obsidian", "srv/Vault/sub")
    project = world.made("srv/project/docs")
    (project / "notes").symlink_to(vault)
    assert world.refusal(project.parent) == Refusal("containsVault", str(project.parent), f"{project}/notes")


def test_links_to_the_folder_itself_above_it_and_in_circles_end(world: World) -> None:
    project = world.made("srv/project/a")
    for name, target in (("self", "."), ("up", "../.."), ("one", "two"), ("two", "one")):
        (project / name).symlink_to(target)
    assert world.code(project.parent) is None


def test_what_climbs_is_kept_as_where_it_leads(world: World) -> None:
    deep = world.made("srv/deep/er")
    (world.made("srv/project") / "link").symlink_to(deep)
    safety = Safety(world.instance)
    assert safety.tidy(f"{world.top}/srv/project/link/..") == str(deep.parent)
    assert safety.tidy(f"{world.top}/srv/./project//link/") == f"{world.top}/srv/project/link"


# Words ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_refusal_has_words_that_name_the_folder_and_what_was_found(lang: Lang) -> None:
    say = Catalogue(lang)
    for code in get_args(Code):
        refused = FolderRefused(Refusal(code, "/the/folder", "/the/found" if code.startswith("contains") else None))
        text = say(refused.key, **refused.values)
        assert "/the/folder" in text
        assert ("/the/found" in text) == code.startswith("contains")


def test_the_words_for_a_home_suggest_a_project_folder_in_it() -> None:
    texts = [Catalogue(lang)("folders.home", path="/", found="") for lang in LANGUAGES]
    assert any("dossier de projet dans votre dossier personnel" in text for text in texts)
    assert any("a project folder inside your home folder" in text for text in texts)
