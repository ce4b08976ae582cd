"""What a model call costs: as the provider reported it, else by known prices, else unknown. Never an invented 0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final, TypeAlias, cast

from maia.core.costs import Cost, Usage
from maia.core.jsonvalue import JsonObject
from maia.llm.catalogue import entry_of

Rate: TypeAlias = tuple[tuple[int, float], ...]
"""US dollars a million tokens, from that many prompt tokens on: the whole call pays the highest step it reached."""

UNKNOWN: Final = Cost()


@dataclass(frozen=True, slots=True)
class Price:
    """Rates of one model. What was read from or written to a cache pays the input rate where it has none of its own."""

    input: Rate
    output: Rate
    cache_read: Rate | None = None
    cache_write: Rate | None = None

    def usd(self, usage: Usage) -> float:
        """Dollars for the tokens of one call."""
        counted = (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read or self.input),
            (usage.cache_write, self.cache_write or self.input),
        )
        return sum(tokens * _step(rate, usage.prompt) for tokens, rate in counted) / 1_000_000

    @property
    def is_free(self) -> bool:
        rates = (self.input, self.output, self.cache_read or (), self.cache_write or ())
        return not any(usd for rate in rates for _, usd in rate)


def flat(usd_per_million: float) -> Rate:
    """A rate without steps."""
    return ((0, usd_per_million),)


def _step(rate: Rate, prompt: int) -> float:
    return next((usd for start, usd in reversed(rate) if start == 0 or prompt > start), rate[0][1])


def known_price(model: str, base_url: str = "", at: datetime | None = None) -> Price | None:
    """The price that the catalogue has for a model at a moment (default: now), or None."""
    entry = entry_of(model, base_url)
    prices: list[JsonObject] = (entry or {}).get("prices", [])
    if not prices:
        return None
    now = (at or datetime.now(UTC)).astimezone(UTC)
    found = next((price for price in reversed(prices) if _holds(price, now)), prices[0])
    read, write = found.get("read"), found.get("write")
    return Price(
        _rate(found["in"]),
        _rate(found["out"]),
        None if read is None else _rate(read),
        None if write is None else _rate(write),
    )


def _holds(price: JsonObject, now: datetime) -> bool:
    if "from" in price:
        return now.date() >= date.fromisoformat(price["from"])
    if "hours" in price:
        start, end = (time.fromisoformat(text).replace(tzinfo=None) for text in price["hours"])
        clock = now.time()
        return start <= clock < end if start <= end else clock >= start or clock < end
    return True


def _rate(value: Any) -> Rate:
    if isinstance(value, list):
        return tuple((int(start), float(usd)) for start, usd in cast("list[list[float]]", value))
    return flat(float(value))


def cost_of(
    usage: Usage | None,
    model: str,
    base_url: str = "",
    *,
    reported: float | None = None,
    declared: Price | None = None,
    is_local: bool = False,
    at: datetime | None = None,
) -> Cost:
    """The cost of one call. `reported` comes from the provider, `declared` is the price its model list names.

    A reported 0 is only believed where the model is declared free: gateways report 0 for what they have no price of
    (seen with LiteLLM 1.106). A server on this machine has no price unless it declares one.
    """
    if reported is not None and reported >= 0 and (reported > 0 or (declared is not None and declared.is_free)):
        return Cost(reported, "reported")
    if usage is None:
        return UNKNOWN
    price = declared if declared is not None or is_local else known_price(model, base_url, at)
    return UNKNOWN if price is None else Cost(price.usd(usage), "estimated")
