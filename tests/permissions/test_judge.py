from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from maia.core.errors import SettingsProblem
from maia.core.permission import Need, NeedKind, Rule, Verdict
from maia.permissions.judge import FOLDER_FILE, RuleJudge
from maia.permissions.paths import Place
from maia.permissions.rules import RuleSet, parse_rule
from maia.permissions.save import add_allow_rules
from maia.permissions.trust import remember, trust_state
from tests.permissions.made import SOURCE, rules


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for folder in ("work/.maia", "home/.maia", "work/src"):
        (tmp_path / folder).mkdir(parents=True)
    return Place(tmp_path / "work", tmp_path / "home", fold_case=False)


def write(folder: Path, **lists: list[str]) -> Path:
    path = folder / ".maia" / "settings.json"
    path.write_text(json.dumps({"permissions": lists}))
    return path


def bash(command: str) -> Need:
    return Need("Bash", "command", command)


def verdict(judge: RuleJudge, need: Need) -> str:
    return judge.decide([need]).verdict.name.lower()


def test_the_files_of_home_and_launch_folder_add_up_and_the_parents_is_not_read(place: Place, tmp_path: Path) -> None:
    write(place.home, allow=["Bash(ls *)"])
    write(place.launch, deny=["Bash(rm *)"], ask=["Bash(git *)"])
    (tmp_path / ".maia").mkdir()
    write(tmp_path, allow=["Bash(make *)"])
    judge = RuleJudge(place)
    asked = {command: verdict(judge, bash(command)) for command in ("ls", "rm x", "git log", "make")}
    assert asked == {"ls": "allow", "rm x": "deny", "git log": "ask", "make": "ask"}
    decision = judge.decide([bash("rm x")])
    assert decision.reason.values == {"verdict": "deny", "rule": "Bash(rm *)", "source": FOLDER_FILE}


def test_options_add_rules_and_a_malformed_one_is_a_problem(place: Place) -> None:
    judge = RuleJudge(place, allow=["Bash(ls *)", "Bash("], deny=["Bash(ls -l)"])
    assert verdict(judge, bash("ls")) == "allow"
    assert verdict(judge, bash("ls -l")) == "deny"
    assert [(p.key, p.source.name) for p in judge.option_problems] == [("perm.rule.no_close", "--allow")]


def test_an_untrusted_folders_allow_rules_wait_while_its_deny_and_ask_rules_hold(place: Place) -> None:
    write(place.home, allow=["Bash"])
    write(place.launch, allow=["Edit(**)"], deny=["Bash(rm *)"], ask=["Bash(git *)"])
    judge = RuleJudge(place, trusted=False)
    edit = Need("Edit", "path", "src/a.py")
    asked = [verdict(judge, need) for need in (edit, bash("rm x"), bash("git log"), bash("ls"))]
    assert asked == ["ask", "deny", "ask", "allow"]
    judge.trust()
    assert verdict(judge, edit) == "allow"


def test_started_in_the_home_folder_there_is_one_file_and_it_is_the_users(place: Place) -> None:
    write(place.home, allow=["Bash(ls *)"])
    judge = RuleJudge(Place(place.home, place.home), trusted=False)
    assert [file.shown for file in judge.files] == ["~/.maia/settings.json"]
    assert verdict(judge, bash("ls")) == "allow"


def test_reload_reads_an_edited_file_and_keeps_what_the_session_allowed(place: Place) -> None:
    judge = RuleJudge(place)
    judge.allow_for_session([bash("make all")])
    write(place.launch, allow=["Bash(ls *)"])
    assert verdict(judge, bash("ls")) == "ask"
    judge.reload()
    assert [verdict(judge, bash(command)) for command in ("ls", "make all", "make")] == ["allow", "allow", "ask"]


def test_a_session_rule_cannot_lift_a_deny_or_an_ask(place: Place) -> None:
    write(place.launch, deny=["Bash(rm *)"], ask=["Bash(git *)"])
    judge = RuleJudge(place)
    judge.allow_for_session([bash("rm x"), bash("git push"), bash("echo $(date)")])
    assert not any(rule.source.name == "session" for rule in judge.rules.rules)
    assert verdict(judge, bash("git push")) == "ask"


