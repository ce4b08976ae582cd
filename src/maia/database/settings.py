"""Settings of the installation and the record of what was done: names with JSON values, acts with their time."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.database.ids import new_id, now_ms
from maia.database.tables.people import AUDIT, SETTINGS


def setting(connection: Connection, name: str) -> JsonValue:
    """The value of a setting, None when it was never set."""
    return connection.execute(select(SETTINGS.c.value).where(SETTINGS.c.name == name)).scalar()


def known_settings(connection: Connection, *names: str) -> dict[str, JsonValue]:
    """The values of those settings that were set, in one look."""
    found = connection.execute(select(SETTINGS.c.name, SETTINGS.c.value).where(SETTINGS.c.name.in_(names)))
    return {row.name: row.value for row in found}


def keep_setting(connection: Connection, name: str, value: JsonValue, by: str | None = None) -> None:
    """Set a value."""
    kept = {"value": value, "changed_at": now_ms(), "changed_by": by}
    if not connection.execute(update(SETTINGS).where(SETTINGS.c.name == name).values(**kept)).rowcount:
        connection.execute(SETTINGS.insert().values(name=name, **kept))


def note_act(
    connection: Connection, action: str, *, by: str | None, conversation: str | None = None, details: JsonObject
) -> None:
    """One line of the audit: who did what. `details` hold no content and no secret."""
    connection.execute(
        AUDIT.insert().values(
            id=new_id(), at=now_ms(), action=action, user_id=by, conversation_id=conversation, details=details
        )
    )
