from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maia.core.memories import MemoryEntry
from maia.memory.query import terms
from maia.memory.store import Store
from maia.memory.vectors import CANDIDATES, Vector, vector_of
from tests.memory.conftest import OpenStore

NUMBERS = count()


def entry(text: str, *tags: str, created: float = 1_000.0, entry_id: str = "") -> MemoryEntry:
    return MemoryEntry(entry_id or f"e{next(NUMBERS)}", text, created, tags, "run-1")


def put(store: Store, *texts: str) -> list[str]:
    entries = [entry(text, created=float(number)) for number, text in enumerate(texts)]
    store.put(entries)
    return [each.entry_id for each in entries]


def found(store: Store, query: str, tags: Sequence[str] = ()) -> list[str]:
    hits = store.by_words(terms(query), tags, 10)
    kept = store.get([hit.entry_id for hit in hits])
    return [kept[hit.entry_id].text for hit in hits]


def vector(*numbers: float) -> Vector:
    made = vector_of(numbers)
    assert made is not None
    return made


def test_an_entry_comes_back_as_it_was(store: Store) -> None:
    kept = [
        entry("deux\r\nlignes\t«\u202fœ\u202f» 🦉 \x07", "projet x", "été", created=1_796_049_596.900698),
        entry("plain", created=0.0),
    ]
    assert store.put(kept) == 2
    assert store.get([each.entry_id for each in kept]) == {each.entry_id: each for each in kept}
    assert list(store.recent(None, ())) == kept


def test_putting_an_id_again_replaces_the_entry_and_its_words(store: Store) -> None:
    store.put([entry("an old owl", "birds", entry_id="a"), entry("a cat", entry_id="b")])
    assert store.put([entry("a young fox", entry_id="a"), entry("a dog", entry_id="c")]) == 1
    assert found(store, "owl") == []
    assert found(store, "fox") == ["a young fox"]
    assert [each.entry_id for each in store.recent(None, ("birds",))] == []
    assert len(store.recent(None, ())) == 3


def test_what_is_forgotten_is_found_no_more(store: Store) -> None:
    store.put([entry("owl", "birds", entry_id="a")])
    store.put_vectors("m#2", {"a": [vector(1, 0)]})
    assert store.forget("a")
    assert not store.forget("a")
    assert found(store, "owl") == []
    assert store.recent(None, ()) == []
    assert store.by_meaning("m#2", vector(1, 0), (), 5) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("Décidé à l'été", "decide ete", id="accents of the text"),
        pytest.param("decide en ete", "décidé été", id="accents of the query"),
        pytest.param("de\u0301cide\u0301", "décidé", id="another Unicode form"),
        pytest.param("la facture est payée", "factures", id="a plural is asked"),
        pytest.param("les factures sont payées", "facture", id="a plural is kept"),
        pytest.param("le journal", "journaux", id="journaux finds journal"),
        pytest.param("des journaux", "journal", id="journal finds journaux"),
        pytest.param("un bateau", "bateaux", id="bateaux finds bateau"),
        pytest.param("un jeu", "jeux", id="jeux finds jeu"),
        pytest.param("le prix", "prix", id="prix is no plural"),
        pytest.param("one memory", "memories", id="memories finds memory"),
        pytest.param("two memories", "memory", id="memory finds memories"),
        pytest.param("a box", "boxes", id="boxes finds box"),
        pytest.param("two boxes", "box", id="a short word finds its plural"),
        pytest.param("the class", "classes", id="classes finds class"),
        pytest.param("access denied", "access", id="access is no plural"),
        pytest.param("le cœur du système", "coeur", id="a ligature is kept"),
        pytest.param("le coeur du systeme", "cœur", id="a ligature is asked"),
        pytest.param("snake_case and kebab-case", "snake case kebab", id="parts of names"),
        pytest.param("see src/maia/memory/sqlite.py", "sqlite.py", id="parts of paths"),
        pytest.param("the configuration", "config", id="the beginning of a word"),
        pytest.param("to be or not to be", "to be", id="empty words alone"),
        pytest.param("l'API v2", "api", id="short words"),
        pytest.param("Обновить базу данных, мой ёж", "мой ЁЖ", id="Russian"),
        pytest.param("τα μυθιστορήματα", "Μυθιστορήματα", id="Greek"),
        pytest.param("한국어 메모", "한국어", id="Korean"),
    ],
)
def test_words_are_found_in_french_and_in_english(store: Store, text: str, query: str) -> None:
    put(store, text, "nothing of the kind")
    assert found(store, query) == [text]


