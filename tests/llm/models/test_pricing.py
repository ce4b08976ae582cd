import importlib.util
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.costs import Cost, Usage
from maia.core.requests import Effort
from maia.llm import catalogue
from maia.llm.catalogue import Facts, entry_of, facts_of, fits
from maia.llm.effort import EFFORTS, nearest_effort
from maia.llm.pricing import UNKNOWN, Price, cost_of, flat, known_price

USAGE = Usage(input=1_000, output=2_000, cache_read=30_000, cache_write=4_000)
FREE = Price(flat(0), flat(0))
OWN = Price(flat(1), flat(2))


# Who is believed -----------------------------------------------------------------------------------------------------

COSTS = {
    "reported comes first": ({"reported": 0.5, "declared": OWN}, Cost(0.5, "reported")),
    "declared by the server": ({"declared": OWN}, Cost((35_000 + 2 * 2_000) / 1e6, "estimated")),
    "nobody knows": ({}, UNKNOWN),
    "a local server has no price": ({"model": "claude-sonnet-4-5", "is_local": True}, UNKNOWN),
    "a reported 0 is not believed": ({"reported": 0.0}, UNKNOWN),
    "a reported 0 gives way to known prices": ({"reported": 0.0, "declared": OWN}, Cost(0.039, "estimated")),
    "a reported 0 of a free model is": ({"reported": 0.0, "declared": FREE}, Cost(0.0, "reported")),
    "a negative report is not": ({"reported": -1.0}, UNKNOWN),
    "declared free": ({"declared": FREE}, Cost(0.0, "estimated")),
}


@pytest.mark.parametrize(("arguments", "cost"), COSTS.values(), ids=COSTS.keys())
def test_reported_comes_before_estimated_before_unknown(arguments: dict, cost: Cost) -> None:
    assert cost_of(USAGE, arguments.pop("model", "nobody-knows-me"), **arguments) == cost


def test_an_unknown_cost_is_never_0() -> None:
    assert Cost(None, "unknown") == UNKNOWN
    assert cost_of(None, "claude-sonnet-4-5") == UNKNOWN


# Equal to genai-prices -----------------------------------------------------------------------------------------------

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def models_with_prices():
    for provider in catalogue._data()["providers"]:
        for model in provider["models"]:
            if "prices" in model:
                yield provider["id"], model["id"]


