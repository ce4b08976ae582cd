import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.files.names import LONGEST_NAME, clean_name, free_name

CASES = {
    "plain": ("rapport.pdf", "rapport.pdf"),
    "path": ("../../etc/passwd", "passwd"),
    "windows path": ("C:\\Users\\Léa\\b.doc", "b.doc"),
    "decomposed": ("e\u0301te\u0301.txt", "été.txt"),
    "turned": ("rapport\u202efdp.exe", "rapportfdp.exe"),
    "no width": ("a\u200b\ufeffb.txt", "ab.txt"),
    "control": ("a\x00b\r\nc.txt", "abc.txt"),
    "half a character": ("a\ud83d.txt", "a.txt"),
    "hidden": (".bashrc", "bashrc"),
    "dots": ("..", "file"),
    "nothing": ("", "file"),
    "spaces": ("  a \u00a0 b .txt ", "a b.txt"),
    "markup": ('<img src="x">.png', "_img src=_x__.png"),
    "long": ("é" * 300 + ".pdf", "é" * 88 + ".pdf"),
    "long ending": ("a." + "b" * 300, "a." + "b" * 178),
}


@pytest.mark.parametrize(("given_name", "kept"), CASES.values(), ids=CASES)
def test_a_name_from_outside_becomes_a_plain_one(given_name: str, kept: str) -> None:
    assert clean_name(given_name) == kept


@given(st.text(st.characters(), max_size=400))
def test_a_kept_name_is_short_visible_and_cleaned_already(name: str) -> None:
    kept = clean_name(name)
    assert 0 < len(kept.encode()) <= LONGEST_NAME
    assert kept.isprintable()
    assert not set(kept) & set("/\\\0")
    assert kept not in (".", "..")
    assert clean_name(kept) == kept


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert free_name("a.txt", {"b.txt"}) == "a.txt"
    assert free_name("a.txt", {"a.txt", "a (2).txt"}) == "a (3).txt"
    assert free_name("Makefile", {"Makefile"}) == "Makefile (2)"
