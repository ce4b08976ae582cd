from __future__ import annotations

import json
from pathlib import Path

import pytest

from maia.core.errors import SettingsProblem
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang
from maia.permissions.check import check
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from maia.permissions.trust import remember
from maia.permissions.view import start_notices


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for folder in ("work", "home"):
        (tmp_path / folder / ".maia").mkdir(parents=True)
    return Place(tmp_path / "work", tmp_path / "home", fold_case=False)


def write(folder: Path, permissions: JsonObject) -> Path:
    path = folder / ".maia" / "settings.json"
    path.write_text(json.dumps({"permissions": permissions}, indent=1))
    return path


def test_the_start_line_counts_the_rules_of_each_file(place: Place) -> None:
    write(place.home, {"allow": [f"Bash(make {n})" for n in range(12)]})
    write(place.launch, {"deny": ["Bash(a)", "Bash(b)", "Bash(c)", "Bash(d)"]})
    notices = start_notices(RuleJudge(place), Catalogue("fr", strict=True))
    assert notices == (
        Notice(
            "info",
            "perm.start.files",
            {"files": "~/.maia/settings.json (12 règles), ./.maia/settings.json (4)"},
        ),
    )


def test_the_start_line_says_that_there_is_no_rule(place: Place) -> None:
    say = Catalogue("en", strict=True)
    (notice,) = start_notices(RuleJudge(place), say)
    assert say(notice.key, **notice.values) == "Permissions: no rule defined"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_problem_has_words_that_name_file_and_place(place: Place, lang: Lang) -> None:
    texts = ["", "Bash(git push", "Bash(ls) x", "Bash()", "Bash)", "git push", "WebFetch(x)", "Mcp(a,b,c)", 5]
    write(place.launch, {"allow": texts, "denny": [], "ask": "x"})
    say = Catalogue(lang, strict=True)
    judge = RuleJudge(place, allow=["Bash("])
    words = [say(notice.key, **notice.values) for notice in start_notices(judge, say)[1:]]
    assert len(words) == len(texts) + 3
    assert all("./.maia/settings.json, li" in sentence for sentence in words[:-1])
    assert words[-1].startswith("--allow")


def test_a_broken_file_is_told_once_by_the_settings(place: Place) -> None:
    (place.launch / ".maia" / "settings.json").write_text("{")
    judge = RuleJudge(place)
    assert [problem.key for file in judge.files for problem in file.problems] == ["perm.file.json"]
    assert [n.key for n in start_notices(judge, Catalogue("fr"))] == ["perm.start.none"]


def test_the_look_of_a_missing_bracket_is_the_one_drawn(place: Place) -> None:
    path = place.launch / ".maia" / "settings.json"
    path.write_text('{\n "permissions": {\n  "allow": [\n\n\n\n\n\n   "Bash(git push"]}}')
    say = Catalogue("fr", strict=True)
    notice = start_notices(RuleJudge(place), say)[-1]
    shown = say(notice.key, **notice.values).replace("\u202f", " ").replace("\xa0", " ")
    assert shown == "./.maia/settings.json, ligne 9 : règle « Bash(git push » ignorée, il manque « ) »."


def checked(tool: str, value: str, place: Place, *files: Path) -> JsonObject:
    return check(tool, value, cwd=place.launch, home=place.home, settings_files=files, say=Catalogue("en", strict=True))


def test_check_gives_verdict_rule_reason_and_parts(place: Place) -> None:
    file = write(place.home, {"allow": ["Bash(ls *)"], "deny": ["Bash(rm *)"]})
    assert checked("Bash", "ls -l", place) == {
        "verdict": "allow",
        "rule": "Bash(ls *)",
        "reason": "rule: allow Bash(ls *) — ~/.maia/settings.json",
        "parts": [],
    }
    found = checked("bash", "ls | rm x; make > f", place, file)
    assert (found["verdict"], found["rule"]) == ("deny", "Bash(rm *)")
    assert [(part["text"], part["verdict"], part["rule"]) for part in found["parts"]] == [
        ("ls", "allow", "Bash(ls *)"),
        ("rm x", "deny", "Bash(rm *)"),
        ("make", "ask", None),
        ("> f", "ask", None),
    ]
    assert json.loads(json.dumps(found)) == found


