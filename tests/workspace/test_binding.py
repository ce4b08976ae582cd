from dataclasses import replace

import pytest

from maia.database.providers import ModelRow, ProviderRow, TierRow
from maia.workspace.models.binding import Answerer, Binding, Nobody, Wanted, answerer, refusal
from maia.workspace.models.catalogue import Catalogue, Pair

A1, A2, B1, C1 = Pair("a", "one"), Pair("a", "two"), Pair("b", "one"), Pair("c", "sonnet")
GONE = Pair("b", "gone")

FULL = Catalogue(
    (ProviderRow("a", "Alpha", "api"), ProviderRow("b", "Beta", "local"), ProviderRow("c", "Claude Code", "cli")),
    (ModelRow(*A1, "one"), ModelRow(*A2, "two"), ModelRow(*B1, "one"), ModelRow(*C1, "sonnet")),
)


def without(catalogue: Catalogue, *off: Pair) -> Catalogue:
    """The catalogue with these models switched off."""
    models = [replace(each, enabled=Pair(each.provider_id, each.id) not in off) for each in catalogue.models]
    return replace(catalogue, models=models)


def tiers(**named: Pair) -> list[TierRow]:
    return [TierRow(name, 0, pair.provider, pair.model) for name, pair in named.items()]


EMPTY = Catalogue()
AUTO = replace(FULL, auto_allowed=True, tiers=tiers(standard=B1, quick=A2, code=C1))


@pytest.mark.parametrize(
    ("wanted", "catalogue", "expected"),
    [
        # A new conversation (R-2.044, N-04.03)
        pytest.param(Wanted(), FULL, Answerer(A1, "default"), id="the first active provider that has a model"),
        pytest.param(Wanted(), without(FULL, A1, A2, B1), Answerer(C1, "default"), id="programs included"),
        pytest.param(
            Wanted(), replace(FULL, tiers=tiers(standard=B1), default=A2), Answerer(B1, "default"), id="Standard first"
        ),
        pytest.param(Wanted(), replace(FULL, default=A2), Answerer(A2, "default"), id="then the default model"),
        pytest.param(
            Wanted(),
            without(replace(FULL, default=A2), A2),
            Answerer(A1, "default"),
            id="then another model of the default provider",
        ),
        pytest.param(
            Wanted(),
            without(replace(FULL, tiers=tiers(standard=B1)), B1),
            Answerer(A1, "default"),
            id="a Standard tier that is off is passed over",
        ),
        pytest.param(
            Wanted(),
            without(replace(FULL, tiers=[*tiers(standard=B1), TierRow("standard", 1, *C1)]), B1),
            Answerer(C1, "default"),
            id="its fallback stands for it",
        ),
        pytest.param(
            Wanted(), replace(FULL, started_with="b/one", default=A2), Answerer(B1, "default"), id="what --model says"
        ),
        pytest.param(
            Wanted(),
            replace(FULL, started_with="one"),
            Nobody("model_binding_unavailable", word="one"),
            id="an ambiguous name is never guessed (N-01.11)",
        ),
        pytest.param(Wanted(), EMPTY, Nobody("no_model_configured"), id="nothing is configured (R-2.061)"),
        pytest.param(
            Wanted(),
            replace(FULL, providers=[replace(each, enabled=False) for each in FULL.providers]),
            Nobody("no_model_configured"),
            id="everything is off",
        ),
        pytest.param(
            Wanted(),
            replace(FULL, providers=[replace(FULL.providers[0], health="auth"), *FULL.providers[1:]]),
            Answerer(B1, "default"),
            id="one that did not let us in comes last",
        ),
        # Pinned
        pytest.param(Wanted(pair=B1), replace(FULL, default=A2), Answerer(B1, "pinned"), id="pinned stays (R-2.045)"),
        pytest.param(
            Wanted(pair=B1, by_person=True),
            without(FULL, B1),
            Nobody("model_binding_unavailable", B1),
            id="a person's choice is never replaced",
        ),
        pytest.param(
            Wanted(pair=GONE, by_person=True),
            FULL,
            Nobody("model_binding_unavailable", GONE),
            id="nor one that is not known any more",
        ),
        pytest.param(
            Wanted(pair=B1),
            without(FULL, B1),
            Answerer(A1, "default", "conversation-binding-unavailable"),
            id="what maia pinned falls back with a note",
        ),
        pytest.param(
            Wanted(pair=B1),
            without(FULL, A1, A2, B1, C1),
            Nobody("model_binding_unavailable", B1),
            id="without any default it is refused",
        ),
        # Automatic
        pytest.param(Wanted("auto", pair=A1), AUTO, Answerer(B1, "auto", tier="standard"), id="routed"),
        pytest.param(
            Wanted("auto", pair=A1),
            replace(AUTO, auto_allowed=False),
            Answerer(A1, "pinned", "auto-routing-off"),
            id="switched off: the saved model, and it says so",
        ),
        pytest.param(
            Wanted("auto"),
            replace(FULL, auto_allowed=False),
            Answerer(A1, "default", "auto-routing-off"),
            id="switched off without a saved model: the default",
        ),
        pytest.param(
            Wanted("auto", pair=A2),
            replace(FULL, auto_allowed=True),
            Answerer(A2, "pinned", "auto-routing-no-tier"),
            id="no tier has a model",
        ),
        pytest.param(
            Wanted("auto", pair=A2, by_person=True),
            without(replace(FULL, auto_allowed=False), A2),
            Nobody("model_binding_unavailable", A2),
            id="a person's saved model is not replaced either",
        ),
        pytest.param(Wanted("pinned", pair=A1), AUTO, Answerer(A1, "pinned"), id="nothing becomes Auto by itself"),
        # Colleague default
        pytest.param(
            Wanted("inherit", A1, colleague=C1, delegating=B1), FULL, Answerer(C1, "colleague"), id="the colleague's"
        ),
        pytest.param(Wanted("inherit", A1, delegating=B1), FULL, Answerer(B1, "delegating"), id="who delegated"),
        pytest.param(Wanted("inherit"), FULL, Answerer(A1, "default"), id="else the default"),
        pytest.param(
            Wanted("inherit", A2, colleague=C1),
            without(FULL, C1),
            Answerer(A2, "pinned", "agent-binding-unavailable"),
            id="the colleague's is off: the saved one, with the note",
        ),
        pytest.param(
            Wanted("inherit", colleague=C1),
            without(FULL, C1),
            Answerer(A1, "default", "agent-binding-unavailable"),
            id="the colleague's is off: the default, with the note",
        ),
        pytest.param(
            Wanted("inherit", delegating=B1),
            without(FULL, B1),
            Answerer(A1, "default", "conversation-binding-unavailable"),
            id="the delegating turn's is off",
        ),
        pytest.param(
            Wanted("inherit", colleague=C1),
            without(FULL, A1, A2, B1, C1),
            Nobody("model_binding_unavailable", C1),
            id="nobody is left",
        ),
    ],
)
def test_who_answers(wanted: Wanted, catalogue: Catalogue, expected: Answerer | Nobody) -> None:
    assert answerer(wanted, catalogue) == expected


