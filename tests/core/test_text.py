from __future__ import annotations

import pytest

from maia.core.text import can_be_kept, whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("999999999", 999_999_999)])
def test_ascii_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "²", "٣", "1e3", "9" * 10, "9" * 5_000, "\ud800"])
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize("text", ["", "a\tb\n\x1b[2J", "é\U0001f600\ufffe\uffff", "\ud7ff\ue000"])
def test_what_files_and_databases_hold_can_be_kept(text: str) -> None:
    assert can_be_kept(text)
    assert text.encode().decode() == text


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udcffy", "\ud83d\ude00"])
def test_a_nul_and_half_a_pair_cannot(text: str) -> None:
    assert not can_be_kept(text)
