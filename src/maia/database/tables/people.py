"""Who works here, what was done, and the settings of the installation."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table, Text, UniqueConstraint

from maia.database.columns import data, ident, moment, to, words
from maia.database.tables.metadata import METADATA

USERS = Table(
    "users",
    METADATA,
    ident(),
    words("email"),  # in lower case
    words("name"),
    words("role"),  # owner | admin | user | guest
    words("password", required=False),  # an argon2 hash; NULL for who cannot sign in by one
    words("lang", required=False),
    data("preferences"),
    moment("created_at"),
    moment("archived_at", required=False),
    UniqueConstraint("email"),
)

SIGN_INS = Table(
    "sign_ins",
    METADATA,
    ident(),  # the digest of the cookie's token; the token itself is kept nowhere
    to("users", "user_id"),
    moment("created_at"),
    moment("seen_at"),
    moment("expires_at"),
    words("browser", ""),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

INVITATIONS = Table(
    "invitations",
    METADATA,
    ident(),  # the digest of the link's token
    to("users", "user_id"),
    to("users", "made_by", required=False, on_delete="SET NULL"),
    moment("created_at"),
    moment("expires_at"),
    UniqueConstraint("user_id"),
)

IDENTITIES = Table(
    "identities",
    METADATA,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    to("users", "user_id"),
    moment("created_at"),
    Index(None, "user_id"),
)

AUDIT = Table(
    "audit",
    METADATA,
    ident(),
    moment("at"),
    words("action"),
    to("users", "user_id", required=False, on_delete="SET NULL"),
    words("conversation_id", required=False),  # no reference: what was done outlives what it was done to
    data("details"),
    Index(None, "at"),
    Index(None, "action", "at"),
)

SETTINGS = Table(
    "settings",
    METADATA,
    Column("name", Text, primary_key=True),
    data("value"),
    moment("changed_at"),
    to("users", "changed_by", required=False, on_delete="SET NULL"),
)
