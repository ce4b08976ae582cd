from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from maia.folders.instance import Instance
from maia.folders.refusals import Refusal
from maia.folders.safety import Safety


@dataclass(frozen=True)
class World:
    """A machine in a temporary folder: `home` of a person, the product's folders, and an instance that knows them."""

    top: Path
    instance: Instance

    @property
    def home(self) -> Path:
        return self.instance.home

    def made(self, *names: str) -> Path:
        """The last of the folders, all of which are there; names are below the top."""
        for name in names:
            (self.top / name).mkdir(parents=True, exist_ok=True)
        return self.top / names[-1]

    def refusal(self, path: Path | str, *mine: str) -> Refusal | None:
        seen = Safety(self.instance).look(str(path), frozenset(mine))
        return seen if isinstance(seen, Refusal) else None

    def code(self, path: Path | str, *mine: str) -> str | None:
        refused = self.refusal(path, *mine)
        return refused.code if refused else None

    def having(self, **changes: Any) -> World:
        return replace(self, instance=replace(self.instance, **changes))


@pytest.fixture
def world(tmp_path: Path) -> World:
    home = tmp_path / "home" / "ann"
    config = home / ".maia"
    data = config / "data"
    for folder in (home, data / "workspaces"):
        folder.mkdir(parents=True)
    return World(tmp_path, Instance(home, config, data, data / "workspaces"))
