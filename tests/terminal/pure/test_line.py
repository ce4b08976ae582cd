import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal.line import (
    AgentCall,
    Bang,
    BangHelp,
    Blank,
    Command,
    SkillCall,
    Text,
    line_suffix,
    mentions,
    parse,
)

TYPED = [
    ("a command", "/model", Command("model")),
    ("its argument", "/model qwen 3 ", Command("model", "qwen 3")),
    ("a name with capitals", "/createAgent x", Command("createAgent", "x")),
    ("a slash alone asks for help", "/", Command("help")),
    ("a path is text", "/usr/bin/env python is missing", Text("/usr/bin/env python is missing")),
    ("a comment is text", "// why?", Text("// why?")),
    ("a leading space sends it as text", " /model", Text(" /model")),
    ("a shell command", "!git status", Bang("git status")),
    ("with a space", "! git status", Bang("git status")),
    ("quoted as a whole", "!'npm test -k \"a b\"'", Bang('npm test -k "a b"')),
    ("with a quote inside", r"!'echo l\'été'", Bang("echo l'été")),
    ("several quoted words are for the shell", "!'my prog' 'x'", Bang("'my prog' 'x'")),
    ("an open quote is for the shell", "!'oops", Bang("'oops")),
    ("several lines", "!for i in 1 2\ndo echo $i\ndone", Bang("for i in 1 2\ndo echo $i\ndone")),
    ("alone it shows help", "!", BangHelp()),
    ("alone with a space too", "!  ", BangHelp()),
    ("not at the beginning", "hi !ls", Text("hi !ls")),
    ("a skill", "§pdf a b", SkillCall("pdf", "a b")),
    ("skills", "§", SkillCall("")),
    ("an agent", "&Reviewer relis src/a.ts", AgentCall("Reviewer", "relis src/a.ts")),
    ("agents", "&", AgentCall("")),
    ("nothing", "", Blank()),
    ("only blanks", " \n\t", Blank()),
    ("text", "corrige l'arrondi", Text("corrige l'arrondi")),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TYPED], ids=[row[0] for row in TYPED])
def test_a_typed_line_is_read(text: str, expected: object) -> None:
    assert parse(text) == expected


def readings(text: str, pasted: tuple[tuple[int, int], ...] = ()) -> list[list[str]]:
    """Each mention's candidates as `path` or `path:first-last`."""
    return [
        [c.path + (f":{c.lines[0]}-{c.lines[1]}" if c.lines else "") for c in mention.candidates]
        for mention in mentions(text, pasted)
    ]