@pytest.mark.parametrize("usage", [USAGE, Usage(input=300_000, output=1_000), Usage()], ids=["cached", "long", "empty"])
def test_every_price_equals_that_of_genai_prices(usage: Usage) -> None:
    genai_prices = pytest.importorskip("genai_prices")
    from genai_prices.data import providers

    by_id = {provider.id: provider for provider in providers}
    given_usage = genai_prices.Usage(
        input_tokens=usage.prompt,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    wrong = {}
    for provider_id, model_id in models_with_prices():
        provider = by_id[provider_id]
        model = next(m for m in provider.models if m.id == model_id)
        prices = model.get_prices(AT)
        if extra := [k for k, v in vars(prices).items() if v is not None and k not in KNOWN_RATES]:
            if {"input_mtok", "output_mtok"} & {k for k in extra if k.endswith("mtok")}:
                wrong[model_id] = extra
            continue
        theirs = prices.calc_price(given_usage)["total_price"]
        entry = next(
            m
            for p in catalogue._data()["providers"]
            if p["id"] == provider_id
            for m in p["models"]
            if m["id"] == model_id
        )
        ours = price_of(entry).usd(usage)
        if abs(Decimal(ours) - theirs) > Decimal("1e-9"):
            wrong[provider_id, model_id] = (ours, theirs)
    assert wrong == {}


KNOWN_RATES = {
    "input_mtok",
    "output_mtok",
    "cache_read_mtok",
    "cache_write_mtok",
    "cache_write_1h_mtok",
    "web_searches_kcount",
    "storage_searches_kcount",
}


def price_of(entry: dict) -> Price:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maia.llm.pricing.entry_of", lambda *_: entry)
        price = known_price("any", at=AT)
    assert price is not None
    return price


def test_a_price_that_changes_is_the_one_of_its_day_and_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = [
        {"in": 1, "out": 1},
        {"in": 2, "out": 2, "from": "2026-05-01"},
        {"in": 0.5, "out": 1, "hours": ["16:30:00", "00:30:00"]},
    ]
    monkeypatch.setattr("maia.llm.pricing.entry_of", lambda *_: {"prices": prices})

    def rate(*when: int) -> float:
        price = known_price("m", at=datetime(*when, tzinfo=UTC))
        assert price is not None
        return price.input[0][1]

    assert rate(2026, 4, 30, 12) == 1
    assert rate(2026, 5, 1, 12) == 2
    assert [rate(2026, 5, 1, hour) for hour in (17, 0, 1)] == [0.5, 0.5, 2]


def test_a_step_raises_the_price_of_the_whole_call() -> None:
    price = Price(((0, 1.0), (200_000, 2.0)), flat(0))
    assert price.usd(Usage(input=200_000)) == pytest.approx(0.2)
    assert price.usd(Usage(input=200_001)) == pytest.approx(0.400002)
    assert price.usd(Usage(input=1, cache_read=200_000)) == pytest.approx(0.400002), "the cached part counts"


# Facts ---------------------------------------------------------------------------------------------------------------

NAMES = {
    "claude-sonnet-4-5": 200_000,
    "claude-sonnet-4-5-20250929": 200_000,
    "anthropic/claude-sonnet-4.5": 200_000,
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": 200_000,
    "claude-sonnet-4-5@20250929": 200_000,
    "bedrock/anthropic.claude-opus-4-5-v1": 200_000,
    "gpt-4o": 128_000,
    "openai/gpt-4o-2024-11-20": 128_000,
    "gpt-5": 400_000,
    "gpt-4.1": 1_047_576,
    "models/gemini-2.5-pro": 1_048_576,
    "grok-4.5": 500_000,
    "kimi-k2.6": 262_144,
    "nobody-knows-me": None,
    "fake-model": None,
    "": None,
}


@pytest.mark.parametrize(("name", "window"), NAMES.items())
def test_the_catalogue_knows_a_model_by_every_name_that_gateways_give_it(name: str, window: int | None) -> None:
    assert facts_of(name).window == window


def test_a_model_is_looked_for_at_its_own_provider_first() -> None:
    groq = entry_of("openai/gpt-oss-120b", "https://api.groq.com/openai/v1")
    assert groq is not None
    assert groq["prices"] != (entry_of("gpt-oss-120b", "https://api.cerebras.ai/v1") or {}).get("prices")
    assert entry_of("claude-sonnet-4-5", "https://gateway.example") == entry_of("claude-sonnet-4-5")


def test_facts_have_output_limits_efforts_and_pictures() -> None:
    assert facts_of("gpt-4o") == Facts(128_000, 16_384, (), True)
    assert facts_of("claude-opus-4-1") == Facts(200_000, 32_000, EFFORTS, True)
    assert facts_of("o3") == Facts(200_000, 100_000, ("low", "medium", "high"), True)
    assert facts_of("nobody-knows-me") == Facts()


@given(st.text(max_size=60), st.text(max_size=30))
def test_no_name_whatever_raises(name: str, url: str) -> None:
    facts_of(name, url)
    known_price(name, url)


@pytest.mark.parametrize(
    ("clause", "name", "yes"),
    [
        (["=", "a"], "a", True),
        (["^", "a"], "ab", True),
        (["$", "b"], "ab", True),
        (["~", "x"], "ab", False),
        (["/", "^a.$"], "ab", True),
        (["|", [["=", "x"], ["^", "a"]]], "ab", True),
        (["&", [["^", "a"], ["=", "x"]]], "ab", False),
    ],
)
def test_clauses_of_the_data_file(clause: list, name: str, yes: bool) -> None:
    assert fits(clause, name) is yes


def test_the_data_file_names_its_source_and_date_and_every_clause_is_known() -> None:
    data = catalogue._data()
    assert data["source"].startswith("genai-prices ")
    assert datetime.fromisoformat(data["date"])
    for provider in data["providers"]:
        for model in provider["models"]:
            fits(model["match"], "any")


def test_the_data_file_is_what_the_installed_genai_prices_gives() -> None:
    pytest.importorskip("genai_prices")
    script = Path(__file__).parents[3] / "scripts" / "model_catalogue.py"
    spec = importlib.util.spec_from_file_location("model_catalogue", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    fresh = module.catalogue(catalogue._data()["date"])
    assert fresh == catalogue._data(), "run scripts/model_catalogue.py after raising genai-prices"


# Efforts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "known", "sent"),
    [
        ("high", None, "high"),
        ("high", EFFORTS, "high"),
        ("max", ("low", "medium", "high"), "high"),
        ("none", ("low", "medium", "high"), "low"),
        ("medium", ("low", "high"), "low"),
        ("high", (), None),
    ],
)
def test_an_asked_effort_becomes_the_nearest_the_model_has(asked, known, sent) -> None:
    assert nearest_effort(asked, known) == sent


@pytest.mark.parametrize(
    ("model", "efforts"),
    [
        ("gpt-5", ("minimal", "low", "medium", "high")),
        ("gpt-5-pro", ("high",)),
        ("gpt-5.1", ("none", "low", "medium", "high")),
        ("gpt-5.2-codex", ("none", "low", "medium", "high", "xhigh")),
        ("gpt-6.1-sol", ("low", "medium", "high", "xhigh", "max")),
        ("claude-opus-4-6", ("none", "low", "medium", "high", "max")),
        ("claude-opus-5", ("none", "low", "medium", "high", "xhigh", "max")),
        ("claude-sonnet-4-5", EFFORTS),
        ("gpt-4o", ()),
        ("nobody-knows-me", None),
    ],
)
def test_efforts_are_facts_of_a_model(model: str, efforts: tuple[Effort, ...] | None) -> None:
    assert facts_of(model).efforts == efforts
