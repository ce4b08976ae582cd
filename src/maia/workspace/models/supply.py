"""What the composition root gives for models: who is there, what they offer, and how one is tried and paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from maia.core.events import Notice
from maia.core.secret import Secret
from maia.database.providers import ModelRow, ProviderRow
from maia.engine.setup import Bound
from maia.engine.turn import Price
from maia.privacy.destination import Destination
from maia.workspace.models.catalogue import Pair


@dataclass(frozen=True, slots=True)
class Trial:
    """A call that a person asked for, to see whether a model answers. `seconds` is how long it took."""

    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class KeyLook:
    """What a pasted key is, by its shape alone. `provider` is empty where nobody can take it; `shown` is masked."""

    provider: str
    shown: str
    host: str
    owners: tuple[str, ...]
    notices: tuple[Notice, ...]


AddressFormat: TypeAlias = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True)
class Address:
    """A model server that a person adds: what it is called here, what it speaks, where it is, and its key."""

    name: str
    format: AddressFormat
    url: str
    key: Secret | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """One model for one call: the way to it, where that leads, and what it costs."""

    bound: Bound
    destination: Destination
    price: Price


class Supply(Protocol):
    """The world outside the database: servers, programs, keys."""

    async def providers(self) -> Sequence[ProviderRow]:
        """Who is configured or found now. Looks again at everything; raises nothing."""
        ...

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        """What it offers now, the best default first. A program is only started for it where a person `asked`.

        Raises `MaiaError` where it does not say.
        """
        ...

    async def attempt(self, pair: Pair) -> Trial:
        """One short call. Raises `MaiaError` with what went wrong."""
        ...

    async def reach(self, pair: Pair) -> Reached:
        """A model outside any conversation. Raises `MaiaError` for one that is not there, and for programs."""
        ...

    def known_owners(self) -> Sequence[tuple[str, str]]:
        """Providers for which a key can be added: (id, name)."""
        ...

    def look(self, key: Secret, owner: str) -> KeyLook:
        """What this key is. `owner` is the provider that the person named, empty where they named none."""
        ...

    def keep(self, key: Secret, owner: str) -> str:
        """Keep a key, encrypted; the id of its provider, which is there from now on. Blocks.

        Raises `MaiaError` for what is no key, or is somebody else's (C2.04).
        """
        ...

    def know(self, added: Sequence[ProviderRow]) -> None:
        """Which servers people added by their addresses; they are among `providers` from now on."""
        ...

    def settle(self, address: Address) -> ProviderRow:
        """Check an address that a person adds, and keep its key, encrypted; its provider to be. Blocks.

        Raises `MaiaError` for an address that requests may not go to, or to which the key may not go.
        """
        ...

    def forget(self, row: ProviderRow) -> None:
        """Forget the key of a server that a person added. Blocks."""
        ...

    @property
    def usual(self) -> str:
        """The model that the settings name as the usual one, empty where they name none."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...
