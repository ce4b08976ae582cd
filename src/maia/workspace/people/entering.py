"""Who of us comes in by an identity of elsewhere: known ones, then by a verified e-mail, then new people if allowed."""

from __future__ import annotations

from sqlalchemy import Connection

from maia.core.errors import MaiaError
from maia.database import people, users
from maia.database.database import Database
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.people.accounts import Accounts, Signed, checked_email, checked_name
from maia.workspace.people.oidc import Identity, Provider
from maia.workspace.problems import EnteringFailed


class Entering:
    """Lets people in whom a provider vouches for."""

    def __init__(self, database: Database, accounts: Accounts) -> None:
        self._database = database
        self._accounts = accounts

    async def admit(self, provider: Provider, identity: Identity, browser: str) -> Signed:
        """Sign them in. Raises `EnteringFailed` for people who are archived, unknown or not of an allowed domain."""
        user = await self._database.write(lambda c: _find(c, provider, identity))
        await self._accounts.changed(user.id)
        return await self._accounts.admit(user, browser)


def _find(connection: Connection, provider: Provider, identity: Identity) -> User:
    """By issuer and subject, which alone never change hands; an e-mail counts the first time only, if verified."""
    before = people.identified(connection, identity.issuer, identity.subject)
    known = before or people.by_email(connection, _allowed(provider, identity))
    if known is not None and known.standing == "archived":
        raise EnteringFailed("oidc.archived")
    user = known.user if known is not None else _new(connection, provider, identity)
    if before is None:
        people.identify(connection, identity.issuer, identity.subject, user.id)
        note_act(connection, "users.identity", by=user.id, details={"user": user.id, "issuer": identity.issuer})
    return user


def _allowed(provider: Provider, identity: Identity) -> str:
    """The e-mail by which somebody may be known."""
    if not identity.email:
        raise EnteringFailed("oidc.not_verified", name=provider.name)
    if provider.domains and identity.email.rpartition("@")[2] not in provider.domains:
        raise EnteringFailed("oidc.domain")
    return identity.email


def _new(connection: Connection, provider: Provider, identity: Identity) -> User:
    if provider.role is None or not users.has_users(connection):
        raise EnteringFailed("oidc.unknown")
    try:
        email, name = checked_email(identity.email), checked_name(identity.name[:100] or identity.email[:100])
    except MaiaError:
        raise EnteringFailed("oidc.odd") from None
    made = users.add_user(connection, email, name, provider.role, None, None)
    note_act(connection, "users.joined", by=made.id, details={"user": made.id, "issuer": identity.issuer})
    return made
