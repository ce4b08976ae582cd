"""Why a turn failed, in words: one message a kind, what to do about it, and where (R-2.217–R-2.226)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from maia.core.endings import Failure
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.reason import Reason
from maia.core.runtime import CheckId
from maia.core.text import visible

_SPECIFIC: Final[Mapping[str, str]] = {
    "server_stopped": "web.error.server_stopped",
    "session_cut": "web.error.session_cut",
    "storage": "web.error.storage",
    "defect": "web.error.defect",
    "budget_stop": "web.error.budget_stop",
    "agent_quota": "web.error.agent_quota",
    "endless": "web.error.endless",
    "denied_call": "web.error.denied_call",
    "runtime.no_wall": "web.error.no_wall",
    "runtime.no_network": "web.error.no_wall",
    "runtime.absent": "web.error.absent",
    "runtime.not_signed_in": "web.error.not_signed_in",
}
"""Failures with a message of their own, by their code, or by what is known beside the server's words."""

CHECK_IDS: Final[tuple[str, ...]] = get_args(CheckId)

_PROVIDERS: Final = "/providers"
_SETTLED_IN: Final[Mapping[str, str]] = {
    "web.error.auth": _PROVIDERS,
    "web.error.not_configured": _PROVIDERS,
    "web.error.not_llm": _PROVIDERS,
    "web.error.no_wall": _PROVIDERS,
    "web.error.absent": _PROVIDERS,
    "web.error.not_signed_in": _PROVIDERS,
    "web.error.isolation": _PROVIDERS,
    "web.error.budget_stop": "/providers?tab=budget",
}
"""Failures whose remedy is a setting, and the page that has it (R-2.226)."""

_SETTLED_BY_CODE: Final[Mapping[str, str]] = {
    "model_binding_unavailable": _PROVIDERS,
    "no_model_configured": _PROVIDERS,
    "budget_stop": "/providers?tab=budget",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failed turn in words: what happened, why, what to do; the provider's own words only as details (R-2.225).

    `settings` is the page where it is mended, empty where none does.
    """

    title: str
    remedy: str
    details: str
    kept: bool
    why: str = ""
    settings: str = ""


def told(failure: Failure, values: Mapping[str, Any], say: Say, *, has_text: bool) -> Trouble:
    """A failure in the reader's words."""
    reason = failure.why
    known = _SPECIFIC.get(failure.code) or _SPECIFIC.get(reason.key if reason else "")
    key = known or f"web.error.{failure.kind}"
    remedy = f"{key}.fix"
    return Trouble(
        say(key, **values),
        say(remedy, **values) if say.has(remedy) else "",
        _details(failure),
        has_text,
        visible(_why(reason, say)) if reason is not None and not known else "",
        _SETTLED_IN.get(key, ""),
    )


def _why(reason: Reason, say: Say) -> str:
    """The reason in words; isolation checks that failed are each told in words, too (R-2.219)."""
    checks = [say(f"isolation.check.{each}") for each in reason.values.get("checks", ()) if each in CHECK_IDS]
    values: JsonObject = {**reason.values, "checks": ", ".join(checks)} if checks else reason.values
    return say(reason.key, **values)


def settings_for(code: str) -> str | None:
    """The page where a refused request is mended, by its code."""
    return _SETTLED_BY_CODE.get(code)


def _details(failure: Failure) -> str:
    """The provider's words, as they came."""
    status = f"HTTP {failure.status}" if failure.status else ""
    parts = (status, failure.code, failure.cause or "", failure.host, failure.provider_text)
    return visible(" · ".join(part for part in parts if part))
