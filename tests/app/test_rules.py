"""What `/permissions` is given: the rules in force, by the place where they were written (T6.07)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maia.app.rules import FolderRules
from maia.core.permission import Need, Verdict
from maia.i18n.catalogue import Catalogue
from maia.launch import Folders
from maia.terminal.options import Options


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    launch, home = tmp_path / "work", tmp_path / "home"
    for folder in (launch, home):
        (folder / ".maia").mkdir(parents=True)
    return Folders(launch, home, launch / ".maia" / ".sessions")


def write(folder: Path, **permissions: list[str]) -> None:
    (folder / ".maia" / "settings.json").write_text(json.dumps({"permissions": permissions}), "utf-8")


def shown(rules: FolderRules) -> dict[str, list[str]]:
    return {file.shown: [f"{rule.verdict.name} {rule.text}" for rule in file.rules] for file in rules.shown()}


def test_rules_are_grouped_by_file_then_options_then_session(folders: Folders) -> None:
    write(folders.home, deny=["Redirect(.env)"], allow=["Read(**)", "Bash(git status)"])
    write(folders.launch, ask=["Edit(src/**)"])
    rules = FolderRules(folders, {}, Options(deny=("Bash(curl *)",)), Catalogue("en", strict=True))
    rules.judge.allow_for_session([Need("Bash", "command", "make all")])
    assert shown(rules) == {
        "~/.maia/settings.json": ["DENY Redirect(.env)", "ALLOW Read(**)", "ALLOW Bash(git status)"],
        "./.maia/settings.json": ["ASK Edit(src/**)"],
        "--deny": ["DENY Bash(curl *)"],
        "session": ["ALLOW Bash(make all)"],
    }


def test_what_waits_for_trust_is_not_in_force_and_comes_with_it(folders: Folders) -> None:
    write(folders.launch, allow=["Edit(src/**)"], deny=["Bash(rm *)"])
    rules = FolderRules(folders, {}, Options(), Catalogue("en", strict=True))
    assert shown(rules) == {"./.maia/settings.json": ["DENY Bash(rm *)"]}
    rules.trust(True)
    assert shown(rules) == {"./.maia/settings.json": ["ALLOW Edit(src/**)", "DENY Bash(rm *)"]}


def test_in_another_folder_what_was_restricted_stays_restricted_where_it_was(folders: Folders, tmp_path: Path) -> None:
    inner = tmp_path / "work" / "sub [1]"
    (inner / ".maia").mkdir(parents=True)
    write(folders.launch, deny=["Read(.env)", "Bash(git push *)"], ask=["Edit(sub*/**)"], allow=["Bash(ls *)"])
    words = Catalogue("en", strict=True)
    above = FolderRules(folders, {}, Options(deny=("Read(keys/**)",)), words)
    options = Options(deny=("Read(keys/**)",), allow=("Read(**)", "Read(/**)", "Edit(**)", "Bash(git *)"))
    rules = FolderRules(Folders(inner, folders.home, inner / ".maia" / ".sessions"), {}, options, words)
    rules.restrict(above)
    asked = {
        need.value: rules.judge.decide([need]).verdict.name
        for need in (
            Need("Read", "path", str(folders.launch / ".env")),
            Need("Read", "path", ".env"),
            Need("Read", "path", "keys/a"),
            Need("Read", "path", str(folders.launch / "keys" / "a")),
            Need("Edit", "path", "main.py"),
            Need("Bash", "command", "git push origin"),
            Need("Bash", "command", "git status"),
            Need("Bash", "command", "ls -l"),
        )
    }
    assert list(asked.values()) == ["DENY", "ALLOW", "DENY", "DENY", "ASK", "DENY", "ALLOW", "ASK"], asked
    rules.reload()
    assert rules.judge.decide([Need("Bash", "command", "git push origin")]).verdict is Verdict.DENY


def test_in_another_folder_the_wall_is_at_least_as_strict(folders: Folders, tmp_path: Path) -> None:
    inner = tmp_path / "work" / "sub"
    (inner / ".maia").mkdir(parents=True)
    (folders.launch / ".maia" / "settings.json").write_text('{"sandbox": {"mode": "required", "network": false}}')
    words = Catalogue("en", strict=True)
    rules = FolderRules(Folders(inner, folders.home, inner / ".maia" / ".sessions"), {}, Options(), words)
    assert (rules.settings.sandbox.mode, rules.settings.sandbox.network) == ("auto", True)
    rules.restrict(FolderRules(folders, {}, Options(), words))
    assert (rules.settings.sandbox.mode, rules.settings.sandbox.network) == ("required", False)
