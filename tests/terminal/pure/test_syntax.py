import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal.spans import Span, text_of
from maia.terminal.syntax import coloured

LANGUAGES = (
    "python",
    "js",
    "c",
    "java",
    "rust",
    "go",
    "php",
    "bash",
    "yaml",
    "json",
    "ruby",
    "lua",
    "sql",
    "diff",
    "html",
    "",
)

CASES = [
    ("python", "def f(x):", [("def", "code_keyword"), ("f", "code_name")]),
    ("python", "x = 'a' # why", [("'a'", "code_text"), ("# why", "muted")]),
    ("py", 'a = """x\ny"""', [('"""x', "code_text"), ('y"""', "code_text")]),
    ("ts", "const a = `x${y}` // why", [("const", "code_keyword"), ("`x${y}`", "code_text"), ("// why", "muted")]),
    (
        "c",
        "/* a\nb */ int x = 0x1F;",
        [("/* a", "muted"), ("b */", "muted"), ("int", "code_keyword"), ("0x1F", "code_number")],
    ),
    ("bash", 'echo "a" a#b # why', [("echo", "code_keyword"), ('"a"', "code_text"), ("# why", "muted")]),
    ("sql", "Select * from t -- why", [("Select", "code_keyword"), ("from", "code_keyword"), ("-- why", "muted")]),
    ("json", '{"a": true}', [('"a"', "code_text"), ("true", "code_keyword")]),
    ("diff", "+a\n-b\n c", [("+a", "diff_new"), ("-b", "diff_old")]),
    ("brainfuck", "if x", []),
]


@pytest.mark.parametrize(("language", "code", "expected"), CASES, ids=[f"{row[0]}: {row[1][:12]}" for row in CASES])
def test_the_parts_of_code_have_their_colours(language: str, code: str, expected: list[tuple[str, str]]) -> None:
    found = [(span.text, span.style) for row in coloured(code, language) for span in row]
    assert [pair for pair in found if pair[1] != "plain"] == expected


@given(st.sampled_from(LANGUAGES), st.text(st.sampled_from("ab1 \"'`\\/*#-\n(é漢"), max_size=60))
def test_the_text_is_never_changed(language: str, code: str) -> None:
    assert "\n".join(map(text_of, coloured(code, language))) == code


@pytest.mark.parametrize(
    "code", ['"' * 90_000, "/*" * 45_000, "'''" * 30_000, '"\\' * 45_000, "a(" * 45_000, "#" * 90_000, "/**" * 30_000]
)
def test_hostile_code_is_read_in_time(code: str) -> None:
    began = time.process_time()
    for language in LANGUAGES:
        coloured(code, language)
    assert time.process_time() - began < 8


def test_very_long_code_stays_plain() -> None:
    assert coloured("if " * 50_000, "python") == [(Span("if " * 50_000),)]
