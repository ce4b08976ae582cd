from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal.input import Editor


def typed(*keys: str, older: tuple[str, ...] = ()) -> Editor:
    editor = Editor(lambda: older)
    for key in keys:
        editor.press(("key", key[1:-1]) if key.startswith("<") else ("text", key))
    return editor


EDITS = [
    ("insert in the middle", ("ac", "<left>", "b"), "abc", 2),
    ("home and end", ("bc", "<c-a>", "a", "<c-e>", "d"), "abcd", 4),
    ("word motions", ("foo bar baz", "<m-b>", "<m-b>", "X"), "foo Xbar baz", 5),
    ("control arrows", ("foo bar", "<c-left>", "<c-left>", "<c-right>", "!"), "foo! bar", 4),
    ("kill to the end and yank", ("foo bar", "<m-b>", "<c-k>", "<home>", "<c-y>"), "barfoo ", 3),
    ("kill to the start", ("foo bar", "<left>", "<c-u>"), "r", 0),
    ("kill blank word", ("git push origin/x", "<c-w>"), "git push ", 9),
    ("two kills in a row are one cut", ("a b c", "<c-w>", "<c-w>", "<c-y>"), "a b c", 5),
    ("kill word", ("foo bar", "<m-backspace>"), "foo ", 4),
    ("kill word forward", ("foo bar", "<home>", "<m-d>"), " bar", 0),
    ("yank, then the cut before", ("one", "<c-u>", "two", "<c-u>", "<c-y>", "<m-y>"), "one", 3),
    ("delete forward", ("ab", "<home>", "<c-d>"), "b", 0),
    ("transpose", ("ab", "<c-t>"), "ba", 2),
    ("upper case word", ("foo", "<home>", "<m-u>"), "FOO", 3),
    ("newline keys", ("a", "<c-j>", "b", "<m-enter>", "c", "<s-enter>", "d"), "a\nb\nc\nd", 7),
    ("backslash and enter", ("a\\", "<enter>", "b"), "a\nb", 3),
    ("up keeps the column", ("long line", "<c-j>", "ab", "<up>", "X"), "loXng line\nab", 3),
    (
        "down comes back to the column",
        ("abcd", "<c-j>", "x", "<c-j>", "wxyz", "<up>", "<down>", "!"),
        "abcd\nx\nwxyz!",
        12,
    ),
    ("undo a word, redo it", ("foo", "<space>", "<c-_>"), "", 0),
    ("undo a kill", ("foo bar", "<c-u>", "<c-_>"), "foo bar", 7),
    ("undo and redo", ("foo bar", "<c-u>", "<c-_>", "<m-_>"), "", 0),
    ("combining marks go with their letter", ("e\u0301x", "<left>", "<backspace>"), "x", 0),
    ("home at the line's start", ("a", "<c-j>", "bc", "<home>", "X"), "a\nXbc", 3),
]


@pytest.mark.parametrize(("keys", "text", "cursor"), [edit[1:] for edit in EDITS], ids=[edit[0] for edit in EDITS])
def test_keys_edit_the_line(keys: tuple[str, ...], text: str, cursor: int) -> None:
    editor = typed(*keys)
    assert (editor.text, editor.cursor) == (text, cursor)


ASKS = [
    ("enter submits", "<enter>", "submit"),
    ("escape", "<esc>", "escape"),
    ("interrupt", "<c-c>", "interrupt"),
    ("completion", "<tab>", "complete"),
    ("search", "<c-r>", "search"),
    ("suspend", "<c-z>", "suspend"),
]


@pytest.mark.parametrize(("key", "asked"), [ask[1:] for ask in ASKS], ids=[ask[0] for ask in ASKS])
def test_some_keys_ask_something_of_the_screen(key: str, asked: str) -> None:
    assert typed("text").press(("key", key[1:-1])) == asked


def test_end_of_input_only_on_an_empty_line() -> None:
    assert typed().press(("key", "c-d")) == "eof"
    assert typed("a").press(("key", "c-d")) == ""


def test_history_goes_up_and_comes_back_to_the_draft() -> None:
    editor = typed("draft", "<up>", "<up>", older=("first", "second"))
    assert editor.text == "first"
    editor.press(("key", "up"))
    assert editor.text == "first"
    editor.press(("key", "down"))
    assert editor.text == "second"
    editor.press(("key", "down"))
    assert editor.text == "draft"


def test_a_big_paste_stands_as_one_character_and_is_sent_exact() -> None:
    editor = typed("see ")
    pasted = "".join(f"line {n}\twith é\n" for n in range(120))
    editor.press(("paste", pasted))
    editor.press(("text", " please"))
    assert len(editor.text) == len("see ") + 1 + len(" please")
    assert editor.pasted_ranges() == [(4, 4 + len(pasted))]
    assert editor.value == f"see {pasted} please"
    assert editor.take() == f"see {pasted} please"
    assert editor.text == ""


def test_backspace_takes_a_whole_paste_and_undo_brings_it_back() -> None:
    editor = typed()
    editor.press(("paste", "x\n" * 50))
    editor.press(("key", "backspace"))
    assert editor.value == ""
    editor.press(("key", "c-_"))
    assert editor.value == "x\n" * 50


def test_a_small_paste_is_text_and_never_sends() -> None:
    editor = typed()
    editor.press(("paste", "a\nb\n"))
    assert editor.text == "a\nb\n"


NAMES = [
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "m-b",
    "m-f",
    "backspace",
    "delete",
    "c-k",
    "c-u",
    "c-w",
    "m-d",
    "c-y",
    "m-y",
    "c-t",
    "m-u",
    "c-_",
    "m-_",
    "c-j",
    "enter",
]
KEYS = st.one_of(
    st.tuples(st.just("text"), st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)),
    st.tuples(st.just("paste"), st.text(st.characters(exclude_categories=["Cs"]), max_size=30)),
    st.tuples(st.just("key"), st.sampled_from(NAMES)),
)


@given(st.lists(KEYS, max_size=40))
def test_any_keys_keep_the_cursor_in_the_text(keys: list[tuple[str, str]]) -> None:
    editor = Editor(lambda: ("old one", "two\nlines"))
    for key in keys:
        editor.press(key)
        assert 0 <= editor.cursor <= len(editor.text)
    ranges = editor.pasted_ranges()
    assert all(0 <= start < end <= len(editor.value) for start, end in ranges)


@given(st.lists(KEYS.filter(lambda key: key[0] != "key"), max_size=20))
def test_what_is_typed_and_pasted_is_what_is_sent(keys: list[tuple[str, str]]) -> None:
    editor = Editor()
    for key in keys:
        editor.press(key)
    assert editor.take() == "".join(value for _, value in keys)


def test_a_cut_paste_comes_back_whole_even_in_another_line() -> None:
    editor = typed()
    pasted = "x\n" * 50
    editor.press(("paste", pasted))
    editor.press(("key", "c-u"))
    assert editor.take() == ""
    editor.press(("text", "again "))
    editor.press(("key", "c-y"))
    assert len(editor.text) == len("again ") + 1
    assert editor.take() == "again " + pasted
