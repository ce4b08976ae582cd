"""Rows of providers, their models and the routing tiers: kept as they were found, switched by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import Connection, delete, select, update

from maia.core.jsonvalue import JsonObject
from maia.core.requests import Effort
from maia.database.ids import now_ms
from maia.database.tables.models import MODELS, PROVIDERS, TIERS

Kind: TypeAlias = Literal["api", "local", "cli"]
Health: TypeAlias = Literal["unknown", "ready", "absent", "no_key", "auth", "unreachable"]
"""`absent`: an agent program or a local server that is not there any more."""
BY_PERSON: Final = "person"
EffortSource: TypeAlias = Literal["provider", "catalogue", "unknown"]


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider. `origin` says who named it: `settings`, a variable, `loopback`, `program`, `person`."""

    id: str
    name: str
    kind: Kind
    base_url: str = ""
    secret_name: str | None = None
    origin: str = ""
    enabled: bool = True
    health: Health = "unknown"
    checked_at: int | None = None
    format: str = ""

    @property
    def is_added(self) -> bool:
        """Whether a person added it by its address."""
        return self.origin == BY_PERSON


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model of a provider. None is unknown; `efforts` empty: it has no such control.

    `is_gone`: the last refresh did not offer it (N-01.09); `off_by_person`: a person switched it off, so that it stays
    off when it is offered again. With `no_tools` it is offered no tools (N-01.15). `price` holds `input` and `output`
    in US dollars a million tokens.
    """

    provider_id: str
    id: str
    name: str
    real_id: str | None = None
    window: int | None = None
    max_output: int | None = None
    sees_images: bool | None = None
    efforts: tuple[Effort, ...] | None = None
    default_effort: Effort | None = None
    effort_source: EffortSource = "unknown"
    price: JsonObject | None = None
    enabled: bool = True
    is_gone: bool = False
    off_by_person: bool = False
    position: int = 0
    no_tools: bool = False


@dataclass(frozen=True, slots=True)
class TierRow:
    """One place of a routing tier: 0 is its model, 1 the fallback. Without a model it only holds an effort."""

    tier: str
    position: int
    provider_id: str
    model_id: str
    effort: Effort | None = None


_P, _M = PROVIDERS.c, MODELS.c
_PROVIDER = (
    _P.id,
    _P.name,
    _P.kind,
    _P.base_url,
    _P.secret_name,
    _P.options,
    _P.enabled,
    _P.health,
    _P.checked_at,
    _P.format,
)
_MODEL = (
    _M.provider_id,
    _M.id,
    _M.name,
    _M.real_id,
    _M.window,
    _M.max_output,
    _M.sees_images,
    _M.efforts,
    _M.default_effort,
    _M.effort_source,
    _M.price,
    _M.enabled,
    _M.is_gone,
    _M.off_by_person,
    _M.position,
    _M.no_tools,
)


# Providers -----------------------------------------------------------------------------------------------------------


def providers(connection: Connection) -> list[ProviderRow]:
    """All of them, by name."""
    rows = connection.execute(select(*_PROVIDER)).all()
    found = [ProviderRow(*row[:5], _origin(row[5]), *row[6:]) for row in rows]
    return sorted(found, key=lambda each: (each.name.casefold(), each.id))


def _origin(options: Any) -> str:
    return str(cast(JsonObject, options).get("origin", "")) if isinstance(options, dict) else ""


def keep_provider(connection: Connection, row: ProviderRow) -> None:
    """What was found of a provider; whether it is on stays as people left it."""
    found: dict[str, Any] = {
        "name": row.name,
        "kind": row.kind,
        "base_url": row.base_url,
        "secret_name": row.secret_name,
        "options": {"origin": row.origin},
        "format": row.format,
    }
    if not connection.execute(update(PROVIDERS).where(_P.id == row.id).values(**found)).rowcount:
        made = {"id": row.id, "enabled": row.enabled, "health": row.health, "created_at": now_ms()}
        connection.execute(PROVIDERS.insert().values(**made, **found))


def set_provider(connection: Connection, provider_id: str, *, enabled: bool) -> None:
    """Switch a provider on or off."""
    connection.execute(update(PROVIDERS).where(_P.id == provider_id).values(enabled=enabled))


def drop_provider(connection: Connection, provider_id: str) -> None:
    """A provider and its models are no more; conversations that name it stay as they are."""
    connection.execute(delete(PROVIDERS).where(_P.id == provider_id))


def set_health(connection: Connection, provider_id: str, health: Health) -> None:
    """How it answered when it was asked last."""
    connection.execute(update(PROVIDERS).where(_P.id == provider_id).values(health=health, checked_at=now_ms()))


# Models --------------------------------------------------------------------------------------------------------------


def models(connection: Connection) -> list[ModelRow]:
    """The models of all providers, each list in its own order."""
    query = select(*_MODEL).order_by(_M.provider_id, _M.position, _M.id)
    return [_model(row) for row in connection.execute(query)]


def _model(row: Sequence[Any]) -> ModelRow:
    values: list[Any] = list(row)
    values[7] = None if row[7] is None else tuple(cast("list[Effort]", row[7]))
    return ModelRow(*values)


def keep_model(connection: Connection, row: ModelRow) -> None:
    """What is known of a model, and whether it is on."""
    kept: dict[str, Any] = {each.name: getattr(row, each.name) for each in fields(row)[2:]}  # all but its key
    kept |= {"efforts": None if row.efforts is None else list(row.efforts), "refreshed_at": now_ms()}
    where = (_M.provider_id == row.provider_id) & (_M.id == row.id)
    if not connection.execute(update(MODELS).where(where).values(**kept)).rowcount:
        connection.execute(MODELS.insert().values(provider_id=row.provider_id, id=row.id, **kept))


def set_model(connection: Connection, provider_id: str, model_id: str, *, enabled: bool) -> None:
    """A person switches a model on or off."""
    where = (_M.provider_id == provider_id) & (_M.id == model_id)
    connection.execute(update(MODELS).where(where).values(enabled=enabled, off_by_person=not enabled))


# Tiers ---------------------------------------------------------------------------------------------------------------


def tiers(connection: Connection) -> list[TierRow]:
    """All places of all tiers."""
    return [TierRow(*row) for row in connection.execute(select(TIERS).order_by(TIERS.c.tier, TIERS.c.position))]


def set_tier(connection: Connection, tier: str, places: Sequence[TierRow]) -> None:
    """The places of a tier, in place of those that it had."""
    connection.execute(delete(TIERS).where(TIERS.c.tier == tier))
    for place in places:
        connection.execute(TIERS.insert().values(**asdict(place)))
