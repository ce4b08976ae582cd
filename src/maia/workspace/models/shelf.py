"""Providers and models of this installation: looked up, refreshed, switched; one catalogue for everybody (N-01)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy import Connection

from maia.core.errors import MaiaError, ModelFailed
from maia.core.jsonvalue import JsonObject
from maia.core.requests import Effort
from maia.core.secret import Secret
from maia.database import providers as rows
from maia.database import settings
from maia.database.database import Database
from maia.database.providers import Health, ModelRow, ProviderRow, TierRow
from maia.database.users import User
from maia.workspace.models.binding import must_be_available
from maia.workspace.models.catalogue import TIERS, Catalogue, Pair
from maia.workspace.models.effort import LADDER, level, levels_of, unsupported
from maia.workspace.models.supply import Address, KeyLook, Reached, Supply, Trial
from maia.workspace.people.rights import may
from maia.workspace.problems import Coded, DiscoveryFailed, ModelUnavailable, NotAllowed, NotThere, TrialFailed, Unfit

DEFAULT, AUTO = "model_default", "auto_routing"
"""Names of the settings that hold the default model and the switch of automatic routing."""
_log = logging.getLogger("maia.models")
_PATIENCE = 6.0
"""Seconds that the first readers wait for the first look at all servers; a server that hangs holds nobody longer."""
_HEALTH: Mapping[str, Health] = {"auth": "auth", "network": "unreachable", "timeout": "unreachable"}
"""What a failure says of its provider."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh changed (N-01.10): models that are gone, and those that came back."""

    missing: tuple[str, ...]
    restored: tuple[str, ...]
    offered: int


