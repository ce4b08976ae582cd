import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maia.core.errors import ToolProblem
from maia.tools.search import engine, worker
from maia.tools.search.engine import find_rg, pattern_problem, rg_arguments, search
from maia.tools.search.globs import compile_glob, split_base
from maia.tools.search.ignore import Ignore, parse, read_ignore
from maia.tools.search.query import Found, Line, Query
from tests.tools.doubles import ENGLISH

RG = find_rg(Path("/nonexistent"))
ENGINES = [
    pytest.param(RG, id="rg", marks=pytest.mark.skipif(RG is None, reason="ripgrep is not installed")),
    pytest.param(None, id="python"),
]
Tree = dict[str, str | bytes]


@pytest.fixture(params=ENGINES)
def find(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Found]:
    """A search over a tree that is made for it, by one engine and then by the other."""

    def run(tree: Tree, mode: str = "list", pattern: str = "", folder: str = "", **options: Any) -> Found:
        plant(tmp_path, tree)
        query = Query(str((tmp_path / folder).resolve()), mode, pattern=pattern, **options)  # pyright: ignore
        found = asyncio.run(search(query, rg=request.param))
        assert found.cut == ""
        return found

    return run


def plant(folder: Path, tree: Tree) -> None:
    for name, content in tree.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


Find = Callable[..., Found]


@pytest.mark.parametrize(
    ("tree", "options", "paths"),
    [
        pytest.param(
            {".gitignore": "*.log\nbuild/\n", "a.py": "", "x.log": "", "build/b.py": "", "src/build/c.py": ""},
            {},
            [".gitignore", "a.py"],
            id="what git ignores is left out",
        ),
        pytest.param(
            {".gitignore": "*.log\n!keep.log\n", "keep.log": "", "x.log": "", "d/keep.log": ""},
            {},
            [".gitignore", "d/keep.log", "keep.log"],
            id="an exception is kept",
        ),
        pytest.param(
            {".gitignore": "*.log\n", "d/.gitignore": "!x.log\n*.tmp\n", "d/x.log": "", "d/y.tmp": "", "z.tmp": ""},
            {},
            [".gitignore", "d/.gitignore", "d/x.log", "z.tmp"],
            id="the inner file wins",
        ),
        pytest.param(
            {
                ".gitignore": "/top\na/b\n**/deep/*.c\n",
                "top": "",
                "d/top": "",
                "a/b": "",
                "d/a/b": "",
                "x/deep/y.c": "",
            },
            {},
            [".gitignore", "d/a/b", "d/top"],
            id="anchored rules",
        ),
        pytest.param(
            {".env": "", ".github/ci.yml": "", "a": ""}, {}, [".env", ".github/ci.yml", "a"], id="hidden files"
        ),
        pytest.param(
            {".git/config": "", "sub/.git": "gitdir: x", ".hg/x": "", "a": ""}, {}, ["a"], id="version control's own"
        ),
        pytest.param(
            {".maia/.sessions/s.jsonl": "", ".maia/.changes/x": "", ".maia/settings.json": "", ".hidden": ""},
            {},
            [".hidden", ".maia/settings.json"],
            id="our own records",
        ),
        pytest.param(
            {".ignore": "a\n", "a": ""},
            {},
            [".ignore", "a"],
            id="only .gitignore counts",
        ),
        pytest.param(
            {"p/.gitignore": "*.log\nout\n", "p/q/x.log": "", "p/q/out/f": "", "p/q/y": ""},
            {"folder": "p/q"},
            ["y"],
            id="rules from above the root",
        ),
        pytest.param(
            {".gitignore": "*.x\n", "repo/.git/HEAD": "", "repo/a.x": ""},
            {"folder": "repo"},
            ["a.x"],
            id="rules from above the repository do not count",
        ),
        pytest.param(
            {".gitignore": "node_modules\n", "node_modules/p/i.js": ""},
            {"folder": "node_modules/p"},
            ["i.js"],
            id="a search inside an ignored folder finds",
        ),
        pytest.param(
            {"a.py": "", "d/b.py": "", "c.txt": ""}, {"glob": "*.py"}, ["a.py", "d/b.py"], id="a bare glob goes deep"
        ),
        pytest.param(
            {"a.py": "", "d/b.py": "", "d/e/c.py": ""}, {"glob": "d/*.py"}, ["d/b.py"], id="a glob with a folder"
        ),
        pytest.param(
            {"a.ts": "", "d/b.tsx": "", "c.js": ""}, {"glob": "**/*.{ts,tsx}"}, ["a.ts", "d/b.tsx"], id="braces"
        ),
        pytest.param(
            {".gitignore": "*.log\n", "x.log": "", "y.log.txt": ""},
            {"glob": "*.log"},
            [],
            id="a glob wins nothing back",
        ),
        pytest.param({"a-b.py": "", "-e": "", "--pre=x": ""}, {}, ["--pre=x", "-e", "a-b.py"], id="names like options"),
        pytest.param({"é 日.txt": "", "a\nb": ""}, {}, ["a\nb", "é 日.txt"], id="any characters"),
        pytest.param({}, {}, [], id="nothing there"),
    ],
)
def test_files_are_listed(find: Find, tree: Tree, options: dict[str, Any], paths: list[str]) -> None:
    assert find(tree, **options).paths == paths


