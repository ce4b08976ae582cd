"""Who answers a conversation, as JSON (R-2.077, R-2.078, N-02.07)."""

from __future__ import annotations

from typing import Any

from maia.core.jsonvalue import JsonObject
from maia.workspace.choosing import Answering
from maia.workspace.models.binding import Nobody, refusal
from maia.workspace.models.catalogue import Catalogue
from maia.workspace.models.effort import Options, Thinking


def binding_json(answering: Answering, catalogue: Catalogue) -> JsonObject:
    """`effectiveBinding` with provider, model, reason and image support, and whether routing is allowed."""
    return {"effectiveBinding": _effective(answering, catalogue), "autoRoutingEnabled": catalogue.auto_allowed}


def _effective(answering: Answering, catalogue: Catalogue) -> JsonObject:
    found = answering.found
    if isinstance(found, Nobody):
        refused = refusal(found, catalogue)
        meant = found.pair
        return {
            "providerId": meant.provider if meant else None,
            "modelId": meant.model if meant else None,
            "error": refused.code,
            "reason": None,
            "note": None,
            "supportsImages": None,
        }
    model = catalogue.model(found.pair)
    return {
        "providerId": found.pair.provider,
        "providerName": catalogue.name_of(found.pair.provider),
        "modelId": found.pair.model,
        "reason": found.reason,
        "note": found.note or None,
        "supportsImages": model.sees_images if model else None,
        "effort": thinking_json(answering.thinking),
    }


def thinking_json(thinking: Thinking) -> JsonObject:
    return {"asked": thinking.asked, "sent": thinking.sent, "by": thinking.by or None}


def options_json(options: Options) -> JsonObject:
    body: dict[str, Any] = {
        "levels": list(options.levels),
        "toggle": options.is_toggle,
        "current": options.current,
        "inherited": thinking_json(options.inherited),
    }
    return body
