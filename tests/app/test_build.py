from pathlib import Path

import pytest

from maia.app.build import lay_ground, look_for_wall
from maia.i18n.catalogue import Catalogue
from maia.sandbox import wall
from maia.sandbox.places import Places
from maia.sandbox.wall import WallFound
from maia.terminal.options import Options


def test_places_of_the_sandbox_setting_start_at_the_launch_folder_and_what_names_none_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, launch = tmp_path / "home", tmp_path / "work"
    (home / ".maia").mkdir(parents=True)
    launch.mkdir()
    (home / ".maia" / "settings.json").write_text(
        '{"sandbox": {"writable": ["build", "~/cache", "~no-such-user/x"], "readable": ["/etc/keys"]}}', "utf-8"
    )
    monkeypatch.setenv("HOME", str(home))
    asked: list[Places] = []

    def find(_mode: object, places: Places) -> WallFound:
        asked.append(places)
        return WallFound(None)

    monkeypatch.setattr(wall, "find_wall", find)
    ground = lay_ground(Options(), {"HOME": str(home), "MAIA_CWD": str(launch)}, Catalogue("en"))
    look_for_wall(ground)
    assert [(places.writable, places.readable) for places in asked] == [
        ((launch / "build", home / "cache"), (Path("/etc/keys"),))
    ]
