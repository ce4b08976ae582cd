from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from maia.core.errors import SettingsProblem
from maia.core.permission import Need, Verdict
from maia.permissions import save
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from maia.permissions.trust import MAX_BYTES, TrustState, own_changes, remember, trust_state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "work" / ".maia"
    (own / "tools" / "addition").mkdir(parents=True)
    (own / "tools" / "addition" / "TOOL.json").write_text("{}")
    (own / "settings.json").write_text('{"permissions": {"allow": ["Bash"]}}')
    return tmp_path / "work"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


CONTENTS = ("./.maia/settings.json", "./.maia/tools/addition")


def test_a_folder_is_unknown_then_trusted_once_remembered(folder: Path, home: Path) -> None:
    assert trust_state(folder, home) == TrustState("unknown", CONTENTS)
    remember(folder, home)
    assert trust_state(folder, home) == TrustState("trusted", CONTENTS)
    assert stat.S_IMODE((home / ".maia" / "trusted.json").stat().st_mode) == 0o600


def test_a_folder_whose_name_is_no_utf8_is_trusted_and_leaves_the_others_so(folder: Path, home: Path) -> None:
    other = folder.with_name(os.fsdecode(b"caf\xe9"))
    shutil.copytree(folder, other)
    remember(folder, home)
    remember(other, home)
    assert [trust_state(each, home).verdict for each in (folder, other)] == ["trusted", "trusted"]


CHANGES: tuple[tuple[str, Callable[[Path], object], str], ...] = (
    (
        "another allow rule",
        lambda own: (own / "settings.json").write_text('{"permissions": {"allow": ["Edit"]}}'),
        "changed",
    ),
    ("another setting", lambda own: (own / "settings.json").write_text('{"LiteLLM_URL": "http://x"}'), "changed"),
    ("a tool's text", lambda own: (own / "tools/addition/TOOL.json").write_text('{"run": "x"}'), "changed"),
    ("a file beside a tool", lambda own: (own / "tools/addition/run.sh").write_text("x"), "changed"),
    ("a file may be run", lambda own: (own / "tools/addition/TOOL.json").chmod(0o755), "changed"),
    ("a server", lambda own: (own / "mcp.json").write_text("{}"), "changed"),
    ("an agent", lambda own: ((own / "agents").mkdir(), (own / "agents/a.md").write_text("x")), "changed"),
    ("a linked folder", lambda own: os.symlink("/etc", own / "tools/link"), "changed"),
    (
        "other spacing",
        lambda own: (own / "settings.json").write_text('{"permissions":\n{"allow":["Bash"]}}'),
        "trusted",
    ),
    (
        "a deny rule",
        lambda own: (own / "settings.json").write_text('{"permissions": {"allow": ["Bash"], "deny": ["Edit"]}}'),
        "trusted",
    ),
    ("a session", lambda own: ((own / ".sessions").mkdir(), (own / ".sessions/s.jsonl").write_text("x")), "trusted"),
)  # fmt: skip