class Shelf:
    """All models of this server. Whoever changes something must be an owner or an admin, else `NotAllowed`."""

    def __init__(self, database: Database, supply: Supply, started_with: str | None = None) -> None:
        self._database = database
        self._supply = supply
        self._started_with = started_with
        self._catalogue = Catalogue(started_with=started_with)
        self._looking: asyncio.Task[None] | None = None
        self._waited = False
        self._busy = asyncio.Lock()
        self._reading = asyncio.Lock()

    # Life

    async def start(self) -> None:
        """Read what is known, and begin to look around; servers that are slow hold nothing up."""
        await self._reload()
        self._supply.know(self._added())
        self._looking = asyncio.create_task(self._look_around(), name="models")

    async def close(self) -> None:
        """Stop looking, close all connections."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        await self._supply.close()

    # Reading

    @property
    def catalogue(self) -> Catalogue:
        """What is known now."""
        return self._catalogue

    async def known(self) -> Catalogue:
        """What is known once the first look around is over, or lasts too long."""
        if self._looking is not None and not self._looking.done() and not self._waited:
            await asyncio.wait([self._looking], timeout=_PATIENCE)
            self._waited = True
        return self._catalogue

    def name_of(self, provider_id: str) -> str:
        """The name of a provider, the same everywhere (R-2.028)."""
        return self._catalogue.name_of(provider_id)

    def provider(self, provider_id: str) -> ProviderRow:
        """One provider. Raises `NotThere`."""
        found = self._catalogue.provider(provider_id)
        if found is None:
            raise NotThere("provider.unknown", name=provider_id)
        return found

    def model(self, pair: Pair) -> ModelRow:
        """One model. Raises `NotThere`."""
        self.provider(pair.provider)
        found = self._catalogue.model(pair)
        if found is None:
            raise NotThere("provider.unknown_model", provider=self._catalogue.name_of(pair.provider), model=pair.model)
        return found

    # Changing

    async def refresh(self, by: User, provider_id: str) -> Refreshed:
        """Ask a provider again for its models. Raises `DiscoveryFailed`; then nothing was changed."""
        _manages(by)
        async with self._busy:
            await self._find()
            self.provider(provider_id)
            return await self._refresh(provider_id, asked=True)

    async def switch(self, by: User, provider_id: str, *, enabled: bool) -> ProviderRow:
        """Switch a provider on or off."""
        _manages(by)
        self.provider(provider_id)
        await self._write(
            lambda c: rows.set_provider(c, provider_id, enabled=enabled),
            by,
            "provider.on" if enabled else "provider.off",
            {"provider": provider_id},
        )
        return self.provider(provider_id)

    async def switch_model(self, by: User, pair: Pair, *, enabled: bool) -> ModelRow:
        """Switch a model on or off. One that is not offered any more cannot be switched on."""
        _manages(by)
        if self.model(pair).is_gone and enabled:
            values = {"provider": self._catalogue.name_of(pair.provider), "model": pair.model}
            raise Unfit("model_binding_unavailable", "provider.not_offered", **values)
        await self._write(
            lambda c: rows.set_model(c, pair.provider, pair.model, enabled=enabled),
            by,
            "model.on" if enabled else "model.off",
            {"provider": pair.provider, "model": pair.model},
        )
        return self.model(pair)

    async def set_default(self, by: User, pair: Pair) -> None:
        """The default model of new conversations; those that have one stay (R-2.045)."""
        _manages(by)
        must_be_available(self._catalogue, pair)
        value: JsonObject = {"providerId": pair.provider, "modelId": pair.model}
        await self._write(lambda c: settings.keep_setting(c, DEFAULT, value, by.id), by, "model.default", value)

    async def allow_auto(self, by: User, *, allowed: bool) -> None:
        """Permit automatic routing, or take that back (R-2.053)."""
        _manages(by)
        await self._write(
            lambda c: settings.keep_setting(c, AUTO, allowed, by.id), by, "routing.auto", {"allowed": allowed}
        )

    async def set_tier(
        self, by: User, tier: str, primary: Pair | None, fallback: Pair | None, effort: str | None
    ) -> None:
        """What a tier uses (N-04.15). Raises `NotThere`, `Unfit`."""
        _manages(by)
        self.must_be_tier(tier)
        for pair in (primary, fallback):
            if pair is not None:
                self.model(pair)
        asked = None if effort is None else self._level(effort, (primary, fallback))
        places = [
            TierRow(tier, position, pair.provider if pair else "", pair.model if pair else "", asked)
            for position, pair in enumerate((primary, fallback))
            if pair is not None or position == 0
        ]
        acted: JsonObject = {"tier": tier, "model": "/".join(primary) if primary else None}
        await self._write(lambda c: rows.set_tier(c, tier, places), by, "routing.tier", acted)

    def must_be_tier(self, tier: str) -> None:
        if tier not in TIERS:
            raise NotThere("provider.unknown_tier", name=tier)

    def _level(self, word: str, pairs: Sequence[Pair | None]) -> Effort:
        """A tier's level: any, where it has no model yet. Raises `Unfit` where its models do not have it (R-2.154)."""
        levels = levels_of(self._catalogue, pairs) if any(pairs) else LADDER
        asked = level(word)
        if asked is None or asked not in levels:
            raise unsupported(word, levels)
        return asked

    # Keys and trials

    def look_at_key(self, by: User, key: Secret, owner: str) -> KeyLook:
        """What a pasted key is; nothing is kept or sent."""
        _manages(by)
        return self._supply.look(key, owner)

    def owner_name(self, provider_id: str) -> str | None:
        """The name of a provider for which a key can be added."""
        return dict(self._supply.known_owners()).get(provider_id)

    def key_owners(self) -> Sequence[tuple[str, str]]:
        return self._supply.known_owners()

    async def add_key(self, by: User, key: Secret, owner: str) -> str:
        """Keep a key and ask its provider for its models; the provider's id. The key itself is never shown again.

        Raises `Unfit` for what is no key, or would go to somebody else than its maker.
        """
        _manages(by)
        try:
            provider_id = await asyncio.to_thread(self._supply.keep, key, owner)
        except MaiaError as error:
            raise Unfit("key_refused", error.key, **error.values) from error
        acted: JsonObject = {"provider": provider_id}
        await self._database.write(lambda c: settings.note_act(c, "provider.key", by=by.id, details=acted))
        await self._meet(provider_id)
        return provider_id

    async def add_address(self, by: User, address: Address) -> str:
        """A server that a person adds by its address; the provider's id. Whether it answers, its health says.

        Raises `Unfit` for a name that is taken, or an address or key that cannot be.
        """
        _manages(by)
        if any(each.name.casefold() == address.name.casefold() for each in self._catalogue.providers):
            raise Unfit("name_taken", "provider.name_taken", name=address.name)
        try:
            row = await asyncio.to_thread(self._supply.settle, address)
        except MaiaError as error:
            raise Unfit("address_refused", error.key, **error.values) from error
        if self._catalogue.provider(row.id) is not None:
            raise Unfit("name_taken", "provider.name_taken", name=address.name)
        acted: JsonObject = {"provider": row.id, "host": row.base_url}
        await self._write(lambda c: rows.keep_provider(c, row), by, "provider.address", acted)
        self._supply.know(self._added())
        await self._meet(row.id)
        return row.id

    async def remove(self, by: User, provider_id: str) -> None:
        """A server that a person added, with its key. Raises `Unfit` for any other: those are found or configured."""
        _manages(by)
        row = self.provider(provider_id)
        if not row.is_added:
            raise Unfit("not_removable", "provider.not_removable", name=row.name)
        await asyncio.to_thread(self._supply.forget, row)
        async with self._busy:
            drop = {"provider": provider_id}
            await self._write(lambda c: rows.drop_provider(c, provider_id), by, "provider.removed", {**drop})
            self._supply.know(self._added())
            await self._find()

    async def attempt(self, by: User, pair: Pair) -> Trial:
        """One short call to a model. Raises `TrialFailed`."""
        _manages(by)
        self.model(pair)
        try:
            trial = await self._supply.attempt(pair)
        except MaiaError as error:
            health = _health_of(error)
            if health is not None:
                await self._set_health(pair.provider, health)
            raise TrialFailed(_kind_of(error), error.key, **error.values) from error
        await self._set_health(pair.provider, "ready")
        return trial

    async def reach(self, pair: Pair) -> Reached:
        """A model for one call outside any conversation. Raises `ModelUnavailable`."""
        try:
            return await self._supply.reach(pair)
        except MaiaError as error:
            raise ModelUnavailable("model_binding_unavailable", error.key, **error.values) from error

    # Inside

    async def _look_around(self) -> None:
        try:
            async with self._busy:
                await self._find()
                ids = [each.id for each in self._catalogue.providers if each.health not in ("absent", "no_key")]
                await asyncio.gather(*(self._try_refresh(each) for each in ids))
        except Exception:  # a defect of ours must not keep the server from its conversations
            _log.exception("looking for models")

    def _added(self) -> list[ProviderRow]:
        return [each for each in self._catalogue.providers if each.is_added]

    async def _meet(self, provider_id: str) -> None:
        """Ask a provider that is new here for its models."""
        async with self._busy:
            await self._find()
            with suppress(DiscoveryFailed):
                await self._refresh(provider_id)

    async def _try_refresh(self, provider_id: str) -> None:
        with suppress(DiscoveryFailed):
            await self._refresh(provider_id)

    async def _find(self) -> None:
        """Who is there now. Whoever was there before and is not any more stays, and is told as absent."""
        found = await self._supply.providers()
        names = {each.id for each in found}
        lost = [each for each in self._catalogue.providers if each.id not in names]
        before = {each.id: each.health for each in self._catalogue.providers}

        def keep(connection: Connection) -> None:
            for each in found:
                rows.keep_provider(connection, each)
                if each.health != "unknown" or before.get(each.id) in ("absent", "no_key"):
                    rows.set_health(connection, each.id, each.health)
            for each in lost:
                rows.set_health(connection, each.id, "absent" if each.kind != "api" else "no_key")

        await self._database.write(keep)
        await self._reload()

    async def _refresh(self, provider_id: str, *, asked: bool = False) -> Refreshed:
        is_program = self.provider(provider_id).kind == "cli"  # its list says nothing of its sign-in
        try:
            offered = await self._supply.models(provider_id, asked=asked)
        except MaiaError as failed:
            if not is_program:
                await self._set_health(provider_id, _health_of(failed) or "unreachable")
            raise DiscoveryFailed("ModelDiscoveryFailed", failed.key, **failed.values) from failed
        if not offered:
            raise DiscoveryFailed("ModelDiscoveryEmpty", "provider.empty", name=self._catalogue.name_of(provider_id))
        known = self._catalogue.models_of(provider_id)
        if is_program and not asked and {each.id for each in known if not each.is_gone} - {each.id for each in offered}:
            return Refreshed((), (), len(known))  # it told its models once; without being asked it tells none
        merged, refreshed = merge(known, offered)

        def keep(connection: Connection) -> None:
            for each in merged:
                rows.keep_model(connection, each)
            if not is_program:
                rows.set_health(connection, provider_id, "ready")

        await self._database.write(keep)
        await self._reload()
        return refreshed

    async def _set_health(self, provider_id: str, health: Health) -> None:
        await self._database.write(lambda c: rows.set_health(c, provider_id, health))
        await self._reload()

    async def _write(self, work: Callable[[Connection], None], by: User, act: str, details: JsonObject) -> None:
        def both(connection: Connection) -> None:
            work(connection)
            settings.note_act(connection, act, by=by.id, details=details)

        await self._database.write(both)
        await self._reload()

    async def _reload(self) -> None:
        async with self._reading:  # else an earlier state, read more slowly, would take the place of a later one
            self._catalogue = await self._database.read(self._read)

    def _read(self, connection: Connection) -> Catalogue:
        found = Catalogue(
            rows.providers(connection),
            rows.models(connection),
            rows.tiers(connection),
            _pair_of(settings.setting(connection, DEFAULT)),
            auto_allowed=settings.setting(connection, AUTO) is True,
            started_with=self._started_with,
        )
        if found.default is None and self._supply.usual:
            return replace(found, default=found.named(self._supply.usual))
        return found


