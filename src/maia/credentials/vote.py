"""The vote of token, address and hint: where a key belongs, where it may go, and why (C2).

A token fixes the family; an address fixes the region inside that family; a hint only breaks ties. A key of one known
provider is never paired with the official host of another, unless the person switched that on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from maia.core.providers import BY_NAME, Provider
from maia.core.secret import Secret
from maia.credentials.prefixes import NOTHING, Confidence, Detection, clean_token, detect, prefixed
from maia.credentials.problems import Problem, fail, info, warn
from maia.credentials.providers import (
    CUSTOM,
    CUSTOM_HERMES,
    NO_PLUGIN,
    Hermes,
    Place,
    default_place,
    hermes_of,
)
from maia.credentials.signals import Ballot, Heard, Policy, Signal, Voice, hear

MINIMAX: Final = "minimax"
MINIMAX_SWITCH: Final = "OVERMIND_MINIMAX_DEFAULT"
_SWITCH: Final = {"cn": "minimax-cn", "global": MINIMAX, "auto": MINIMAX}

ALLOW_OPENROUTER: Final = "MAIA_ALLOW_OPENROUTER"
ALLOW_MISMATCH: Final = "MAIA_ALLOW_KEY_MISMATCH"

CANONICAL: Final = ("ANTHROPIC_MODEL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROVIDER", "ANTHROPIC_BASE_URL")
"""The four fields of an agent's `.env` (C4.01)."""

_FORMAT_VARS: Final = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
"""Own variables that people also use for any server of that format, so that their name contradicts no address."""

_CUSTOM: Final = Provider(CUSTOM, "", (), CUSTOM_HERMES.key_vars, base_var=CUSTOM_HERMES.base_var)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a key belongs and where it would go. Reported even when it is refused.

    `confidence` is that of the token, `ambiguous` where only the other signals knew; `decided_by` names the signal that
    chose. `host` and `base_url` are where the key would be sent, empty when nowhere. `key_vars` and `base_var` are the
    variables that its provider's readers look into; `env_vars` all that are written for an agent. `key` is cleaned.
    """

    provider: str
    confidence: Confidence
    region: str = ""
    host: str = ""
    base_url: str = ""
    decided_by: Voice = "usual"
    key_vars: tuple[str, ...] = ()
    base_var: str = ""
    hermes: Hermes | None = None
    key: Secret | None = None
    source: str = ""
    detection: Detection = NOTHING
    signals: tuple[Signal, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def error(self) -> Problem | None:
        """Why nothing may be launched or sent, the first reason; None when it may."""
        return next((problem for problem in self.problems if problem.level == "fail"), None)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is worth knowing: notices, warnings, and every disagreement, also one that is an error (C2.03)."""
        return tuple(p for p in self.problems if p.level != "fail" or p.code.endswith("_CONFLICT"))

    @property
    def env_vars(self) -> tuple[str, ...]:
        if not self.key_vars:
            return ()
        base = (self.base_var,) if self.base_var else ()
        return tuple(dict.fromkeys((*self.key_vars, *base, *CANONICAL)))


def resolve(ballot: Ballot, earlier: tuple[Problem, ...] = ()) -> Resolution:
    """Hold the vote. Pure; never raises. `earlier` are problems found on the way to the token."""
    detection = detect(ballot.token.reveal())
    heard = hear(ballot, detection)
    found = Resolution(
        detection.provider,
        detection.confidence,
        source=ballot.variable,
        detection=detection,
        signals=heard.signals,
        problems=(*earlier, *(_placed(problem, ballot) for problem in detection.problems), *heard.problems),
    )
    if detection.error or heard.unusable:
        return found
    choice = _choose(detection, heard, ballot.policy)
    if choice is None:
        return replace(found, problems=(*found.problems, fail("UNKNOWN_PROVIDER")))
    return _settled(found, choice, heard, ballot)


def _placed(problem: Problem, ballot: Ballot) -> Problem:
    """A problem of the token with the name under which the token was found."""
    return replace(problem, values={"where": ballot.variable or "stdin", **problem.values})


# Choosing -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Choice:
    """`at_url` is False where the address belongs to somebody else, so that the key must not go there."""

    provider: Provider
    by: Voice
    at_url: bool = True
    problems: tuple[Problem, ...] = ()


