"""Keeps a key from leaving for another provider's host: every endpoint is voted on before anything is sent (C2.04)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from maia.core.events import Notice
from maia.credentials.find import is_on
from maia.credentials.signals import Ballot, Policy
from maia.credentials.vote import ALLOW_MISMATCH, ALLOW_OPENROUTER, resolve
from maia.llm.endpoint import Endpoint
from maia.llm.endpoints import Configured

_REFUSED: Final = ("TOKEN_URL_CONFLICT", "OPENROUTER_BLOCKED", "NOT_AN_API_KEY")
"""For which a key is sent nowhere. What else is odd about it, its server will say."""


def policy_of(env: Mapping[str, str]) -> Policy:
    """What the environment allows: the same switches for maia's own requests, for programs and for `maia keys`."""
    return Policy(
        allow_openrouter=is_on(env.get(ALLOW_OPENROUTER, "")), allow_mismatch=is_on(env.get(ALLOW_MISMATCH, ""))
    )


def guarded(found: Configured, env: Mapping[str, str], *, for_embeddings: bool = False) -> Configured:
    """The endpoints without those whose key is another known provider's or not for models (C1.02), with notices.

    OpenRouter's key may be used `for_embeddings` without being asked.
    """
    policy = policy_of(env)
    if for_embeddings:
        policy = replace(policy, allow_openrouter=True)
    kept: list[Endpoint] = []
    notices = list(found.notices)
    for endpoint in found.endpoints:
        conflict = _conflict(endpoint, policy)
        if conflict is None:
            kept.append(endpoint)
        else:
            notices.append(conflict)
    return replace(found, endpoints=tuple(kept), notices=tuple(notices))


def _conflict(endpoint: Endpoint, policy: Policy) -> Notice | None:
    target = endpoint.target
    if target is None or target.key is None:
        return None
    vote = resolve(Ballot(target.key, base_url=target.base_url, base_url_from=endpoint.source, policy=policy))
    problem = next((each for each in vote.problems if each.code in _REFUSED and each.level == "fail"), None)
    return Notice("warn", problem.words, problem.values) if problem else None
