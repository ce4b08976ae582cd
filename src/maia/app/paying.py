"""Agents with a key of their own in the workspace: the way to the one provider where that key pays (C6.03)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from maia.app.agentkeys import AgentKey
from maia.app.memory import Remembered
from maia.app.models import EndpointModels, Wish
from maia.core.errors import NotConfigured
from maia.engine.setup import Bound
from maia.i18n.catalogue import Catalogue
from maia.settings import Settings


@dataclass(slots=True)
class Purses:
    """One for each key, kept as long as the server runs, so that connections are."""

    settings: Callable[[], Settings]
    env: Mapping[str, str]
    say: Catalogue
    remembered: Remembered
    _known: dict[AgentKey, EndpointModels] = field(default_factory=dict["AgentKey", EndpointModels])

    async def bound(self, key: AgentKey, provider: str, model: str) -> Bound | None:
        """The way to a model that this key pays for, None where it is another provider's: then the server's own pays.

        Raises `UsageProblem` for a key that pays nowhere, or must not go where it would.
        """
        if key not in self._known:
            env = key.environment(self.env)
            self._known[key] = EndpointModels(
                self.settings, Wish(None, is_person=False, key=key), env, self.say, self.remembered
            )
        try:
            return await self._known[key].exact(provider, model)
        except NotConfigured:
            return None

    async def close(self) -> None:
        """Close all connections."""
        for each in self._known.values():
            await each.close()
