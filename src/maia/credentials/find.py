"""Finds the one key that is meant, in passes, and everything the vote needs beside it (C3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from maia.core.providers import BY_NAME, GENERIC_VARS, Provider
from maia.core.secret import Secret
from maia.credentials.prefixes import Detection, detect, shown_name
from maia.credentials.problems import Problem, fail, info
from maia.credentials.providers import by_hint, hermes_of, own_vars, place_of, shared_vars
from maia.credentials.signals import Ballot, Policy, named_by
from maia.credentials.sources import Layer
from maia.credentials.vote import ALLOW_MISMATCH, ALLOW_OPENROUTER, MINIMAX_SWITCH, resolve

URL_VARS: Final = ("ANTHROPIC_BASE_URL", "GLM_BASE_URL")
HINT_VARS: Final = ("ANTHROPIC_PROVIDER", "PROVIDER")
MODEL_VAR: Final = "ANTHROPIC_MODEL"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `layers` go from the most special place to the environment.

    `variable` asks for the key of that name, `token` for a typed one (with `variable`, as the key of that name); with
    neither, the passes find it. `base_url` and
    `hint` are options and beat every place.
    """

    layers: tuple[Layer, ...]
    variable: str = ""
    token: Secret | None = None
    base_url: str = field(default="", repr=False)
    hint: str = field(default="", repr=False)
    purpose: Literal["llm", "embeddings"] = "llm"


@dataclass(frozen=True, slots=True)
class Found:
    """The vote to hold, or None with the reason in `problems`. `layer` is where the key was."""

    ballot: Ballot | None
    layer: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key that might be meant. `variable` is where it stands, `named` the name that says whose it is."""

    variable: str
    named: str
    token: Secret
    detection: Detection

    @property
    def kins(self) -> frozenset[str]:
        """The families it may belong to; empty when nothing is known."""
        if self.detection.confidence == "exact":
            return frozenset({self.detection.provider})
        names = frozenset(provider.kin for provider in named_by(self.named))
        shapes = frozenset(self.detection.candidates)
        return (names & shapes or names) if names else shapes


def find(request: Request) -> Found:
    """The key that is meant and its signals. Pure; what is wrong is data."""
    problems = tuple(problem for layer in request.layers for problem in layer.problems)
    if request.token is None and any(problem.level == "fail" for problem in problems):
        return Found(None, problems=problems)
    if request.token is not None:
        return Found(_ballot(request, request.token, request.variable, ""), "stdin", problems)
    if request.variable:
        return _named(request, problems)
    layer = next((layer for layer in request.layers if layer.token_keys), None)
    if layer is None:
        return Found(None, problems=(*problems, fail("NO_LLM_TOKEN")))
    return _among(request, layer, problems)


def policy(request: Request) -> Policy:
    """The switches. A file may travel, so only the environment may allow a key at another provider's host."""
    process = [layer for layer in request.layers if layer.kind == "process"]
    return Policy(
        is_on(_first(request.layers, (ALLOW_OPENROUTER,))[0]),
        is_on(_first(process, (ALLOW_MISMATCH,))[0]),
        _first(request.layers, (MINIMAX_SWITCH,))[0] or None,
        request.purpose,
    )


def is_on(value: str) -> bool:
    """Whether a switch of the environment is set."""
    return value.strip().lower() in ("1", "true", "yes", "on", "allow")


def _first(layers: Sequence[Layer], names: Sequence[str]) -> tuple[str, str]:
    """The first value that is not empty, and where it stands."""
    for layer in layers:
        for name in names:
            if value := layer.values.get(name, "").strip():
                return value, name if layer.kind == "process" else f"{layer.name}: {name}"
    return "", ""


def _ballot(request: Request, token: Secret, variable: str, named: str) -> Ballot:
    own = [v for p in named_by(named) for v in (p.base_var, hermes_of(p).base_var)]
    urls = (*(name for name in own if name and name not in URL_VARS), *URL_VARS)
    url, url_from = (request.base_url, "--base-url") if request.base_url else _first(request.layers, urls)
    hint, hint_from = (request.hint, "--hint") if request.hint else _first(request.layers, HINT_VARS)
    return Ballot(token, variable, named, url, url_from, hint, hint_from, policy(request))


def _named(request: Request, problems: tuple[Problem, ...]) -> Found:
    """The key of one variable, wherever it stands first."""
    for layer in request.layers:
        if value := layer.values.get(request.variable, ""):
            named = _says(layer, request.variable)
            ballot = _ballot(request, Secret(value), request.variable, named)
            return Found(ballot, layer.name, problems)
    where = ", ".join(layer.name for layer in request.layers)
    missing = fail("MISSING_ENV_VAR", variable=shown_name(request.variable), where=where)
    return Found(None, problems=(*problems, missing))


