"""Whether an agent program runs isolated: what was tried last, and trying it now (N-03.02, N-03.03)."""

from __future__ import annotations

from fastapi import APIRouter

from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.text import visible
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.workspace.models.isolation import Isolation, Isolations
from maia.workspace.people.rights import may

router = APIRouter(prefix="/model/providers", tags=["models"])


@router.get("/{provider_id}/isolation")
async def get_isolation(desk: AtDesk, person: SignedIn, provider_id: str) -> JsonObject:
    """What is known of a program's isolation; 404 for a provider that is no program."""
    await desk.workspace.models.known()
    return isolation_json(desk.workspace.isolations.of(provider_id), person)


@router.post("/{provider_id}/isolation/verify")
async def verify_isolation(desk: AtDesk, person: SignedIn, provider_id: str) -> JsonObject:
    """Try it now, behind the wall that the program would get; no model is called. 409 where it cannot be tried."""
    await desk.workspace.models.known()
    return isolation_json(await desk.workspace.isolations.verify(person.user, provider_id), person)


def isolation_json(found: Isolation, person: Person) -> JsonObject:
    """As the interface gives it. `found` of a check names what the program could reach, for those who manage models."""
    manages = may(person.user, "models")
    return {
        "status": found.status,
        "checks": [
            {
                "id": each.id,
                "passed": each.passed,
                "label": person.say(f"isolation.check.{each.id}"),
                "found": [visible(name) for name in each.found] if manages else [],
            }
            for each in found.checks
        ],
        "checkedAt": moment(found.checked_at),
        "signedIn": found.signed_in,
        "canVerify": found.can_verify,
    }


def sandbox_json(isolations: Isolations, say: Say) -> JsonObject:
    """What the kernel offers to wall programs in. Blocks the first time."""
    found = isolations.file_sandbox
    reason = None if found.reason is None else visible(say(found.reason.key, **found.reason.values))
    return {"status": found.status, "reason": reason, "mode": found.mode}
