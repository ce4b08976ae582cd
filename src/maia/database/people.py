"""Rows of people as whoever leads them sees them, of the links that invite them, and of who they are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from sqlalchemy import Connection, Row, Select, delete, func, select, update

from maia.database.ids import now_ms
from maia.database.tables.people import IDENTITIES, INVITATIONS, SIGN_INS, USERS
from maia.database.users import Role, User, user_of

Standing: TypeAlias = Literal["active", "invited", "archived"]
"""Archived people keep all they wrote and cannot sign in (N-20.02)."""


@dataclass(frozen=True, slots=True)
class Member:
    """One person. `invited_until` is the end of an open link, `seen_at` their last use noted; `is_first` came first."""

    user: User
    standing: Standing
    created_at: int
    seen_at: int | None
    invited_until: int | None
    is_first: bool


@dataclass(frozen=True, slots=True)
class SignIn:
    """One browser in which somebody is signed in; `id` is a part of the token's digest, good for nothing else."""

    id: str
    digest: str
    browser: str
    created_at: int
    seen_at: int


_ID_CHARS = 16
_FIRST = select(USERS.c.id).order_by(USERS.c.created_at, USERS.c.id).limit(1).scalar_subquery()


def _query() -> Select[Any]:
    now = now_ms()
    seen = select(func.max(SIGN_INS.c.seen_at)).where(SIGN_INS.c.user_id == USERS.c.id).scalar_subquery()
    link = (
        select(INVITATIONS.c.expires_at)
        .where(INVITATIONS.c.user_id == USERS.c.id, INVITATIONS.c.expires_at > now)
        .scalar_subquery()
    )
    known = select(IDENTITIES.c.user_id).where(IDENTITIES.c.user_id == USERS.c.id).exists()
    return select(
        USERS,
        seen.label("seen_at"),
        link.label("invited_until"),
        (USERS.c.id == _FIRST).label("is_first"),
        (USERS.c.password.is_not(None) | known).label("can_enter"),
    )


def _member(row: Row[*tuple[Any, ...]]) -> Member:
    standing: Standing = "archived" if row.archived_at is not None else "active" if row.can_enter else "invited"
    return Member(user_of(row), standing, row.created_at, row.seen_at, row.invited_until, bool(row.is_first))


def members(connection: Connection) -> Sequence[Member]:
    """All people, archived ones last, by name."""
    rows = connection.execute(_query().order_by(USERS.c.archived_at.is_not(None), func.lower(USERS.c.name), USERS.c.id))
    return [_member(row) for row in rows]


def member(connection: Connection, user_id: str) -> Member | None:
    """One person."""
    found = connection.execute(_query().where(USERS.c.id == user_id)).first()
    return None if found is None else _member(found)


def is_known(connection: Connection, email: str) -> bool:
    """Whether somebody has this e-mail, archived or not."""
    return connection.execute(select(USERS.c.id).where(USERS.c.email == email)).first() is not None


def set_role(connection: Connection, user_id: str, role: Role) -> None:
    """Another role from here on."""
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(role=role))


def set_name(connection: Connection, user_id: str, name: str) -> None:
    """Another name from here on."""
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(name=name))


def archive(connection: Connection, user_id: str) -> None:
    """Nobody signs in as this person any more; their links and sign-ins are over."""
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(archived_at=now_ms()))
    connection.execute(delete(INVITATIONS).where(INVITATIONS.c.user_id == user_id))
    end_sign_ins(connection, user_id)


def restore(connection: Connection, user_id: str) -> None:
    """They may sign in again."""
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(archived_at=None))


# Links ---------------------------------------------------------------------------------------------------------------


def invite(connection: Connection, digest: str, user_id: str, made_by: str, expires_at: int) -> None:
    """A link with which that person sets a password; earlier ones are over."""
    connection.execute(delete(INVITATIONS).where(INVITATIONS.c.user_id == user_id))
    connection.execute(
        INVITATIONS.insert().values(
            id=digest, user_id=user_id, made_by=made_by, created_at=now_ms(), expires_at=expires_at
        )
    )


def invited(connection: Connection, digest: str) -> User | None:
    """Whom a link is for, while it is good."""
    found = connection.execute(
        select(USERS)
        .join(INVITATIONS, INVITATIONS.c.user_id == USERS.c.id)
        .where(INVITATIONS.c.id == digest, INVITATIONS.c.expires_at > now_ms(), USERS.c.archived_at.is_(None))
    ).first()
    return None if found is None else user_of(found)


def use_invitation(connection: Connection, digest: str) -> bool:
    """The link was used; False when it was already."""
    return bool(connection.execute(delete(INVITATIONS).where(INVITATIONS.c.id == digest)).rowcount)


# Sign-ins ------------------------------------------------------------------------------------------------------------


def sign_ins_of(connection: Connection, user_id: str) -> Sequence[SignIn]:
    """Where somebody is signed in, the last used first."""
    rows = connection.execute(
        select(SIGN_INS)
        .where(SIGN_INS.c.user_id == user_id, SIGN_INS.c.expires_at > now_ms())
        .order_by(SIGN_INS.c.seen_at.desc(), SIGN_INS.c.id)
    )
    return [SignIn(row.id[:_ID_CHARS], row.id, row.browser, row.created_at, row.seen_at) for row in rows]


def end_sign_ins(connection: Connection, user_id: str, but: str = "") -> int:
    """End all sign-ins of somebody but that one; how many there were."""
    gone = delete(SIGN_INS).where(SIGN_INS.c.user_id == user_id, SIGN_INS.c.id != but)
    return connection.execute(gone).rowcount


# Who somebody is elsewhere -------------------------------------------------------------------------------------------


def identified(connection: Connection, issuer: str, subject: str) -> Member | None:
    """Who signs in with this identity, archived or not."""
    found = connection.execute(
        select(IDENTITIES.c.user_id).where(IDENTITIES.c.issuer == issuer, IDENTITIES.c.subject == subject)
    ).scalar()
    return None if found is None else member(connection, cast(str, found))


def by_email(connection: Connection, email: str) -> Member | None:
    """Who has this e-mail, archived or not."""
    found = connection.execute(_query().where(USERS.c.email == email)).first()
    return None if found is None else _member(found)


def identify(connection: Connection, issuer: str, subject: str, user_id: str) -> None:
    """From here on this identity signs in as that person."""
    connection.execute(IDENTITIES.insert().values(issuer=issuer, subject=subject, user_id=user_id, created_at=now_ms()))
