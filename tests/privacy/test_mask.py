from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.samples import ACTING, NAMED, VALUES

from maia.privacy.custom import CustomPattern
from maia.privacy.kinds import KINDS, placeholder
from maia.privacy.mask import Masked, Masker, Span, apply
from maia.privacy.policy import Policy

MASKER = Masker(Policy())
FILLING = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("0123456789 .-/()+@[]\n")), max_size=40)
SEPARATED = [(kind, value) for kind, values in VALUES.items() for value in values]
ODD = ("\u200b", "\u00ad", "\ufeff")


def disguised(value: str, how: int) -> str:
    """The value as somebody may paste it: other spaces, other digits, or marks that nobody sees."""
    match how % 5:
        case 0:
            return value
        case 1:
            return value.replace(" ", "\u00a0").replace("-", "\u2010")
        case 2:
            return ODD[how % 3].join(value)
        case 3:
            return value.translate({ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"})
        case _:
            return value.replace(" ", "\u2009" if how % 2 else "\u202f")


def bare(text: str) -> str:
    """Letters and digits alone, as whoever reads the text would make them out."""
    return "".join(char for char in unicodedata.normalize("NFKC", text) if char.isalnum()).casefold()


@given(FILLING, st.lists(st.tuples(st.sampled_from(SEPARATED), st.integers(0, 29), FILLING), min_size=1, max_size=4))
def test_no_masked_value_leaves_in_any_form(before: str, pieces: list[tuple[tuple[str, str], int, str]]) -> None:
    text = before + "".join(f"\n{disguised(value, how)}\n{after}" for (_, value), how, after in pieces)
    lines = MASKER.mask(text).text
    for (_, value), _, after in pieces:
        if bare(value) not in bare(before) + bare(after):
            assert not any(bare(value) in bare(line) for line in lines.splitlines())


@given(FILLING)
def test_a_masked_text_is_the_text_with_its_spans_replaced_and_nothing_else(text: str) -> None:
    masked = MASKER.mask(text)
    assert masked.text == apply(text, masked.spans)
    ends = [0, *(span.end for span in masked.spans)]
    assert all(end <= span.start < span.end for end, span in zip(ends, masked.spans, strict=False))
    if not masked.spans:
        assert masked.text == text


@given(st.lists(st.one_of(FILLING, st.sampled_from([value for _, value in SEPARATED] + [a + b for _, a, b in NAMED]))))
def test_masking_twice_does_no_more_than_once(pieces: list[str]) -> None:
    masker = Masker(Policy(patterns=(CustomPattern("Mail", r"\[?EMAIL\]?|MASK\w*|client .*", "mask_me"),)))
    once = masker.mask(" ".join(pieces)).text
    again = masker.mask(once)
    assert (again.text, again.spans) == (once, ())


def test_a_placeholder_that_brings_a_word_near_is_looked_past() -> None:
    text = "phone of jean.emmanuel.de.la.tour.dupont@exemple.fr 1234567"
    assert MASKER.mask(text).text == "phone of [EMAIL] [PHONE]"
    assert MASKER.mask(text).spans == (Span("email", 9, 51), Span("phone", 52, 59))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in VALUES])
@pytest.mark.parametrize("action", ["off", "warn", "mask", "block"])
def test_each_type_does_what_the_policy_says(kind: str, action: str) -> None:
    policy = Policy(actions={**dict.fromkeys(KINDS, "off"), kind: action})  # pyright: ignore[reportArgumentType]
    masked = Masker(policy).mask(VALUES[kind][0])
    assert masked.text == (placeholder(kind) if action in ("mask", "block") else VALUES[kind][0])


def test_what_is_only_counted_is_found_but_stays() -> None:
    masker = Masker(Policy())
    assert [found.kind for found in masker.find("TAJ 123 456 788")] == ["taj_number"]
    assert masker.mask("TAJ 123 456 788").text == "TAJ 123 456 788"


def test_of_two_that_overlap_the_stricter_one_names_the_whole() -> None:
    wide = CustomPattern("Ligne", r"compte .*", "line", "mask")
    masker = Masker(Policy(patterns=(wide,)))
    assert masker.mask("le compte FR7630006000011234567890189 de Jean").text == "le [IBAN]"
    strict = Masker(Policy(patterns=(CustomPattern("Ligne", r"compte .*", "line", "block"),)))
    assert strict.mask("le compte a@b.example de Jean").text == "le [LINE]"


def test_a_counted_value_never_uncovers_a_masked_one() -> None:
    wide = CustomPattern("Tout", r".+", "all", "warn")
    assert Masker(Policy(patterns=(wide,))).mask("moi: a@b.example").text == "moi: [EMAIL]"


def test_nothing_is_done_where_the_policy_is_not_enabled() -> None:
    text = " ".join(values[0] for values in VALUES.values())
    assert Masker(Policy(enabled=False)).mask(text) == Masked(text)


def test_keys_are_found_by_the_finder_that_is_given() -> None:
    text = "clé abc-123 ici"
    masker = Masker(Policy(), lambda text: [found.span() for found in re.finditer("abc-123", text)])
    assert masker.mask(text).text == "clé [SECRET] ici"
    assert Masker(Policy(actions={"secret": "off"}), lambda _text: [(0, 3)]).mask(text).text == text


def test_every_type_has_the_same_placeholder_for_each_of_its_values() -> None:
    text = "a@b.example c@d.example a@b.example"
    assert MASKER.mask(text).text == "[EMAIL] [EMAIL] [EMAIL]"
    assert MASKER.mask(text).counts == {"email": 3}
    assert {placeholder(kind) for kind in ACTING} >= {"[EMAIL]", "[IBAN]", "[CREDIT_CARD]"}
