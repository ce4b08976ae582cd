"""A workspace over a wire that a test plays by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from maia.agents.shelf import Shelf as AgentShelf
from maia.agents.template import template
from maia.core.agent import AgentDefinition
from maia.core.costs import Cost
from maia.core.events import Notice, TextDelta, WireAnswer, WireEvent
from maia.core.memories import Memory
from maia.core.messages import AssistantMessage, TextPart
from maia.core.ports import Hands
from maia.core.requests import ChosenBy, ModelRequest
from maia.core.secret import Secret
from maia.database import users
from maia.database.address import database_url
from maia.database.database import Database
from maia.database.providers import ModelRow, ProviderRow
from maia.engine.context import Window
from maia.engine.setup import Bound, Config
from maia.engine.views import ModelChoice
from maia.folders.instance import Instance
from maia.folders.safety import Safety
from maia.folders.workspaces import Location
from maia.i18n.catalogue import Catalogue
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from maia.privacy.destination import HERE, Destination
from maia.workspace.bench import WorkBench
from maia.workspace.colleagues import Colleague, Colleagues, Role, nobody
from maia.workspace.definitions import ToolSeen
from maia.workspace.folders import Room
from maia.workspace.models.catalogue import Pair
from maia.workspace.models.supply import Address, KeyLook, Reached, Supply, Trial
from maia.workspace.workspace import Workspace
from tests.migrated import put_database


class PlayedWire:
    """Says what it is told to, and waits between two pieces until it is let go on."""

    provider = "played"

    def __init__(self, pieces: Sequence[str], *, wait_after: int | None = None) -> None:
        self.pieces = pieces
        self.wait_after = wait_after
        self.go_on = asyncio.Event()
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        for n, piece in enumerate(self.pieces):
            if n == self.wait_after:
                await self.go_on.wait()
            yield TextDelta(piece)
        yield WireAnswer(AssistantMessage((TextPart("".join(self.pieces)),), "m", "played"), "end", "stop")


class PlayedModels:
    """One model. `gone` takes it away."""

    def __init__(self, wire: PlayedWire) -> None:
        self.wire = wire
        self.name = "m"

    async def choices(self) -> Sequence[ModelChoice]:
        return [ModelChoice(self.name, "played")]

    async def problems(self) -> Sequence[Notice]:
        return ()

    async def start(self, resumed: str) -> Bound | None:
        return await self.bind(self.name, "resumed" if resumed else "default")

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, "played", self.wire, why)

    async def close(self) -> None: ...

    def effort(self, bound: Bound, asked: Any) -> Any:
        return None

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        return Window(), Notice("info", "turn.circles")


def no_hands(*_: object) -> Hands:
    raise AssertionError("no tool is called")


def no_price(*_: object) -> Cost:
    return Cost()


def no_memory(*_: object) -> None:
    pass


def bench_of(models: PlayedModels, folder: Path, destination: Destination = HERE) -> WorkBench:
    judge = RuleJudge(Place(folder, folder), trusted=False)
    return WorkBench(
        launch=folder,
        say=Catalogue("en", strict=True),
        models=models,
        hands=no_hands,
        price=no_price,
        configure=lambda: Config(judge, {}, (), (), (), 50),
        seen=no_memory,
        destination=lambda _bound: destination,
        open=lambda pair: models.bind(pair.model, "resumed"),
    )


class PlayedSupply:
    """One provider, `played`, with the one model."""

    usual = ""

    def __init__(self, models: PlayedModels) -> None:
        self._models = models

    async def providers(self) -> Sequence[ProviderRow]:
        return [ProviderRow("played", "Played", "local")]

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        return [ModelRow(provider_id, self._models.name, self._models.name)]

    async def attempt(self, pair: Pair) -> Trial:
        return Trial(pair.model, 0.0)

    async def reach(self, pair: Pair) -> Reached:
        raise AssertionError("nobody calls a model outside a conversation", pair)

    def known_owners(self) -> Sequence[tuple[str, str]]:
        return ()

    def look(self, key: Secret, owner: str) -> KeyLook:
        raise AssertionError("no key is shown", len(key.reveal()), owner)

    def keep(self, key: Secret, owner: str) -> str:
        raise AssertionError("no key is kept", len(key.reveal()), owner)

    def know(self, added: Sequence[ProviderRow]) -> None: ...

    def settle(self, address: Address) -> ProviderRow:
        raise AssertionError("no address is added", address.name)

    def forget(self, row: ProviderRow) -> None: ...

    async def close(self) -> None: ...


class PlayedAgents:
    """The agents of a home folder, nothing else installed."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def shelf(self, folder: str | None = None) -> AgentShelf:
        return AgentShelf.of(Path(folder or self._home), self._home, trusted=True)

    def colleague(self, agent: AgentDefinition, folder: str | None = None) -> Colleague:
        return Colleague(agent, model=agent.model)

    def template(self, lang: str) -> str:
        return template(lang, {})

    def runs_on(self, provider: str) -> str:
        return ""

    def tools(self) -> Sequence[ToolSeen]:
        return ()

    def memory(self, name: str) -> Memory | None:
        return None


@asynccontextmanager
async def workspace_on(
    url: str,
    folder: Path,
    models: PlayedModels,
    destination: Destination = HERE,
    *,
    bench: Callable[[Path], WorkBench] | None = None,
    roles: list[Role] | None = None,
    colleagues: Colleagues = nobody,
    supply: Supply | None = None,
) -> AsyncGenerator[tuple[Workspace, users.User]]:
    """An open workspace with one person."""
    if url.startswith("sqlite:///"):
        put_database(Path(url.removeprefix("sqlite:///")))
    seen = [] if roles is None else roles

    def opened(room: Room, _lang: str, role: Role) -> WorkBench:
        seen.append(role)
        launch = Path(room.roots[0].real)
        return bench(launch) if bench else bench_of(models, launch, destination)

    home, workspaces = folder / "home", folder / "workspaces"
    instance = Instance(home, home / ".maia", folder / "data", workspaces)
    made = await asyncio.to_thread(
        Workspace,
        database_url(url, folder),
        Location(folder / "data", workspaces),
        lambda: Safety(instance),
        opened,
        supply or PlayedSupply(models),
        agents=PlayedAgents(home),
        colleagues=colleagues,
    )
    await made.start()
    database: Database = made._database  # pyright: ignore[reportPrivateUsage] - no door makes people yet
    known = await database.read(lambda c: users.password_of(c, "lea@example.org"))
    if known is None:
        user = await database.write(lambda c: users.add_user(c, "lea@example.org", "Léa", "owner", "hash", None))
    else:
        user = known[0]
    try:
        yield made, user
    finally:
        await made.close()
