"""Where Obsidian keeps its settings, and the vaults that it lists there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from maia.core.fileread import read_bounded

SETTINGS = (
    ".config/obsidian",
    "Library/Application Support/obsidian",
    "AppData/Roaming/obsidian",
    ".var/app/md.obsidian.Obsidian/config/obsidian",
    "snap/obsidian/current/.config/obsidian",
)
"""Under HOME: Linux, macOS, Windows, Flatpak, Snap."""

_LIST = "obsidian.json"
_MAX_BYTES = 1_000_000


def settings_folders(home: Path, config: Path | None = None) -> Iterator[Path]:
    """Obsidian's settings folders of this home; `config` is the folder of `XDG_CONFIG_HOME`, where it is another."""
    yield from (home / name for name in SETTINGS)
    if config is not None:
        yield config / "obsidian"


def listed_vaults(folder: Path) -> tuple[str, ...]:
    """The vaults that the list in a settings folder names, by path; none where there is no list that can be read."""
    try:
        read: Any = json.loads(read_bounded(folder / _LIST, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return ()
    vaults = _member(read, "vaults")
    entries = cast("dict[str, Any]", vaults).values() if isinstance(vaults, dict) else ()
    paths = (_member(entry, "path") for entry in entries)
    return tuple(path for path in paths if isinstance(path, str) and path.startswith("/") and "\x00" not in path)


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
