import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from maia.core.permission import Decision, Need, Verdict
from maia.core.ports import Hands
from maia.core.tool import AnyTool
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from maia.tools import glob, grep, searching
from maia.tools.glob import GlobTool
from maia.tools.grep import GrepTool
from tests.tools.doubles import FRENCH, call, decision, hands_at, refusal, rules, words
from tests.tools.test_search import ENGINES, Tree, plant

GLOB, GREP = GlobTool(), GrepTool()


@pytest.fixture(params=ENGINES)
def hands(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hands:
    """Hands whose searches go by one engine, then by the other."""
    for module in (glob, grep):
        monkeypatch.setattr(module, "find_rg", lambda _launch: request.param)
    return hands_at(tmp_path)


def tree(hands: Hands, files: Tree) -> None:
    """Each file is one second older than the one before it."""
    plant(hands.launch, files)
    for n, name in enumerate(files):
        os.utime(hands.launch / name, (2_000_000_000 - n, 2_000_000_000 - n))


def denying(hands: Hands, **verdicts: Verdict) -> Hands:
    return hands_at(hands.launch, allowed=rules(**verdicts))


def test_glob_names_files_newest_first(hands: Hands) -> None:
    tree(hands, {"new.py": "", "src/old.py": "", "other.txt": ""})
    os.utime(hands.launch / "new.py", (3_000_000_000, 3_000_000_000))
    result = call(GLOB, hands, pattern="**/*.py")
    assert (result.text, result.summary) == ("new.py\nsrc/old.py", "2 files")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({"pattern": "*.py"}, "src/a.py\nsrc/sub/b.py", id="a bare pattern goes deep"),
        pytest.param({"pattern": "src/*.py"}, "src/a.py", id="a pattern with a folder"),
        pytest.param({"pattern": "*.py", "path": "src/sub"}, "src/sub/b.py", id="a folder"),
        pytest.param({"pattern": "src/sub"}, "src/sub/b.py\nsrc/sub/c.txt", id="a folder as the pattern"),
        pytest.param({"pattern": "ignored.log"}, "ignored.log", id="a name without wildcards, ignored or not"),
        pytest.param({"pattern": "*.log"}, "No file matches.", id="a pattern never wins an ignored file"),
        pytest.param({"pattern": "./src/**/b.*"}, "src/sub/b.py", id="a leading dot"),
        pytest.param({"pattern": "*.py", "directory": "src"}, "src/a.py\nsrc/sub/b.py", id="an alias"),
    ],
)
def test_glob_patterns(hands: Hands, arguments: dict[str, Any], text: str) -> None:
    tree(
        hands,
        {"src/a.py": "", "src/sub/b.py": "", "src/sub/c.txt": "", "ignored.log": "", ".gitignore": "*.log\n"},
    )
    assert call(GLOB, hands, **arguments).text == text


