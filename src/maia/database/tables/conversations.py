"""Projects, conversations, and what stands in and around them.

A conversation is one row, whether it is read as a chat or as a card (R-2.001).
"""

from __future__ import annotations

from sqlalchemy import Column, Index, Table, Text, UniqueConstraint

from maia.database.columns import count, data, flag, ident, moment, money, place, to, words
from maia.database.tables.metadata import METADATA

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
    count("turn", 0),  # of the parent, with the call that made it, or goes on with it
    words("call_id", ""),
    words("provider_id"),  # what the delegating turn really ran on
    words("model_id"),
    moment("created_at"),
    moment("told_at", required=False),  # when the parent's history heard how a card went
    words("awaited_by", ""),  # run | reader | told: who has not got the result of a specialist that waited
    count("late_turn", 0),  # the turn that brought it
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
