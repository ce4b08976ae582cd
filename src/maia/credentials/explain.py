"""The one function behind the runtime, the commands and the tests: which key is meant, whose it is, where it goes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.providers import BY_NAME
from maia.core.secret import Secret
from maia.core.types import JsonObject
from maia.credentials.find import Request, find
from maia.credentials.prefixes import NONE, Detection, detect
from maia.credentials.problems import Problem, info, warn
from maia.credentials.providers import default_place, place_of
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


def after_refusal(token: Secret, base_url: str) -> Problem | None:
    """Why a server may have answered 401: the key's shape and the host do not belong together, or its region is wrong.

    None when nothing speaks for either; the key is then simply not valid. Pure.
    """
    detection, place = detect(token.reveal()), place_of(base_url)
    if place is None or place.provider is None or detection.error:
        return None
    kin = place.provider.kin
    family = [provider for provider in BY_NAME.values() if provider.kin == detection.provider]
    if detection.confidence == "exact" and family and kin != detection.provider:
        own = default_place(family[0])
        return warn("KEY_OF_ANOTHER", provider=family[0].name, host=place.host, own=own.host if own else family[0].name)
    others = _other_regions(kin, place.host, place.region) if kin in detection.candidates else ""
    return info("TRY_OTHER_REGION", provider=kin, host=place.host, other=others) if others else None


def _other_regions(kin: str, host: str, region: str) -> str:
    """The hosts of the same family for another region."""
    own = {p.base_url for p in BY_NAME.values() if p.kin == kin and p.region != region and p.base_url}
    places = [place_of(url) for url in own]
    hosts = {place.host for place in places if place}
    domains = {
        domain.name
        for provider in BY_NAME.values()
        if provider.kin == kin
        for domain in provider.domains
        if domain.documented and domain.region and domain.region != region
    }
    missing = {name for name in domains if not any(h == name or h.endswith(f".{name}") for h in hosts)}
    return ", ".join(sorted((hosts | missing) - {host}))


def suggested_variable(found: Resolution) -> str | None:
    """Under which name a typed key is kept: the usual own variable of its provider; None when nobody knows whose."""
    provider = BY_NAME.get(found.provider)
    return found.key_vars[0] if provider and found.key_vars else None
