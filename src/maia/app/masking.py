"""What the settings ask for in privacy, joined to the shapes of keys that the room of credentials knows."""

from __future__ import annotations

from maia.core.ports import Say
from maia.credentials.scrub import key_places
from maia.engine.masking import Masking
from maia.privacy.mask import Masker
from maia.privacy.policy import Policy, read_policy
from maia.settings_values import PrivacyWish


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