def test_glob_takes_absolute_patterns_and_asks_for_their_folder(
    hands: Hands, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other").resolve()
    plant(other, {"d/x.py": ""})
    args = GLOB.parse({"pattern": f"{other}/d/*.py"})
    assert GLOB.needs(args, hands.launch) == (Need("Glob", "path", f"{other}/d"),)
    assert call(GLOB, hands, pattern=f"{other}/d/*.py").text == f"{other}/d/x.py"
    assert GLOB.needs(GLOB.parse({"pattern": "../*/x"}), hands.launch) == (Need("Glob", "path", "./.."),)


def test_glob_says_how_many_more_there_are(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob, "MAX_FILES", 3)
    tree(hands, {f"{n}": "" for n in range(10)})
    result = call(GLOB, hands, pattern="*")
    assert result.text == "0\n1\n2\n[7 more files, not shown]"
    assert result.summary == "10 files"


def test_glob_leaves_out_what_a_rule_denies_and_counts_it(hands: Hands) -> None:
    tree(hands, {"a": "", "secret.key": "", "b": ""})
    result = call(GLOB, denying(hands, secret=Verdict.DENY), pattern="*")
    assert result.text == "a\nb\n[1 file left out: a rule denies reading it]"
    assert result.summary == "2 files"
    assert call(GLOB, denying(hands, secret=Verdict.ASK), pattern="*").text == "a\nsecret.key\nb"
    assert "secret" not in call(GLOB, denying(hands, secret=Verdict.DENY), pattern="secret.key").text


def test_grep_shows_lines_under_their_file(hands: Hands) -> None:
    tree(hands, {"b.py": "x = 1\ny\nx = 2\n", "a/c.py": "x = 3\n", "d.txt": "none\n"})
    result = call(GREP, hands, pattern=r"x = \d")
    assert result.text == "a/c.py\n1:x = 3\n\nb.py\n1:x = 1\n3:x = 2"
    assert result.summary == "3 matches"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({"context": 1}, "f\n1-one\n2:hit\n3-three\n--\n5-five\n6:HIT hit", id="context"),
        pytest.param({"-C": "0"}, "f\n2:hit\n6:HIT hit", id="no context"),
        pytest.param({"pattern": "^HIT", "-i": True}, "f\n2:hit\n6:HIT hit", id="ignore case"),
        pytest.param({"output_mode": "count"}, "f:2", id="count"),
        pytest.param({"output_mode": "files_with_matches"}, "f", id="files, by another name"),
        pytest.param(
            {"max_results": 1}, "f\n2:hit\n[1 of 2 shown; narrow the pattern or raise max_results]", id="limit"
        ),
        pytest.param({"path": "f", "glob": "*.never"}, "f\n2:hit\n6:HIT hit", id="one file, whatever the glob"),
        pytest.param({"glob": "*.never"}, "No match.", id="no file"),
        pytest.param({"pattern": r"hit\nthree", "multiline": True}, "f\n2:hit\n3:three", id="over lines"),
    ],
)
def test_grep_options(hands: Hands, arguments: dict[str, Any], text: str) -> None:
    tree(hands, {"f": "one\nhit\nthree\nfour\nfive\nHIT hit\n"})
    assert call(GREP, hands, **{"pattern": "hit", **arguments}).text == text


def test_grep_names_files_newest_first(hands: Hands) -> None:
    tree(hands, {"z": "hit", "a": "hit"})
    assert call(GREP, hands, pattern="hit", output_mode="files").text == "z\na"


def test_grep_cuts_long_lines(hands: Hands) -> None:
    tree(hands, {"min.js": "hit" + "x" * 100_000})
    assert call(GREP, hands, pattern="hit").text == f"min.js\n1:hit{'x' * 497} […]"


def test_grep_stays_within_its_limit_of_characters(hands: Hands) -> None:
    tree(hands, {f"f{n}": ("hit" + "x" * 400 + "\n") * 100 for n in range(5)})
    result = call(GREP, hands, pattern="hit", max_results=10_000)
    assert len(result.text) < grep.MAX_CHARS + 1000
    assert "of 500 shown" in result.text


@pytest.mark.parametrize("mode", ["content", "files", "count"])
def test_grep_leaves_out_what_a_rule_denies_or_asks_about(hands: Hands, mode: str) -> None:
    tree(hands, {"a": "key=1", ".env": "key=2", "s/private": "key=3"})
    strict = denying(hands, env=Verdict.DENY, private=Verdict.ASK)
    text = call(GREP, strict, pattern="key=", output_mode=mode).text
    assert "[1 file left out: a rule denies reading it]" in text
    assert "[1 file left out: a rule asks before it is read; use Read]" in text
    assert "env" not in text.replace("a rule", "")
    assert "private" not in text
    assert "key=2" not in text


RULE_CASES = [
    # Rules, what Glob names, what Grep shows. The judge is the real one.
    (["Read(.env)"], [], [], "a", "a"),
    (["Grep(.env)"], [], [], ".env a", "a"),
    (["Glob(.env)"], [], [], "a", ".env a"),
    (["Read"], [], [], ".env a", ""),
    ([], ["Read(.env)"], [], ".env a", "a"),
    ([], ["Read"], [], ".env a", ".env a"),
    ([], ["Grep"], [], ".env a", ".env a"),
    ([], [], ["Read(a)"], ".env a", ".env a"),
]