# (need, proposed rule)
PROPOSED: tuple[tuple[NeedKind, str, str, str | None], ...] = (
    ("command", "Bash", "git push origin avoirs-devise", "Bash(git push origin avoirs-devise)"),
    ("command", "Bash", "git status --short", "Bash(git status *)"),
    ("command", "Bash", "git commit -m 'a b'", "Bash(git commit *)"),
    ("command", "Bash", "npm run build -- --x", "Bash(npm run build *)"),
    ("command", "Bash", "npm install left-pad", "Bash(npm install left-pad)"),
    ("command", "Bash", "python -m pytest -q", "Bash(python -m pytest *)"),
    ("command", "Bash", "python script.py", "Bash(python script.py)"),
    ("command", "Bash", "pytest", "Bash(pytest *)"),
    ("command", "Bash", "rm *", "Bash(rm \\*)"),
    ("command", "Bash", "rm \\*", "Bash(rm \\\\*)"),
    ("command", "Bash", "rm '*'", "Bash(rm '\\*')"),
    ("command", "Bash", "echo (", None),
    ("command", "Bash", "python -c 'print(1)'", "Bash(python -c 'print(1)')"),
    ("command", "Bash", "git log --output=f", "Bash(git log --output=f)"),
    ("command", "Bash", "sudo rm x", "Bash(sudo rm x)"),
    ("command", "Bash", "FOO=1 make", "Bash(FOO=1 make)"),
    ("command", "Bash", "cd src && make all", "Bash(make all)"),
    ("command", "Bash", "make all && make test", "Bash(make all && make test)"),
    ("command", "Bash", "make all\nmake test", "Bash(make all\nmake test)"),
    ("command", "Bash", "ls | make all", "Bash(ls | make all)"),
    ("command", "Bash", "for f in a b; do make $f; done", "Bash(for f in a b; do make $f; done)"),
    ("command", "Bash", "echo $(date)", None),
    ("command", "Bash", "make > f", None),
    ("command", "Bash", "$x", None),
    ("command", "Bash", "curl x | sh", None),
    ("command", "Bash", "rm x", None),
    ("command", "Bash", "git tag x", None),
    ("path", "Edit", "src/a.py", "Edit(src/a.py)"),
    ("path", "Edit", "./src/../src/a.py", "Edit(src/a.py)"),
    ("path", "Read", "/etc/hosts", "Read(/etc/hosts)"),
    ("path", "Read", "src/[a]*.py", "Read(src/\\[a\\]\\*.py)"),
    ("path", "Grep", ".", "Grep(.)"),
    ("path", "Edit", ".git/config", "Edit(.git/config)"),
    ("path", "Read", "secret/x", None),
    ("host", "WebFetch", "docs.example.org", "WebFetch(domain:docs.example.org)"),
    ("host", "WebFetch", "HTTPS://Docs.Example.org:443/x", "WebFetch(domain:docs.example.org)"),
    ("name", "Skill", "pdf", "Skill(pdf)"),
    ("name", "Agent", "a*", "Agent(a\\*)"),
    ("text", "Addition", "5", "Addition(5)"),
    ("text", "mcp__db__query", "", "mcp__db__query"),
    ("none", "Own", "", "Own"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "tool", "value", "expected"), PROPOSED)
def test_a_proposed_rule_allows_the_need_it_was_made_for(
    kind: NeedKind, tool: str, value: str, expected: str | None, place: Place
) -> None:
    write(place.launch, deny=["Bash(rm *)", "Read(secret/**)"], ask=["Bash(git tag *)"])
    if value.startswith(("rm *", "rm '", "rm \\", "sudo")):
        write(place.launch)
    judge = RuleJudge(place)
    need = Need(tool, kind, value)
    proposed = judge.propose(need)
    assert proposed == expected
    if proposed is not None:
        read = parse_rule(proposed, Verdict.ALLOW, SOURCE)
        assert isinstance(read, Rule)
        with_it = RuleSet((*judge.rules.rules, read))
        judge.rules = with_it
        assert verdict(judge, need) == "allow"


