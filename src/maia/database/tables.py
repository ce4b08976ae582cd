"""The tables of the workspace. A conversation is one row, whether it is read as a chat or as a card (R-2.001).

Every change of this file needs a revision in `migrations/versions`; a test compares the two on both databases.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, LargeBinary, MetaData, Table, Text, UniqueConstraint, text

from maia.database.columns import count, data, flag, ident, moment, money, place, to, words

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# People --------------------------------------------------------------------------------------------------------------

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

# Models --------------------------------------------------------------------------------------------------------------

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

# Projects ------------------------------------------------------------------------------------------------------------

PROJECT_TYPES = Table(
    "project_types",
    METADATA,
    ident(),
    words("name"),
    words("priority", "normal"),
    words("icon", ""),
    words("colour", ""),
    words("prompt", ""),
    place(),
)

PROJECTS = Table(
    "projects",
    METADATA,
    ident(),
    to("project_types", "type_id", required=False, on_delete="SET NULL"),
    words("name"),
    words("description", ""),
    words("colour", ""),
    words("agent", required=False),
    words("prompt", ""),
    moment("created_at"),
    moment("archived_at", required=False),
)

STAGES = Table(
    "stages",
    METADATA,
    ident(),
    words("name"),
    place(),
    flag("is_closed"),
    flag("is_folded"),
    flag("is_bot"),
    words("agent", required=False),
    count("wip_limit"),
)

# Conversations -------------------------------------------------------------------------------------------------------

CONVERSATIONS = Table(
    "conversations",
    METADATA,
    ident(),
    to("users", "owner_id"),
    words("title", ""),
    words("title_by", "message"),  # message | model | person
    words("status", "idle"),  # idle | running | waiting | waiting_approval | waiting_plan | archived
    words("priority", "normal"),
    to("projects", "project_id", required=False, on_delete="SET NULL"),
    to("stages", "stage_id", required=False, on_delete="SET NULL"),
    place("rank"),
    words("due_on", required=False),  # a day, 2026-12-04
    flag("is_pinned"),
    words("agent", required=False),
    words("home_of", required=False),  # the colleague of whom it is the home thread
    to("conversations", "parent_id", required=False, on_delete="SET NULL"),
    flag("is_sub"),  # stands with its parent alone, on no board and in no list
    words("provider_id", required=False),
    words("model_id", required=False),
    words("model_binding", "pinned"),  # pinned | auto | inherit
    flag("model_by_person"),
    words("effort", required=False),
    words("orchestration", "auto"),
    words("prompt", ""),  # a person's own words for the model, told with every turn
    words("lang", "en"),
    count("last_seq", 0),
    count("last_turn", 0),
    count("context_tokens"),
    count("context_window"),
    words("context_source", required=False),
    words("session_name", required=False),  # the terminal session that it was opened from
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", required=False),
    Index("ix_conversations_of_owner", "owner_id", "updated_at"),
    Index("ix_conversations_home_of", "owner_id", "home_of", unique=True),
    Index(None, "project_id"),
    Index(None, "stage_id", "rank"),
    Index(None, "parent_id"),
    Index(None, "status"),
)

DELEGATIONS = Table(
    "delegations",
    METADATA,
    to("conversations", "conversation_id", primary=True),
    words("kind"),  # specialist | card | sub
    count("turn", 0),  # of the parent, with the call that made it
    words("call_id", ""),
    words("provider_id"),  # what the delegating turn really ran on
    words("model_id"),
    moment("created_at"),
    moment("told_at", required=False),  # when the parent's history heard how a card went
)

OPENED_SESSIONS = Table(
    "opened_sessions",
    METADATA,
    to("conversations", "conversation_id", primary=True),
    words("folder"),  # where the terminal session lies, with every link followed
    words("name"),
    count("session_turns", 0),  # its turns that stand in the conversation
    count("last_turn", 0),  # of the conversation when they were taken over
    moment("opened_at"),
    Index(None, "folder", "name"),
)

CONVERSATION_OWNERS = Table(
    "conversation_owners",
    METADATA,
    to("conversations", "conversation_id", primary=True),
    to("users", "user_id", primary=True),
)

LABELS = Table(
    "labels",
    METADATA,
    to("conversations", "conversation_id", primary=True),
    Column("label", Text, primary_key=True),
    Index(None, "label"),
)

MESSAGES = Table(
    "messages",
    METADATA,
    ident(),
    to("conversations", "conversation_id"),
    count("turn", 0),
    words("role"),  # user | assistant
    to("users", "author_id", required=False, on_delete="SET NULL"),
    words("text", ""),
    count("first_seq", 0),
    moment("created_at"),
    moment("ended_at", required=False),
    words("outcome", required=False),  # of an answer; NULL while it is being written
    words("provider_id", required=False),
    words("model_id", required=False),
    count("tokens_in"),
    count("tokens_out"),
    money("cost_usd"),
    words("cost_source", "unknown"),
    data("turn_meta"),
    UniqueConstraint("conversation_id", "turn", "role"),
    Index(None, "outcome", "role"),
)

EVENTS = Table(
    "events",
    METADATA,
    to("conversations", "conversation_id", primary=True),
    count("seq", primary=True),  # 1, 2, 3… within a conversation; the id of its streams
    count("turn", 0),
    moment("at"),
    words("kind"),
    flag("is_progress"),  # a piece of what a later event of the turn holds whole
    words("event"),  # one line of `core.codec`
    Index(None, "conversation_id", "turn"),
)

HISTORY = Table(
    "history",
    METADATA,
    ident(),
    to("conversations", "conversation_id"),
    moment("at"),
    to("users", "user_id", required=False, on_delete="SET NULL"),
    words("kind"),  # note | change
    words("field", required=False),
    words("old", required=False),
    words("new", required=False),
    words("note", required=False),
    Index(None, "conversation_id", "at"),
)

FOLDERS = Table(
    "folders",
    METADATA,
    ident(),
    words("scope"),  # conversation | project | project_type
    words("scope_id"),
    place(),
    words("name"),
    words("path"),
    flag("is_workspace"),
    Index(None, "scope", "scope_id", "position"),
)

APPROVALS = Table(
    "approvals",
    METADATA,
    ident(),
    to("conversations", "conversation_id"),
    count("turn", 0),
    words("call_id"),
    words("tool"),
    data("arguments"),
    words("digest"),  # of the tool with its arguments: exactly this call is meant
    words("category", ""),
    words("preview", ""),
    data("reason"),
    words("status", "open"),  # open | approved | refused | used | dropped
    flag("is_background"),  # of a turn that nobody looked on: a decision lets it go on
    words("problem", ""),  # why it could not go on
    moment("created_at"),
    moment("decided_at", required=False),
    to("users", "decided_by", required=False, on_delete="SET NULL"),
    moment("used_at", required=False),
    Index(None, "status", "created_at"),
    Index(None, "conversation_id", "digest"),
)

AUTONOMY_LEVELS = Table(
    "autonomy_levels",
    METADATA,
    Column("category", Text, primary_key=True),
    count("level", 1),  # 1 notice | 2 approve | 3 auto
    moment("changed_at"),
    to("users", "changed_by", required=False, on_delete="SET NULL"),
)

DENIALS = Table(
    "denials",
    METADATA,
    ident(),
    to("conversations", "conversation_id"),
    words("tool"),
    words("checkpoint"),  # deterministic | judge | lockout
    words("reason"),  # a code: no path and no value
    flag("counts"),  # towards the lock of the conversation's tools
    moment("at"),
    Index(None, "at"),
)

ATTACHMENTS = Table(
    "attachments",
    METADATA,
    ident(),
    to("conversations", "conversation_id"),
    count("turn"),  # NULL until it was sent with a message
    words("name"),
    words("media_type"),  # by its content
    words("kind", "other"),  # image | text | document | other
    count("size", 0),
    words("digest"),
    words("origin", "person"),  # person | model
    words("path", required=False),  # in the workspace, of what a model wrote
    count("changed_ns"),  # when that file was changed, as the disk says
    words("problem", ""),  # why less is known of it than of others
    count("width"),
    count("height"),
    words("sent_digest", required=False),  # of the picture for models
    words("sent_type", required=False),
    words("thumbnail_digest", required=False),
    flag("is_cut"),  # it has more text than is kept
    words("text", required=False),  # what could be read of it
    moment("created_at"),
    Index(None, "conversation_id", "created_at"),
    Index(None, "digest"),
)

COMPOSITIONS = Table(
    "compositions",
    METADATA,
    ident(),
    to("conversations", "conversation_id"),
    count("turn", 0),
    moment("created_at"),
    words("provider_id", ""),
    words("model_id", ""),
    count("window"),
    count("tokens"),
    words("tokens_source", "estimated"),
    words("policy", ""),
    data("memory"),
    UniqueConstraint("conversation_id", "turn"),
    Index(None, "created_at"),
)

COMPOSITION_SECTIONS = Table(
    "composition_sections",
    METADATA,
    to("compositions", "composition_id", primary=True),
    count("position", primary=True),
    words("zone", "system"),
    words("name"),
    words("origin", ""),
    count("tokens", 0),
    count("cut_chars", 0),
    words("text"),
    words("sent", required=False),  # as sent, where that is another text
    words("privacy", required=False),
    count("masked", 0),
    data("masked_types"),
)

# Memory --------------------------------------------------------------------------------------------------------------

MEMORIES = Table(
    "memories",
    METADATA,
    ident(),
    to("users", "user_id"),
    words("scope", "global"),  # global | type | project
    words("scope_id", ""),
    words("text"),
    words("words", ""),  # folded, each between spaces
    Column("vector", LargeBinary),
    words("origin", "person"),  # person | agent | tool | import | channel
    flag("is_standing"),
    flag("is_important"),
    flag("is_flagged"),
    words("conversation_id", required=False),  # no reference: what was learned outlives where
    moment("created_at"),
    moment("changed_at"),
    Index(None, "user_id", "scope", "scope_id"),
)

CONTEXT_DAYS = Table(
    "context_days",
    METADATA,
    Column("day", Text, primary_key=True),  # 2026-12-04, UTC
    Column("provider_id", Text, primary_key=True),
    count("turns", 0),
    count("with_memory", 0),
    count("items", 0),
    count("expanded", 0),
    count("memory_tokens", 0),
    count("lookups", 0),
    count("items_read", 0),
)