def test_links_are_not_followed_and_a_loop_does_no_harm(find: Find, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "file").symlink_to("/etc/hosts")
    os.mkfifo(tmp_path / "pipe")
    assert find({"a": "root"}, "files", "root|local").paths == ["a"]
    assert find({}).paths == ["a"]


def test_names_that_are_no_unicode_are_found(find: Find, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("x")
    assert find({}).paths == find({}, "files", "x").paths == [os.fsdecode(b"caf\xe9")]


LINES = {"a.txt": "one\ntwo\nthree two\nfour\n", "b/c.txt": "two"}


def test_lines_that_match_come_with_their_numbers(find: Find) -> None:
    assert find(LINES, "content", "two").lines == {
        "a.txt": [Line(2, "two", True), Line(3, "three two", True)],
        "b/c.txt": [Line(1, "two", True)],
    }


def test_lines_around_a_match_are_told_apart(find: Find) -> None:
    tree: Tree = {"f": "1\n2\nhit\n4\n5\n6\n7\nhit\nhit\n"}
    assert find(tree, "content", "hit", context=1).lines == {
        "f": [
            Line(2, "2", False),
            Line(3, "hit", True),
            Line(4, "4", False),
            Line(7, "7", False),
            Line(8, "hit", True),
            Line(9, "hit", True),
        ]
    }


def test_files_and_counts_are_given(find: Find) -> None:
    assert find(LINES, "files", "t[wh]").paths == ["a.txt", "b/c.txt"]
    assert find(LINES, "count", "t[wh]").counts == {"a.txt": 2, "b/c.txt": 1}


@pytest.mark.parametrize(
    ("pattern", "options", "text", "numbers"),
    [
        pytest.param("foo$", {}, "foo\r\nfoo bar\r\n", [1], id="the end of a CRLF line"),
        pytest.param("^b", {}, "ab\nbc\n", [2], id="the start of a line"),
        pytest.param("FOO", {"ignore_case": True}, "foo\nFoo\nbar\n", [1, 2], id="case"),
        pytest.param("É", {"ignore_case": True}, "été\n", [1], id="case of accents"),
        pytest.param(r"\bint\b", {}, "int x\nprint\n", [1], id="word bounds"),
        pytest.param("-e", {}, "-e\nx\n", [1], id="a pattern like an option"),
        pytest.param("--files", {}, "--files\nx\n", [1], id="a pattern like a long option"),
        pytest.param("interface{}", {}, "a interface{} b\n", [1], id="a brace that is meant as one"),
        pytest.param(r"(?<!x)y", {}, "xy\nzy\n", [2], id="look-behind, which ripgrep cannot"),
        pytest.param(r"(a)\1", {}, "ab\naa\n", [2], id="a back-reference, which ripgrep cannot"),
        pytest.param("[[:digit:]]+", {}, "a\n1\n", [2], id="a POSIX class"),
        pytest.param(r"(?P<n>b)", {}, "a\nb\n", [2], id="a named group"),
        pytest.param("a.c", {}, "a\nc\nabc\n", [3], id="a dot is no line end"),
        pytest.param(r"a\s+c", {}, "a\nc\na c\n", [3], id="white space does not reach the next line"),
        pytest.param("b[^x]*c", {}, "b\nc\nbc\n", [3], id="a negated class does not either"),
        pytest.param(r"a\nc", {"multiline": True}, "a\nc\nx\na\nc\n", [1, 2, 4, 5], id="multiline"),
        pytest.param("b.*d", {"multiline": True}, "a\nb\nc\nd\ne\n", [2, 3, 4], id="a dot is one in multiline"),
        pytest.param("", {}, "", [], id="nothing"),
    ],
)
def test_patterns_mean_the_same_to_both_engines(
    find: Find, pattern: str, options: dict[str, Any], text: str, numbers: list[int]
) -> None:
    if not pattern:
        return
    found = find({"f": text}, "content", pattern, **options)
    assert [line.number for lines in found.lines.values() for line in lines] == numbers
    assert find({}, "files", pattern, **options).paths == (["f"] if numbers else [])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"\xef\xbb\xbfhit\n", "hit", id="a byte order mark"),
        pytest.param("é hit\n".encode("utf-16"), "é hit", id="UTF-16"),
        pytest.param(b"caf\xe9 hit\n", "café hit", id="latin-1"),
        pytest.param(b"hit\r\n", "hit", id="CRLF"),
        pytest.param(b"x" * 3000 + b"hit", "x" * 2000, id="a long line is cut"),
    ],
)
def test_files_in_any_encoding_are_searched(find: Find, data: bytes, text: str) -> None:
    (line,) = find({"f": data}, "content", "hit").lines["f"]
    assert line.text[:2000] == text


