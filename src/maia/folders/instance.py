"""What this installation is made of, as far as folders matter: its home, its data, what it was told to protect."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from maia.core.events import Notice


@dataclass(frozen=True, slots=True)
class Instance:
    """`config` is the product's home (`~/.maia`), `database` the file of an SQLite database, None for a server.

    `foreign` are the absolute paths of `security.foreignMemoryPaths`; `moved` are folders of other programs that
    variables of the environment name.
    """

    home: Path
    config: Path
    data: Path
    workspaces: Path | None
    database: Path | None = None
    foreign: tuple[Path, ...] = ()
    moved: tuple[Path, ...] = ()
    settings_of_others: Path | None = None


def find_instance(
    env: Mapping[str, str],
    home: Path,
    data: Path,
    workspaces: Path | None,
    database: Path | None = None,
    foreign: tuple[Path, ...] = (),
) -> Instance:
    """The instance as the environment has it; looks at nothing on the disk."""
    named = (env.get(name, "") for name in _HOMES)
    bases = ((_base(env, name), folder) for name, folder in _BASES)
    moved = (*(Path(each) for each in named if os.path.isabs(each)), *(base / each for base, each in bases if base))
    return Instance(home, home / ".maia", data, workspaces, database, foreign, moved, _base(env, "XDG_CONFIG_HOME"))


def foreign_paths(written: Iterable[str], home: Path) -> tuple[tuple[Path, ...], tuple[Notice, ...]]:
    """`security.foreignMemoryPaths` as paths, and a warning for each that is not absolute, which is left out (N-09.11).

    A `~` at the beginning is the home folder.
    """
    paths: list[Path] = []
    notices: list[Notice] = []
    for text in written:
        whole = str(home) + text[1:] if text == "~" or text.startswith("~/") else text
        if os.path.isabs(whole) and "\x00" not in whole and os.path.normpath(whole) != "/":
            paths.append(Path(os.path.normpath(whole)))
        else:
            notices.append(Notice("warn", "folders.foreign_ignored", {"path": text}))
    return tuple(paths), tuple(notices)


_HOMES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "KIMI_CODE_HOME", "KIMI_SHARE_DIR", "COPILOT_HOME", "OPENCODE_CONFIG_DIR")
"""Variables that name the whole folder of a program."""

_BASES = (
    ("XDG_CONFIG_HOME", "opencode"),
    ("XDG_DATA_HOME", "opencode"),
    ("XDG_STATE_HOME", "opencode"),
    ("XDG_CONFIG_HOME", "agents"),
)
"""Variables that name the folder in which a program has its own."""


def _base(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value) if os.path.isabs(value) else None
