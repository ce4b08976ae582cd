"""Providers, their models and keys, the routing tiers, and what was spent."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, LargeBinary, Table, Text, UniqueConstraint, text

from maia.database.columns import count, data, flag, ident, moment, place, to, words
from maia.database.tables.metadata import METADATA

SECRETS = Table(
    "secrets",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("box", LargeBinary, nullable=False),  # encrypted
    moment("changed_at"),
)

PROVIDERS = Table(
    "providers",
    METADATA,
    ident(),
    words("name"),
    words("kind"),  # api | local | cli
    words("format", ""),
    words("base_url", ""),
    words("secret_name", required=False),
    data("options"),
    flag("enabled"),
    flag("is_default"),
    place(),
    words("health", "unknown"),
    data("health_details"),
    moment("checked_at", required=False),
    moment("created_at"),
    UniqueConstraint("name"),
)

MODELS = Table(
    "models",
    METADATA,
    to("providers", "provider_id", primary=True),
    Column("id", Text, primary_key=True),
    words("name"),
    words("real_id", required=False),
    count("window"),
    count("max_output"),
    Column("sees_images", Boolean),  # NULL where nobody knows
    flag("no_tools"),
    data("efforts"),
    words("default_effort", required=False),
    words("effort_source", "unknown"),
    data("price"),
    flag("enabled"),
    flag("is_gone"),  # not offered by the last refresh
    flag("off_by_person"),
    place(),
    moment("refreshed_at", required=False),
)

TIERS = Table(
    "tiers",
    METADATA,
    Column("tier", Text, primary_key=True),  # a name of `workspace.catalogue.TIERS`
    count("position", primary=True),
    words("provider_id"),
    words("model_id"),
    words("effort", required=False),
)

SPENDING = Table(
    "spending",
    METADATA,
    Column("day", Text, primary_key=True),  # 2026-11-30, where the server is
    Column("purpose", Text, primary_key=True),  # turn | turn:<agent> | title | triage | …
    Column("provider_id", Text, primary_key=True),  # no reference: what was spent outlives its provider
    Column("model_id", Text, primary_key=True),
    count("calls", 0),
    count("tokens_in", 0),
    count("tokens_out", 0),
    Column("usd", Float, nullable=False, server_default=text("0")),  # of what is known
    count("unknown", 0),  # calls of which nobody knows the cost
)
