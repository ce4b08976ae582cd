import os
import threading
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.events import Notice
from maia.core.fileread import digest
from maia.core.submission import Attachment, Submission
from maia.terminal.attach import Joined, Limits, join_files, looks_like_path
from maia.terminal.line import Text, parse
from tests.terminal.pure.frames import EN, FR


def joined(text: str, launch: Path, *, home: Path | None = None, limits: Limits | None = None) -> Joined:
    typed = parse(text)
    assert isinstance(typed, Text)
    return join_files(typed, launch, home or launch / "no-home", limits=limits)


def kept(found: Joined) -> list[tuple[str, str]]:
    return [(item.source, item.text) for item in found.submission.attachments]


def keys(found: Joined) -> list[str]:
    return [notice.key.removeprefix("term.attach.") for notice in found.notices]


def whole(tree: Path, name: str, text: str) -> Attachment:
    return Attachment("file", name, text, path=str(tree / name), digest=digest(text.encode()))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("one\ntwo\nthree\nfour\n")
    (tmp_path / "b.md").write_text("b")
    (tmp_path / "mon dossier").mkdir()
    (tmp_path / "mon dossier" / "a b.txt").write_text("blank")
    (tmp_path / "l'été.txt").write_text("summer")
    return tmp_path


def test_a_file_goes_with_the_text_which_stays_as_typed(tree: Path) -> None:
    assert joined("lis @src/a.py, puis @b.md.", tree) == Joined(
        Submission(
            "lis @src/a.py, puis @b.md.",
            (
                whole(tree, "src/a.py", "one\ntwo\nthree\nfour\n"),
                whole(tree, "b.md", "b"),
            ),
        )
    )


def test_only_a_file_that_goes_whole_counts_as_seen(tree: Path) -> None:
    (tree / "long.txt").write_text("x" * 60_000)
    sent = joined("@src/a.py:2 @long.txt @b.md", tree).submission.attachments
    assert [item.path for item in sent] == ["", "", str(tree / "b.md")]


SPELLINGS = [
    ("a space after the sign", "@ src/a.py", "src/a.py"),
    ("quotes", "@'mon dossier/a b.txt'", "mon dossier/a b.txt"),
    ("a quote in the name", r"@'l\'été.txt'", "l'été.txt"),
    ("an escaped blank", r"@mon\ dossier/a\ b.txt", "mon dossier/a b.txt"),
    ("a dot at the end", "vois @b.md.", "b.md"),
    ("a typographic quote in the name", "@'l\u2019été.txt'", "l\u2019été.txt"),
]


@pytest.mark.parametrize(("text", "source"), [row[1:] for row in SPELLINGS], ids=[row[0] for row in SPELLINGS])
def test_every_way_to_name_a_file_finds_it(tree: Path, text: str, source: str) -> None:
    (tree / "l\u2019été.txt").write_text("curly")
    assert [name for name, _ in kept(joined(text, tree))] == [source]


def test_absolute_home_and_parent_paths(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "notes.md").write_text("n")
    found = joined(f"@~/notes.md @{tree}/b.md @../b.md", tree / "src", home=home)
    assert kept(found) == [("~/notes.md", "n"), (f"{tree}/b.md", "b")]
    assert keys(found) == []


def test_the_same_file_goes_once_under_any_name(tree: Path) -> None:
    os.symlink("b.md", tree / "link.md")
    os.link(tree / "b.md", tree / "hard.md")
    assert len(kept(joined("@b.md @./b.md @link.md @hard.md @src/../b.md", tree))) == 1


@pytest.mark.parametrize(
    ("text", "source", "content"),
    [
        ("@src/a.py:2", "src/a.py:2", "two"),
        ("@src/a.py:2-3.", "src/a.py:2-3", "two\nthree"),
        ("@src/a.py#L3", "src/a.py:3", "three"),
        ("@src/a.py#L3-L99", "src/a.py:3-99", "three\nfour\n"),
        ("@src/a.py:2:7", "src/a.py:2", "two"),
        ("@'mon dossier/a b.txt':1", "mon dossier/a b.txt:1", "blank"),
    ],
)
def test_lines_of_a_file(tree: Path, text: str, source: str, content: str) -> None:
    assert kept(joined(text, tree)) == [(source, content)]


def test_lines_end_at_line_feeds_and_carriage_returns_only(tree: Path) -> None:
    (tree / "crlf").write_bytes(b"a\x0bx\r\nb\r\nc\xc2\x85d\r\n")
    assert kept(joined("@crlf:2", tree)) == [("crlf:2", "b")]
    assert kept(joined("@crlf:1", tree)) == [("crlf:1", "a\x0bx")]
    assert kept(joined("@crlf:3", tree)) == [("crlf:3", "c\x85d")]