def test_binary_files_are_left_out(find: Find) -> None:
    tree: Tree = {"a.bin": b"hit\x00hit\n", "b.bin": b"hit\n" * 40_000 + b"\x00", "c": "hit"}
    assert find(tree, "content", "hit").paths == ["c"]
    assert find(tree, "files", "hit", glob="c").paths == ["c"]


def test_one_file_can_be_searched_even_when_git_ignores_it(find: Find) -> None:
    tree: Tree = {".gitignore": "x.log\n", "x.log": "hit\n"}
    assert find(tree, "content", "hit", start="x.log").lines == {"x.log": [Line(1, "hit", True)]}


def test_the_files_of_a_search_can_be_limited(find: Find) -> None:
    tree: Tree = {".gitignore": "gen.py\n", "a.py": "hit", "b.js": "hit", "gen.py": "hit", "t/c.py": "hit"}
    assert find(tree, "files", "hit", glob="*.py").paths == ["a.py", "t/c.py"]
    assert find(tree, "files", "hit", glob="t/**").paths == ["t/c.py"]
    assert find(tree, "count", "hit", glob="[ab].*").counts == {"a.py": 1, "b.js": 1}


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", "*", "a**"])
def test_a_pattern_that_nobody_understands_is_an_error_with_words(find: Find, pattern: str) -> None:
    if pattern == "a**":
        return  # ripgrep reads it, Python does not: see below
    with pytest.raises(ToolProblem) as raised:
        find({"f": "x"}, "files", pattern)
    assert raised.value.key == "tool.grep.bad_pattern"
    assert ENGLISH(raised.value.key, **raised.value.values).startswith(f'The pattern "{pattern}" is no valid')


def test_what_only_ripgrep_understands_is_searched_by_it(tmp_path: Path) -> None:
    plant(tmp_path, {"f": "é\n1\n"})
    query = Query(str(tmp_path), "files", pattern=r"\p{L}")
    assert pattern_problem(query)
    if RG is not None:
        assert asyncio.run(search(query, rg=RG)).paths == ["f"]
    with pytest.raises(ToolProblem):
        asyncio.run(search(query, rg=None))


def test_unreadable_folders_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    err = b"rg: ./x: Permission denied (os error 13)\nrg: ./y: Permission denied (os error 13)\n"

    async def denied(*_args: object) -> engine._Run:  # pyright: ignore[reportPrivateUsage] - root may read everything
        return engine._Run(b"./a\0", err, 2, "")  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(engine, "_run", denied)
    found = asyncio.run(search(Query(str(tmp_path), "list"), rg="rg"))
    assert (found.paths, found.unreadable) == (["a"], 2)


def test_the_worker_goes_on_past_an_unreadable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path, {"a/f": "x", "b/f": "x", "c/f": "x"})
    real = os.scandir

    def closed(folder: str) -> Any:
        if folder.endswith("/b"):
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", closed)  # root may read everything
    assert list(worker.walk(Query(str(tmp_path), "list"))) == ["a/f", "c/f"]
    assert engine._os_errors(capfd.readouterr().err.encode()) == 1  # pyright: ignore[reportPrivateUsage]


# Time, size, and who runs ---------------------------------------------------------------------------------------------