def test_check_reads_only_the_files_it_is_given_and_trusts_them(place: Place, tmp_path: Path) -> None:
    write(place.home, {"deny": ["Bash"]})
    write(place.launch, {"allow": ["Bash"]})
    own = tmp_path / "own.json"
    own.write_text('{"permissions": {"allow": ["Edit(src/**)"]}}')
    assert checked("Edit", "src/a", place, own)["verdict"] == "allow"
    assert checked("Bash", "ls", place, own)["verdict"] == "ask"
    assert checked("Bash", "ls", place)["verdict"] == "deny"


def test_check_uses_a_folders_allow_rules_only_where_it_is_trusted(place: Place) -> None:
    write(place.launch, {"allow": ["Bash(ls *)"]})
    found = checked("Bash", "ls", place)
    assert (found["verdict"], found["rule"]) == ("ask", None)
    assert found["reason"] == "rule allow Bash(ls *) — ./.maia/settings.json — waits until this folder is trusted"
    assert checked("Bash", "rm x", place)["reason"] == "no rule matches"
    remember(place.launch, place.home)
    assert checked("Bash", "ls", place)["verdict"] == "allow"


@pytest.mark.parametrize(("content", "key"), [(None, "perm.file.absent"), ("{", "perm.file.json")])
def test_check_does_not_answer_without_a_file_it_was_given(content: str | None, key: str, place: Place) -> None:
    path = place.home / "own.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SettingsProblem) as caught:
        checked("Bash", "ls", place, path)
    assert caught.value.key == key
    assert Catalogue("fr", strict=True)(key, **caught.value.values)


@pytest.mark.parametrize(
    ("tool", "value", "verdict"),
    [
        ("Read", "a", "allow"),
        ("Redirect", "a", "ask"),
        ("WebFetch", "https://x.org/a", "allow"),
        ("TodoWrite", "", "allow"),
        ("Addition", "5", "allow"),
        ("Addition", "", "ask"),
        ("mcp__db__query", "x", "allow"),
        ("Skill", "pdf", "ask"),
    ],
)
def test_check_knows_what_a_tools_value_is(tool: str, value: str, verdict: str, place: Place) -> None:
    write(place.home, {"allow": ["Read(**)", "WebFetch(domain:x.org)", "Addition(5)", "Mcp(db)"]})
    assert checked(tool, value, place)["verdict"] == verdict


COMMANDS = (
    "echo 'open", "echo $(date)", "$x", "PATH=. ls", ". f", "cat | sh", "python -c x", "git -c a.b=c log",
    "sort -o f", "timeout --odd 5 ls",
    "env -S ls", "trap ls EXIT", "alias a=b", "echo a > $x", "cd $x && echo a > f", "cat < /dev/tcp/h/1", "ls > f",
    "ls\r", "git $x", "echo " + "a" * 200_000,
    "f() { ls; }; f", "cd . && ls", "(" * 600 + ")" * 600,
)  # fmt: skip


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("command", COMMANDS, ids=[command[:20] for command in COMMANDS])
def test_every_reason_has_words(command: str, lang: Lang, place: Place) -> None:
    write(place.home, {"allow": ["Bash"], "deny": ["Bash(git push *)"]})
    say = Catalogue(lang, strict=True)
    found = check("Bash", command, cwd=place.launch, home=place.home, say=say)
    assert all(part["reason"] for part in (found, *found["parts"]))


def test_a_protected_place_and_a_link_have_words(place: Place) -> None:
    write(place.home, {"allow": ["Edit(**)"]})
    (place.launch / "out").symlink_to("/etc")
    assert "protected" in checked("Edit", ".git/config", place)["reason"]
    assert "leads to /etc/hosts" in checked("Edit", "out/hosts", place)["reason"]
