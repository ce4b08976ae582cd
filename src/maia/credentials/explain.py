"""The one function behind the runtime, the commands and the tests: which key is meant, whose it is, where it goes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.providers import BY_NAME, PROVIDERS
from maia.core.secret import Secret
from maia.credentials.find import Request, find
from maia.credentials.prefixes import NONE, Detection, detect
from maia.credentials.problems import Problem, info, warn
from maia.credentials.providers import Place, default_place, place_of
from maia.credentials.signals import Ballot, Policy
from maia.credentials.sources import Layer
from maia.credentials.vote import Resolution, resolve

_log: Final = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())  # without one, Python writes warnings on the person's screen
_LEVELS: Final = {"info": logging.INFO, "warn": logging.WARNING, "fail": logging.ERROR}


def look_up(request: Request) -> Resolution:
    """Find the key and hold the vote (C5.03). Never raises; what is wrong is in `problems`, and logged (C2.03)."""
    found = find(request)
    if found.ballot is None:
        result = Resolution(NONE, "none", problems=found.problems)
    else:
        result = resolve(found.ballot, found.problems)
    for problem in result.problems:
        _log.log(_LEVELS[problem.level], "%s %s", problem.code, problem.values)
    return result


def as_json(found: Resolution, files: tuple[Path, ...] = ()) -> JsonObject:
    """A resolution for `maia keys explain --json` (decisions §11). Holds no key."""
    return {
        "provider": found.provider,
        "confidence": found.confidence,
        "region": found.region or None,
        "host": found.host or None,
        "baseUrl": found.base_url or None,
        "envVars": list(found.env_vars),
        "warnings": [problem_json(problem) for problem in found.warnings],
        "error": problem_json(found.error) if found.error else None,
        "decidedBy": found.decided_by if found.key else None,
        "source": found.source or None,
        "token": found.detection.masked if found.detection.length else None,
        "rule": found.detection.rule or None,
        "signals": [
            {"signal": s.voice, "origin": s.origin, "value": s.shown, "provider": s.provider} for s in found.signals
        ],
        "files": [str(path) for path in files],
    }


def problem_json(problem: Problem) -> JsonObject:
    return {"code": problem.code, "level": problem.level, **problem.values}


# The list of keys -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listed:
    """One key that was found: its variable, where it stands, masked, and what its shape and name say."""

    variable: str
    where: str
    detection: Detection
    provider: str
    problems: tuple[Problem, ...]


def listed(layers: tuple[Layer, ...]) -> Iterator[Listed]:
    """Every key in every place, none of them shown (C5.01)."""
    for layer in layers:
        for name in layer.token_keys:
            value = layer.values.get(name)
            if value is None:
                continue
            found = resolve(Ballot(Secret(value), name, policy=Policy(allow_openrouter=True)))
            yield Listed(name, layer.name, found.detection, found.provider, found.problems)


# After a refusal ------------------------------------------------------------------------------------------------------


def after_refusal(token: Secret, base_url: str, variable: str = "") -> Problem | None:
    """Why a server may have refused a key (401): what the vote over key and address says of it, with its remedy.

    The key is no key that can ask a model; or it looks like another provider's, or its region is another one; or it may
    be cut. None when nothing speaks for any of these; the key is then simply not valid. Pure.
    """
    found = resolve(Ballot(token, variable, base_url=base_url, policy=Policy(allow_openrouter=True)))
    if found.detection.error:
        return next(problem for problem in found.problems if problem.code == found.detection.error.code)
    place = place_of(base_url)
    if place is None:
        return None
    about = _of_another(found, place) or _of_another_region(found, place)
    return about or next((problem for problem in found.problems if problem.code == "TOKEN_TOO_SHORT"), None)


def at_wrong_host(token: Secret, base_url: str) -> Problem | None:
    """What may be wrong where no server answers: the key has a home, and this host is not known there. Pure."""
    place, found = place_of(base_url), detect(token.reveal())
    if place is None or place.is_loopback or found.error:
        return None
    known = place.provider is not None and place.documented
    return None if known else _of_another(resolve(Ballot(token, base_url=base_url)), place)


def _of_another(found: Resolution, place: Place) -> Problem | None:
    """The key's shape, where it is sure, names somebody else than the host does."""
    family = [provider for provider in PROVIDERS if provider.kin == found.detection.provider]
    owner = place.provider
    if found.detection.confidence != "exact" or not family or (owner and owner.kin == family[0].kin):
        return None
    usual = default_place(family[0])
    values = {"provider": family[0].name, "host": place.host, "own": usual.host if usual else family[0].name}
    named = [*family[0].key_vars, *family[0].shared_vars]
    values["variable"] = "CLAUDE_CODE_OAUTH_TOKEN" if found.detection.kind == "oauth" else named[0]
    return warn("KEY_OF_ANOTHER", **values) if owner else info("KEY_AT_GATEWAY", **values)


def _of_another_region(found: Resolution, place: Place) -> Problem | None:
    """The family has other places with keys of their own."""
    owner = place.provider
    if owner is None or owner.kin not in found.detection.candidates:
        return None
    elsewhere = [
        (provider, domain)
        for provider in PROVIDERS
        if provider.kin == owner.kin
        for domain in provider.domains
        if domain.documented and domain.region and (domain.region != place.region or not place.documented)
    ]
    if not elsewhere:
        return None
    addresses = [domain.base_url or provider.base_url for provider, domain in elsewhere]
    hosts = [there.host for there in map(place_of, addresses) if there]
    values = {"provider": owner.name, "host": place.host, "variable": owner.base_var}
    return info("TRY_OTHER_REGION", **values, other=", ".join(hosts), url=addresses[0])


def likely_owners(found: Resolution) -> tuple[str, ...]:
    """Whose key it may be by its shape, the likeliest first; empty when the shape says nothing."""
    kins = found.detection.candidates
    return tuple(provider.name for kin in kins for provider in PROVIDERS if provider.kin == kin and provider.has_models)


def other_region(found: Resolution) -> str:
    """The provider of the same family in another region; empty when there is none."""
    mine = BY_NAME.get(found.provider)
    family = [p.name for p in PROVIDERS if mine and mine.family and p.family == mine.family and p is not mine]
    return family[0] if family else ""


def suggested_variable(found: Resolution) -> str | None:
    """Under which name a typed key is kept: the usual own variable of its provider; None when nobody knows whose."""
    provider = BY_NAME.get(found.provider)
    return found.key_vars[0] if provider and found.key_vars else None
