"""What token, address, hint and variable say about a key, each heard on its own before the vote (C2.01)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from maia.core.providers import Provider
from maia.core.secret import Secret
from maia.credentials.prefixes import Detection, clean_token, detect
from maia.credentials.problems import Problem, fail, info, warn
from maia.credentials.providers import Place, by_hint, own_vars, place_of, shared_vars

Voice: TypeAlias = Literal["token", "url", "hint", "variable", "switch", "usual"]
"""Who spoke, or decided. `usual` is the likeliest issuer of a shape that several have."""

_NO_VOTE: Final = ("", "auto", "custom", "default", "litellm")
"""Hints that name nobody."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the person allowed or chose; `minimax_default` is None when the switch is not set.

    OpenRouter's keys are for embeddings unless it is allowed for models too (C1.02).
    """

    allow_openrouter: bool = False
    allow_mismatch: bool = False
    minimax_default: str | None = field(default=None, repr=False)
    purpose: Literal["llm", "embeddings"] = "llm"


@dataclass(frozen=True, slots=True)
class Ballot:
    """What is voted on. `*_from` say where each value was found: a variable, a file, `--base-url`.

    `variable` is the name under which the token was found, empty when it was typed; `says` is the name that tells whose
    it is, where that is another one (`"ANTHROPIC_AUTH_TOKEN": "$MINIMAX_CN_API_KEY"`).
    """

    token: Secret
    variable: str = ""
    says: str = ""
    base_url: str = field(default="", repr=False)
    base_url_from: str = ""
    hint: str = field(default="", repr=False)
    hint_from: str = ""
    policy: Policy = Policy()


@dataclass(frozen=True, slots=True)
class Signal:
    """One voice: where it comes from, what it says as it may be shown, and the provider it names, if any."""

    voice: Voice
    origin: str
    shown: str
    provider: str | None


@dataclass(frozen=True, slots=True)
class Heard:
    """All voices. `named` are the providers of the variable `says`; `unusable` when the address cannot be taken."""

    says: str
    signals: tuple[Signal, ...]
    place: Place | None
    hint: Provider | None
    named: tuple[Provider, ...]
    problems: tuple[Problem, ...]
    unusable: bool


def hear(ballot: Ballot, detection: Detection) -> Heard:
    """Hear every voice. Pure."""
    problems: list[Problem] = []
    token = Signal("token", ballot.variable or "stdin", detection.masked, (detection.candidates or (None,))[0])
    place = _place(ballot, problems)
    hint = _hint(ballot, problems)
    says = ballot.says or ballot.variable
    named = named_by(says)
    signals = [token]
    if place:
        signals.append(Signal("url", ballot.base_url_from, place.host, place.provider and place.provider.name))
    if ballot.hint.strip():
        signals.append(Signal("hint", ballot.hint_from, _shown(ballot), hint and hint.name))
    if named:
        signals.append(Signal("variable", says, says, named[0].name))
    unusable = bool(ballot.base_url.strip()) and place is None
    return Heard(says, tuple(signals), place, hint, named, tuple(problems), unusable)


def named_by(variable: str) -> tuple[Provider, ...]:
    """The providers whose own variable this is; none for a generic one."""
    shared = shared_vars().get(variable)
    return (shared,) if shared else own_vars().get(variable, ())


def _place(ballot: Ballot, problems: list[Problem]) -> Place | None:
    text = ballot.base_url.strip()
    if not text:
        return None
    place = place_of(text)
    secret = _bare(ballot)
    if place is None or "?" in place.url.target or (secret and secret in text) or _holds_key(place):
        problems.append(fail("BAD_BASE_URL", origin=ballot.base_url_from))
        return None
    if place.provider is None:
        problems.append(info("CUSTOM_ENDPOINT", host=place.host))
    elif not place.documented:
        problems.append(warn("UNDOCUMENTED_HOST", host=place.host, provider=place.provider.name))
    if place.url.scheme == "http" and not place.is_loopback:
        problems.append(warn("KEY_IN_CLEAR", host=place.host))
    return place


def _bare(ballot: Ballot) -> str:
    """The key without what came along, so that it is found wherever else somebody put it."""
    raw = ballot.token.reveal()
    return clean_token(raw).text or raw.strip()


def _holds_key(place: Place) -> bool:
    """Whether somebody put a key into the path."""
    return any(detect(part).confidence == "exact" for part in place.url.target.split("/") if part)


def _hint(ballot: Ballot, problems: list[Problem]) -> Provider | None:
    """The provider that a hint names; one that is an address counts by its host (C2.01)."""
    text = ballot.hint.strip().lower()
    if text in _NO_VOTE:
        return None
    found = by_hint().get(text) or by_hint().get(text.replace("_", "-"))
    if found is None and ("://" in text or "." in text):
        place = place_of(text)
        found = place.provider if place else None
    if found is None:
        problems.append(warn("UNKNOWN_HINT", origin=ballot.hint_from, hint=_shown(ballot)))
    return found


def _shown(ballot: Ballot) -> str:
    """The hint, unless somebody put a key there."""
    text = ballot.hint.strip().lower()
    if "://" in text:
        place = place_of(text)
        text = place.host if place else ""
    secret = _bare(ballot).lower()
    is_word = re.fullmatch(r"[a-z0-9._-]{1,40}", text) and not (secret and (secret in text or text in secret))
    is_key = detect(ballot.hint).confidence != "none" or detect(text).confidence != "none"
    return text if text in by_hint() or (is_word and not is_key) else f"…({len(ballot.hint)})"