@pytest.mark.parametrize(("change", "verdict"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_a_change_of_what_counts_asks_again(
    change: Callable[[Path], object], verdict: str, folder: Path, home: Path
) -> None:
    remember(folder, home)
    change(folder / ".maia")
    assert trust_state(folder, home).verdict == verdict


@pytest.mark.parametrize("content", [None, "", "{", "{}", "[]", '{"permissions": {"deny": ["Bash"]}}'])
def test_a_folder_that_brings_nothing_needs_no_trust(content: str | None, tmp_path: Path, home: Path) -> None:
    (tmp_path / ".maia").mkdir()
    if content is not None:
        (tmp_path / ".maia" / "settings.json").write_text(content)
    assert trust_state(tmp_path, home) == TrustState("trusted")


def test_the_home_folders_own_configuration_is_the_users(folder: Path) -> None:
    assert trust_state(folder, folder) == TrustState("trusted")


def test_a_folder_is_the_same_by_another_name(folder: Path, home: Path, tmp_path: Path) -> None:
    os.symlink(folder, tmp_path / "alias")
    remember(tmp_path / "alias", home)
    assert trust_state(folder, home).verdict == "trusted"


@pytest.mark.parametrize("memory", ["", "{", "[]", '{"folders": []}', '{"folders": {"x": 5}}', "\ud800"])
def test_an_unreadable_memory_trusts_nothing_and_can_be_written_again(memory: str, folder: Path, home: Path) -> None:
    (home / ".maia").mkdir(parents=True)
    (home / ".maia" / "trusted.json").write_bytes(memory.encode("utf-8", "surrogatepass"))
    assert trust_state(folder, home).verdict == "unknown"
    remember(folder, home)
    assert trust_state(folder, home).verdict == "trusted"


def test_a_yes_is_for_what_was_shown_and_not_for_what_came_meanwhile(folder: Path, home: Path) -> None:
    shown = trust_state(folder, home)
    (folder / ".maia" / "tools" / "addition" / "TOOL.json").write_text('{"other": 1}')
    remember(folder, home, shown.digest)
    assert trust_state(folder, home).verdict == "changed"


AGENT = Path("agents/critic/AGENT.md")


MEANWHILE: tuple[tuple[str, Callable[[Path], object], str], ...] = (
    ("nothing", lambda _own: None, "trusted"),
    ("another file", lambda own: (own / "tools/addition/TOOL.json").write_text('{"run": "x"}'), "changed"),
    ("the same file", lambda own: (own / AGENT).write_text("evil"), "changed"),
    ("a new file", lambda own: (own / "agents/evil.md").write_text("evil"), "changed"),
    ("the settings", lambda own: (own / "settings.json").write_text('{"permissions": {"allow": ["Edit"]}}'), "changed"),
    ("a mode", lambda own: (own / AGENT).chmod(0o755), "trusted"),
)


@pytest.mark.parametrize(("meanwhile", "verdict"), [row[1:] for row in MEANWHILE], ids=[row[0] for row in MEANWHILE])
@pytest.mark.parametrize("when", ["before it is read", "once it is written"])
def test_a_change_of_ones_own_hides_none_that_somebody_else_makes_meanwhile(
    meanwhile: Callable[[Path], object], verdict: str, when: str, folder: Path, home: Path
) -> None:
    own = folder / ".maia"
    (own / AGENT).parent.mkdir(parents=True)
    (own / AGENT).write_text("good")
    remember(folder, home)
    with own_changes(folder, home) as note:
        if when == "before it is read":
            meanwhile(own)
        old = (own / AGENT).read_bytes()
        (own / AGENT).write_bytes(old + b", better")
        note(own / AGENT, old, old + b", better")
        if when == "once it is written":
            meanwhile(own)
    assert trust_state(folder, home).verdict == verdict


def test_what_is_taken_away_by_oneself_needs_no_new_yes(folder: Path, home: Path) -> None:
    remember(folder, home)
    with own_changes(folder, home) as note:
        (folder / ".maia/tools/addition").rename(folder / "away")
        note(folder / ".maia/tools/addition", None, None)
    assert trust_state(folder, home).verdict == "trusted"


def test_a_folder_that_nobody_trusts_is_not_trusted_by_a_change(folder: Path, home: Path) -> None:
    with own_changes(folder, home) as note:
        (folder / ".maia/mcp.json").write_bytes(b"{}")
        note(folder / ".maia/mcp.json", None, b"{}")
    assert trust_state(folder, home).verdict == "unknown"


def test_a_rule_that_is_saved_hides_no_rule_that_came_meanwhile(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(folder, home)
    real = save.add_allow_rules

    def raced(path: Path, shown: str, texts: Sequence[str]) -> tuple[str, str]:
        path.write_text('{"permissions": {"allow": ["Bash", "Write(//etc/**)"]}}')
        return real(path, shown, texts)

    monkeypatch.setattr(save, "add_allow_rules", raced)
    RuleJudge(Place(folder, home)).allow_always([Need("Read", "path", str(folder / "a"))])
    assert trust_state(folder, home).verdict == "changed"


def test_a_change_far_behind_in_a_long_file_asks_again(folder: Path, home: Path) -> None:
    program = folder / ".maia" / "tools" / "addition" / "run"
    program.write_bytes(b"x" * (MAX_BYTES + 2))
    remember(folder, home)
    before = program.stat().st_mtime_ns
    program.write_bytes(b"x" * (MAX_BYTES + 1) + b"y")
    os.utime(program, ns=(before + 1_000, before + 1_000))
    assert trust_state(folder, home).verdict == "changed"


def test_many_may_remember_at_once(tmp_path: Path, home: Path) -> None:
    folders = [tmp_path / str(n) for n in range(16)]
    for each in folders:
        (each / ".maia").mkdir(parents=True)
        (each / ".maia" / "mcp.json").write_text("{}")
    threads = [threading.Thread(target=remember, args=(each, home)) for each in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [trust_state(each, home).verdict for each in folders] == ["trusted"] * 16
    assert len(json.loads((home / ".maia" / "trusted.json").read_text())["folders"]) == 16


def test_a_home_that_cannot_be_written_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsProblem) as caught:
        remember(folder, tmp_path / "file")
    assert caught.value.key == "perm.trust.failed"


ALLOW = '{"permissions": {"allow": ["Bash"]}}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"permissions": {"allow": ["Bash"], "allow": []}}', id="a second list that is empty"),
        pytest.param('{"permissions": {"allow": ["Bash"]}, "permissions": {"deny": []}}', id="a second section"),
        pytest.param('{"permissions": {"deny": []}, "permissions": {"allow": ["Bash"]}}', id="a first section"),
        pytest.param('{"permissions": {"allow": ["Bash"]}, "x": NaN}', id="no number"),
        pytest.param('{"permissions": {"allow": ["Bash"]}, "x": ' + "9" * 5000 + "}", id="5,000 digits"),
        pytest.param('{"permissions": {"allow": ["Bash"]}, "x": ' + "[" * 9000 + "]" * 9000 + "}", id="deep"),
        pytest.param("\ufeff" + ALLOW, id="byte order mark"),
        pytest.param(ALLOW + " " * 2_000_000, id="a file of two megabytes"),
        pytest.param(ALLOW[:-1], id="broken"),
    ],
)
def test_no_allow_rule_of_a_folder_is_in_force_without_a_yes_however_it_is_written(tmp_path: Path, text: str) -> None:
    own = tmp_path / "work" / ".maia"
    own.mkdir(parents=True)
    (own / "settings.json").write_text(text, "utf-8")
    place = Place(tmp_path / "work", tmp_path / "home")
    judge = RuleJudge(place, trusted=trust_state(place.launch, place.home).verdict == "trusted")
    assert [rule.text for rule in judge.rules.rules if rule.verdict is Verdict.ALLOW] == []


@pytest.mark.parametrize("special", ["fifo", "loop"])
def test_special_files_in_place_of_settings_neither_block_nor_fail(tmp_path: Path, special: str) -> None:
    own = tmp_path / "work" / ".maia"
    home = tmp_path / "home"
    if special == "loop":
        own.parent.mkdir()
        own.symlink_to(own)
    else:
        own.mkdir(parents=True)
        (home / ".maia").mkdir(parents=True)
        os.mkfifo(own / "settings.json")
        os.mkfifo(home / ".maia" / "trusted.json")
        os.mkfifo(home / ".maia" / "settings.json")
    assert trust_state(own.parent, home).verdict == "trusted"
    assert RuleJudge(Place(own.parent, home)).rules.rules == ()
