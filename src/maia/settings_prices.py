"""What a person says that models cost (`model.pricing`): it wins over what servers and the catalogue say (R-2.458)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from maia.core.jsonvalue import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars a million tokens. What was read from or written to a cache pays `input` where it has no rate."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


_RATES: Final = {"input": "input", "output": "output", "cacheRead": "cache_read", "cacheWrite": "cache_write"}
_DEAREST: Final = 100_000
"""Dollars a million tokens. Who writes more than that meant something else."""


def prices_of(value: JsonObject) -> tuple[dict[str, TokenPrice], tuple[str, ...]]:
    """Prices by `provider/model`, or by a model wherever it runs, and the names of those that cannot be."""
    found = {name: _price(rates) for name, rates in value.items() if name.strip()}
    wrong = tuple(name for name in value if found.get(name) is None)
    return {name.strip(): price for name, price in found.items() if price is not None}, wrong


def _price(rates: JsonValue) -> TokenPrice | None:
    given = cast("dict[str, Any]", rates) if isinstance(rates, dict) else {}
    if not {"input", "output"} <= given.keys() <= _RATES.keys() or not all(_is_dollars(usd) for usd in given.values()):
        return None
    return TokenPrice(**{_RATES[rate]: float(usd) for rate, usd in given.items()})


def _is_dollars(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _DEAREST
