"""Why a delegated run failed, in words for the model that delegated it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maia.core.endings import Failure
from maia.core.ports import Say
from maia.core.text import visible

_KNOWN: Final[Mapping[str, str]] = {
    "agent_quota": "delegate.problem.agent_quota",
    "budget_stop": "delegate.problem.budget_stop",
    "server_stopped": "delegate.problem.server_stopped",
    "storage": "delegate.problem.storage",
}


def problem_of(failure: Failure | None, say: Say) -> str:
    """The reason of a refusal, our own words for what we ended, else what the provider said; empty without failure."""
    if failure is None:
        return ""
    if failure.why is not None:
        return visible(say(failure.why.key, **failure.why.values))
    if known := _KNOWN.get(failure.code):
        return say(known)
    return visible(failure.provider_text or failure.code or failure.kind)