def test_an_expression_that_explodes_is_stopped_and_freezes_nobody(tmp_path: Path) -> None:
    plant(tmp_path, {"f": "a" * 40 + "!\n"})
    query = Query(str(tmp_path), "files", pattern="(a|a)+$")

    async def go() -> tuple[Found, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.02)
                ticks += 1

        ticking = asyncio.create_task(tick())
        found = await search(query, rg=None, seconds=0.6)
        ticking.cancel()
        return found, ticks

    found, ticks = asyncio.run(asyncio.wait_for(go(), 60))
    assert (found.cut, found.paths) == ("time", [])
    assert ticks > 1


def test_a_worker_whose_parent_is_gone_does_not_run_for_ever(tmp_path: Path) -> None:
    plant(tmp_path, {"f": "a" * 40 + "!\n"})
    query = json.dumps(asdict(Query(str(tmp_path), "files", pattern="(a|a)+$")))
    source = str(Path(__file__).parents[2] / "src")
    script = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        "import maia.tools.search.worker as worker\n"
        "worker.MAX_SECONDS = 1\n"
        "worker.main(sys.argv[1:])\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, query], timeout=60, check=False)
    assert ended.returncode == -signal.SIGALRM


@pytest.mark.parametrize("rg", ENGINES)
def test_a_flood_of_matches_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rg: str | None) -> None:
    plant(tmp_path, {f"f{n}": "hit\n" * 2000 for n in range(50)})
    monkeypatch.setattr(engine, "MAX_MATCH_BYTES", 100_000)
    found = asyncio.run(search(Query(str(tmp_path), "content", pattern="hit"), rg=rg))
    assert found.cut == "size"
    assert 0 < sum(map(len, found.lines.values())) < 100_000


@pytest.mark.parametrize("rg", ENGINES)
def test_a_cancelled_search_leaves_no_child(tmp_path: Path, rg: str | None) -> None:
    children: list[asyncio.subprocess.Process] = []
    started = asyncio.Event()
    real = asyncio.create_subprocess_exec

    async def noted(*_command: str, **options: Any) -> asyncio.subprocess.Process:
        child = await real("sleep", "60", **options)
        children.append(child)
        started.set()
        return child

    async def go() -> None:
        task = asyncio.create_task(search(Query(str(tmp_path), "list"), rg=rg))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children[0].returncode == -9

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "create_subprocess_exec", noted)
        asyncio.run(go())


def test_a_program_named_rg_in_the_work_folder_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "repo" / "rg"
    trap.parent.mkdir()
    trap.write_text("#!/bin/sh\ntouch pwned\n")
    trap.chmod(0o755)
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    monkeypatch.chdir(trap.parent)
    for path in (str(trap.parent), ".", "", f"relative:.:{trap.parent}"):
        monkeypatch.setenv("PATH", path)
        assert find_rg(trap.parent) is None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").symlink_to(trap)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_rg(trap.parent) is None
    assert find_rg(tmp_path / "elsewhere") == str(trap)


