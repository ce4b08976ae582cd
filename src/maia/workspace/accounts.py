"""Who works here: the first owner, signing in and out, and who a browser's token belongs to (N-20)."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection

from maia.core.types import JsonObject
from maia.database import users
from maia.database.database import Database
from maia.database.ids import now_ms
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.passwords import hashed, matches
from maia.workspace.problems import TooManyTries, Unusable, WrongSignIn
from maia.workspace.tries import Tries

DAYS = 30
_MS_A_DAY = 86_400_000
_NOTED_EVERY = 3_600_000
_BELIEVED, _KNOWN = 5.0, 1000
"""Seconds for which a sign-in that was found is not looked up again, and how many of them."""
SHORTEST_PASSWORD, LONGEST_PASSWORD, LONGEST_NAME = 8, 1024, 100
_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@]{1,190}")


@dataclass(frozen=True, slots=True)
class Signed:
    """Somebody who just signed in; `token` goes into the cookie and is kept nowhere else."""

    token: str
    user: User


def csrf_token(token: str) -> str:
    """What a page of this sign-in sends with everything that changes something; another site cannot know it."""
    return sha256(b"csrf:" + token.encode()).hexdigest()[:40]


class Accounts:
    """People and their sign-ins."""

    def __init__(self, database: Database, tries: Tries | None = None) -> None:
        self._database = database
        self._tries = tries or Tries()
        self._first_run = ""
        self._known: dict[str, tuple[float, User]] = {}
        self._changes = 0

    # The first run

    async def open_first_run(self) -> str | None:
        """The token with which the first owner is made, None where there is one already."""
        if await self._database.read(users.has_users):
            return None
        token = secrets.token_urlsafe(24)
        self._first_run = _digest(token)
        return token

    def is_first_run(self, token: str) -> bool:
        """Whether this token makes the first owner; it does so once."""
        return bool(self._first_run) and hmac.compare_digest(self._first_run, _digest(token))

    async def make_owner(self, token: str, name: str, email: str, password: str, lang: str | None) -> User:
        """The first owner. Raises `WrongSignIn` for a token that is used up, `Unusable` for what was typed."""
        name, email = _checked(name, email, password)
        if not self.is_first_run(token):
            raise WrongSignIn("signin.first_run_over")
        kept = await hashed(password)

        def make(connection: Connection) -> User | None:
            if users.has_users(connection):
                return None
            user = users.add_user(connection, email, name, "owner", kept, lang)
            note_act(connection, "users.first_owner", by=user.id, details={})
            return user

        user = await self._database.write(make)
        self._first_run = ""
        if user is None:
            raise WrongSignIn("signin.first_run_over")
        return user

    # Signing in and out

    async def sign_in(self, email: str, password: str, address: str, browser: str) -> Signed:
        """Raises `TooManyTries`, and `WrongSignIn` with the tries that are left."""
        email = email.strip().lower()[:254].replace("\x00", "\ufffd")
        if wait := self._tries.wait(email, address):
            raise TooManyTries(wait)
        self._tries.failed(email, address)  # counted before the slow check, so that many at once are no way around
        found = await self._database.read(lambda c: users.password_of(c, email))
        right = await matches(found[1] if found else None, password[:LONGEST_PASSWORD])
        if found is None or not right:
            raise WrongSignIn("signin.wrong", n=self._tries.left(email))
        self._tries.succeeded(email, address)
        return await self.admit(found[0], browser)

    async def admit(self, user: User, browser: str) -> Signed:
        """A new sign-in of somebody who proved who they are."""
        token = secrets.token_urlsafe(32)
        digest, expires = _digest(token), now_ms() + DAYS * _MS_A_DAY
        await self._database.write(lambda c: users.add_sign_in(c, digest, user.id, expires, browser[:200]))
        return Signed(token, user)

    async def who(self, token: str) -> User | None:
        """Whose sign-in this is; None when it is over.

        One that was found is believed for some seconds: this server alone writes to its database, and what it changes
        about people is looked up anew at once.
        """
        digest = _digest(token)
        until, known = self._known.get(digest, (0.0, None))
        if known is not None and until > time.monotonic():
            return known
        asked = time.monotonic()
        self._known.pop(digest, None)
        changes = self._changes
        found = await self._database.read(lambda c: users.signed_in(c, digest))
        if found is None:
            return None
        user, seen = found
        if changes == self._changes:
            self._believe(digest, asked, user)
        if now_ms() - seen > _NOTED_EVERY:
            self._database.write_soon(lambda c: users.note_use(c, digest, now_ms() + DAYS * _MS_A_DAY))
        return user

    async def sign_out(self, token: str) -> None:
        digest = _digest(token)
        await self._database.write(lambda c: users.end_sign_in(c, digest))
        self._forget()

    async def prefer(self, user: User, lang: str | None, preferences: JsonObject) -> None:
        """How somebody wants to see things from here on."""
        await self._database.write(lambda c: users.set_preferences(c, user.id, lang, preferences))
        self._forget()

    # Inside

    def _believe(self, digest: str, asked: float, user: User) -> None:
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[digest] = (asked + _BELIEVED, user)

    def _forget(self) -> None:
        """Something about people changed: whoever asks is looked up anew, and what is being looked up is not kept."""
        self._changes += 1
        self._known.clear()


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _checked(name: str, email: str, password: str) -> tuple[str, str]:
    name, email = " ".join(name.split()), email.strip().lower()
    if not name or len(name) > LONGEST_NAME:
        raise Unusable("signin.bad_name", limit=LONGEST_NAME)
    if not _EMAIL.fullmatch(email):
        raise Unusable("signin.bad_email")
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise Unusable("signin.bad_password", least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD)
    return name, email