MENTIONS = [
    ("one", "lis @src/a.py", [["src/a.py"]]),
    ("several", "@a.py et @b.py", [["a.py"], ["b.py"]]),
    ("with a space after the sign", "résume @ docs/x.md vite", [["docs/x.md"]]),
    ("in quotes", "lis @'mon dossier/a b.txt' !", [["mon dossier/a b.txt"]]),
    ("a quote inside quotes", r"lis @'l\'été.txt'", [["l'été.txt"]]),
    ("double quotes", 'lis @"a b.txt"', [["a b.txt"]]),
    ("a space, then quotes", "lis @ 'a b.txt'", [["a b.txt"]]),
    ("quotes that never close", "lis @'a b.txt", []),
    ("an escaped space", r"lis @a\ b.txt vite", [["a b.txt"]]),
    ("absolute and home", "@/etc/hosts @~/notes.md", [["/etc/hosts"], ["~/notes.md"]]),
    ("a line", "@a.ts:12", [["a.ts:12", "a.ts:12-12"]]),
    ("lines", "@a.ts:12-30", [["a.ts:12-30", "a.ts:12-30"]]),
    ("a line as on the web", "@a.ts#L12", [["a.ts#L12", "a.ts:12-12"]]),
    ("lines as on the web", "@a.ts#L12-L30", [["a.ts#L12-L30", "a.ts:12-30"]]),
    ("line and column of a compiler", "@a.c:12:5", [["a.c:12:5", "a.c:12-12"]]),
    ("lines after quotes", "@'a b.txt':3-5.", [["a b.txt:3-5"]]),
    ("a dot that ends the sentence", "lis @a.py.", [["a.py.", "a.py"]]),
    ("a comma", "@a.py, puis", [["a.py,", "a.py"]]),
    ("in parentheses", "(voir @a.py)", [["a.py)", "a.py"]]),
    ("a French question mark", "lis @a.py\u202f?", [["a.py\u202f?", "a.py\u202f", "a.py"]]),
    ("French quotes", "«\u202f@a.py\u202f»", [["a.py\u202f»", "a.py\u202f", "a.py"]]),
    ("a line and a colon", "@a.py:12:", [["a.py:12:", "a.py:12", "a.py:12-12"]]),
    ("glued one after the other", "@a.py,@b.py", [["a.py"], ["b.py"]]),
    ("an English genitive", "@a.py's tests", [["a.py's", "a.py"]]),
    ("a macOS screenshot", "@Capture\u202fAM.png", [["Capture\u202fAM.png"]]),
    ("a folder", "résume @docs/", [["docs/"]]),
    ("this folder", "@. ", [["."]]),
    ("an annotation is only a candidate", "l'annotation @Override", [["Override"]]),
    ("a package too", "npm i @scope/pkg", [["scope/pkg"]]),
    ("an e-mail address", "écris à jean@exemple.fr", []),
    ("an e-mail address with dots", "a.b@c.fr et x+y@z.org", []),
    ("an address of the web", "https://mastodon.example/@jean", []),
    ("inside backticks", "utilise `@a.py` ici", []),
    ("inside double backticks", "``a ` @b.py`` et @c.py", [["c.py"]]),
    ("inside a fence", "```\n@a.py\n```\n@b.py", [["b.py"]]),
    ("after an odd backtick", "l` @a.py", [["a.py"]]),
    ("a sign alone", "@", []),
    ("a sign before a blank", "a @ ", []),
    ("punctuation only", "@... @?! @)", []),
    ("two signs", "@@a.py", [["@a.py"]]),
    ("on the second line", "a\n@b.py", [["b.py"]]),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in MENTIONS], ids=[row[0] for row in MENTIONS])
def test_mentions_are_found(text: str, expected: list[list[str]]) -> None:
    assert readings(text) == expected


def test_a_pasted_block_holds_no_mention_and_no_command() -> None:
    text = "!rm -rf x\n@a.py\n"
    assert parse(text, [(0, len(text))]) == Text(text)
    assert readings("@a.py " + text, ((6, 6 + len(text)),)) == [["a.py"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:0", None),
        ("a:x", None),
        ("a:3-", None),
        ("a:30-12", ("a", (30, 30))),
        (":12", None),
        ("#L3", None),
        ("a#L", None),
        ("a:²", None),
        ("a:1234567890", None),
    ],
)
def test_only_real_line_numbers_are_taken_off(text: str, expected: object) -> None:
    assert line_suffix(text) == expected


@given(st.text(st.sampled_from("@'\"`\\ab.:#L12/ \n,é\u202f()-"), max_size=80))
def test_any_text_is_read_and_kept_as_it_was(text: str) -> None:
    typed = parse(text)
    if isinstance(typed, Text):
        assert typed.text == text
        end = 0
        for mention in typed.mentions:
            assert text[mention.start] == "@"
            assert mention.start >= end
            assert mention.candidates
            assert all(mention.start < c.end <= len(text) and c.path for c in mention.candidates)
            assert [c.end for c in mention.candidates] == sorted((c.end for c in mention.candidates), reverse=True)
            end = mention.candidates[0].end


@pytest.mark.parametrize("text", ["@" * 200_000, "`" * 200_000, "@'" * 50_000, "`@a " * 100_000, "@a\\ " * 100_000])
def test_a_huge_line_is_read_in_time(text: str) -> None:
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < 3