def test_the_users_configuration_of_ripgrep_does_not_count(
    find: Find, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = tmp_path_factory.mktemp("config") / "rc"
    config.write_text("--glob=!a\n--pre=/bin/false\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    assert find({"a": "hit"}, "files", "hit").paths == ["a"]


@pytest.mark.parametrize("value", ["--pre=touch pwned", "-uuu", "--hostname-bin=x", "$(id)", "a b", "'"])
def test_nothing_that_comes_from_a_model_becomes_an_option(value: str) -> None:
    arguments = rg_arguments(Query("/", "content", start=value, glob=f"*{value}", pattern=value))
    assert arguments[-2:] == ["--", f"./{value}"]
    assert f"--regexp={value}" in arguments
    assert all(argument.startswith("--") for argument in arguments[:-1] if value not in argument or "=" in argument)


# Globs and .gitignore -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "d/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("src/*.py", ["src/a.py"], ["src/d/a.py", "x/src/a.py"]),
        ("./src/*.py", ["src/a.py"], ["a.py"]),
        ("src/**/*.py", ["src/a.py", "src/d/e/a.py"], ["a.py"]),
        ("**/test_*.py", ["test_a.py", "d/e/test_b.py"], ["a_test_.py"]),
        ("**", ["a", "d/e"], []),
        ("src/**", ["src/a", "src/d/e"], ["src", "srcs/a"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[ab].c", ["a.c"], ["c.c"]),
        ("[!ab].c", ["c.c"], ["a.c"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[", ["["], ["a"]),
        ("[z-a]", ["[z-a]"], ["z"]),
        ("*.{ts,tsx}", ["a.ts", "d/a.tsx"], ["a.js"]),
        ("{src,test}/**/*.c", ["src/a.c", "test/d/a.c"], ["x/a.c"]),
        ("{a,b{c,d}}", ["a", "bc", "bd"], ["b"]),
        ("a{b", ["a{b"], ["ab"]),
        (r"\*", ["*"], ["a"]),
        ("a+b(c).^$|", ["a+b(c).^$|"], ["ab"]),
        ("é*", ["été"], ["e"]),
        ("/top.py", ["top.py"], ["d/top.py"]),
    ],
)
def test_globs_match(pattern: str, yes: list[str], no: list[str]) -> None:
    glob = compile_glob(pattern)
    assert glob.filter([*yes, *no]) == yes
    assert [path for path in (*yes, *no) if glob.matches(path)] == yes


@given(st.text(st.sampled_from("ab*?[]{},!^-/\\.é"), max_size=12), st.text(st.sampled_from("ab/é.-["), max_size=8))
def test_no_pattern_breaks_the_matcher(pattern: str, path: str) -> None:
    compile_glob(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "base", "rest"),
    [
        ("*.py", "", "*.py"),
        ("src/core/**/*.py", "src/core", "**/*.py"),
        ("/etc/*.conf", "/etc", "*.conf"),
        ("/x", "/", "x"),
        ("../a/b.py", "../a", "b.py"),
        ("a/b", "a", "b"),
        ("{a,b}/c", "", "{a,b}/c"),
        ("~/d/*.c", "~/d", "*.c"),
    ],
)
def test_the_folders_of_a_pattern_become_the_place_of_the_search(pattern: str, base: str, rest: str) -> None:
    assert split_base(pattern) == (base, rest)


RULES = st.lists(
    st.builds(
        lambda sign, start, parts, end: sign + start + "/".join(parts) + end,
        st.sampled_from(["", "", "", "!"]),
        st.sampled_from(["", "", "/", "**/"]),
        st.lists(
            st.sampled_from(["a", "b", "*", "a*", "?", "[ab]", "[!a]", "**", "c.d", r"\a"]), min_size=1, max_size=3
        ),
        st.sampled_from(["", "", "/", "/**", " ", "/*"]),
    ),
    max_size=5,
)
PATHS = ["a", "b", "ab", "c.d", "a/a", "a/b", "b/a", "b/ab", "b/a/a", "b/c/a", "a/b/c", "c/d/c.d", "c/a/b/ab"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle here")
@given(RULES)
@example(["a/**/b", "!a/**"])
@example(["/*", "!/a"])
@settings(max_examples=30)
def test_gitignore_rules_are_judged_as_git_does(tmp_path_factory: pytest.TempPathFactory, rules: list[str]) -> None:
    folder = tmp_path_factory.mktemp("g")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("\n".join(rules) + "\n")
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=folder,
        input="\n".join(PATHS),
        capture_output=True,
        text=True,
        check=False,
    )
    ignore = Ignore(parse("\n".join(rules) + "\n"))
    mine = [path for path in PATHS if _is_ignored(ignore, path)]
    assert mine == asked.stdout.split("\n")[:-1]


def _is_ignored(ignore: Ignore, path: str) -> bool:
    """An entry below an ignored folder is ignored too: the walk never gets there."""
    parts = path.split("/")
    return any(
        ignore.verdict(parts[n], "/".join(parts[: n + 1]), n + 1 < len(parts)) is True for n in range(len(parts))
    )


@pytest.mark.parametrize(
    ("line", "ignored"),
    [
        ("# a", []),
        (r"\#x", ["#x"]),
        (r"\!x", ["!x"]),
        ("a  ", ["a"]),
        ("a\\ ", ["a "]),
        ("a\r", ["a"]),
        ("\ufeffa", ["a"]),
        ("", []),
        ("/", []),
        ("{a,b}", ["{a,b}"]),
        ("a\u2028b", ["a\u2028b"]),
        ("b\x0ca", []),
    ],
)
def test_lines_of_a_gitignore_are_read_as_git_does(line: str, ignored: list[str]) -> None:
    ignore = Ignore(parse(line))
    names = ["a", "a ", "b", "#x", "!x", "{a,b}", "# a", "a\u2028b"]
    assert [name for name in names if ignore.verdict(name, name, False)] == ignored


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere", path)])
def test_a_gitignore_that_is_no_file_says_nothing_and_stays_not_open(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(tmp_path / ".gitignore")
    before = len(os.listdir("/proc/self/fd"))
    assert read_ignore(str(tmp_path)) is None
    assert len(os.listdir("/proc/self/fd")) == before
