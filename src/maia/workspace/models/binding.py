"""Which model answers a conversation's next message, and why: pure decisions over a catalogue (R-2.041–R-2.068)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.problems import ModelUnavailable, Unfit

Binding: TypeAlias = Literal["pinned", "auto", "inherit"]
Reason: TypeAlias = Literal["pinned", "colleague", "delegating", "auto", "default"]
"""Why a model answers, the complete set (R-2.035)."""
Note: TypeAlias = Literal[
    "",
    "agent-binding-unavailable",
    "conversation-binding-unavailable",
    "auto-routing-off",
    "auto-routing-no-tier",
    "auto-routing-budget",
]
"""Which fallback applies (R-2.036)."""


@dataclass(frozen=True, slots=True)
class Routed:
    """The tier that a message was taken for, and what a reader is told beside it."""

    tier: str = "standard"
    note: Note = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a conversation says of who answers it. `by_person`: a person chose `pair`, so nothing replaces it.

    `colleague` is the model of its colleague, `delegating` the one that the delegating turn really ran on.
    """

    binding: Binding = "pinned"
    pair: Pair | None = None
    by_person: bool = False
    colleague: Pair | None = None
    delegating: Pair | None = None


@dataclass(frozen=True, slots=True)
class Answerer:
    """The model that answers. `tier` is the routing tier that chose it, if one did."""

    pair: Pair
    reason: Reason
    note: Note = ""
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Nobody:
    """Why no model answers: a code of the interface, and the model that is missing, if one was meant."""

    code: Literal["model_binding_unavailable", "no_model_configured", "agent_unavailable"]
    pair: Pair | None = None
    word: str = ""


def answerer(
    wanted: Wanted, catalogue: Catalogue, *, routed: Routed | None = None, override: Pair | None = None
) -> Answerer | Nobody:
    """Who answers the next message; `override` is the pair of this turn alone."""
    if override is not None:
        return Answerer(override, "pinned") if catalogue.is_available(override) else _missing(override)
    match wanted.binding:
        case "pinned":
            return _saved(wanted, catalogue)
        case "auto":
            return _routed(wanted, catalogue, routed or Routed())
        case "inherit":
            return _inherited(wanted, catalogue)


def _saved(wanted: Wanted, catalogue: Catalogue, note: Note = "") -> Answerer | Nobody:
    """The conversation's own model, else the default one: never in the place of one that a person chose."""
    pair = wanted.pair
    if pair is not None and catalogue.is_available(pair):
        return Answerer(pair, "pinned", note)
    if pair is not None and wanted.by_person:
        return _missing(pair)
    if (default := catalogue.install_default()) is not None:
        return Answerer(default, "default", note or ("conversation-binding-unavailable" if pair else ""))
    if pair is not None:
        return _missing(pair)
    if catalogue.started_with is not None:
        return Nobody("model_binding_unavailable", word=catalogue.started_with)
    return Nobody("no_model_configured")


def _routed(wanted: Wanted, catalogue: Catalogue, to: Routed) -> Answerer | Nobody:
    """Automatic routing, where it is allowed and has a tier; else the saved model, and it says so (R-2.053)."""
    if not catalogue.auto_allowed:
        return _saved(wanted, catalogue, "auto-routing-off")
    for name in dict.fromkeys((to.tier, "standard")):
        if (pair := catalogue.tier_model(name)) is not None:
            return Answerer(pair, "auto", to.note, name)
    return _saved(wanted, catalogue, "auto-routing-no-tier")


def _inherited(wanted: Wanted, catalogue: Catalogue) -> Answerer | Nobody:
    """The colleague's model, else the delegating turn's, else the conversation's own or the default (R-2.047)."""
    if catalogue.is_available(wanted.colleague) and wanted.colleague is not None:
        return Answerer(wanted.colleague, "colleague")
    if wanted.colleague is not None:
        if wanted.delegating is not None and catalogue.is_available(wanted.delegating):
            return Answerer(wanted.delegating, "delegating", "agent-binding-unavailable")
        return _noted(_saved(wanted, catalogue, "agent-binding-unavailable"), wanted.colleague)
    if wanted.delegating is None:
        return _saved(wanted, catalogue)
    if catalogue.is_available(wanted.delegating):
        return Answerer(wanted.delegating, "delegating")
    return _noted(_saved(wanted, catalogue, "conversation-binding-unavailable"), wanted.delegating)


def _noted(found: Answerer | Nobody, meant: Pair) -> Answerer | Nobody:
    """Without any model, what was meant is what is missing (R-2.060)."""
    return found if isinstance(found, Answerer) or found.pair is not None else _missing(meant)


def _missing(pair: Pair) -> Nobody:
    return Nobody("model_binding_unavailable", pair)


def refusal(nobody: Nobody, catalogue: Catalogue) -> ModelUnavailable:
    """The error with the exact words of R-2.056 or R-2.061."""
    if nobody.code == "agent_unavailable":
        return ModelUnavailable(nobody.code, "binding.agent_gone", name=nobody.word)
    if nobody.pair is not None and not nobody.pair.provider:
        return ModelUnavailable(nobody.code, "binding.no_such_model", model=nobody.pair.model)
    if nobody.pair is not None:
        values = {"provider": catalogue.name_of(nobody.pair.provider), "model": nobody.pair.model}
        return ModelUnavailable(nobody.code, "binding.unavailable", **values)
    if nobody.word:
        return ModelUnavailable(nobody.code, "binding.no_such_model", model=nobody.word)
    return ModelUnavailable(nobody.code, "binding.no_model")


def must_be_available(catalogue: Catalogue, pair: Pair) -> None:
    """Raises `Unfit`: an unknown or disabled model cannot be chosen (R-2.075)."""
    if not catalogue.is_available(pair):
        values = {"provider": catalogue.name_of(pair.provider), "model": pair.model}
        raise Unfit("model_binding_unavailable", "binding.unavailable", **values)