@pytest.mark.parametrize(("deny", "ask", "allow", "named", "read"), RULE_CASES)
def test_the_rules_of_a_person_decide_what_is_named_and_what_is_shown(
    tmp_path: Path, deny: list[str], ask: list[str], allow: list[str], named: str, read: str
) -> None:
    settings = tmp_path / "home" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": deny, "ask": ask, "allow": allow}}))
    launch = tmp_path / "work"
    plant(launch, {".env": "key", "a": "key"})
    judge = RuleJudge(Place(launch, tmp_path / "home", fold_case=False), files=[(settings, "settings")])
    hands = hands_at(launch, allowed=lambda need: judge.decide([need]))
    assert [problem for file in judge.files for problem in file.problems] == []
    listed = call(GLOB, hands, pattern="*").text.splitlines()
    shown = call(GREP, hands, pattern="key", output_mode="count").text.splitlines()
    assert sorted(row for row in listed if row in (".env", "a")) == named.split()
    assert sorted(row[:-2] for row in shown if row.endswith(":1")) == read.split()


@pytest.mark.parametrize("mode", ["content", "files", "count"])
def test_the_rules_are_not_asked_about_every_file_of_a_flood(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(searching, "MAX_COUNTED", 10)
    asked: list[str] = []

    def counting(need: Need) -> Decision:
        asked.append(need.value)
        return decision(Verdict.DENY if "secret" in need.value else Verdict.ALLOW, "*secret*")

    tree(hands, {**{f"f{n:02}": "hit" for n in range(50)}, "f03secret": "hit"})
    result = call(GREP, hands_at(hands.launch, allowed=counting), pattern="hit", output_mode=mode, max_results=2)
    assert result.data["shown"] == 2
    assert result.data["total"] == 50 if mode != "files" else result.data["total"] in (50, 51)
    assert len(set(asked) - {str(hands.launch)}) == 10


def test_a_grep_that_no_rule_speaks_of_shows_everything(hands: Hands) -> None:
    tree(hands, {"a": "key"})
    unsaid = hands_at(hands.launch, allowed=lambda _need: decision(Verdict.ASK))
    assert call(GREP, unsaid, pattern="key").text == "a\n1:key"


def test_names_that_act_on_a_screen_are_shown(hands: Hands) -> None:
    tree(hands, {"a\x1b[31m": "hit"})
    assert call(GREP, hands, pattern="hit").text == "a␛[31m\n1:hit"
    assert call(GLOB, hands, pattern="*").text == "a␛[31m"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (GREP, {"pattern": ""}, 'The parameter "pattern" is empty.'),
        (GLOB, {"pattern": "  "}, 'The parameter "pattern" is empty.'),
        (GREP, {"pattern": "x", "path": "nowhere"}, "nowhere does not exist."),
        (GLOB, {"pattern": "x", "path": "nowhere"}, "nowhere does not exist."),
    ],
)
def test_a_search_for_nothing_or_nowhere_is_an_error(
    hands: Hands, tool: AnyTool, arguments: dict[str, Any], said: str
) -> None:
    assert words(refusal(tool, hands, **arguments)) == said


def test_a_bad_pattern_is_explained(hands: Hands) -> None:
    problem = refusal(GREP, hands, pattern="foo(")
    assert words(problem).startswith('The pattern "foo(" is no valid regular expression: ')


def test_a_fifo_is_not_searched(hands: Hands) -> None:
    os.mkfifo(hands.launch / "pipe")
    assert refusal(GREP, hands, pattern="x", path="pipe").key == "tool.path.special"


@pytest.mark.parametrize(
    ("tool", "arguments", "need", "row"),
    [
        (GREP, {"pattern": "x"}, ".", "x"),
        (GREP, {"pattern": "x", "path": "src", "glob": "*.py"}, "src", "x  src  *.py"),
        (GLOB, {"pattern": "*.py"}, ".", "*.py"),
        (GLOB, {"pattern": "*.py", "path": "src"}, "src", "*.py (src)"),
        (GLOB, {"pattern": "src/**/*.py"}, "./src", "src/**/*.py"),
    ],
)
def test_the_need_is_the_folder(tmp_path: Path, tool: AnyTool, arguments: dict[str, Any], need: str, row: str) -> None:
    args = tool.parse(arguments)
    assert tool.needs(args, tmp_path) == (Need(tool.spec.name, "path", need),)
    assert (tool.preview(args), tool.lock_key(args, tmp_path)) == (row, None)
    assert asyncio.run(tool.proposal(args, hands_at(tmp_path))) == ()


def test_results_speak_french(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, say=FRENCH)
    tree(hands, {"a": "hit\nhit\n"})
    assert call(GREP, hands, pattern="hit").summary == "2 correspondances"
    assert call(GLOB, hands, pattern="zzz*").text == "Aucun fichier ne correspond."
