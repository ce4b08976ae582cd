"""Hashes of passwords, made and checked aside, one at a time, since each takes memory and time on purpose."""

from __future__ import annotations

import asyncio

MEMORY_KIB, PASSES, LANES = 19_456, 2, 1
"""OWASP's parameters for argon2id (cheatsheetseries.owasp.org, Password Storage, 2026)."""
_ONE = asyncio.Semaphore(1)
_NOBODY = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5LWF0LWFsbC4uLg$ZwMKTtDGA4PnGOEm7C2b7GxHmRzCUPQwk4FL4n5Yu8s"
"""Checked for an unknown e-mail, so that the time of the answer tells nothing."""


async def hashed(password: str) -> str:
    """The hash that is kept."""
    async with _ONE:
        return await asyncio.to_thread(_hash, password)


async def matches(kept: str | None, password: str) -> bool:
    """Whether this is the password of that hash; for None it is not, after the same time."""
    async with _ONE:
        return await asyncio.to_thread(_verify, kept or _NOBODY, password) and kept is not None


def _hash(password: str) -> str:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES).hash(password)


def _verify(kept: str, password: str) -> bool:
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return PasswordHasher().verify(kept, password)
    except (Argon2Error, InvalidHashError):
        return False
