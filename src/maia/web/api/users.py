"""People: who they are, inviting and archiving them, their roles, and the audit (N-20.01–N-20.03)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.places import place_of
from maia.workspace.people.people import LISTED, Link
from maia.workspace.people.rights import RIGHTS
from maia.workspace.records import ROLES, Act, Member, Role, User

router = APIRouter(tags=["users"])


class NewPerson(Body):
    name: Annotated[str, StringConstraints(max_length=1000)]
    email: Annotated[str, StringConstraints(max_length=300)]
    role: Role = "user"


class ChangedPerson(Body):
    role: Role


class AuditQuery(Body):
    before: str = ""
    action: Annotated[str, StringConstraints(max_length=60)] = ""


@router.get("/users")
async def list_users(desk: AtDesk, person: SignedIn) -> JsonObject:
    """Everybody, archived people last, and which role has which right. For owners and administrators."""
    rows = await desk.workspace.people.all(person.user)
    rights = {right: [role for role in ROLES if role in roles] for right, roles in RIGHTS.items()}
    return {"users": [member_json(row) for row in rows], "rights": rights}


@router.post("/users", status_code=201)
async def invite_user(desk: AtDesk, person: SignedIn, body: NewPerson) -> JsonObject:
    """A new person. `invitation.path` works once, for seven days, and is told here only; 409 `email_taken`."""
    user, link = await desk.workspace.people.invite(person.user, body.name, body.email, body.role)
    return {"user": user_json(user), "invitation": link_json(link)}


@router.get("/users/{user_id}")
async def get_user(desk: AtDesk, person: SignedIn, user_id: str) -> JsonObject:
    """One person."""
    return member_json(await desk.workspace.people.one(person.user, user_id))


@router.patch("/users/{user_id}")
async def change_user(desk: AtDesk, person: SignedIn, user_id: str, body: ChangedPerson) -> JsonObject:
    """Another role, which holds at once. 403 `first_owner`, `not_yourself` or `not_allowed`."""
    await desk.workspace.people.set_role(person.user, user_id, body.role)
    return await get_user(desk, person, user_id)


@router.delete("/users/{user_id}")
async def archive_user(desk: AtDesk, person: SignedIn, user_id: str) -> JsonObject:
    """Archive somebody: signed out everywhere at once, what runs for them stops, what they wrote is kept."""
    await desk.workspace.people.archive(person.user, user_id)
    return await get_user(desk, person, user_id)


@router.post("/users/{user_id}/restore")
async def restore_user(desk: AtDesk, person: SignedIn, user_id: str) -> JsonObject:
    """Let somebody who was archived in again."""
    await desk.workspace.people.restore(person.user, user_id)
    return await get_user(desk, person, user_id)


@router.post("/users/{user_id}/invitation", status_code=201)
async def new_link(desk: AtDesk, person: SignedIn, user_id: str) -> JsonObject:
    """A new link by which somebody sets a password; earlier links are over."""
    return {"invitation": link_json(await desk.workspace.people.link(person.user, user_id))}


@router.get("/audit")
async def read_audit(desk: AtDesk, person: SignedIn, query: Annotated[AuditQuery, Query()]) -> JsonObject:
    """What was done, the newest first; `next` goes into `before`. `action` is how an action's name begins."""
    rows = await desk.workspace.people.acts(person.user, place_of(query.before), query.action)
    after = f"{rows[-1].at}-{rows[-1].id}" if len(rows) == LISTED else None
    return {"acts": [act_json(row) for row in rows], "next": after}


def user_json(user: User) -> JsonObject:
    """A person as those who lead see them."""
    return {"id": user.id, "name": user.name, "email": user.email, "role": user.role}


def member_json(row: Member) -> JsonObject:
    """A person with what became of them."""
    return {
        **user_json(row.user),
        "status": row.standing,
        "isFirstOwner": row.is_first,
        "createdAt": moment(row.created_at),
        "seenAt": moment(row.seen_at),
        "invitedUntil": moment(row.invited_until),
    }


def link_json(link: Link) -> JsonObject:
    """A link as it is told once."""
    return {"path": f"/join?token={link.token}", "expiresAt": moment(link.until)}


def act_json(row: Act) -> JsonObject:
    """A line of the audit."""
    return {
        "id": row.id,
        "at": moment(row.at),
        "action": row.action,
        "by": None if row.by is None else {"id": row.by, "name": row.by_name},
        "conversationId": row.conversation_id,
        "details": row.details,
    }