def test_a_line_that_is_not_there_is_said(tree: Path) -> None:
    found = joined("@src/a.py:40", tree)
    assert found.notices == (
        Notice("warn", "term.attach.no_such_lines", {"path": "src/a.py", "first": 40, "total": 4}),
    )


def test_a_file_named_with_a_colon_wins_over_a_line(tree: Path) -> None:
    (tree / "b.md:1").write_text("colon")
    assert kept(joined("@b.md:1", tree)) == [("b.md:1", "colon")]


def test_names_in_another_normal_form_are_found(tree: Path) -> None:
    (tree / normalize("NFD", "café.txt")).write_text("nfd")
    (tree / "Capture 10.02.11\u202fAM.png.txt").write_text("mac")
    assert kept(joined("@café.txt", tree)) == [("café.txt", "nfd")]
    assert kept(joined("@'Capture 10.02.11 AM.png.txt'", tree)) == [("Capture 10.02.11 AM.png.txt", "mac")]


NO_FILE = [
    ("an annotation", "@Override", False),
    ("a person", "demande à @jean.dupont", False),
    ("a package", "@scope/pkg", False),
    ("a package with a version", "@types/node@18", False),
    ("a decorator", "@app.route('/x')", False),
    ("a path", "@lib/x.ts", True),
    ("a path below a folder that is there", "@src/missing", True),
    ("a file name", "@missing.py", True),
    ("a relative path", "@./missing", True),
    ("a home path", "@~/missing", True),
    ("an absolute path", "@/missing/x", True),
    ("anything in quotes", "@'not here'", True),
]


@pytest.mark.parametrize(("text", "warns"), [row[1:] for row in NO_FILE], ids=[row[0] for row in NO_FILE])
def test_what_names_no_file_stays_text_and_warns_only_if_it_looks_like_a_path(
    tree: Path, text: str, warns: bool
) -> None:
    found = joined(text, tree)
    assert found.submission == Submission(text)
    assert keys(found) == (["missing"] if warns else [])


def test_an_e_mail_address_is_no_mention(tree: Path) -> None:
    (tree / "exemple.fr").write_text("x")
    assert joined("jean@exemple.fr", tree) == Joined(Submission("jean@exemple.fr"))


def test_a_folder_gives_its_listing(tree: Path) -> None:
    found = joined("résume @. et @src/", tree)
    assert [(item.kind, item.source, item.text) for item in found.submission.attachments] == [
        ("folder", ".", "b.md\nl'été.txt\nmon dossier/\nsrc/"),
        ("folder", "src/", "a.py"),
    ]


def test_a_huge_folder_is_bounded_and_says_so(tree: Path) -> None:
    for n in range(30):
        (tree / "src" / f"f{n:02}").touch()
    text = kept(joined("@src", tree, limits=Limits(entries=10)))[0][1]
    assert text.count("\n") == 10
    assert text.endswith("[… 21 more entries left out …]")


def test_a_file_of_more_than_two_megabytes_is_skipped(tree: Path) -> None:
    with (tree / "big.txt").open("wb") as file:
        file.truncate(5_000_000_000)
    found = joined("@big.txt @b.md", tree)
    assert kept(found) == [("b.md", "b")]
    assert found.notices == (Notice("warn", "term.attach.too_big", {"path": "big.txt", "size": "5.0\u00a0GB"}),)


def test_two_megabytes_are_the_limit_to_the_byte(tree: Path) -> None:
    for name, size in (("fits.txt", 2_000_000), ("over.txt", 2_000_001)):
        (tree / name).write_bytes(b"a" * size)
    found = joined("@fits.txt @over.txt", tree)
    assert [attachment.source for attachment in found.submission.attachments] == ["fits.txt"]
    assert [notice.key for notice in found.notices] == ["term.attach.cut", "term.attach.too_big"]


def test_a_long_file_is_cut_in_the_middle(tree: Path) -> None:
    (tree / "long.txt").write_text("a" * 40_000 + "b" * 40_000)
    found = joined("@long.txt", tree)
    item = found.submission.attachments[0]
    assert len(item.text) == 50_000
    assert item.text[0] == "a"
    assert item.text[-1] == "b"
    assert (
        item.cut_chars + len(item.text.replace(item.text[item.text.index("\n[") : item.text.index("]\n") + 2], ""))
        == 80_000
    )
    assert keys(found) == ["cut"]


