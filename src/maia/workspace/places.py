"""Where the workspace keeps its things: the data folder, and the folders in which conversations work (N-19.03)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from maia.core.errors import MaiaError, system_words


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one installation, resolved. Nothing was created yet."""

    data: Path
    workspaces: Path

    def workspace_of(self, conversation_id: str) -> Path:
        """The conversation's own working folder, made where it is not there. Raises `MaiaError` where it cannot be."""
        folder = self.workspaces / conversation_id
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise MaiaError("workspace.no_folder", folder=str(folder), problem=system_words(error)) from error
        return folder


def find_places(env: Mapping[str, str], home: Path) -> Places:
    """`MAIA_DATA_DIR` and `MAIA_WORKSPACES_DIR`, or what stands for them; their `EYAS_…` names count, too (§2).

    Working folders are never inside a git checkout, whose instructions and rules a program would adopt (R-2.353).
    """
    named = env.get("MAIA_DATA_DIR") or env.get("EYAS_DATA_DIR")
    data = _absolute(named, home) if named else home / ".maia" / "data"
    moved = env.get("MAIA_WORKSPACES_DIR") or env.get("EYAS_WORKSPACES_DIR")
    if moved:
        return Places(data, _absolute(moved, home))
    if not _in_checkout(data):
        return Places(data, data / "workspaces")
    state = env.get("XDG_DATA_HOME", "")
    base = Path(state) if os.path.isabs(state) else home / ".local" / "share"
    own = f"workspaces-{sha256(os.fsencode(data)).hexdigest()[:12]}"
    return Places(data, base / "maia" / own)


def _absolute(named: str, home: Path) -> Path:
    given = home / named[2:] if named.startswith("~/") else Path(named)
    return given.absolute().resolve()


def _in_checkout(folder: Path) -> bool:
    return any((parent / ".git").exists() for parent in (folder, *folder.parents))
