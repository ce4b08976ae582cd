"""Rows of people and of their sign-ins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from maia.core.jsonvalue import JsonObject
from maia.database.ids import new_id, now_ms
from maia.database.tables.people import SIGN_INS, USERS

Role: TypeAlias = Literal["owner", "admin", "user", "guest"]
"""What somebody may do; the first owner comes from the first run (N-20.01)."""
ROLES: Final[tuple[Role, ...]] = ("owner", "admin", "user", "guest")
"""From the one that may do most to the one that may do least."""


@dataclass(frozen=True, slots=True)
class User:
    """One person. `lang` is None for the browser's language."""

    id: str
    email: str
    name: str
    role: Role
    lang: str | None = None
    preferences: JsonObject = field(default_factory=dict[str, Any])


_COLUMNS = (USERS.c.id, USERS.c.email, USERS.c.name, USERS.c.role, USERS.c.lang, USERS.c.preferences)

_SIGNED_IN = (
    select(*_COLUMNS, SIGN_INS.c.seen_at)
    .join(SIGN_INS, SIGN_INS.c.user_id == USERS.c.id)
    .where(
        SIGN_INS.c.id == bindparam("digest"), SIGN_INS.c.expires_at > bindparam("now"), USERS.c.archived_at.is_(None)
    )
)


def user_of(row: Row[*tuple[Any, ...]]) -> User:
    """The person of a row that has the columns of `users`."""
    return User(row.id, row.email, row.name, cast(Role, row.role), row.lang, row.preferences or {})


def has_users(connection: Connection) -> bool:
    """Whether the first run is over."""
    return connection.execute(select(USERS.c.id).limit(1)).first() is not None


def add_user(connection: Connection, email: str, name: str, role: Role, password: str | None, lang: str | None) -> User:
    """A new person; `email` in lower case, `password` as a hash. Raises `IntegrityError` for a known e-mail."""
    user = User(new_id(), email, name, role, lang)
    connection.execute(
        USERS.insert().values(
            id=user.id, email=email, name=name, role=role, password=password, lang=lang, created_at=now_ms()
        )
    )
    return user


def password_of(connection: Connection, email: str) -> tuple[User, str] | None:
    """Who has this e-mail and can sign in by a password, with its hash."""
    found = connection.execute(
        select(*_COLUMNS, USERS.c.password).where(USERS.c.email == email, USERS.c.archived_at.is_(None))
    ).first()
    return (user_of(found), found.password) if found is not None and found.password else None


def set_password(connection: Connection, user_id: str, password: str) -> None:
    """Keep another hash."""
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(password=password))


def change_preferences(connection: Connection, user_id: str, changed: JsonObject) -> JsonObject:
    """Keep other values of how somebody wants to see things, `lang` among them; null takes one away. What holds now."""
    row = connection.execute(select(USERS.c.lang, USERS.c.preferences).where(USERS.c.id == user_id)).one()
    kept: JsonObject = row.preferences or {}
    wanted: JsonObject = {"lang": row.lang, **kept, **changed}
    lang = wanted.pop("lang")
    preferences = {name: value for name, value in wanted.items() if value is not None}
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(lang=lang, preferences=preferences))
    return {"lang": lang, **preferences}


# Sign-ins ------------------------------------------------------------------------------------------------------------


def add_sign_in(connection: Connection, digest: str, user_id: str, expires_at: int, browser: str) -> None:
    """Somebody signed in; rows that are over go."""
    now = now_ms()
    connection.execute(delete(SIGN_INS).where(SIGN_INS.c.expires_at <= now))
    connection.execute(
        SIGN_INS.insert().values(
            id=digest, user_id=user_id, created_at=now, seen_at=now, expires_at=expires_at, browser=browser
        )
    )


def signed_in(connection: Connection, digest: str) -> tuple[User, int] | None:
    """Whose sign-in this is, and when it was last noted as used; None when it is over or unknown."""
    found = connection.execute(_SIGNED_IN, {"digest": digest, "now": now_ms()}).first()
    return None if found is None else (user_of(found), found.seen_at)


def note_use(connection: Connection, digest: str, expires_at: int) -> None:
    """A sign-in that is used lives on."""
    connection.execute(update(SIGN_INS).where(SIGN_INS.c.id == digest).values(seen_at=now_ms(), expires_at=expires_at))


def end_sign_in(connection: Connection, digest: str) -> None:
    """Signed out."""
    connection.execute(delete(SIGN_INS).where(SIGN_INS.c.id == digest))
