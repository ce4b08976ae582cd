"""What is spent, a row a day, purpose and model; kept apart from conversations, which may be deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Connection, func, select, update

from maia.database.tables.models import PROVIDERS, SPENDING

TURN = "turn"
"""The purpose of what a conversation's own turns cost, followed by `:` and the agent that answered, if any did.

All others are calls of the server's own.
"""
_S = SPENDING.c


@dataclass(frozen=True, slots=True)
class Spent:
    """One call, or all calls of one turn. None is unknown, which is never 0 (R-2.210)."""

    purpose: str
    provider_id: str
    model_id: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """What some days cost: known dollars, and for how many turns and calls nobody knows it."""

    usd: float = 0.0
    unknown: int = 0


def today() -> str:
    """This day where the server is, 2026-11-30."""
    return date.today().isoformat()


def add_spent(connection: Connection, day: str, spent: Spent) -> None:
    """Put it to what that day (2026-11-30) cost so far."""
    more: dict[str, Any] = {
        "calls": 1,
        "tokens_in": spent.tokens_in or 0,
        "tokens_out": spent.tokens_out or 0,
        "usd": spent.usd or 0.0,
        "unknown": int(spent.usd is None and not _is_free(connection, spent.provider_id)),
    }
    key = {"day": day, "purpose": spent.purpose, "provider_id": spent.provider_id, "model_id": spent.model_id}
    where = [_S[name] == value for name, value in key.items()]
    added = {name: _S[name] + value for name, value in more.items()}
    if not connection.execute(update(SPENDING).where(*where).values(**added)).rowcount:
        connection.execute(SPENDING.insert().values(**key, **more))


def _is_free(connection: Connection, provider_id: str) -> bool:
    """Whether nothing is paid there: it runs on this machine."""
    return connection.execute(select(PROVIDERS.c.kind).where(PROVIDERS.c.id == provider_id)).scalar() == "local"


def purpose_of_turn(agent: str | None) -> str:
    """The purpose under which a turn is written down that this agent answers."""
    return f"{TURN}:{agent}" if agent else TURN


def tokens_since(connection: Connection, day: str, purpose: str) -> int:
    """The tokens in and out of that purpose, on that day and all after it."""
    query = select(func.coalesce(func.sum(_S.tokens_in + _S.tokens_out), 0)).where(_S.day >= day, _S.purpose == purpose)
    return int(connection.execute(query).scalar_one())


def spent_since(connection: Connection, day: str) -> Sum:
    """What that day and all after it cost."""
    query = select(func.coalesce(func.sum(_S.usd), 0.0), func.coalesce(func.sum(_S.unknown), 0)).where(_S.day >= day)
    usd, unknown = connection.execute(query).one()
    return Sum(float(usd), int(unknown))
