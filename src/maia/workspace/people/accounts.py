"""Who works here: the first owner, signing in and out, and who a browser's token belongs to (N-20)."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection

from maia.core.jsonvalue import JsonObject
from maia.core.text import kept_name, visible
from maia.database import users
from maia.database.database import Database
from maia.database.ids import now_ms
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.people.devices import Devices
from maia.workspace.people.passwords import hashed, matches
from maia.workspace.people.stays import Stay, Stays
from maia.workspace.people.tries import Source, Tries
from maia.workspace.problems import TooManyTries, Unusable, WrongSignIn

DAYS = 30
_MS_A_DAY = 86_400_000
_NOTED_EVERY = 3_600_000
_BELIEVED, _KNOWN = 5.0, 1000
"""Seconds for which a sign-in that was found is not looked up again, and how many of them."""
SHORTEST_PASSWORD, LONGEST_PASSWORD, LONGEST_NAME = 8, 1024, 100
_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@]{1,190}")


@dataclass(frozen=True, slots=True)
class Signed:
    """Somebody who just signed in; `token` goes into the cookie and is kept nowhere else.

    `device` goes into another one: it says that this person has signed in with this browser before.
    """

    token: str
    user: User
    device: str


def csrf_token(token: str) -> str:
    """What a page of this sign-in sends with everything that changes something; another site cannot know it."""
    return sha256(b"csrf:" + token.encode()).hexdigest()[:40]


class Accounts:
    """People and their sign-ins."""

    def __init__(self, database: Database, tries: Tries | None = None) -> None:
        self._database = database
        self._tries = tries or Tries()
        self._devices = Devices(database)
        self._stays = Stays()
        self._first_run = ""
        self._known: dict[str, tuple[float, User]] = {}
        self._changes = 0

    # The first run

    async def open_first_run(self) -> str | None:
        """The token with which the first owner is made, None where there is one already."""
        if await self._database.read(users.has_users):
            return None
        token = secrets.token_urlsafe(24)
        self._first_run = digest_of(token)
        return token

    def is_first_run(self, token: str) -> bool:
        """Whether this token makes the first owner; it does so once."""
        return bool(self._first_run) and hmac.compare_digest(self._first_run, digest_of(token))

    async def make_owner(self, token: str, name: str, email: str, password: str, lang: str | None) -> User:
        """The first owner. Raises `WrongSignIn` for a token that is used up, `Unusable` for what was typed."""
        name, email = checked_name(name), checked_email(email)
        check_password(password)
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

    async def sign_in(self, email: str, password: str, address: str, browser: str, device: str = "") -> Signed:
        """Raises `TooManyTries`, and `WrongSignIn` with the tries that are left.

        A browser that this person has used before has tries of its own, so that nobody else's failures lock it out.
        """
        email = email.strip().lower()[:254].replace("\x00", "\ufffd")
        from_where = Source(email, address, device if await self._devices.is_known(device, email) else "")
        await self._check(from_where, lambda: self._is_right(email, password))
        found = await self._database.read(lambda c: users.password_of(c, email))
        if found is None:
            raise WrongSignIn("signin.wrong", n=0)
        return await self.admit(found[0], browser)

    async def prove(self, user: User, password: str, address: str) -> None:
        """That it is really them, before something that a passer-by must not do. Raises as `sign_in`."""
        source = Source(user.email, address, f"proof-{user.id}")
        await self._check(source, lambda: self._is_right(user.email, password), "account.wrong_password")

    async def _is_right(self, email: str, password: str) -> bool:
        found = await self._database.read(lambda c: users.password_of(c, email))
        return await matches(found[1] if found else None, password[:LONGEST_PASSWORD])

    async def _check(
        self, source: Source, is_right: Callable[[], Awaitable[bool]], wrong: str = "signin.wrong"
    ) -> None:
        if wait := self._tries.wait(source):
            raise TooManyTries(wait)
        self._tries.failed(source)  # counted before the slow check, so that many at once are no way around
        if not await is_right():
            raise WrongSignIn(wrong, n=self._tries.left(source))
        self._tries.succeeded(source)

    async def admit(self, user: User, browser: str) -> Signed:
        """A new sign-in of somebody who proved who they are."""
        token = secrets.token_urlsafe(32)
        digest, expires = digest_of(token), now_ms() + DAYS * _MS_A_DAY
        await self._database.write(lambda c: users.add_sign_in(c, digest, user.id, expires, browser[:200]))
        return Signed(token, user, await self._devices.new(user.email))

    async def who(self, token: str) -> User | None:
        """Whose sign-in this is; None when it is over.

        One that was found is believed for some seconds: this server alone writes to its database, and what it changes
        about people is looked up anew at once.
        """
        digest = digest_of(token)
        until, known = self._known.get(digest, (0.0, None))
        if known is not None and until > time.monotonic():
            return known
        asked = time.monotonic()
        self._known.pop(digest, None)
        changes = self._changes
        found = await self._database.look(lambda c: users.signed_in(c, digest))
        if found is None:
            return None
        user, seen = found
        if changes == self._changes:
            self._believe(digest, asked, user)
        if now_ms() - seen > _NOTED_EVERY:
            self._database.write_soon(lambda c: users.note_use(c, digest, now_ms() + DAYS * _MS_A_DAY))
        return user

    async def sign_out(self, token: str) -> None:
        digest = digest_of(token)
        await self._database.write(lambda c: users.end_sign_in(c, digest))
        await self.changed()

    async def prefer(self, user: User, changed: JsonObject) -> JsonObject:
        """How somebody wants to see things from here on: what changes of it, and all of it as it is kept now."""
        kept = await self._database.write(lambda c: users.change_preferences(c, user.id, changed))
        await self.changed(user.id)
        return kept

    # What is believed, and who reads on

    def stay(self, user: User, token: str) -> AbstractContextManager[Stay]:
        """A reader of something that goes on, which is over when they may not read it any more, or as another."""
        return self._stays.stay(user, token)

    async def changed(self, user_id: str | None = None) -> None:
        """Something about that person, or about anybody, changed: it holds from here on, for open streams, too."""
        self._changes += 1
        self._known.clear()
        for each in self._stays.of(user_id):
            if await self.who(each.token) != each.user:
                each.over.set()

    def _believe(self, digest: str, asked: float, user: User) -> None:
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[digest] = (asked + _BELIEVED, user)


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def checked_name(name: str) -> str:
    """A person's name as it is kept. Raises `Unusable`."""
    name = kept_name(name)
    if not name or len(name) > LONGEST_NAME:
        raise Unusable("signin.bad_name", limit=LONGEST_NAME)
    return name


def checked_email(email: str) -> str:
    """An e-mail as it is kept, in lower case. Raises `Unusable`."""
    email = email.strip().lower()
    if not _EMAIL.fullmatch(email) or visible(email) != email:
        raise Unusable("signin.bad_email")
    return email


def check_password(password: str) -> None:
    """Raises `Unusable` for one that is too short or too long."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise Unusable("signin.bad_password", least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD)
