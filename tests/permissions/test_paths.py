from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from maia.permissions import globs
from maia.permissions.paths import Place
from tests.permissions.made import judged, rules, verdict

# (glob, path, whether it matches)
GLOBS = (
    ("src/**", "src/a", True),
    ("src/**", "src/a/b/c.py", True),
    ("src/**", "src", True),
    ("src/**", "srcx", False),
    ("src/", "src/a", True),
    ("**", "a/b", True),
    ("**/*.py", "a.py", True),
    ("**/*.py", "a/b/c.py", True),
    ("*.py", "a.py", True),
    ("*.py", "a/b.py", False),
    ("*.py", ".hidden.py", True),
    ("**", ".env", True),
    ("src/*", "src/.env", True),
    ("src/*/x", "src/a/x", True),
    ("src/*/x", "src/a/b/x", False),
    ("src/**/x", "src/x", True),
    ("src/**/x", "src/a/b/x", True),
    ("a?c", "abc", True),
    ("a?c", "a/c", False),
    ("[ab].py", "b.py", True),
    ("[!ab].py", "b.py", False),
    ("[a", "[a", True),
    ("[z-a]", "b", False),
    ("*.{ts,tsx}", "a.tsx", True),
    ("*.{ts,tsx}", "a.js", False),
    ("{a,b}/{c,d}", "b/c", True),
    ("{a}", "{a}", True),
    ("\\*.py", "*.py", True),
    ("\\*.py", "a.py", False),
    ("a\\{b,c\\}", "a{b,c}", True),
    ("été/**", "été/x", True),
    ("a b", "a b", True),
)


@pytest.mark.parametrize(("glob", "path", "matches"), GLOBS)
def test_a_glob_matches_whole_paths(glob: str, path: str, matches: bool) -> None:
    assert (globs.compiled(glob).match(path) is not None) == matches


@pytest.mark.parametrize("path", ["a*b", "[x]", "{a,b}", "q?", "back\\slash", "été", "(x)", "a b"])
def test_an_escaped_path_matches_itself(path: str) -> None:
    assert globs.is_literal(globs.escaped(path))
    assert globs.literal_folder(globs.escaped(path)) == path
    assert globs.compiled(globs.escaped(path)).match(path)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    launch, home = tmp_path / "work" / "project", tmp_path / "home"
    for folder in (
        launch / "src" / "deep",
        launch / "out",
        home / ".ssh",
        tmp_path / "secret",
        tmp_path / "work" / "projectx",
    ):
        folder.mkdir(parents=True)
    (launch / ".env").write_text("KEY=1")
    (tmp_path / "secret" / "key").write_text("x")
    os.symlink(tmp_path / "secret", launch / "src" / "link")
    os.symlink(launch / ".env", launch / "src" / "harmless.txt")
    os.symlink("src", launch / "same")
    os.symlink(launch, tmp_path / "alias")
    os.symlink("loop", launch / "loop")
    return Place(launch, home, fold_case=False)


