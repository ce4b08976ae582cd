import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maia.core.jsontext import MAX_DEPTH, is_deep, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # nested data on a busy machine
@given(VALUES)
def test_what_is_read_is_what_json_reads(value: object) -> None:
    text = json.dumps(value)
    assert read_json(text) == read_json(text.encode()) == value


def nested(levels: int, opening: str, closing: str) -> str:
    return opening * levels + "1" + closing * levels


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_a_value_of_too_many_levels_is_refused_whether_python_could_read_it_or_not(opening: str, closing: str) -> None:
    per_round = opening.count("[") + opening.count("{")
    fits = MAX_DEPTH // per_round
    assert not is_deep(read_json(nested(fits, opening, closing)))
    for levels in (fits + 1, 900, 100_000):
        with pytest.raises(ValueError, match="levels"):
            read_json(nested(levels, opening, closing))


def test_many_values_side_by_side_and_brackets_in_a_text_are_not_deep() -> None:
    assert read_json("[" + ",".join(["[{}]"] * 1000) + "]") == [[{}]] * 1000
    assert read_json(json.dumps("[{" * 5_000)) == "[{" * 5_000


@pytest.mark.parametrize("text", ["", "{", "[1,]", b"\xff", "nonsense"])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are Python's own
        read_json(text)
