import math
import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maia.memory.entries import MAX_CHARS, checked_tags, checked_text
from maia.memory.folding import folded, tokens
from maia.memory.identity import checked_identity, place_name
from maia.memory.problems import MemoryProblem
from maia.memory.query import MAX_TERMS, Term, terms
from maia.memory.ranking import HALF_LIFE, Hit, Ranked, affordable, fresh_first, freshness, joined
from maia.memory.vectors import CANDIDATES, PIECE_CHARS, Cosine, nearest, pieces, signs, vector_of

# Identities -----------------------------------------------------------------------------------------------------------

NAMES = st.text(min_size=1, max_size=80).filter(lambda name: name.isprintable() and bool(name.strip()))


@given(NAMES)
@example("../../etc/passwd")
@example("agent:CON")
@example(".")
@example("x" * 1000)
def test_a_place_is_a_plain_name_that_leads_nowhere_else(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{24}", place_name(name))
    assert len(place_name(name)) <= 55


@given(NAMES, NAMES)
@example("reviewer", "Reviewer")
@example("\u00e9", "e\u0301")
@example("a/b", "a-b")
@example("a", "a ")
def test_two_names_have_two_places(one: str, other: str) -> None:
    assert (place_name(one) == place_name(other)) == (one == other)


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "\ud800", "x" * 1001])
def test_what_is_no_name_is_no_identity(name: str) -> None:
    with pytest.raises(MemoryProblem, match=r"memory\.bad_identity"):
        checked_identity(name)


# Words ----------------------------------------------------------------------------------------------------------------


@given(st.text())
def test_terms_are_letters_and_digits_only(query: str) -> None:
    found = terms(query)
    assert len(found) <= MAX_TERMS
    assert all(re.fullmatch(r"[^\W_]+", form) for term in found for form in term.forms)
    assert bool(found) == bool(tokens(query[:10_000]))


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert tokens(folded(text)) == tokens(text)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("les factures", (Term(("facture",), True),)),
        ("the API", (Term(("api", "apis", "apix", "apies"), False),)),
        ("cœur", (Term(("cœur", "coeur"), True),)),
        ("to be", (Term(("to", "tos", "tox", "toes"), False), Term(("be", "bes", "bex", "bees"), False))),
        ("chat, chat!", (Term(("chat",), True),)),
        ("", ()),
        ('"*" ()', ()),
    ],
)
def test_a_query_becomes_its_telling_words(query: str, wanted: tuple[Term, ...]) -> None:
    assert terms(query) == wanted


# What is kept ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (" \n", "memory.empty"),
        ("x" * (MAX_CHARS + 1), "memory.too_long"),
        ("a\0b", "memory.no_text"),
        ("\udc80", "memory.no_text"),
    ],
)
def test_a_text_that_cannot_be_kept_is_refused(text: str, key: str) -> None:
    with pytest.raises(MemoryProblem) as caught:
        checked_text(text)
    assert caught.value.key == key


def test_a_text_of_the_greatest_length_is_kept() -> None:
    assert checked_text("é" * MAX_CHARS) == "é" * MAX_CHARS


def test_tags_have_one_spelling() -> None:
    assert checked_tags([" Projet  X ", "projet x", "E\u0301TE\u0301", "Straße"]) == ("projet x", "été", "strasse")


@pytest.mark.parametrize("tag", ["", " ", "a,b", "x" * 51, "a\x07"])
def test_a_tag_that_is_none_is_refused(tag: str) -> None:
    with pytest.raises(MemoryProblem, match=r"memory\.bad_tag"):
        checked_tags([tag])
    with pytest.raises(MemoryProblem, match=r"memory\.too_many_tags"):
        checked_tags([f"t{number}" for number in range(21)])


@given(st.lists(st.text(max_size=20), max_size=5))
def test_spelling_tags_twice_changes_nothing_more(tags: list[str]) -> None:
    try:
        once = checked_tags(tags)
    except MemoryProblem:
        return
    assert checked_tags(once) == once


