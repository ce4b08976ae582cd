from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.privacy.samples import NAMED, NEVER, VALUES

from maia.privacy.kinds import KINDS
from maia.privacy.mask import Masker, Span
from maia.privacy.policy import Policy
from maia.privacy.recognisers import NEAR, RECOGNISERS

MASKER = Masker(Policy(actions={"taj_number": "mask"}))
ALONE = [(kind, value) for kind, values in VALUES.items() for value in values]


@pytest.mark.parametrize(("kind", "value"), ALONE, ids=[value for _, value in ALONE])
@pytest.mark.parametrize(
    "around", ["{}", "Voici {}, merci.", "«{}»", "a={};b", "x\n{}\ny", '{{"v": "{}"}}', "({})", "é{} !"]
)
def test_a_value_is_found_whole_whatever_stands_around_it(kind: str, value: str, around: str) -> None:
    if around == "é{} !" and value[0].isalpha():
        pytest.skip("a letter before it makes another word")
    text = around.format(value)
    start = text.index(value)
    assert MASKER.mask(text).spans == (Span(kind, start, start + len(value)),)


@pytest.mark.parametrize(("kind", "words", "value"), NAMED, ids=[value for _, _, value in NAMED])
def test_a_number_is_found_when_a_word_before_it_says_what_it_is(kind: str, words: str, value: str) -> None:
    text = f"{words}{value}, ok"
    assert MASKER.mask(text).spans == (Span(kind, len(words), len(words) + len(value)),)
    assert MASKER.mask(f"xx {value}, ok").spans == ()


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        (f"phone{' ' * (NEAR - 5)}1234567", True),
        (f"phone{' ' * (NEAR - 4)}1234567", False),
        ("phone\n1234567", False),
        ("phone 123456", False),
        ("phone 1234567890123456", False),
        ("microphone 1234567", False),
        ("phones2 1234567", False),
        ("tel 2026-11-30 10:30", False),
        ("tel 192.168.100.200", False),
        ("tel 1 234 567 €", False),
        ("tel 2026-11-30 puis 1234567", True),
        ("tel 1234567 le 2026-11-30", True),
    ],
)
def test_a_phone_word_counts_whole_on_the_same_line_within_forty_characters(text: str, is_found: bool) -> None:
    assert [text[span.start : span.end] for span in MASKER.mask(text).spans] == (["1234567"] if is_found else [])


@pytest.mark.parametrize("text", NEVER)
@pytest.mark.parametrize("around", ["{}", "le {} ici", '"{}",', "x={}\n"])
def test_what_is_never_personal_data_is_left_alone(text: str, around: str) -> None:
    assert MASKER.mask(around.format(text)).spans == ()


def test_ordinary_text_and_code_have_nothing_to_find() -> None:
    text = (
        "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)  # 1234567890\n"
        "@dataclass\nclass A: x: int = 0x1234567890abcdef\nError 404 at line 1234567, col 12 (took 1234.5678 ms)\n"
        "Les 12 000 000 de lignes de 2024-2026 (pp. 120-135, ISBN 978-2-07-036822-8).\n"
    )
    assert MASKER.mask(text).text == text


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_no_value_goes_over_the_end_of_a_line(break_: str) -> None:
    assert MASKER.mask(f"4111 1111{break_}1111 1111").spans == ()


def shifted(value: str, zero: int) -> str:
    """The value with the ten digits that begin at `zero`."""
    return value.translate({ord(digit): zero + int(digit) for digit in "0123456789"})


LOOKALIKES: dict[str, Callable[[str], str]] = {
    "full-width digits": lambda value: shifted(value, 0xFF10),
    "arabic digits": lambda value: shifted(value, 0x660),
    "bold digits": lambda value: shifted(value, 0x1D7CE),
    "no-break spaces": lambda value: value.replace(" ", "\u00a0"),
    "narrow no-break spaces": lambda value: value.replace(" ", "\u202f"),
    "zero-width spaces": lambda value: "\u200b".join(value),
    "soft hyphens": lambda value: "\u00ad".join(value),
    "direction marks": lambda value: "\u200e".join(value),
    "other dashes": lambda value: value.replace("-", "\u2011"),
    "full-width at": lambda value: value.replace("@", "＠"),
    "keycaps": lambda value: re.sub("([0-9])", "\\1\ufe0f\u20e3", value),
}


@pytest.mark.parametrize("name", LOOKALIKES)
@pytest.mark.parametrize(("kind", "value"), [(kind, values[0]) for kind, values in VALUES.items()])
def test_look_alikes_hide_nothing_and_the_places_are_those_of_the_text_as_it_was(
    name: str, kind: str, value: str
) -> None:
    hidden = LOOKALIKES[name](value)
    text = f"😀 é {hidden} fin"
    (span,) = MASKER.mask(text).spans
    assert span.kind == kind
    assert MASKER.mask(text).text.strip("\ufe0f\u20e3").startswith(f"😀 é [{kind.upper()}]")
    assert text[span.start : span.end].rstrip("\ufe0f\u20e3") == hidden.rstrip("\ufe0f\u20e3")


def test_every_built_in_type_has_a_recogniser_and_every_row_a_known_type() -> None:
    found = {row.kind for row in RECOGNISERS}
    assert found <= KINDS.keys()
    assert KINDS.keys() - found == {"email", "secret"}, "addresses have their own way, keys another room's"
    assert len({(row.kind, row.name) for row in RECOGNISERS}) == len(RECOGNISERS)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 20_000,
        "12 " * 7_000,
        "@" * 20_000,
        "a@" * 10_000,
        "a" * 20_000 + "@",
        "+1" * 10_000,
        "(1" * 10_000,
        "tel " * 5_000 + "1" * 9,
    ],
)
def test_hostile_texts_are_read_in_a_time_that_grows_with_their_length(text: str) -> None:
    MASKER.mask(text)