@pytest.mark.parametrize("binding", ["pinned", "auto", "inherit"])
def test_an_override_answers_one_turn_or_nobody_does(binding: Binding) -> None:
    wanted = Wanted(binding, A1, colleague=C1)
    assert answerer(wanted, AUTO, override=A2) == Answerer(A2, "pinned")
    assert answerer(wanted, without(AUTO, A2), override=A2) == Nobody("model_binding_unavailable", A2)


def test_a_model_that_comes_back_answers_again() -> None:
    wanted = Wanted(pair=B1)
    assert answerer(wanted, without(FULL, B1)) != answerer(wanted, FULL) == Answerer(B1, "pinned")


@pytest.mark.parametrize(
    ("health", "is_available"),
    [("ready", True), ("unknown", True), ("unreachable", True), ("auth", True), ("absent", False), ("no_key", False)],
)
def test_a_provider_that_is_not_there_cannot_answer(health: str, is_available: bool) -> None:
    provider = replace(FULL.providers[0], health=health)  # pyright: ignore[reportArgumentType] - words of a table
    assert replace(FULL, providers=[provider]).is_available(A1) is is_available


@pytest.mark.parametrize(
    ("word", "expected"),
    [("a/one", A1), ("two", A2), ("one", None), ("nothing", None), ("b/gone", None), ("sonnet", C1), ("", None)],
)
def test_a_name_without_a_provider_is_its_only_owners_or_nobodys(word: str, expected: Pair | None) -> None:
    assert FULL.named(word) == expected


def test_a_disabled_owner_does_not_count() -> None:
    assert without(FULL, A1).named("one") == B1


def test_the_refusal_names_the_provider_as_everywhere() -> None:
    refused = refusal(Nobody("model_binding_unavailable", C1), FULL)
    assert (refused.code, refused.key, refused.values) == (
        "model_binding_unavailable",
        "binding.unavailable",
        {"provider": "Claude Code", "model": "sonnet"},
    )