def test_a_short_word_is_no_beginning(store: Store) -> None:
    put(store, "capital letters")
    assert found(store, "cap") == []


def test_empty_words_do_not_make_hits(store: Store) -> None:
    put(store, "the owl is in the tree", "the cat is in the house")
    assert found(store, "what is in the tree?") == ["the owl is in the tree"]


def test_more_and_rarer_words_come_first(store: Store) -> None:
    put(store, *(f"note {number} of a server" for number in range(20)), "an owl near a kettle", "an owl near a server")
    assert found(store, "owl server")[:2] == ["an owl near a server", "an owl near a kettle"]


def test_entries_must_have_all_tags(store: Store) -> None:
    store.put([entry("owl one", "birds", "night"), entry("owl two", "birds"), entry("owl three")])
    assert sorted(found(store, "owl", ("birds",))) == ["owl one", "owl two"]
    assert found(store, "owl", ("birds", "night")) == ["owl one"]
    assert found(store, "owl", ("fish",)) == []
    assert [each.text for each in store.recent(5, ("birds", "night"))] == ["owl one"]


def test_tags_are_words_too(store: Store) -> None:
    store.put([entry("it sleeps by day", "hibou"), entry("it sleeps by night")])
    assert found(store, "hibou") == ["it sleeps by day"]


def test_the_newest_come_first_and_no_more_than_asked(store: Store) -> None:
    put(store, "one", "two", "three")
    assert [each.text for each in store.recent(2, ())] == ["three", "two"]


def test_two_identities_see_nothing_of_each_other(open_store: OpenStore) -> None:
    names = [
        "reviewer",
        "Reviewer",
        "r\u00e9viewer",
        "re\u0301viewer",
        "../reviewer",
        "reviewer/",
        " reviewer",
        "x" * 300,
    ]
    stores = {name: open_store(name) for name in names}
    for name, each in stores.items():
        each.put([entry(f"owl of {name!r}", entry_id="same")])
        each.put_vectors("m#2", {"same": [vector(1, 0)]})
    for name, each in stores.items():
        assert found(each, "owl") == [f"owl of {name!r}"]
        assert len(each.recent(None, ())) == 1
        assert len(each.by_meaning("m#2", vector(1, 0), (), 10)) == 1
    assert stores["reviewer"].forget("same")
    assert found(stores["Reviewer"], "owl") == ["owl of 'Reviewer'"]


def test_a_second_handle_sees_what_the_first_one_writes(open_store: OpenStore) -> None:
    one, other = open_store("reviewer"), open_store("reviewer")
    first, second = put(one, "owl", "fox")
    one.put_vectors("m#2", {first: [vector(1, 0)]})
    assert [hit.entry_id for hit in other.by_meaning("m#2", vector(1, 0), (), 5)] == [first]
    one.put_vectors("m#2", {second: [vector(0, 1)]})
    assert [hit.entry_id for hit in other.by_meaning("m#2", vector(1, 0), (), 5)] == [first, second]
    other.forget(first)
    assert [hit.entry_id for hit in one.by_meaning("m#2", vector(1, 0), (), 5)] == [second]
    assert found(one, "owl") == []


# Meaning --------------------------------------------------------------------------------------------------------------