def merge(before: Sequence[ModelRow], offered: Sequence[ModelRow]) -> tuple[list[ModelRow], Refreshed]:
    """The rows after a refresh: what people switched stays, what is gone is off and comes back by itself (N-01.09)."""
    known = {each.id: each for each in before}
    merged: list[ModelRow] = []
    restored: list[str] = []
    for position, each in enumerate(offered):
        old = known.pop(each.id, None)
        if old is None:
            merged.append(replace(each, position=position))
            continue
        enabled = old.enabled
        if old.is_gone:
            enabled = each.enabled and not old.off_by_person
            restored.append(each.id)
        merged.append(replace(each, position=position, enabled=enabled, off_by_person=old.off_by_person))
    gone = [each for each in known.values() if not each.is_gone]
    merged += [replace(each, is_gone=True, enabled=False) for each in gone]
    return merged, Refreshed(tuple(each.id for each in gone), tuple(restored), len(offered))


def _manages(user: User) -> None:
    if not may(user, "models"):
        raise NotAllowed("provider.not_allowed")


def _pair_of(value: Any) -> Pair | None:
    if not isinstance(value, dict):
        return None
    body = cast(JsonObject, value)
    return Pair(str(body.get("providerId")), str(body.get("modelId")))


def _health_of(error: MaiaError) -> Health | None:
    if not isinstance(error, ModelFailed):
        return None
    return _HEALTH.get(error.failure.kind)


def _kind_of(error: MaiaError) -> str:
    if isinstance(error, Coded):
        return error.code
    return error.failure.kind if isinstance(error, ModelFailed) else error.key.rpartition(".")[2]
