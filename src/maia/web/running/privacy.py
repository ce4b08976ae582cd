"""The page Privacy: what was masked, what is to be done about each type of data, and a text to try it on (N-10.13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.text import visible
from maia.web.api.privacy import LONGEST_TRIED
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of
from maia.workspace.people.rights import may
from maia.workspace.privacy import LIMITS, mark_of

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

ACTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "off": ("privacy.action.off", "privacy.action.off_more"),
    "warn": ("privacy.action.warn", "privacy.action.warn_more"),
    "mask": ("privacy.action.mask", "privacy.action.mask_more"),
    "block": ("privacy.action.block", "privacy.action.block_more"),
}
"""What may be done about a type: a word, and what it means."""
SOURCES: Final[Mapping[str, str]] = {
    "yaml": "privacy.source.yaml",
    "ui": "privacy.source.ui",
    "defaults": "privacy.source.defaults",
}
TYPES: Final[Mapping[str, tuple[str, str]]] = {
    "email": ("privacy.type.email", "privacy.about.email"),
    "phone": ("privacy.type.phone", "privacy.about.phone"),
    "secret": ("privacy.type.secret", "privacy.about.secret"),
    "iban": ("privacy.type.iban", "privacy.about.iban"),
    "bank_account": ("privacy.type.bank_account", "privacy.about.bank_account"),
    "tax_number": ("privacy.type.tax_number", "privacy.about.tax_number"),
    "personal_id": ("privacy.type.personal_id", "privacy.about.personal_id"),
    "credit_card": ("privacy.type.credit_card", "privacy.about.credit_card"),
    "ssn": ("privacy.type.ssn", "privacy.about.ssn"),
    "taj_number": ("privacy.type.taj_number", "privacy.about.taj_number"),
}
"""Each built-in type: its name, and what it finds."""


@router.get("/privacy")
async def privacy_page(desk: AtDesk, person: SignedIn) -> Response:
    """For owners, who change and try the policy, and admins, who read it; `NotAllowed` for anybody else."""
    policy = await desk.workspace.privacy.shown(person.user)
    tally = desk.workspace.privacy.counted(person.user)
    return await page_of(
        desk,
        person,
        "privacy.html",
        "/privacy",
        tally=tally,
        policy=policy,
        source=SOURCES[policy["source"]],
        etag=f'"{mark_of(policy)}"',
        may=may(person.user, "privacy"),
        types=TYPES,
        actions=ACTIONS,
        actions_said={action: person.say(word) for action, (word, _) in ACTIONS.items()},
        names=names_of(policy, (*tally.by_type, *tally.only_counted), person.say),
        limits={**LIMITS, "text": LONGEST_TRIED},
    )


def names_of(policy: JsonObject, counted: Iterable[str], say: Say) -> dict[str, str]:
    """What every type is called: the built-in ones, those of patterns, and those counted under an earlier policy."""
    own = {each["type"]: visible(each["name"]) for each in reversed(policy["customPatterns"])}
    built_in = {kind: say(name) for kind, (name, _) in TYPES.items()}
    return {**{kind: kind for kind in counted}, **own, **built_in}
