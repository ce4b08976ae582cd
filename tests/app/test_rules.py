"""What `/permissions` is given: the rules in force, by the place where they were written (T6.07)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maia.app.rules import FolderRules
from maia.core.types import Need
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