def _choose(detection: Detection, heard: Heard, policy: Policy) -> _Choice | None:
    owner = heard.place.provider if heard.place else None
    if owner and _is_foreign(detection, heard, owner):
        return _against_url(detection, heard, owner, policy)
    if owner:
        return _Choice(owner, "url")
    if detection.confidence in ("exact", "ambiguous"):
        return _of_family(detection, heard, policy)
    if heard.hint:
        return _Choice(heard.hint, "hint")
    if heard.named:
        return _Choice(heard.named[0], "variable")
    return _Choice(_CUSTOM, "url") if heard.place else None


def _fits(provider: Provider, detection: Detection) -> bool:
    """Whether the token may be this provider's: its shape says so, or the provider's keys have no sure shape."""
    if detection.confidence == "exact":
        return provider.kin == detection.provider
    if detection.confidence == "ambiguous":
        return provider.kin in detection.candidates or provider.kin not in prefixed()
    return True


def _is_foreign(detection: Detection, heard: Heard, owner: Provider) -> bool:
    """Whether the address is the official host of another provider than the key's (C2.04)."""
    if not _fits(owner, detection):
        return True
    named = [p.kin for p in heard.named] if heard.says not in _FORMAT_VARS else []
    return detection.confidence != "exact" and bool(named) and owner.kin not in named


def _against_url(detection: Detection, heard: Heard, owner: Provider, policy: Policy) -> _Choice:
    """The token wins over the address; the region is open, since the address that should give it is another's."""
    hint = heard.hint if heard.hint and _fits(heard.hint, detection) and heard.hint.kin != owner.kin else None
    named = next((p for p in heard.named if _fits(p, detection)), None)
    if hint and (detection.confidence == "exact" or named is None or hint.kin == named.kin):
        provider, by = hint, "hint"
    elif named and (detection.confidence != "exact" or named.name != named.kin):
        provider, by = named, "variable"
    else:
        provider, by = BY_NAME[detection.provider], "token"
    values = {"provider": provider.name, "host": heard.place.host if heard.place else "", "owner": owner.name}
    problem = (warn if policy.allow_mismatch else fail)("TOKEN_URL_CONFLICT", setting=ALLOW_MISMATCH, **values)
    return _Choice(provider, by, policy.allow_mismatch, (problem,))


def _of_family(detection: Detection, heard: Heard, policy: Policy) -> _Choice:
    """No official address: the hint, the variable, the switch, then the usual issuer."""
    overruled = _overruled_switch(detection, heard, policy)
    if heard.hint and _fits(heard.hint, detection):
        return _Choice(heard.hint, "hint", problems=overruled)
    fitting = [provider for provider in heard.named if _fits(provider, detection)]
    specific = next((p for p in fitting if p.name != p.kin or detection.confidence == "ambiguous"), None)
    if specific:
        return _Choice(specific, "variable", problems=overruled)
    if heard.named and not fitting:
        return _named_for_another(detection, heard, policy)
    if detection.provider == MINIMAX:
        return _by_switch(policy)
    usual = BY_NAME[detection.provider]
    if detection.confidence == "exact":
        return _Choice(usual, "token")
    others = ", ".join(detection.others)
    problems = (warn("AMBIGUOUS_TOKEN", provider=usual.name, others=others),) if others else ()
    return _Choice(usual, "usual", problems=problems)


def _named_for_another(detection: Detection, heard: Heard, policy: Policy) -> _Choice:
    """A key in a variable of somebody else. An exact one wins; an ambiguous one could be either's: refused."""
    provider = BY_NAME[detection.provider]
    sure = detection.confidence == "exact" or policy.allow_mismatch
    values = {"variable": heard.says, "provider": provider.name, "owner": heard.named[0].name}
    problem = (warn if sure else fail)("VARIABLE_CONFLICT", setting=ALLOW_MISMATCH, **values)
    if detection.provider == MINIMAX:
        choice = _by_switch(policy)
        return replace(choice, problems=(*choice.problems, problem))
    return _Choice(provider, "token", problems=(problem,))


def _by_switch(policy: Policy) -> _Choice:
    """MiniMax without an address and without a hint (C2.02)."""
    given = (policy.minimax_default or "").strip().lower()
    if not given:
        return _Choice(BY_NAME["minimax-cn"], "usual")
    name = _SWITCH.get(given)
    problems: tuple[Problem, ...] = ()
    if name is None:
        problems = (warn("BAD_SWITCH_VALUE", switch=MINIMAX_SWITCH, known=", ".join(_SWITCH)),)
    elif given == "auto":
        problems = (warn("REGION_UNVERIFIED", provider=MINIMAX, switch=MINIMAX_SWITCH),)
    return _Choice(BY_NAME[name or "minimax-cn"], "switch", problems=problems)


