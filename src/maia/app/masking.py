"""What the settings ask for in privacy, joined to the shapes of keys that the room of credentials knows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from maia.core.ports import Say
from maia.credentials.scrub import key_places
from maia.engine.masking import Masking
from maia.privacy.destination import Destination, is_local
from maia.privacy.mask import Masker
from maia.privacy.policy import Policy, read_policy
from maia.privacy.request import WITHHELD
from maia.settings_values import PrivacyWish

if TYPE_CHECKING:
    from maia.memory.meaning import Embedder


def masker_of(policy: Policy) -> Masker:
    """The masker of a policy, which finds keys, too."""
    return Masker(policy, key_places)


def wished_masking(wish: PrivacyWish, say: Say) -> Masking | None:
    """What the settings ask for, None where they ask for nothing.

    Raises `InvalidPolicy` for a policy that cannot be used: what was to be kept must not leave because of a slip.
    """
    if wish.mode == "off":
        return None
    policy = read_policy(wish.policy or {})
    return Masking(masker_of(policy), say, refuses=wish.mode == "block") if policy.enabled else None


def wished_embedder(embedder: Embedder, url: str, wish: PrivacyWish) -> Embedder:
    """The same, behind the mask where it runs elsewhere and the settings ask for one (N-10.10).

    Raises `InvalidPolicy` as `wished_masking` does.
    """
    policy = read_policy(wish.policy or {})
    if wish.mode == "off" or not policy.enabled or is_local(Destination("endpoint", url), policy.local_hosts):
        return embedder
    return MaskedEmbedder(embedder, masker_of(policy))


class MaskedEmbedder:
    """An embeddings model that sees no value: each text is masked right before it leaves."""

    def __init__(self, embedder: Embedder, masker: Masker) -> None:
        self._embedder = embedder
        self._masker = masker

    @property
    def name(self) -> str:
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """As the model gives them. A text that cannot be checked is withheld. Raises `ModelFailed`."""
        return await self._embedder.embed(await asyncio.to_thread(lambda: [self._masked(text) for text in texts]))

    async def aclose(self) -> None:
        await self._embedder.aclose()

    def _masked(self, text: str) -> str:
        try:
            return self._masker.mask(text).text
        except Exception:  # a defect, or a text that no pattern can read: what was not looked at stays here
            return WITHHELD
