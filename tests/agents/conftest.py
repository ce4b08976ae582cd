from pathlib import Path

import pytest

from tests.agents.place import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    for name in ("project", "home"):
        (tmp_path / name).mkdir()
    return World((tmp_path / "project").resolve(), (tmp_path / "home").resolve())
