from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maia.core.errors import UnsafeText
from maia.core.filetext import decode, from_raw
from maia.tools.match import Match, Near, apart, edit_changes, fold, fold_bounds, locate, nearest, without_numbers

CHARS = st.sampled_from("ab  \t\n“\"’'…–-.\u00a0é")
TEXTS = st.text(CHARS, max_size=40)
LINES = st.text(st.sampled_from("ab  \t“\"’'…–-.\u00a0é"), max_size=30)
WIDTHS = st.sampled_from([0, 2, 4, 8])

PLAIN = str.maketrans({"“": '"', "’": "'", "–": "-", "\u00a0": " "})


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_an_exact_edit_gives_exactly_the_new_text_and_touches_nothing_else(
    head: str, old: str, tail: str, new: str
) -> None:
    assume(old)
    text = head + old + tail
    match = Match(len(head), len(head) + len(old))
    assert match in locate(text, old)
    edited = from_raw(text).splice(edit_changes(text, match, old, new)).text
    assert edited == head + new + tail


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_tolerant_edit_touches_nothing_outside_the_span_it_found(head: str, old: str, tail: str, new: str) -> None:
    text = head + old + tail
    for match in locate(text, old.translate(PLAIN)):
        changes = edit_changes(text, match, old.translate(PLAIN), new)
        edited = from_raw(text).splice(changes).text
        assert edited.startswith(text[: match.start])
        assert edited.endswith(text[match.end :])


@given(TEXTS, TEXTS)
def test_a_tolerant_edit_that_changes_nothing_changes_no_character(text: str, old: str) -> None:
    for match in locate(text, old):
        assert edit_changes(text, match, old, old) == []


@given(TEXTS, LINES, TEXTS)
def test_typographic_characters_are_found_by_their_plain_ones(head: str, line: str, tail: str) -> None:
    plain = line.translate(PLAIN)
    assume(plain.strip(" \t"))
    text = f"{head}\n{line}\n{tail}"
    assert any(fold(text[m.start : m.end].strip("\n"), 0) == fold(plain, 0) for m in locate(text, plain)) or (
        plain in text
    )


@given(LINES, WIDTHS)
def test_every_bound_of_a_folded_line_cuts_both_at_the_same_place(line: str, width: int) -> None:
    folded, bounds = fold(line, width), fold_bounds(line, width)
    assert bounds[0] == 0
    assert max(bounds) == len(folded)
    assert list(bounds.values()) == sorted(set(bounds.values()))
    for offset, place in bounds.items():
        if not width:
            assert fold(line[:place] + "|", width) == folded[:offset] + "|"


@given(TEXTS, TEXTS)
def test_matches_that_are_kept_apart_do_not_overlap(text: str, old: str) -> None:
    assume(old)
    kept = apart(locate(text, old))
    assert all(a.end <= b.start for a, b in pairwise(kept))


@pytest.mark.parametrize(
    ("old", "new", "both"),
    [
        ("1\ta\n2\tb\n", "1\ta\n2\tc\n", ("a\nb\n", "a\nc\n")),
        ("   12→x", "   12→y\nz", ("x", "y\nz")),
        ("1\ta\nb\n", "", None),
        ("plain", "x", None),
        ("", "x", None),
    ],
)
def test_line_numbers_are_taken_off_only_when_every_line_has_one(
    old: str, new: str, both: tuple[str, str] | None
) -> None:
    assert without_numbers(old, new) == both


@pytest.mark.parametrize(
    ("text", "old", "near"),
    [
        ("a\nfoo(1)\nb", "foo(2)", [Near(2, "foo(1)")]),
        ("x = 1\ny = 2\nz", "x = 1\ny = 3\nz", [Near(2, "y = 2", "y = 3")]),
        ("x = 1", "x = 1\nmore", [Near(1, "x = 1", "more")]),
        ("abc", "   \n", []),
        ("", "abc", []),
    ],
)
def test_the_nearest_places_are_named(text: str, old: str, near: list[Near]) -> None:
    assert nearest(text, old) == near


def test_a_long_file_with_a_missing_text_is_searched_quickly() -> None:
    text = "".join(f"    value_{n} = compute({n})\n" for n in range(100_000))
    assert locate(text, "    valeur_7 = compute(7)\n    valeur_8") == []
    assert nearest(text, "    value_x = compute(5)")


@given(
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.text(st.sampled_from("ab é\t\r\n"), max_size=20),
    st.text(st.sampled_from("ab é\t\r\n"), max_size=20),
    st.text(st.sampled_from("ab \né"), max_size=12),
)
def test_no_byte_outside_the_span_changes_in_any_encoding(encoding: str, head: str, tail: str, new: str) -> None:
    assume(not head.endswith("\r") and not tail.startswith("\n"))  # one CRLF is not two line ends
    data = f"{head}<old>{tail}".encode(encoding)
    file = decode(data)
    (match,) = locate(file.text, "<old>")
    try:
        after = file.splice(edit_changes(file.text, match, "<old>", new)).encode()
    except UnsafeText:
        assume(False)
        return
    before_span, _, after_span = data.partition("<old>".encode("utf-16")[2:] if encoding == "utf-16" else b"<old>")
    assert after.startswith(before_span)
    assert after.endswith(after_span)
    assert decode(after).text == file.text[: match.start] + new + file.text[match.end :]
