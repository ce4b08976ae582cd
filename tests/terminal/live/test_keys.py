from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal.keys import Key, KeyReader

CASES: list[tuple[str, bytes, list[Key]]] = [
    ("letters come as one text", b"abc", [("text", "abc")]),
    ("accents and emoji", "é😀".encode(), [("text", "é😀")]),
    ("enter and line feed are told apart", b"\r\n", [("key", "enter"), ("key", "c-j")]),
    ("control letters", b"\x01\x03\x1a\x1f", [("key", "c-a"), ("key", "c-c"), ("key", "c-z"), ("key", "c-_")]),
    ("both backspaces", b"\x08\x7f", [("key", "backspace"), ("key", "backspace")]),
    ("arrows", b"\x1b[A\x1bOB\x1b[1;5C", [("key", "up"), ("key", "down"), ("key", "c-right")]),
    ("rxvt's alt arrow", b"\x1b\x1b[D", [("key", "m-left")]),
    ("home and delete", b"\x1b[H\x1b[4~\x1b[3~", [("key", "home"), ("key", "end"), ("key", "delete")]),
    ("shift tab", b"\x1b[Z", [("key", "s-tab")]),
    ("alt enter", b"\x1b\r", [("key", "m-enter")]),
    ("alt letter and alt backspace", b"\x1bb\x1b\x7f", [("key", "m-b"), ("key", "m-backspace")]),
    ("alt accent", "\x1bé".encode(), [("key", "m-é")]),
    ("kitty shift enter", b"\x1b[13;2u", [("key", "s-enter")]),
    ("kitty escape", b"\x1b[27u", [("key", "esc")]),
    ("kitty control letter", b"\x1b[99;5u", [("key", "c-c")]),
    ("kitty with capslock", b"\x1b[99;69u", [("key", "c-c")]),
    ("kitty release is no key", b"\x1b[97;1:3u", []),
    ("modifyOtherKeys shift enter", b"\x1b[27;2;13~", [("key", "s-enter")]),
    ("modifyOtherKeys control i is tab", b"\x1b[27;5;105~", [("key", "tab")]),
    ("linux console f1", b"\x1b[[A", [("key", "f1")]),
    ("cursor report", b"\x1b[12;40R", [("report", "12;40")]),
    ("name of the terminal", b"\x1bP>|tmux 3.3a\x1b\\a", [("terminal", "tmux 3.3a"), ("text", "a")]),
    ("focus and unknown sequences are swallowed", b"\x1b[I\x1b[?62;4c\x1b[99~x", [("text", "x")]),
    ("an answer to a colour query is swallowed", b"\x1b]11;rgb:1/2/3\x1b\\x", [("text", "x")]),
    ("paste", b"\x1b[200~a\r\nb\x1b[A\x1b[201~c", [("paste", "a\nb\x1b[A"), ("text", "c")]),
    ("empty paste", b"\x1b[200~\x1b[201~", [("paste", "")]),
    ("C1 controls are not typed", "a\x9bb".encode(), [("text", "ab")]),
    ("broken utf-8 is shown as such", b"a\xff\xc3b", [("text", "a\ufffd\ufffdb")]),
    ("a sequence broken off by a letter", b"\x1b[1\x01x", [("key", "c-a"), ("text", "x")]),
]


@pytest.mark.parametrize(("data", "keys"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bytes_become_keys_wherever_they_are_cut(data: bytes, keys: list[Key]) -> None:
    for cut in range(len(data) + 1):
        reader = KeyReader()
        read = reader.feed(data[:cut]) + reader.feed(data[cut:])
        assert joined(read) == joined(keys), cut
    reader = KeyReader()
    assert joined([key for place in range(len(data)) for key in reader.feed(data[place : place + 1])]) == joined(keys)


def joined(keys: list[Key]) -> list[Key]:
    out: list[Key] = []
    for key in keys:
        if out and key[0] == "text" == out[-1][0]:
            out[-1] = ("text", out[-1][1] + key[1])
        else:
            out.append(key)
    return out


def test_a_lone_escape_is_the_escape_key_after_a_pause() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b") == []
    assert reader.waiting
    assert reader.flush() == [("key", "esc")]
    assert not reader.waiting


def test_alt_bracket_is_a_key_after_a_pause() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b[") == []
    assert reader.flush() == [("key", "m-[")]
    assert reader.feed(b"\x1b]") == []
    assert reader.flush() == [("key", "m-]")]


def test_an_open_paste_waits_for_its_end_and_is_kept_exact() -> None:
    reader = KeyReader()
    body = "ligne é\t" * 50_000
    assert reader.feed(b"\x1b[200~" + body.encode()) == []
    assert not reader.waiting
    assert reader.flush() == []
    assert reader.feed(b"\x1b[201~") == [("paste", body)]


@given(st.binary(max_size=60), st.integers(0, 60))
def test_any_bytes_are_read_without_an_error_and_nothing_stays_stuck(data: bytes, cut: int) -> None:
    reader = KeyReader()
    reader.feed(data[:cut])
    reader.feed(data[cut:])
    reader.flush()
    reader.feed(b"\x1b[201~\x1b[201~")
    reader.flush()
    assert reader.feed(b"z")[-1:] == [("text", "z")]


@given(st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs", "Cc"]), max_size=30))
def test_typed_text_comes_back_whole(text: str) -> None:
    reader = KeyReader()
    data = text.encode()
    keys = [key for place in range(len(data)) for key in reader.feed(data[place : place + 1])]
    assert "".join(value for _, value in keys) == text


@pytest.mark.parametrize("final", [b"u", b"~", b"A", b";5u", b":5u"])
def test_a_sequence_with_thousands_of_digits_is_no_error(final: bytes) -> None:
    reader = KeyReader()
    reader.feed(b"\x1b[" + b"9" * 5_000 + final)
    reader.flush()
    assert reader.feed(b"a")[-1:] == [("text", "a")]
