import errno
import os
from pathlib import Path

import pytest

from maia.app.build import Ground, build_conversation, lay_ground, look_for_wall
from maia.core.events import SessionRenamed
from maia.core.permission import Need, Verdict
from maia.i18n.catalogue import Catalogue
from maia.sandbox import wall
from maia.sandbox.places import Places
from maia.sandbox.wall import WallFound
from maia.terminal.options import Options


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".maia").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def ground_of(home: Path, launch: Path) -> Ground:
    launch.mkdir()
    return lay_ground(Options(), {"HOME": str(home), "MAIA_CWD": str(launch)}, Catalogue("en"))


def test_places_of_the_sandbox_setting_start_at_the_launch_folder_and_what_names_none_is_left_out(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = tmp_path / "work"
    (home / ".maia" / "settings.json").write_text(
        '{"sandbox": {"writable": ["build", "~/cache", "~no-such-user/x"], "readable": ["/etc/keys"]}}', "utf-8"
    )
    asked: list[Places] = []

    def find(_mode: object, places: Places) -> WallFound:
        asked.append(places)
        return WallFound(None)

    monkeypatch.setattr(wall, "find_wall", find)
    look_for_wall(ground_of(home, launch))
    assert [(places.writable, places.readable) for places in asked] == [
        ((launch / "build", home / "cache"), (Path("/etc/keys"),))
    ]


def test_a_session_is_renamed_also_where_what_undo_needs_cannot_move(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = ground_of(home, tmp_path / "work")
    talk = build_conversation(ground)
    (ground.folders.sessions / f"{talk.name}.changes").mkdir()

    def refuse(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    assert talk.rename("named") == SessionRenamed("named")


def test_the_file_of_a_cut_output_is_read_without_a_question_and_no_rule_is_shown_for_it(
    home: Path, tmp_path: Path
) -> None:
    ground = ground_of(home, tmp_path / "work")
    needs = [Need("Read", "path", str(ground.folders.sessions / place / "x.txt")) for place in ("outputs", ".")]
    verdicts = [ground.rules.judge.decide([need]).verdict for need in needs]
    assert (verdicts, ground.rules.shown()) == ([Verdict.ALLOW, Verdict.ASK], ())


def test_a_command_may_go_into_a_folder_that_was_added_beside_the_project(home: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "lib").mkdir()
    options = Options(add_dirs=(str(tmp_path / "lib"),), allow=("Bash(ls *)",))
    ground = lay_ground(options, {"HOME": str(home), "MAIA_CWD": str(tmp_path / "work")}, Catalogue("en"))
    asked = {line: ground.rules.judge.decide([Need("Bash", "command", line)]).verdict for line in (
        "cd ../lib && ls", "cd .. && ls"
    )}  # fmt: skip
    assert asked == {"cd ../lib && ls": Verdict.ALLOW, "cd .. && ls": Verdict.ASK}
