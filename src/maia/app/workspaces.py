"""Whether this person has a workspace, whose conversations go on at a terminal; its database is loaded only then."""

from __future__ import annotations

from collections.abc import Sequence

from maia.app.ground import Ground


def from_workspace(ground: Ground, name: str) -> str | None:
    """The session here that goes on with the conversation of that id; None where the name is none.

    Raises `DatabaseProblem`, `SessionProblem`.
    """
    from maia.database.ids import ID_CHARS

    if len(name) != ID_CHARS or not name.isalnum() or not has_workspace(ground):
        return None
    from maia.app.continued import continued

    return continued(ground, name)


def of_workspace(ground: Ground) -> Sequence[tuple[str, str, float]]:
    """The workspace's conversations in this folder: (id, title, last change in seconds since 1970).

    Raises `DatabaseProblem`.
    """
    if not has_workspace(ground):
        return ()
    from maia.app.continued import workspace_conversations

    return workspace_conversations(ground)


def has_workspace(ground: Ground) -> bool:
    """Whether there is a database to look into; one on a server counts as there."""
    from maia.database.place import file_in
    from maia.folders.workspaces import find_location

    if ground.env.get("MAIA_DATABASE_URL"):
        return True
    return file_in(find_location(ground.env, ground.folders.home).data).is_file()
