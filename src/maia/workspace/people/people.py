"""Leading people: inviting, roles, archiving, and what everybody does with their own account (N-20.01–N-20.04)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from maia.database import audit, people, users
from maia.database.audit import Act
from maia.database.database import Database
from maia.database.ids import now_ms
from maia.database.people import Member, SignIn
from maia.database.settings import note_act
from maia.database.users import Role, User
from maia.workspace.people.accounts import Accounts, Signed, check_password, checked_email, checked_name, digest_of
from maia.workspace.people.passwords import hashed
from maia.workspace.people.rights import Right, may, may_manage
from maia.workspace.problems import NotAllowed, NotThere, Taken, WrongSignIn

LINK_DAYS: Final = 7
LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class Link:
    """A link for one person; `token` is in it and is kept nowhere."""

    token: str
    until: int


class People:
    """All people of this installation. Whoever may not lead them gets `NotAllowed` from all but their own account.

    `stop` ends what runs for somebody who may not work here any more.
    """

    def __init__(self, database: Database, accounts: Accounts, stop: Callable[[str], None]) -> None:
        self._database = database
        self._accounts = accounts
        self._stop = stop

    # Leading

    async def all(self, by: User) -> Sequence[Member]:
        """Everybody, those who are archived last."""
        _needs(by, "users")
        return await self._database.read(people.members)

    async def one(self, by: User, user_id: str) -> Member:
        """One person. Raises `NotThere`."""
        _needs(by, "users")
        found = await self._database.read(lambda c: people.member(c, user_id))
        if found is None:
            raise NotThere("people.not_found")
        return found

    async def invite(self, by: User, name: str, email: str, role: Role) -> tuple[User, Link]:
        """A new person, who gets in by the link. Raises `Unusable`, `Taken` for a known e-mail, `NotAllowed`."""
        name, email = checked_name(name), checked_email(email)
        if not may_manage(by, role):
            raise NotAllowed("people.not_allowed")
        link = _new_link()

        def make(connection: Connection) -> User:
            if people.is_known(connection, email):
                raise Taken("people.email_taken")
            made = users.add_user(connection, email, name, role, None, None)
            people.invite(connection, digest_of(link.token), made.id, by.id, link.until)
            _note(connection, "invited", by, made, role=role)
            return made

        return await self._database.write(make), link

    async def link(self, by: User, user_id: str) -> Link:
        """A new link for somebody who lost their password or the first one; earlier ones are over."""
        link = _new_link()

        def work(connection: Connection, target: User) -> None:
            people.invite(connection, digest_of(link.token), target.id, by.id, link.until)
            _note(connection, "link", by, target)

        await self._manage(by, user_id, work)
        return link

    async def set_role(self, by: User, user_id: str, role: Role) -> None:
        """Another role, at once. Raises `NotAllowed` for one that `by` may not give, or to whom they may not."""
        if not may_manage(by, role):
            raise NotAllowed("people.not_allowed")

        def work(connection: Connection, target: User) -> None:
            people.set_role(connection, target.id, role)
            _note(connection, "role", by, target, before=target.role, role=role)

        await self._manage(by, user_id, work)
        if not may(User(user_id, "", "", role), "chat"):
            self._stop(user_id)

    async def archive(self, by: User, user_id: str) -> None:
        """They are signed out everywhere and cannot sign in, what runs for them stops; all they wrote is kept."""

        def work(connection: Connection, target: User) -> None:
            people.archive(connection, target.id)
            _note(connection, "archived", by, target)

        await self._manage(by, user_id, work)
        self._stop(user_id)

    async def restore(self, by: User, user_id: str) -> None:
        """They may sign in again, with the password they had."""

        def work(connection: Connection, target: User) -> None:
            people.restore(connection, target.id)
            _note(connection, "restored", by, target)

        await self._manage(by, user_id, work)

    async def acts(self, by: User, before: tuple[int, str] | None = None, action: str = "") -> Sequence[Act]:
        """The audit, the newest line first. `before` is the last one seen, `action` how its name begins (N-20.03)."""
        _needs(by, "audit")
        return await self._database.read(lambda c: audit.acts(c, LISTED, before, action))

    async def _manage(self, by: User, user_id: str, work: Callable[[Connection, User], None]) -> None:
        """Do something to one person, in one transaction with the look at who they are (nobody is faster)."""
        _needs(by, "users")

        def checked(connection: Connection) -> None:
            found = people.member(connection, user_id)
            if found is None:
                raise NotThere("people.not_found")
            if found.is_first:
                raise NotAllowed("people.first_owner")
            if user_id == by.id:
                raise NotAllowed("people.not_yourself")
            if not may_manage(by, found.user.role):
                raise NotAllowed("people.not_allowed")
            work(connection, found.user)

        await self._database.write(checked)
        await self._accounts.changed(user_id)

    # By a link

    async def invited(self, token: str) -> User | None:
        """Whom a link is for, None where it is over."""
        return await self._database.read(lambda c: people.invited(c, digest_of(token)))

    async def join(self, token: str, password: str, browser: str) -> Signed:
        """Set the password with a link, which works once. Raises `WrongSignIn` where it is over, `Unusable`."""
        check_password(password)
        if await self.invited(token) is None:
            raise WrongSignIn("people.link_over")
        kept, digest = await hashed(password), digest_of(token)

        def work(connection: Connection) -> User:
            target = people.invited(connection, digest)
            if target is None or not people.use_invitation(connection, digest):
                raise WrongSignIn("people.link_over")
            users.set_password(connection, target.id, kept)
            people.end_sign_ins(connection, target.id)
            _note(connection, "joined", target, target)
            return target

        user = await self._database.write(work)
        await self._accounts.changed(user.id)
        return await self._accounts.admit(user, browser)

    # One's own account

    async def rename(self, user: User, name: str) -> str:
        """Another name. Raises `Unusable`."""
        name = checked_name(name)
        await self._database.write(lambda c: people.set_name(c, user.id, name))
        await self._accounts.changed(user.id)
        return name

    async def set_password(self, user: User, token: str, old: str, new: str, address: str) -> None:
        """Another password; all other sign-ins are over. Raises `Unusable`, and as `Accounts.sign_in`."""
        check_password(new)
        await self._accounts.prove(user, old, address)
        kept, digest = await hashed(new), digest_of(token)

        def work(connection: Connection) -> None:
            users.set_password(connection, user.id, kept)
            people.end_sign_ins(connection, user.id, digest)
            _note(connection, "password", user, user)

        await self._database.write(work)
        await self._accounts.changed(user.id)

    async def sign_ins(self, user: User, token: str) -> Sequence[tuple[SignIn, bool]]:
        """Where somebody is signed in, the last used first, and which of them asks."""
        found = await self._database.read(lambda c: people.sign_ins_of(c, user.id))
        return [(each, each.digest == digest_of(token)) for each in found]

    async def end_sign_in(self, user: User, sign_in_id: str) -> None:
        """Sign out of one browser. Raises `NotThere` for one that is not theirs."""

        def work(connection: Connection) -> None:
            mine = [each for each in people.sign_ins_of(connection, user.id) if each.id == sign_in_id]
            if not mine:
                raise NotThere("people.no_sign_in")
            users.end_sign_in(connection, mine[0].digest)

        await self._database.write(work)
        await self._accounts.changed(user.id)

    async def end_others(self, user: User, token: str) -> int:
        """Sign out everywhere else; of how many browsers."""
        ended = await self._database.write(lambda c: people.end_sign_ins(c, user.id, digest_of(token)))
        await self._accounts.changed(user.id)
        return ended


def _needs(user: User, right: Right) -> None:
    if not may(user, right):
        raise NotAllowed("people.not_allowed")


def _new_link() -> Link:
    return Link(secrets.token_urlsafe(24), now_ms() + LINK_DAYS * 86_400_000)


def _note(connection: Connection, act: str, by: User, target: User, **details: str) -> None:
    note_act(connection, f"users.{act}", by=by.id, details={"user": target.id, **details})
