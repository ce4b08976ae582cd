"""Browsers in which a person signed in before: whoever guesses elsewhere does not lock them out there."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

from sqlalchemy import Connection

from maia.database.database import Database
from maia.database.settings import keep_setting, setting

_KEY = "device_key"
"""The setting with which our marks are told from invented ones."""


class Devices:
    """Makes and knows the marks that such browsers carry; none is kept here."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key = ""

    async def new(self, email: str) -> str:
        """A mark for the browser in which that person just signed in."""
        nonce = secrets.token_hex(12)
        return f"{nonce}.{await self._seal(nonce, email)}"

    async def is_known(self, mark: str, email: str) -> bool:
        """Whether a browser's mark is ours, and that person's."""
        nonce, _, seal = mark[:200].partition(".")
        known = await self._seal(nonce, email)
        return hmac.compare_digest(seal.encode("utf-8", "replace"), known.encode())

    async def _seal(self, nonce: str, email: str) -> str:
        self._key = self._key or await self._database.write(_kept_key)
        said = f"{nonce}:{email}".encode("utf-8", "replace")
        return hmac.new(self._key.encode(), said, sha256).hexdigest()


def _kept_key(connection: Connection) -> str:
    known = setting(connection, _KEY)
    if isinstance(known, str):
        return known
    made = secrets.token_hex(32)
    keep_setting(connection, _KEY, made)
    return made
