"""Writes `src/maia/llm/data/models.json` from the installed genai-prices: windows and prices of well-known models.

    python scripts/model_catalogue.py [--date 2026-11-30]

genai-prices costs 0.25 s of CPU to import and 40 MB, so what maia needs of it is baked into a small file when the
dependency is raised. Prices are US dollars a million tokens; only text is kept. Shapes:

    rate    0.25, or [[0, 0.25], [200000, 0.5]]: from that many prompt tokens on, all tokens cost that
    price   {"in", "read", "write", "out"} rates, "from" a date or "hours" [start, end] UTC when it holds
    clause  ["=", text] ["^", prefix] ["$", suffix] ["~", part] ["/", regex] ["|", clauses] ["&", clauses]
"""

from __future__ import annotations

import argparse
import datetime
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices.data import providers

KEPT = (
    "anthropic",
    "openai",
    "google",
    "mistral",
    "deepseek",
    "x-ai",
    "groq",
    "moonshotai",
    "zai",
    "zhipuai",
    "minimax",
    "together",
    "fireworks",
    "cerebras",
    "cohere",
    "meta",
    "perplexity",
)
"""OpenRouter is left out: its own list names windows and prices, and its answers their cost."""

TARGET = Path(__file__).parent.parent / "src/maia/llm/data/models.json"
CLAUSES = {
    "ClauseEquals": ("=", "equals"),
    "ClauseStartsWith": ("^", "starts_with"),
    "ClauseEndsWith": ("$", "ends_with"),
    "ClauseContains": ("~", "contains"),
    "ClauseRegex": ("/", "regex"),
}
RATES = {"in": "input_mtok", "read": "cache_read_mtok", "write": "cache_write_mtok", "out": "output_mtok"}


def clause(match: Any) -> list[Any]:
    kind = type(match).__name__
    if kind in ("ClauseOr", "ClauseAnd"):
        return ["|" if kind == "ClauseOr" else "&", [clause(part) for part in getattr(match, kind[6:].lower() + "_")]]
    sign, field = CLAUSES[kind]
    text = getattr(match, field)
    return [sign, text if sign == "/" else text.lower()]


def rate(value: Any) -> Any:
    if hasattr(value, "tiers"):
        return [[0, float(value.base)], *([tier.start, float(tier.price)] for tier in value.tiers)]
    return float(value)


def price(prices: Any, constraint: Any = None) -> dict[str, Any]:
    found = {name: rate(value) for name, field in RATES.items() if (value := getattr(prices, field, None)) is not None}
    if hasattr(constraint, "start_date"):
        found["from"] = constraint.start_date.isoformat()
    elif hasattr(constraint, "start_time"):
        found["hours"] = [constraint.start_time.isoformat(), constraint.end_time.isoformat()]
    return found


def model(info: Any) -> dict[str, Any]:
    prices = info.prices if isinstance(info.prices, list) else None
    listed = [price(part.prices, part.constraint) for part in prices] if prices else [price(info.prices)]
    found: dict[str, Any] = {"id": info.id, "match": clause(info.match)}
    if info.context_window:
        found["window"] = info.context_window
    if all("in" in part and "out" in part for part in listed):
        found["prices"] = listed
    return found


def provider(info: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"id": info.id, "api": info.api_pattern}
    if info.model_match is not None:
        found["match"] = clause(info.model_match)
    if fallback := [name for name in info.fallback_model_providers or () if name in KEPT]:
        found["fallback"] = fallback
    found["models"] = [model(entry) for entry in info.models]
    return found


def catalogue(date: str) -> dict[str, Any]:
    """The whole file as data."""
    return {
        "source": f"genai-prices {version('genai-prices')}",
        "date": date,
        "providers": [provider(info) for info in providers if info.id in KEPT],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--date", default=datetime.date.today().isoformat())
    text = json.dumps(catalogue(options.parse_args().date), ensure_ascii=False, separators=(",", ":"))
    TARGET.write_text(text.replace('{"id"', '\n{"id"') + "\n")


if __name__ == "__main__":
    main()
