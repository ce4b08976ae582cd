import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from maia.core.endings import Failure
from maia.core.errors import MaiaError, ModelFailed
from maia.core.secret import Secret
from maia.database import users
from maia.database.address import database_url as address_of
from maia.database.database import Database
from maia.database.ids import new_id
from maia.database.providers import ModelRow, ProviderRow
from maia.database.users import Role, User
from maia.workspace.models.catalogue import Pair, Tier
from maia.workspace.models.shelf import Refreshed, Shelf
from maia.workspace.models.supply import Address, KeyLook, Reached, Trial
from maia.workspace.problems import Coded, NotAllowed, NotThere

ALPHA = ProviderRow("alpha", "Alpha", "api", "https://alpha.example/v1", "ALPHA_KEY", "ALPHA_KEY")


def a_model(name: str, **more: object) -> ModelRow:
    return replace(ModelRow("alpha", name, name, window=8_000, efforts=("low", "high")), **more)


@dataclass
class World:
    """A supply that a test sets."""

    there: list[ProviderRow] = field(default_factory=lambda: [ALPHA])
    offered: Sequence[ModelRow] | Failure = (a_model("one"), a_model("two"))
    kept: list[str] = field(default_factory=list[str])
    usual: str = ""

    async def providers(self) -> Sequence[ProviderRow]:
        return self.there

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        if provider_id != "alpha":
            raise ModelFailed(Failure("auth", provider_id, 401))
        if isinstance(self.offered, Failure):
            raise ModelFailed(self.offered)
        return self.offered

    async def attempt(self, pair: Pair) -> Trial:
        if isinstance(self.offered, Failure):
            raise ModelFailed(self.offered)
        return Trial(f"ready, {pair.model}", 0.1)

    async def reach(self, pair: Pair) -> Reached:
        raise AssertionError("nobody calls a model outside a conversation", pair)

    def known_owners(self) -> Sequence[tuple[str, str]]:
        return [("alpha", "Alpha")]

    def look(self, key: Secret, owner: str) -> KeyLook:
        return KeyLook(owner, key.reveal()[:2] + "…", "alpha.example", (), ())

    def keep(self, key: Secret, owner: str) -> str:
        if key.reveal() == "wrong":
            raise MaiaError("provider.key_of_nobody", token="wr…")
        self.kept.append(owner)
        return "alpha"

    def know(self, added: Sequence[ProviderRow]) -> None: ...

    def settle(self, address: Address) -> ProviderRow:
        raise AssertionError("no address is added", address.name)

    def forget(self, row: ProviderRow) -> None: ...

    async def close(self) -> None:
        pass


@asynccontextmanager
async def shelf(url: str, folder: Path, world: World) -> AsyncGenerator[tuple[Shelf, User]]:
    database = Database(address_of(url, folder))
    made = Shelf(database, world)
    try:
        owner = await database.write(lambda c: a_user(c, "owner"))
        await made.start()
        await made.known()
        yield made, owner
    finally:
        await made.close()
        database.close()


def a_user(connection: object, role: Role) -> User:
    return users.add_user(connection, f"{new_id()}@example.org", "Léa", role, "a hash", None)  # pyright: ignore


def states(found: Shelf) -> list[tuple[str, bool, bool]]:
    return [(each.id, each.enabled, each.is_gone) for each in found.catalogue.models]