# (rules, tool, path, verdict, why); {tmp} is the folder above
PATHS = (
    ({"allow": ["Read(src/**)"]}, "Read", "src/a.py", "allow", "relative"),
    ({"allow": ["Read(src/**)"]}, "Read", "./src/a.py", "allow", "with ./"),
    ({"allow": ["Read(./src/**)"]}, "Read", "src/a.py", "allow", "a rule with ./"),
    ({"allow": ["Read(src/**)"]}, "Read", "{tmp}/work/project/src/a.py", "allow", "absolute"),
    ({"allow": ["Read({tmp}/work/project/src/**)"]}, "Read", "src/a.py", "allow", "an absolute rule"),
    ({"allow": ["Read(src/**)"]}, "Read", "src//./a.py", "allow", "another spelling"),
    ({"allow": ["Read(src/**)"]}, "Read", "src/../.env", "ask", "not below"),
    ({"allow": ["Read(**)"]}, "Read", "../projectx/a", "ask", "a folder beside"),
    ({"allow": ["Read(../projectx/**)"]}, "Read", "../projectx/a", "allow", "a rule for the folder beside"),
    ({"allow": ["Read(**)"]}, "Read", "/etc/passwd", "ask", "not below the launch folder"),
    ({"allow": ["Read(/**)"]}, "Read", "/etc/passwd", "allow", "the whole disk"),
    ({"allow": ["Read(~/**)"]}, "Read", "~/x", "allow", "home"),
    ({"allow": ["Read(**)"]}, "Read", "~/x", "ask", "home is elsewhere"),
    ({"allow": ["Read(**)"]}, "Read", "~root/x", "ask", "somebody's home"),
    ({"allow": ["Read(**)"]}, "Read", "src/link/key", "ask", "a link leads away"),
    ({"allow": ["Read(**)"]}, "Read", "src/link/../x", "ask", "behind a link, up"),
    ({"allow": ["Read(src/**)"]}, "Read", "src/harmless.txt", "ask", "a link to another file"),
    ({"allow": ["Read(**)"]}, "Read", "src/harmless.txt", "allow", "both are covered"),
    ({"allow": ["Read(**)"]}, "Read", "same/a.py", "allow", "both are covered"),
    ({"allow": ["Read(same/**)"]}, "Read", "same/a.py", "ask", "what a link leads to is not named"),
    ({"allow": ["Read(**)"]}, "Read", "loop/x", "allow", "a loop leads nowhere"),
    ({"allow": ["Read(**)"]}, "Read", "/proc/self/cwd/src/a.py", "allow", "the folder it runs in"),
    ({"allow": ["Read(**)"]}, "Read", "/proc/self/root/etc/passwd", "ask", "the whole disk"),
    ({"allow": ["Read(**)"]}, "Read", "/dev/fd/3", "ask", "a descriptor"),
    ({"allow": ["Read"]}, "Read", "/etc/passwd", "allow", "the whole tool"),
    ({"allow": ["Read(**)"]}, "Read", "", "allow", "the launch folder itself"),
    ({"allow": ["Read(a[b)"]}, "Read", "a[b", "allow", "a bracket that does not close"),
    ({"allow": ["Edit(src/**)"]}, "Write", "src/a.py", "ask", "an allow is for its own tool"),
    ({"allow": ["Read(**)"], "deny": ["Read(.env)"]}, "Read", ".env", "deny", "the seed's own example"),
    (
        {"allow": ["Read(**)"], "deny": ["Read(./.env)"]},
        "Read",
        "{tmp}/work/project/.env",
        "deny",
        "an absolute path (claude-code#22907)",
    ),
    ({"allow": ["Read(**)"], "deny": ["Read(.env)"]}, "Read", "src/../.env", "deny", "another spelling"),
    ({"allow": ["Read(**)"], "deny": ["Read(.env)"]}, "Read", ".env/.", "deny", "a trailing /."),
    ({"allow": ["Read(**)"], "deny": ["Read(.env)"]}, "Read", ".//.env", "deny", "a double slash"),
    ({"allow": ["Read(**)"], "deny": ["Read(.env)"]}, "Read", "/proc/self/cwd/.env", "deny", "through /proc"),
    (
        {"allow": ["Read(**)"], "deny": ["Read(.env)"]},
        "Read",
        "src/harmless.txt",
        "deny",
        "a link to it (hermes-agent#8031)",
    ),
    (
        {"allow": ["Read(**)"], "deny": ["Read(.env)"]},
        "Read",
        "{tmp}/alias/.env",
        "deny",
        "through a link to the folder",
    ),
    ({"allow": ["Read(/**)"], "deny": ["Read({tmp}/secret/**)"]}, "Read", "src/link/key", "deny", "a link into it"),
    (
        {"allow": ["Read(/**)"], "deny": ["Read(src/link/**)"]},
        "Read",
        "{tmp}/secret/key",
        "deny",
        "where the named link leads",
    ),
    (
        {"allow": ["Read(/**)"], "deny": ["Read(src)"]},
        "Read",
        "src/deep/a.py",
        "deny",
        "a denied folder denies what is in it",
    ),
    ({"allow": ["Read(/**)"], "deny": ["Read(~/.ssh/**)"]}, "Read", "~/.ssh/id", "deny", "home"),
    ({"allow": ["Read(/**)"], "deny": ["Read(~/.ssh)"]}, "Read", "~//.ssh/id", "deny", "another spelling"),
    (
        {"allow": ["Grep", "Glob"], "deny": ["Read(.env)"]},
        "Grep",
        ".",
        "allow",
        "a search of a tree (claude-code#91995)",
    ),
    ({"allow": ["Grep", "Glob"], "deny": ["Read(.env)"]}, "Glob", ".", "allow", "a listing of a tree"),
    ({"allow": ["Grep"], "deny": ["Read(.env)"]}, "Grep", ".env", "deny", "a search of that very file"),
    ({"allow": ["Write", "Edit"], "deny": ["Edit(.env)"]}, "Write", ".env", "deny", "no second door"),
    ({"allow": ["Write", "Edit"], "deny": ["Write(.env)"]}, "Edit", ".env", "deny", "no second door"),
    ({"allow": ["Write", "Edit"], "deny": ["Write"]}, "Edit", "a", "allow", "a bare deny is for its own tool"),
    ({"allow": ["Read(**)"], "ask": ["Read(src/**)"]}, "Read", "src/a", "ask", "ask before allow"),
    ({"allow": ["Edit(**)"]}, "Edit", "src/a.py", "allow", "an ordinary file"),
    ({"allow": ["Edit(**)"]}, "Edit", ".git/hooks/pre-commit", "ask", "runs at the next commit"),
    ({"allow": ["Edit(**)"]}, "Edit", ".git/config", "ask", "runs programs"),
    ({"allow": ["Edit"]}, "Edit", ".git/config", "ask", "even under a bare allow"),
    ({"allow": ["Edit(**)"]}, "Edit", "sub/.git/hooks/x", "ask", "of a submodule"),
    ({"allow": ["Edit(**)"]}, "Edit", ".GIT/config", "ask", "in other letters"),
    ({"allow": ["Edit(**)"]}, "Edit", ".maia/settings.json", "ask", "would widen the rules"),
    ({"allow": ["Edit(**)"]}, "Edit", ".maia/tools/x/TOOL.json", "ask", "would run"),
    ({"allow": ["Edit(**)"]}, "Edit", ".vscode/tasks.json", "ask", "would run"),
    ({"allow": ["Edit(**)"]}, "Edit", ".envrc", "ask", "would run"),
    ({"allow": ["Edit(**)"]}, "Edit", ".gitignore", "allow", "only a list"),
    ({"allow": ["Edit(~/**)"]}, "Edit", "~/.bashrc", "ask", "runs at every login"),
    ({"allow": ["Edit(~/**)"]}, "Edit", "~/.ssh/authorized_keys", "ask", "opens the machine"),
    ({"allow": ["Edit(~/**)"]}, "Edit", "~/.config/systemd/user/x", "ask", "would run"),
    ({"allow": ["Edit(~/**)"]}, "Edit", "~/notes.txt", "allow", "an ordinary file"),
    ({"allow": ["Edit(/**)"]}, "Edit", "/etc/passwd", "ask", "the system's"),
    ({"allow": ["Edit(.git/config)"]}, "Edit", ".git/config", "allow", "the rule names it"),
    ({"allow": ["Edit(.vscode/**)"]}, "Edit", ".vscode/tasks.json", "allow", "the rule names its folder"),
    ({"allow": ["Edit(~/.bashrc)"]}, "Edit", "~/.bashrc", "allow", "the rule names it"),
    ({"allow": ["Read(**)"]}, "Read", ".git/config", "allow", "reading is another matter"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("in_force", "tool", "path", "expected", "why"), PATHS, ids=[f"{row[0]} {row[1]} {row[2]}" for row in PATHS]
)
def test_a_path_is_judged_as_given_and_as_resolved(
    in_force: dict[str, list[str]], tool: str, path: str, expected: str, why: str, place: Place, tmp_path: Path
) -> None:
    filled = {kind: [text.replace("{tmp}", str(tmp_path)) for text in texts] for kind, texts in in_force.items()}
    assert verdict(tool, path.replace("{tmp}", str(tmp_path)), rules(**filled), place) == expected, why


def test_a_hard_link_is_another_name_of_the_file_that_a_rule_names(place: Place) -> None:
    (place.launch / ".env").write_text("KEY=1")
    os.link(place.launch / ".env", place.launch / "notes.txt")
    (place.launch / "other.txt").write_text("KEY=1")
    for in_force, expected in (({"deny": ["Read(.env)"]}, "deny"), ({"ask": ["Read(.env)"]}, "ask")):
        ruled = rules(allow=["Read(**)", "Bash(cat *)"], **in_force)
        assert verdict("Read", "notes.txt", ruled, place) == expected
        assert verdict("Grep", "notes.txt", rules(allow=["Grep(**)"], **in_force), place) == expected
        assert verdict("Bash", "cat notes.txt", ruled, place) == expected
        assert verdict("Read", "other.txt", ruled, place) == "allow"
        assert verdict("Read", "missing.txt", ruled, place) == "allow"


def test_through_a_link_to_the_launch_folder_the_rules_hold_just_the_same(place: Place, tmp_path: Path) -> None:
    aliased = Place(tmp_path / "alias", place.home, fold_case=False)
    in_force = rules(allow=["Read(src/**)", "Redirect(out/**)", "Bash(echo *)"], deny=["Read(.env)"])
    assert verdict("Read", "src/a.py", in_force, aliased) == "allow"
    assert verdict("Read", str(place.launch / "src" / "a.py"), in_force, aliased) == "allow"
    assert verdict("Read", str(place.launch / ".env"), in_force, aliased) == "deny"
    assert verdict("Bash", "echo a > out/x", in_force, aliased) == "allow"


def test_where_the_disk_ignores_case_so_do_the_rules(place: Place) -> None:
    folding = Place(place.launch, place.home, fold_case=True)
    in_force = rules(allow=["Read(src/**)", "Bash"], deny=["Read(.env)", "Bash(rm *)"])
    assert verdict("Read", ".ENV", in_force, folding) == "deny"
    assert verdict("Read", "SRC/a", in_force, folding) == "allow"
    assert verdict("Bash", "RM x", in_force, folding) == "deny"
    assert verdict("Read", ".ENV", in_force, place) == "ask"


def test_the_reason_says_where_a_link_leads(place: Place, tmp_path: Path) -> None:
    reason = judged("Read", "src/link/key", rules(allow=["Read(**)"]), place).reason
    assert reason.key == "perm.why.symlink"
    assert reason.values == {"path": "src/link/key", "target": str(tmp_path / "secret" / "key")}


def test_cd_into_a_link_is_followed_for_redirections(place: Place) -> None:
    in_force = rules(allow=["Bash(echo *)", "Bash(cd *)", "Redirect(src/**)"])
    assert verdict("Bash", "cd src/deep && echo a > x", in_force, place) == "allow"
    assert verdict("Bash", "cd src/link && echo a > x", in_force, place) == "ask"


def test_cd_out_of_the_launch_folder_by_a_link_needs_a_rule(place: Place) -> None:
    assert verdict("Bash", "cd src/deep && ls", rules(allow=["Bash(ls *)"]), place) == "allow"
    assert verdict("Bash", "cd src/link && ls", rules(allow=["Bash(ls *)"]), place) == "ask"


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("named", ["NFC", "NFD"])
def test_a_name_with_an_accent_is_one_name_in_both_of_its_forms(
    written: Literal["NFC", "NFD"], named: Literal["NFC", "NFD"], place: Place
) -> None:
    folder = unicodedata.normalize(written, "Été")
    path = unicodedata.normalize(named, "Été/clé")
    assert verdict("Read", path, rules(allow=["Read"], deny=[f"Read({folder}/**)"]), place) == "deny"
    assert verdict("Read", path, rules(allow=[f"Read({folder}/**)"]), place) == "allow"