def test_a_message_holds_150_000_characters_the_last_file_is_cut_and_others_named(tree: Path) -> None:
    for n in range(6):
        (tree / f"f{n}.txt").write_text(str(n) * 40_000)
    found = joined("@f0.txt @f1.txt @f2.txt @f3.txt @f4.txt @f5.txt", tree)
    assert [len(item.text) for item in found.submission.attachments] == [40_000, 40_000, 40_000, 30_000]
    assert found.notices == (
        Notice("warn", "term.attach.over_total", {"path": "f3.txt"}),
        Notice("warn", "term.attach.left_out", {"n": 2, "paths": "f4.txt, f5.txt"}),
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x7fELF\x00\x01", None),
        (bytes(range(256)) * 10, None),
        (b"\x89PNG\r\n\x1a\n\x00", None),
        ("\ufeffété".encode(), "été"),
        ("été".encode("latin-1"), "été"),
        ("été".encode("utf-16"), "été"),
        ("été".encode("utf-32"), "été"),
        (b"one\r\ntwo\r", "one\ntwo\n"),
        (b"%PDF-1.7\n1 0 obj\n", None),
        (b"", ""),
    ],
    ids=[
        "a program",
        "bytes",
        "a picture",
        "UTF-8 with a mark",
        "Latin-1",
        "UTF-16",
        "UTF-32",
        "line ends",
        "PDF",
        "empty",
    ],
)
def test_text_in_any_encoding_goes_and_binary_files_do_not(tree: Path, data: bytes, text: str | None) -> None:
    (tree / "data").write_bytes(data)
    found = joined("@data", tree)
    assert kept(found) == ([] if text is None else [("data", text)])
    assert keys(found) == (["binary"] if text is None else [])


def test_a_pipe_or_a_device_is_never_opened(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    done = threading.Event()
    results: list[Joined] = []

    def work() -> None:
        results.append(joined("@pipe @/dev/zero", tree))
        done.set()

    threading.Thread(target=work, daemon=True).start()
    assert done.wait(5), "opening a pipe waits for ever"
    assert keys(results[0]) == ["special", "special"]


def test_a_file_that_cannot_be_read_is_said(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    found = joined("@b.md", tree)
    assert found.notices == (
        Notice("warn", "term.attach.unreadable", {"path": "b.md", "problem": "Permission denied"}),
    )


def test_a_circle_of_links_names_no_file(tree: Path) -> None:
    os.symlink("loop2.md", tree / "loop1.md")
    os.symlink("loop1.md", tree / "loop2.md")
    assert keys(joined("@loop1.md", tree)) == ["missing"]


def test_a_nul_in_a_name_is_harmless(tree: Path) -> None:
    assert keys(joined("@a\0b.py", tree)) == ["missing"]


def test_every_notice_has_words(tree: Path) -> None:
    values = {"path": "p", "size": "s", "problem": "x", "first": 1, "total": 2, "paths": "a, b"}
    for key in ("missing", "binary", "too_big", "special", "unreadable", "no_such_lines", "over_total"):
        assert FR(f"term.attach.{key}", **values) != EN(f"term.attach.{key}", **values)
    assert tree


@pytest.mark.parametrize("written", ["a.py", "src/x.ts", "./x", "../x", "~/x", "/etc/x"])
def test_paths_look_like_paths(written: str, tmp_path: Path) -> None:
    assert looks_like_path(written, tmp_path)


@pytest.mark.parametrize("written", ["Override", "scope/pkg", "jean.dupont", "v1.2", "a/1.2", ".", "x()", "/", "~/"])
def test_words_do_not(written: str, tmp_path: Path) -> None:
    assert not looks_like_path(written, tmp_path)


def test_a_file_that_git_ignores_goes_when_it_is_named(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.log\n")
    (tree / "run.log").write_text("log")
    assert kept(joined("@run.log", tree)) == [("run.log", "log")]


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs Linux's /proc")
def test_a_file_whose_size_is_said_to_be_zero_is_read_all_the_same(tree: Path) -> None:
    assert kept(joined("@/proc/version", tree))[0][1].startswith("Linux")


@given(st.text(st.sampled_from("@./~ab:#L1'\"\\\0 é\ud800\n"), max_size=40))
def test_no_text_makes_it_fail(text: str) -> None:
    typed = parse(text)
    if isinstance(typed, Text):
        found = join_files(typed, Path("/proc/self/fd"), Path("/nonexistent"))
        assert found.submission.text == text