def test_what_is_found_at_the_start_is_there(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with shelf(database_url, tmp_path, World()) as (found, _):
            assert found.provider("alpha").health == "ready"
            assert states(found) == [("one", True, False), ("two", True, False)]
            assert found.model(Pair("alpha", "one")) == replace(a_model("one"), position=0)
            assert found.catalogue.install_default() == Pair("alpha", "one")

    asyncio.run(go())


def test_a_model_that_is_gone_is_off_never_deleted_and_comes_back(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        world = World()
        async with shelf(database_url, tmp_path, world) as (found, owner):
            world.offered = (a_model("two"), a_model("three"))
            assert await found.refresh(owner, "alpha") == Refreshed(("one",), (), 2)
            assert sorted(states(found)) == [("one", False, True), ("three", True, False), ("two", True, False)]
            with pytest.raises(Coded) as refused:
                await found.switch_model(owner, Pair("alpha", "one"), enabled=True)
            assert refused.value.key == "provider.not_offered"
            world.offered = (a_model("one"), a_model("two"))
            assert await found.refresh(owner, "alpha") == Refreshed(("three",), ("one",), 2)
            assert ("one", True, False) in states(found)

    asyncio.run(go())


def test_what_a_person_switched_off_stays_off_when_it_comes_back(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        world = World()
        async with shelf(database_url, tmp_path, world) as (found, owner):
            await found.switch_model(owner, Pair("alpha", "one"), enabled=False)
            world.offered = (a_model("two"),)
            await found.refresh(owner, "alpha")
            world.offered = (a_model("one"), a_model("two"))
            assert (await found.refresh(owner, "alpha")).restored == ("one",)
            assert ("one", False, False) in states(found)
            await found.refresh(owner, "alpha")
            assert ("one", False, False) in states(found), "an ordinary refresh leaves it off, too"

    asyncio.run(go())


def test_a_program_is_asked_by_a_person_only_and_keeps_what_it_told(database_url: str, tmp_path: Path) -> None:
    class Asked(World):
        times = 0

        async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
            self.times += asked
            return [a_model("default"), a_model("opus[1m]" if asked else "opus")]

    async def go() -> None:
        world = Asked(there=[replace(ALPHA, kind="cli", health="auth")])
        async with shelf(database_url, tmp_path, world) as (found, owner):
            assert (world.times, [each[0] for each in states(found)]) == (0, ["default", "opus"])
            assert await found.refresh(owner, "alpha") == Refreshed(("opus",), (), 2)
            assert found.provider("alpha").health == "auth", "its list says nothing of its sign-in"
        async with shelf(database_url, tmp_path, world) as (again, _):
            offered = [each.id for each in again.catalogue.models if not each.is_gone]
            assert (world.times, offered) == (1, ["default", "opus[1m]"])

    asyncio.run(go())


@pytest.mark.parametrize(
    ("offered", "code", "health"),
    [
        pytest.param(Failure("network", "alpha.example"), "ModelDiscoveryFailed", "unreachable", id="no answer"),
        pytest.param(Failure("auth", "alpha.example", 401), "ModelDiscoveryFailed", "auth", id="a refused key"),
        pytest.param((), "ModelDiscoveryEmpty", "ready", id="an empty list"),
    ],
)
def test_a_refresh_that_fails_changes_no_model(
    database_url: str, tmp_path: Path, offered: Sequence[ModelRow] | Failure, code: str, health: str
) -> None:
    async def go() -> None:
        world = World()
        async with shelf(database_url, tmp_path, world) as (found, owner):
            before = states(found)
            world.offered = offered
            with pytest.raises(Coded) as refused:
                await found.refresh(owner, "alpha")
            assert (refused.value.code, states(found), found.provider("alpha").health) == (code, before, health)

    asyncio.run(go())


def test_a_provider_that_is_not_there_any_more_stays_and_cannot_answer(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        world = World()
        async with shelf(database_url, tmp_path, world):
            pass
        world.there = [replace(ALPHA, id="beta", name="Beta", health="auth")]
        async with shelf(database_url, tmp_path, world) as (found, _):
            assert [(each.id, each.health) for each in found.catalogue.providers] == [
                ("alpha", "no_key"),
                ("beta", "auth"),
            ]
            assert states(found) == [("one", True, False), ("two", True, False)]
            assert not found.catalogue.is_available(Pair("alpha", "one"))

    asyncio.run(go())


def test_switches_defaults_tiers_and_keys_survive_a_restart(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        world = World()
        one, two = Pair("alpha", "one"), Pair("alpha", "two")
        async with shelf(database_url, tmp_path, world) as (found, owner):
            await found.set_default(owner, two)
            await found.allow_auto(owner, allowed=True)
            await found.set_tier(owner, "code", one, two, "high")
            await found.set_tier(owner, "quick", None, None, None)
            await found.switch_model(owner, one, enabled=False)
            assert await found.add_key(owner, Secret("right"), "alpha") == "alpha"
            assert await found.attempt(owner, two) == Trial("ready, two", 0.1)
        async with shelf(database_url, tmp_path, world) as (found, _):
            catalogue = found.catalogue
            assert (catalogue.default, catalogue.auto_allowed) == (two, True)
            assert catalogue.tier("code") == Tier("code", one, two, "high")
            assert catalogue.tier("quick") == Tier("quick", effort=None), "set to Auto, not to its usual Low"
            assert catalogue.tier("heartbeat") == Tier("heartbeat", effort="low")
            assert catalogue.tier_model("code") == two, "its first model is off"
            assert world.kept == ["alpha"]

    asyncio.run(go())


def test_only_owners_and_admins_change_something(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with shelf(database_url, tmp_path, World()) as (found, owner):
            user, one = replace(owner, role="user"), Pair("alpha", "one")
            for attempt in (
                found.refresh(user, "alpha"),
                found.switch(user, "alpha", enabled=False),
                found.switch_model(user, one, enabled=False),
                found.set_default(user, one),
                found.allow_auto(user, allowed=True),
                found.set_tier(user, "code", one, None, None),
                found.add_key(user, Secret("right"), "alpha"),
                found.attempt(user, one),
            ):
                with pytest.raises(NotAllowed):
                    await attempt
            with pytest.raises(NotAllowed):
                found.look_at_key(user, Secret("right"), "")
            assert await found.switch(replace(owner, role="admin"), "alpha", enabled=False)

    asyncio.run(go())


def test_what_there_is_not_is_told(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with shelf(database_url, tmp_path, World()) as (found, owner):
            for attempt in (
                found.switch(owner, "nobody", enabled=True),
                found.refresh(owner, "nobody"),
                found.switch_model(owner, Pair("alpha", "nothing"), enabled=True),
                found.set_tier(owner, "nightly", None, None, None),
                found.set_tier(owner, "code", Pair("alpha", "nothing"), None, None),
            ):
                with pytest.raises(NotThere):
                    await attempt
            with pytest.raises(Coded) as refused:
                await found.set_tier(owner, "code", Pair("alpha", "one"), None, "max")
            assert (refused.value.code, refused.value.more) == (
                "EFFORT_UNSUPPORTED",
                {"effort": "max", "levels": ["low", "high"]},
            )
            with pytest.raises(Coded) as unfit:
                await found.set_default(owner, Pair("alpha", "nothing"))
            assert unfit.value.code == "model_binding_unavailable"

    asyncio.run(go())
