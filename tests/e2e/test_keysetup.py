"""The first run with nothing configured: a key is pasted unseen, looked at, tried, kept, and its models answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.credentials.made import MINIMAX, fake
from tests.e2e.program import Place
from tests.e2e.test_interactive import HINT, answer, maia, send
from tests.e2e.vendors import ANSWER, Vendors, needs_openssl, vendors
from tests.terminal.live.tmux import Term, needs_tmux

pytestmark = [needs_tmux, needs_openssl]

CN, GLOBAL, DEEPSEEK = "api.minimaxi.com", "api.minimax.io", "api.deepseek.com"
OFFER = {"fr": "Coller une clé", "en": "Paste a key?"}
ENTRY = {"fr": "elle n'est pas montrée", "en": "it is not shown"}
KEEP = {"fr": "Garder cette clé sous", "en": "Keep this key under"}
SHAPELESS = "FAKE" * 8


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Vendors]:
    hosts = {CN: ["minimax-m3", "minimax-m2"], GLOBAL: None, DEEPSEEK: ["deepseek-chat"], "api.mistral.ai": None}
    with vendors(tmp_path / "vendors", hosts) as there:
        yield there


@pytest.fixture
def place(tmp_path: Path, there: Vendors) -> Place:
    return Place(tmp_path / "place", there.env)


def paste(term: Term, key: str, lang: str) -> None:
    """Say yes to the offer, and paste as a terminal does."""
    term.until(OFFER[lang])
    answer(term, {"fr": "o", "en": "y"}[lang])
    term.until(ENTRY[lang])
    term.paste(key)
    term.until({"fr": f"{len(key)} caractères", "en": f"{len(key)} characters"}[lang])
    term.keys("Enter")


def nowhere(term: Term, place: Place, *keys: str) -> None:
    """No key is on the screen, in its past, or in any file but the sealed ones."""
    seen = "\n".join(term.past())
    files = [path for path in place.base.rglob("*") if path.is_file()]
    written = b"".join(path.read_bytes() for path in files)
    for key in keys:
        assert key not in seen
        assert key.encode() not in written
        assert key[:24] not in seen


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_pasted_key_is_shown_tried_kept_and_its_models_answer(place: Place, there: Vendors, lang: str) -> None:
    with maia(place, MAIA_LANG=lang, height=44) as term:
        paste(term, MINIMAX, lang)
        term.until(KEEP[lang])
        text = "\n".join(term.past())
        assert f"sk-cp-…({len(MINIMAX)})" in text
        assert "minimax-cn" in text
        assert CN in text
        assert {"fr": f"{CN} accepte la clé", "en": f"{CN} accepts the key"}[lang] in text
        assert not (place.home / ".maia" / "keys").exists(), "nothing is written before the yes"
        answer(term, {"fr": "o", "en": "y"}[lang])
        term.until("MINIMAX_CN_API_KEY")
        term.until("minimax-m3")
        answer(term, "Enter")
        term.until(HINT[lang])
        send(term, "hi")
        term.until(ANSWER)
        nowhere(term, place, MINIMAX)
        send(term, "/exit")
        term.until("code 0")
    assert f"POST {CN} /anthropic/v1/messages" in there.asked
    assert not any(GLOBAL in asked for asked in there.asked)
    again = place.run("-p", "hi", "--model", "minimax-m3")
    assert (again.code, again.out) == (0, ANSWER + "\n")
    history = place.home / ".maia" / "history"
    assert MINIMAX not in (history.read_text() if history.exists() else "")


def test_a_refused_key_is_explained_and_the_other_region_is_one_question_away(tmp_path: Path) -> None:
    with vendors(tmp_path / "vendors", {CN: None, GLOBAL: ["minimax-m3"]}) as there:
        place = Place(tmp_path / "place", there.env)
        with maia(place, height=44) as term:
            paste(term, MINIMAX, "en")
            term.until("Try the other region, minimax?")
            text = "\n".join(term.past())
            assert "HTTP 401" in text
            assert "hold in their region only" in text
            answer(term, "y")
            term.until(f"{GLOBAL} accepts the key")
            term.until("Keep this key under MINIMAX_API_KEY?")
            nowhere(term, place, MINIMAX)


def test_of_an_ambiguous_key_a_person_says_whose_it_is(place: Place, there: Vendors) -> None:
    key = fake("sk-", 44)
    with maia(place, height=44) as term:
        paste(term, key, "en")
        term.until("Whose is this one?")
        assert there.asked == [], "it goes nowhere before"
        term.type("deepseek")
        answer(term, "Enter")
        term.until("Keep this key under DEEPSEEK_API_KEY?")
        assert f"{DEEPSEEK} accepts the key" in "\n".join(term.past())
        nowhere(term, place, key)
    assert {asked.split()[1] for asked in there.asked} == {DEEPSEEK}


def test_a_key_without_a_shape_asks_for_its_provider(place: Place) -> None:
    with maia(place, height=44) as term:
        paste(term, SHAPELESS, "en")
        term.until("Whose is this one?")
        term.type("mistral")
        answer(term, "Enter")
        term.until("Keep it under MISTRAL_API_KEY all the same?")
        assert "HTTP 401" in "\n".join(term.past())
        answer(term, "n")
        term.until("it is not shown")
        nowhere(term, place, SHAPELESS)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        pytest.param("sk-ant-api03-***", "This is a masked key, not the key (what was pasted).", id="masked"),
        pytest.param(fake("sk-ant-admin01-", 60), "administration key of anthropic", id="not for models"),
        pytest.param(fake("sk-or-v1-", 64), "MAIA_ALLOW_OPENROUTER=1", id="OpenRouter"),
        pytest.param(fake("sk-lf-", 30), "which is no model server", id="no model server"),
    ],
)
def test_a_key_that_may_go_nowhere_is_refused_with_the_reason(
    place: Place, there: Vendors, key: str, says: str
) -> None:
    with maia(place, width=140, height=44) as term:
        paste(term, key, "en")
        term.until(says)
        term.until("it is not shown")
        answer(term, "Escape")
        term.until("Nothing is kept.")
        nowhere(term, place, key)
    assert there.asked == []


@pytest.mark.parametrize("way", ["Escape", "C-c", "n"])
def test_leaving_keeps_nothing_and_the_built_in_assistant_answers(place: Place, there: Vendors, way: str) -> None:
    with maia(place, height=44) as term:
        term.until(OFFER["en"])
        answer(term, way if way == "n" else "y")
        if way != "n":
            term.until(ENTRY["en"])
            term.paste(MINIMAX)
            term.until("characters")
            term.keys(way)
            term.until("Nothing is kept.")
        term.until(HINT["en"])
        send(term, "hello")
        term.until("built into maia")
        term.keys("Up")
        assert MINIMAX not in "\n".join(term.rows())
        nowhere(term, place, MINIMAX)
        send(term, "/exit")
    assert there.asked == []
    assert not (place.home / ".maia" / "keys").exists()


def test_the_set_up_can_be_taken_up_later_and_is_not_offered_to_who_chose_offline(place: Place) -> None:
    with maia(place, "--model", "offline", height=44) as term:
        term.until(HINT["en"])
        assert OFFER["en"] not in "\n".join(term.past())
        send(term, "/key ")
        term.until(ENTRY["en"])
        term.keys("Escape")
        term.until("Nothing is kept.")


def test_in_plain_lines_the_key_is_not_echoed(place: Place, there: Vendors) -> None:
    with maia(place, MAIA_SCREEN_READER="1", height=44) as term:
        term.until(OFFER["en"])
        send(term, "y")
        term.until("The key is not shown.")
        term.type(MINIMAX)
        term.keys("Enter")
        term.until(KEEP["en"])
        send(term, "y")
        term.until("MINIMAX_CN_API_KEY")
        nowhere(term, place, MINIMAX)
    assert os.environ.get("MINIMAX_CN_API_KEY") is None
    assert any(CN in asked for asked in there.asked)