def _says(layer: Layer, variable: str) -> str:
    """The name that says whose key it is: that of the variable it was taken from, where its own says nothing."""
    taken = layer.references.get(variable, "")
    return taken if variable in GENERIC_VARS and named_by(taken) else variable


# Several keys in one place --------------------------------------------------------------------------------------------


def _among(request: Request, layer: Layer, problems: tuple[Problem, ...]) -> Found:
    """One of the keys of a place: the family by the signals, then the name that belongs to it (passes A, B, C)."""
    wanted = _wanted(request)
    candidates = _candidates(layer, wanted)
    if not candidates:
        return Found(None, problems=(*problems, fail("NO_LLM_TOKEN")))
    usable = _usable(candidates, wanted, policy(request)) or candidates[:1]
    eligible = _of_one_family(usable, wanted)
    if eligible is None:
        names = ", ".join(dict.fromkeys(candidate.variable for candidate in usable))
        return Found(None, layer.name, (*problems, fail("AMBIGUOUS_CREDENTIALS", names=names)))
    best = _best(request, eligible)
    ballot = _ballot(request, best.token, best.variable, best.named)
    return Found(ballot, layer.name, (*problems, *_notices(best, usable)))


def _wanted(request: Request) -> Provider | None:
    """The provider that the address, else the hint, names."""
    url = request.base_url or _first(request.layers, URL_VARS)[0]
    hint = (request.hint or _first(request.layers, HINT_VARS)[0]).strip().lower()
    place = place_of(url) if url else None
    if place and place.provider:
        return place.provider
    hinted = place_of(hint) if "." in hint else None
    return by_hint().get(hint) or (hinted.provider if hinted else None)


def _candidates(layer: Layer, wanted: Provider | None) -> list[Candidate]:
    """Every key of a place. A variable shared with other uses counts only where its provider is wanted."""
    found: list[Candidate] = []
    for name in layer.token_keys:
        shared = shared_vars().get(name)
        if name in layer.values and (shared is None or shared is wanted):
            value = layer.values[name]
            found.append(Candidate(name, _says(layer, name), Secret(value), detect(value)))
    return found


def _usable(candidates: list[Candidate], wanted: Provider | None, allowed: Policy) -> list[Candidate]:
    """Those that could answer: no masked ones, none of a service without models, none of a blocked provider."""
    blocked = "openrouter" if not allowed.allow_openrouter and allowed.purpose == "llm" else ""
    blocked = "" if wanted and wanted.name == blocked else blocked
    return [each for each in candidates if each.detection.error is None and each.kins != frozenset({blocked})]


def _of_one_family(candidates: list[Candidate], wanted: Provider | None) -> list[Candidate] | None:
    """The candidates of the wanted family, or of the only one there is; None when nothing chooses (C3.04)."""
    if len({candidate.token for candidate in candidates}) == 1:
        return candidates
    if wanted:
        fitting = [each for each in candidates if wanted.kin in each.kins]
        if fitting := fitting or [each for each in candidates if not each.kins]:
            return fitting
    common = frozenset[str].intersection(*(each.kins for each in candidates))
    return candidates if common else None


def _best(request: Request, candidates: list[Candidate]) -> Candidate:
    """Pass A: the name of the provider itself beats a generic one, and the region's name beats the family's."""
    kins = [each.kins for each in candidates if len(each.kins) == 1]
    one = candidates[0]
    guess = resolve(_ballot(request, one.token, "", "")).provider
    provider = BY_NAME.get(guess)
    if provider is None or (kins and provider.kin not in kins[0]):
        provider = next((p for p in BY_NAME.values() if kins and p.kin in kins[0]), provider)

    def rank(each: Candidate) -> int:
        owners = own_vars().get(each.named, ())
        if provider and provider in owners:
            return 0
        return 1 if provider and provider.kin in {owner.kin for owner in owners} else 3 if owners else 2

    return min(candidates, key=rank)


def _notices(best: Candidate, candidates: list[Candidate]) -> tuple[Problem, ...]:
    ignored = [each.variable for each in candidates if each.variable != best.variable and each.token != best.token]
    if not ignored:
        return ()
    return (info("KEY_PASSED_OVER", used=best.variable, ignored=", ".join(dict.fromkeys(ignored))),)
