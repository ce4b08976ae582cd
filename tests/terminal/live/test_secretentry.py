from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.secret import Secret
from maia.i18n.catalogue import Catalogue
from maia.terminal.colours import Look
from maia.terminal.keys import Key
from maia.terminal.secretentry import SecretEntry
from maia.terminal.spans import text_of

EN = Catalogue("en")


def typed(*keys: Key) -> SecretEntry:
    entry = SecretEntry("Paste it", EN)
    for key in keys:
        entry.press(key)
    return entry


@given(st.text("abcXYZ019-_", min_size=12, max_size=2000), st.integers(8, 120), st.integers(1, 12))
def test_nothing_of_a_secret_is_drawn_but_its_length(secret: str, width: int, most: int) -> None:
    entry = typed(("paste", secret))
    rows, cursor = entry.rows(Look(width=width), most)
    drawn = "\n".join(map(text_of, rows))
    assert secret[:12] not in drawn
    assert width < 40 or f"{len(secret)} characters" in drawn
    assert cursor is not None
    assert cursor[0] < len(rows)
    assert entry.done is None


@pytest.mark.parametrize("key", ["esc", "c-c", "c-d"])
def test_leaving_gives_nothing(key: str) -> None:
    entry = typed(("text", "s"), ("key", key)) if key != "c-d" else typed(("key", key))
    assert entry.done == (None,)


def test_enter_sends_what_was_typed_and_an_empty_line_waits() -> None:
    assert typed(("key", "enter")).done is None
    assert typed(("text", "s"), ("paste", "ecret"), ("key", "enter")).done == (Secret("secret"),)


def test_no_key_means_anything_else() -> None:
    entry = typed(("key", "up"), ("key", "c-r"), ("key", "c-g"), ("key", "tab"), ("text", "y"))
    assert (entry.typing, entry.accepts("y"), entry.refuses("n"), entry.done) == (True, False, False, None)
