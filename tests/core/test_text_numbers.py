from __future__ import annotations

import pytest

from maia.core.text import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("999999999", 999_999_999)])
def test_ascii_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "²", "٣", "1e3", "9" * 10, "9" * 5_000, "\ud800"])
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text) is None
