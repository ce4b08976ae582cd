"""Who may do what: one table of rights and roles, which every check of a right reads (N-20.01, N-20.03, R-2.455)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from maia.database.users import ROLES, Role, User

Right: TypeAlias = Literal[
    "chat", "approve", "models", "agents", "planning", "privacy_read", "privacy", "users", "audit", "opencode"
]

_LEADING: Final = frozenset[Role](("owner", "admin"))
RIGHTS: Final[Mapping[Right, frozenset[Role]]] = {
    "chat": frozenset(("owner", "admin", "user")),
    "approve": _LEADING,
    "models": _LEADING,
    "agents": _LEADING,
    "planning": _LEADING,
    "privacy_read": _LEADING,
    "privacy": frozenset(("owner",)),
    "users": _LEADING,
    "audit": _LEADING,
    "opencode": _LEADING,
}
"""Fixed for each role. Without `chat` somebody reads their own conversations and changes nothing but their account."""


def may(user: User, right: Right) -> bool:
    """Whether somebody has a right."""
    return user.role in RIGHTS[right]


def may_manage(user: User, role: Role) -> bool:
    """Whether somebody invites and changes people of that role: owners all, others those below themselves only."""
    return may(user, "users") and (user.role == "owner" or ROLES.index(user.role) < ROLES.index(role))