def _overruled_switch(detection: Detection, heard: Heard, policy: Policy) -> tuple[Problem, ...]:
    switched = _SWITCH.get((policy.minimax_default or "").strip().lower())
    if detection.provider != MINIMAX or switched is None or heard.hint is None or heard.hint.name == switched:
        return ()
    return (info("SWITCH_OVERRULED", switch=MINIMAX_SWITCH, provider=heard.hint.name),)


# Settling -------------------------------------------------------------------------------------------------------------


def _settled(found: Resolution, choice: _Choice, heard: Heard, ballot: Ballot) -> Resolution:
    provider = choice.provider
    place = (heard.place if choice.at_url else None) or (default_place(provider) if choice.at_url else None)
    hermes = _hermes(provider, place)
    return replace(
        found,
        provider=provider.name,
        confidence="ambiguous" if found.confidence == "none" else found.confidence,
        region=_region(choice, heard),
        host=place.host if place else "",
        base_url=_base_url(provider, place),
        decided_by=choice.by,
        key_vars=_key_vars(provider, hermes, found.detection),
        base_var=hermes.base_var or provider.base_var,
        hermes=hermes,
        key=Secret(clean_token(ballot.token.reveal()).text),
        problems=(
            *found.problems,
            *choice.problems,
            *_hint_lost(heard, choice),
            *_odd_shape(found.detection, choice),
            *_without_address(provider, place, choice),
            *_blocked(provider, ballot.policy),
        ),
    )


def _region(choice: _Choice, heard: Heard) -> str:
    if not choice.at_url:
        return choice.provider.region if choice.by in ("hint", "variable") else ""
    if heard.place and heard.place.provider and heard.place.provider.kin == choice.provider.kin:
        return heard.place.region
    return choice.provider.region


def _base_url(provider: Provider, place: Place | None) -> str:
    """The address in one spelling; the vendor's host alone gets the vendor's path."""
    if place is None:
        return ""
    usual = default_place(provider)
    if usual and usual.url.netloc == place.url.netloc and place.url.target == "/":
        return provider.base_url
    return str(place.url).removesuffix("/")


def _hermes(provider: Provider, place: Place | None) -> Hermes:
    """What Hermes reads. Behind a proxy, a plugin that takes no address, or none at all, would miss the proxy."""
    theirs = hermes_of(provider)
    misses = theirs.provider == NO_PLUGIN or not theirs.base_var
    return CUSTOM_HERMES if misses and place is not None and place.provider is None else theirs


def _key_vars(provider: Provider, hermes: Hermes, detection: Detection) -> tuple[str, ...]:
    """Its own usual variable, and those that Hermes reads."""
    if detection.kind == "oauth":
        return ("CLAUDE_CODE_OAUTH_TOKEN",)  # as an API key it would travel in the wrong header
    own = (provider.key_vars or provider.shared_vars)[:1]
    return tuple(dict.fromkeys((*own, *hermes.key_vars)))


def _hint_lost(heard: Heard, choice: _Choice) -> tuple[Problem, ...]:
    """A hint that names another provider, or another region, than the one that won (C2.03)."""
    if heard.hint is None or heard.hint.name == choice.provider.name:
        return ()
    return (warn("HINT_CONFLICT", hint=heard.hint.name, provider=choice.provider.name),)


def _odd_shape(detection: Detection, choice: _Choice) -> tuple[Problem, ...]:
    kin = choice.provider.kin
    if detection.confidence in ("none", "low") and kin in prefixed() and kin not in detection.candidates:
        return (warn("UNUSUAL_SHAPE", provider=choice.provider.name),)
    return ()


def _without_address(provider: Provider, place: Place | None, choice: _Choice) -> tuple[Problem, ...]:
    return (fail("BASE_URL_NEEDED", provider=provider.name),) if place is None and choice.at_url else ()


def _blocked(provider: Provider, policy: Policy) -> tuple[Problem, ...]:
    if provider.name != "openrouter" or policy.allow_openrouter or policy.purpose == "embeddings":
        return ()
    return (fail("OPENROUTER_BLOCKED", setting=ALLOW_OPENROUTER),)