def test_the_nearest_come_first_by_their_best_piece(store: Store) -> None:
    a, b, c = put(store, "a", "b", "c")
    store.put_vectors("m#3", {a: [vector(0, 1, 0), vector(1, 0.1, 0)], b: [vector(1, 1, 0)], c: [vector(-1, 0, 0)]})
    hits = store.by_meaning("m#3", vector(1, 0, 0), (), 2)
    assert [hit.entry_id for hit in hits] == [a, b]
    assert [round(hit.score, 3) for hit in hits] == [0.995, 0.707]
    assert [hit.created for hit in hits] == [0.0, 1.0]


def test_meaning_keeps_to_tags(store: Store) -> None:
    store.put([entry("a", "birds", entry_id="a"), entry("b", entry_id="b")])
    store.put_vectors("m#2", {"a": [vector(0, 1)], "b": [vector(1, 0)]})
    assert [hit.entry_id for hit in store.by_meaning("m#2", vector(1, 0), ("birds",), 5)] == ["a"]


def test_vectors_of_two_models_are_never_compared(store: Store) -> None:
    a, b = put(store, "a", "b")
    store.put_vectors("one#2", {a: [vector(1, 0)], b: [vector(1, 0)]})
    assert store.by_meaning("two#2", vector(1, 0), (), 5) == []
    assert [each.entry_id for each in store.without_vectors("two#3", 5)] == [b, a]
    store.put_vectors("two#3", {a: [vector(1, 0, 0)]})
    assert store.space() == "two#3"
    assert [hit.entry_id for hit in store.by_meaning("two#3", vector(1, 0, 0), (), 5)] == [a]
    assert store.by_meaning("one#2", vector(1, 0), (), 5) == []
    assert [each.entry_id for each in store.without_vectors("two#3", 5)] == [b]


def test_a_text_that_the_model_refuses_does_not_wait_for_ever(store: Store) -> None:
    a, b = put(store, "a", "b")
    store.put_vectors("m#2", {a: [vector(1, 0)], b: []})
    assert store.without_vectors("m#2", 5) == []
    assert [hit.entry_id for hit in store.by_meaning("m#2", vector(1, 0), (), 5)] == [a]


def test_vectors_of_an_entry_that_was_forgotten_meanwhile_are_left(store: Store) -> None:
    store.put_vectors("m#2", {"gone": [vector(1, 0)]})
    assert store.by_meaning("m#2", vector(1, 0), (), 5) == []


def test_vectors_that_went_away_stand_in_nobodys_way(open_store: OpenStore) -> None:
    one, other = open_store("me"), open_store("me")
    near = [entry("near") for _ in range(CANDIDATES + 50)]
    far = [entry("far") for _ in range(5)]
    one.put([*near, *far])
    one.put_vectors("m#3", {each.entry_id: [vector(1, 1, 1)] for each in near})
    one.put_vectors("m#3", {each.entry_id: [vector(-1, -1, 1)] for each in far})
    query = vector(1, 1, 0.9)
    for each in (one, other):
        assert {hit.entry_id for hit in each.by_meaning("m#3", query, (), 5)} <= {
            near_one.entry_id for near_one in near
        }
    for each in near:
        other.forget(each.entry_id)
    for each in (one, other):
        assert len(each.by_meaning("m#3", query, (), 10)) == 5


# Any text -------------------------------------------------------------------------------------------------------------

ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
SAME_STORE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@SAME_STORE
@given(
    query=st.text(max_size=80)
    | st.sampled_from(['"', "*", "a AND", "NEAR(", "-", "text:", "^", "a:*", "'", "\\", "!&|"])
)
def test_no_query_is_a_syntax_error(store: Store, query: str) -> None:
    if looked_for := terms(query):
        store.by_words(looked_for, (), 5)


@SAME_STORE
@given(text=ANY)
def test_any_text_is_found_by_its_own_words(store: Store, text: str) -> None:
    kept = entry(text)
    store.put([kept])
    if text.isascii() and (looked_for := terms(text)):
        assert kept.entry_id in {hit.entry_id for hit in store.by_words(looked_for, (), 10_000)}
    assert store.get([kept.entry_id])[kept.entry_id] == kept
    store.forget(kept.entry_id)
