import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.requests import Effort
from maia.database.providers import ModelRow, ProviderRow
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import LADDER, Thinking, is_toggle, levels_of, nearest, thinking


def a_model(*efforts: Effort, known: bool = True) -> ModelRow:
    return ModelRow("a", "m", "m", efforts=efforts if known else None)


TWO = a_model("low", "high")


@pytest.mark.parametrize(
    ("model", "asked", "expected"),
    [
        pytest.param(TWO, {"stored": "high"}, Thinking("high", "high", "conversation"), id="its own"),
        pytest.param(TWO, {"stored": "max"}, Thinking("max", "high", "conversation"), id="nearest"),
        pytest.param(TWO, {"stored": "none"}, Thinking("none", "low", "conversation"), id="always on"),
        pytest.param(a_model(), {"stored": "high"}, Thinking("high", None, "conversation"), id="no control"),
        pytest.param(
            a_model(known=False),
            {"stored": "high"},
            Thinking("high", None, "conversation"),
            id="nothing known",
        ),
        pytest.param(a_model("low"), {}, Thinking(), id="nobody asked"),
        pytest.param(None, {"stored": "low"}, Thinking("low", None, "conversation"), id="no model"),
        pytest.param(
            TWO,
            {"stored": "low", "colleague": "high", "tier": "high"},
            Thinking("low", "low", "conversation"),
            id="the conversation first",
        ),
        pytest.param(
            TWO,
            {"colleague": "high", "delegating": "low", "tier": "low"},
            Thinking("high", "high", "colleague"),
            id="then the colleague",
        ),
        pytest.param(
            TWO,
            {"delegating": "low", "tier": "high"},
            Thinking("low", "low", "delegating"),
            id="then who delegated",
        ),
        pytest.param(a_model("low"), {"tier": "low"}, Thinking("low", "low", "tier"), id="then the tier"),
        pytest.param(
            ModelRow("a", "m", "m", efforts=("low", "medium"), default_effort="medium"),
            {},
            Thinking("medium", None, "model"),
            id="at last the model's own default, which is not sent",
        ),
    ],
)
def test_who_asked_first_counts_and_the_model_gets_what_it_knows(
    model: ModelRow | None, asked: dict[str, Effort], expected: Thinking
) -> None:
    assert thinking(model, **asked) == expected


@given(st.sampled_from(LADDER), st.sets(st.sampled_from(LADDER)))
def test_the_nearest_level_is_one_that_there_is_and_none_is_nearer(asked: Effort, known: set[Effort]) -> None:
    found = nearest(asked, tuple(known))
    if found is None:
        assert not known
        return
    place = LADDER.index(asked)
    assert found in known
    assert all(abs(LADDER.index(each) - place) >= abs(LADDER.index(found) - place) for each in known)
    assert asked not in known or found == asked


def test_several_models_offer_what_at_least_one_has() -> None:
    models = (ModelRow("a", "x", "x", efforts=("high",)), ModelRow("a", "y", "y", efforts=("low",)))
    catalogue = Catalogue((ProviderRow("a", "A", "api"),), models)
    assert levels_of(catalogue, [Pair("a", "x"), Pair("a", "y"), Pair("a", "gone"), None]) == ("low", "high")


@pytest.mark.parametrize(
    ("levels", "expected"), [(("none", "high"), True), (("low", "high"), False), ((), False), (LADDER, False)]
)
def test_on_and_off_is_a_toggle(levels: tuple[Effort, ...], expected: bool) -> None:
    assert is_toggle(levels) is expected