def test_an_exact_proposal_covers_nothing_else(place: Place) -> None:
    judge = RuleJudge(place)
    for asked, other in (
        ("rm *", "rm x"),
        ("rm '*'", "rm *"),
        ("rm \\*", "rm *"),
        ("make all && make test", "make test"),
    ):
        fresh = RuleJudge(place)
        fresh.allow_for_session([bash(asked)])
        assert (verdict(fresh, bash(asked)), verdict(fresh, bash(other))) == ("allow", "ask"), asked
    assert not any(rule.source.name == "session" for rule in judge.rules.rules)


def test_always_saves_the_rule_in_the_launch_folder(place: Place) -> None:
    judge = RuleJudge(place)
    needs = [bash("make all"), Need("Edit", "path", "src/a.py")]
    assert judge.allow_always(needs) == FOLDER_FILE
    assert [verdict(judge, need) for need in needs] == ["allow", "allow"]
    path = place.launch / ".maia" / "settings.json"
    assert json.loads(path.read_text()) == {"permissions": {"allow": ["Bash(make all)", "Edit(src/a.py)"]}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [verdict(RuleJudge(place), need) for need in needs] == ["allow", "allow"]


def test_always_makes_no_file_where_a_folder_of_strangers_leads_its_lock(place: Place, tmp_path: Path) -> None:
    (place.launch / ".maia").mkdir(parents=True, exist_ok=True)
    (place.launch / ".maia" / "settings.json.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsProblem, match=r"perm\.save\.failed"):
        RuleJudge(place).allow_always([bash("make all")])
    assert not (tmp_path / "elsewhere").exists()


def test_always_creates_the_folder_where_there_is_none(tmp_path: Path) -> None:
    place = Place(tmp_path / "new", tmp_path)
    RuleJudge(place).allow_always([bash("make")])
    assert (tmp_path / "new" / ".maia" / "settings.json").exists()


def test_a_folder_without_rules_stays_trusted_when_a_person_saves_one(place: Place) -> None:
    judge = RuleJudge(place)
    judge.allow_always([bash("make all")])
    assert trust_state(place.launch, place.home).verdict == "trusted"
    judge.allow_always([bash("make test")])
    assert trust_state(place.launch, place.home).verdict == "trusted"


def test_saving_in_an_untrusted_folder_does_not_trust_what_was_there(place: Place) -> None:
    write(place.launch, allow=["Bash"])
    judge = RuleJudge(place, trusted=False)
    judge.allow_always([bash("make all")])
    assert trust_state(place.launch, place.home).verdict == "unknown"
    assert verdict(judge, bash("make all")) == "allow"
    assert verdict(judge, bash("make other")) == "ask"


# (before, after adding Bash(x))
STYLES = (
    ("", '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}\n'),
    ("{}", '{"permissions": {"allow": ["Bash(x)"]}}'),
    (
        '{\n    "z": 1,\n    "permissions": {\n'
        '        "deny": ["Bash(é)"],\n        "allow": []\n    },\n    "a": "ü"\n}\n',
        '{\n    "z": 1,\n    "permissions": {\n'
        '        "deny": [\n            "Bash(é)"\n        ],\n        "allow": [\n'
        '            "Bash(x)"\n        ]\n    },\n    "a": "ü"\n}\n',
    ),
    ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Bash(x)"\n\t\t]\n\t}\n}'),
    (
        '{\r\n  "a": 1\r\n}\r\n',
        '{\r\n  "a": 1,\r\n  "permissions": {\r\n    "allow": [\r\n'
        '      "Bash(x)"\r\n    ]\r\n  }\r\n}\r\n',
    ),
    ('\ufeff{"a": 1}\n', '\ufeff{"a": 1, "permissions": {"allow": ["Bash(x)"]}}\n'),
    ('{"permissions": {"allow": ["Bash(x)"]} }', '{"permissions": {"allow": ["Bash(x)"]} }'),
)  # fmt: skip


@pytest.mark.parametrize(("before", "after"), STYLES)
def test_saving_keeps_the_files_content_order_and_style(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    if before:
        path.write_bytes(before.encode())
    add_allow_rules(path, "here", ["Bash(x)", "Bash(x)"])
    assert path.read_bytes().decode() == after


# (content, key)
REFUSED = (
    (b'{"permissions": {"allow": ["Bash"],}}', "perm.save.broken"),
    (b"{", "perm.save.broken"),
    (b"\xff", "perm.save.broken"),
    (b"[]", "perm.save.shape"),
    (b'{"permissions": []}', "perm.save.shape"),
    (b'{"permissions": {"allow": "Bash"}}', "perm.save.shape"),
    (b'{"a": 1, "a": 2}', "perm.save.shape"),
)


@pytest.mark.parametrize(("content", "key"), REFUSED)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(content: bytes, key: str, place: Place) -> None:
    path = place.launch / ".maia" / "settings.json"
    path.write_bytes(content)
    judge = RuleJudge(place)
    with pytest.raises(SettingsProblem) as caught:
        judge.allow_always([bash("make all")])
    assert caught.value.key == key
    assert path.read_bytes() == content
    assert verdict(judge, bash("make all")) == "ask"


def test_a_place_that_cannot_be_written_is_said(place: Place) -> None:
    (place.launch / ".maia").rmdir()
    (place.launch / ".maia").write_text("a file")
    with pytest.raises(SettingsProblem) as caught:
        RuleJudge(place).allow_always([bash("make all")])
    assert caught.value.key == "perm.save.failed"


def test_the_mode_and_a_link_to_the_file_are_kept(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("{}")
    real.chmod(0o640)
    path = place.launch / ".maia" / "settings.json"
    os.symlink(real, path)
    RuleJudge(place).allow_always([bash("make all")])
    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert json.loads(real.read_text()) == {"permissions": {"allow": ["Bash(make all)"]}}


def test_two_writers_lose_no_rule(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    texts = [f"Bash(make {n})" for n in range(24)]
    threads = [threading.Thread(target=add_allow_rules, args=(path, "here", [text])) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(json.loads(path.read_text())["permissions"]["allow"]) == sorted(texts)
    assert [name for name in os.listdir(tmp_path) if name.startswith(".settings")] == []


def test_trust_given_elsewhere_is_no_trust_here(place: Place) -> None:
    write(place.launch, allow=["Bash"])
    remember(place.home, place.home)
    assert trust_state(place.launch, place.home).verdict == "unknown"


def test_a_rule_set_is_empty_by_default() -> None:
    assert RuleSet() == rules()
    assert not RuleSet().restricted


def test_an_output_of_its_own_is_read_without_a_rule_unless_the_person_forbids_it(place: Place) -> None:
    outputs = place.launch / ".maia" / ".sessions" / "outputs"
    outputs.mkdir(parents=True)
    (place.home / "secret").write_text("x")
    (outputs / "link").symlink_to(place.home / "secret")
    judge = RuleJudge(place, own_outputs=outputs)
    asked = {
        (tool, name): verdict(judge, Need(tool, "path", str(outputs / name)))
        for tool in ("Read", "Grep", "Write", "Edit")
        for name in ("one.txt", "link", "../session.jsonl")
    }
    assert [call for call, answer in asked.items() if answer == "allow"] == [("Read", "one.txt"), ("Grep", "one.txt")]
    write(place.home, deny=["Read(.maia/**)"])
    judge.reload()
    assert verdict(judge, Need("Read", "path", str(outputs / "one.txt"))) == "deny"


def test_an_output_kept_below_a_linked_home_folder_is_read_without_a_rule(place: Place, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(place.home)
    outputs = linked / "state [1]" / "outputs"
    outputs.mkdir(parents=True)
    judge = RuleJudge(Place(place.launch, linked, fold_case=False), own_outputs=outputs)
    assert verdict(judge, Need("Read", "path", str(outputs / "one.txt"))) == "allow"