@pytest.mark.parametrize(
    ("counts", "most", "places"),
    [([5, 1, 3], 100, [1, 2, 0]), ([5, 1, 3], 4, [1, 2]), ([50, 90], 10, [0]), ([0, 0, 9], 5, [0, 1])],
)
def test_the_rarest_words_are_weighed_as_far_as_they_go(counts: list[int], most: int, places: list[int]) -> None:
    assert affordable(counts, most) == places


# Ranking --------------------------------------------------------------------------------------------------------------


def test_freshness_fades_to_a_half() -> None:
    ages = [-5.0, 0.0, HALF_LIFE, 2 * HALF_LIFE, 1e12]
    assert [freshness(age) for age in ages] == [1.0, 1.0, 0.75, 0.625, 0.5]


def test_of_equal_entries_the_newest_comes_first_and_a_much_better_one_wins_all_the_same() -> None:
    now = 10 * HALF_LIFE
    hits = [Hit("old", 0.0, 1.0), Hit("new", now, 1.0), Hit("old and better", 0.0, 3.0)]
    assert [hit.entry_id for hit in fresh_first(hits, now)] == ["old and better", "new", "old"]


def test_two_rankings_become_one() -> None:
    words = [Hit("a", 1, 9.0), Hit("b", 2, 5.0)]
    meaning = [Hit("b", 2, 0.9), Hit("c", 3, 0.8)]
    assert joined(words, meaning, 5) == [
        Ranked("b", 1 / 62 + 1 / 61, "both"),
        Ranked("a", 1 / 61, "words"),
        Ranked("c", 1 / 62, "meaning"),
    ]
    assert joined(words, [], 1) == [Ranked("a", 9.0, "words")]
    assert joined([], meaning, 1) == [Ranked("b", 0.9, "meaning")]
    assert joined([], [], 5) == []


# Vectors --------------------------------------------------------------------------------------------------------------

NUMBERS = st.lists(st.floats(-1e3, 1e3).filter(lambda number: abs(number) > 1e-3), min_size=3, max_size=40)


@given(NUMBERS)
def test_a_vector_has_length_one_and_is_nearest_to_itself(numbers: list[float]) -> None:
    vector = vector_of(numbers)
    assert vector is not None
    assert Cosine(vector).to(vector) == pytest.approx(1.0)
    opposite = vector_of([-number for number in numbers])
    assert opposite is not None
    assert Cosine(vector).to(opposite) == pytest.approx(-1.0, abs=1e-5)
    assert signs(vector) == int("".join("1" if number < 0 else "0" for number in numbers), 2)


@pytest.mark.parametrize("numbers", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf], [1.7e308, 1.7e308]])
def test_what_has_no_direction_is_no_vector(numbers: list[float]) -> None:
    assert vector_of(numbers) is None


def test_the_signs_let_nearly_all_of_the_nearest_through() -> None:
    chance = random.Random(7)
    subjects = [[chance.gauss(0, 1) for _ in range(96)] for _ in range(60)]
    among = [vector_of([x + chance.gauss(0, 0.8) for x in chance.choice(subjects)]) for _ in range(4_000)]
    vectors = [vector for vector in among if vector is not None]
    known = [signs(vector) for vector in vectors]
    kept = 0
    for number in range(20):
        query = vectors[number]
        far = [-Cosine(query).to(vector) for vector in vectors]
        exact = sorted(range(len(vectors)), key=far.__getitem__)[:10]
        near = nearest(signs(query), known)
        assert CANDIDATES <= len(near) < len(vectors) / 2
        kept += len(set(exact) & set(near))
    assert kept >= 195, "of 200"


def test_few_vectors_are_all_compared() -> None:
    assert nearest(0, [1, 2, 3], 3) == [0, 1, 2]
    assert nearest(0b1111, [0b1111, 0b0000, 0b0111], 1) == [0]


@given(st.text(max_size=400).map(lambda text: text * 20))
def test_pieces_hold_every_word_and_fit(text: str) -> None:
    found = pieces(text)
    assert all(0 < len(piece) <= PIECE_CHARS for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_pieces_end_between_paragraphs_where_they_can() -> None:
    assert pieces("a" * 1_000 + "\n\n" + "b" * 1_000) == ["a" * 1_000, "b" * 1_000]
