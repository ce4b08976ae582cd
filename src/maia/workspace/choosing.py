"""A conversation's record and the catalogue together: what may be set, who answers next, and what a turn keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from maia.core.requests import BoundWhy, Effort
from maia.database.conversations import ConversationRow, Pin
from maia.workspace.colleagues import UNASSIGNED, Assigned, Colleague
from maia.workspace.models.binding import (
    Answerer,
    Binding,
    Nobody,
    Routed,
    Wanted,
    answerer,
    must_be_available,
    refusal,
)
from maia.workspace.models.catalogue import ROUTED, Catalogue, Pair
from maia.workspace.models.effort import Options, Thinking, is_toggle, level, levels_of, thinking, unsupported
from maia.workspace.problems import Unfit


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody wants to set; None leaves a thing as it is. `sets_effort` with `effort` None is Automatic."""

    binding: Binding | None = None
    pair: Pair | None = None
    effort: str | None = None
    sets_effort: bool = False


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers the next message (R-2.077). `Nobody` stands where no model can, `wanted` is what the record says.

    `inherited` would answer by the colleague's default, None without a colleague or a delegating one (R-2.032).
    """

    wanted: Wanted
    found: Answerer | Nobody
    thinking: Thinking
    options: Options
    assigned: Assigned = UNASSIGNED
    inherited: Answerer | Nobody | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who answers this turn. `is_kept`: the conversation had no model, and this one is its own from here on.

    Without `has_tools` the model is marked as one that is offered none (N-01.15).
    """

    pair: Pair
    why: BoundWhy
    is_kept: bool = False
    has_tools: bool = True


def wanted_of(
    row: ConversationRow, catalogue: Catalogue, colleague: Colleague | None = None, delegating: Pair | None = None
) -> Wanted:
    """What the record says of who answers."""
    pair = Pair(row.provider_id, row.model_id) if row.provider_id and row.model_id else None
    own = colleague.pair(catalogue) if colleague else None
    return Wanted(cast(Binding, row.model_binding), pair, row.model_by_person, own, delegating)


def answering(row: ConversationRow, catalogue: Catalogue, assigned: Assigned = UNASSIGNED) -> Answering:
    """Who answers the next message; automatic routing is shown with its Standard tier (R-2.035)."""
    wanted = wanted_of(row, catalogue, assigned.colleague, assigned.delegating)
    found = _gone(assigned) or answerer(wanted, catalogue)
    may_inherit = assigned.colleague is not None or assigned.delegating is not None
    inherited = answerer(replace(wanted, binding="inherit"), catalogue) if may_inherit else None
    levels = levels_of(catalogue, _candidates(wanted, found, catalogue))
    by_default = _thinking(None, found, catalogue, assigned)
    return Answering(
        wanted,
        found,
        _thinking(row.effort, found, catalogue, assigned),
        Options(levels, is_toggle(levels), level(row.effort), by_default),
        assigned,
        inherited,
    )


def chosen_for(
    row: ConversationRow,
    catalogue: Catalogue,
    override: Pair | None,
    routed: Routed | None = None,
    assigned: Assigned = UNASSIGNED,
) -> Chosen:
    """Who answers this message, which is `routed` where that is allowed.

    Raises `ModelUnavailable`: then nothing may be stored (R-2.055).
    """
    wanted = wanted_of(row, catalogue, assigned.colleague, assigned.delegating)
    found = _gone(assigned) or answerer(wanted, catalogue, routed=routed, override=override)
    if isinstance(found, Nobody):
        raise refusal(found, catalogue)
    depth = _thinking(row.effort, found, catalogue, assigned)
    why = BoundWhy(found.reason, found.note, depth.sent, depth.asked, depth.by)
    model = catalogue.model(found.pair)
    has_tools = model is None or not model.no_tools
    return Chosen(found.pair, why, override is None and _is_kept(wanted, found), has_tools)


def _gone(assigned: Assigned) -> Nobody | None:
    """In place of a colleague that is not there any more, nobody answers."""
    return Nobody("agent_unavailable", word=assigned.missing) if assigned.missing else None


def _is_kept(wanted: Wanted, found: Answerer) -> bool:
    """Whether the conversation had no model at all: the default of its first message is its own (R-2.033, R-2.047)."""
    if wanted.pair is not None or wanted.binding == "auto":
        return False
    return wanted.binding == "pinned" or (found.reason == "default" and not found.note)


def _thinking(
    stored: str | None, found: Answerer | Nobody, catalogue: Catalogue, assigned: Assigned = UNASSIGNED
) -> Thinking:
    if isinstance(found, Nobody):
        return Thinking()
    tier = catalogue.tier(found.tier).effort if found.tier else None
    model = catalogue.model(found.pair)
    own, above = assigned.effort, assigned.above
    return thinking(model, stored=level(stored), colleague=own, delegating=above, tier=tier)


def _candidates(wanted: Wanted, found: Answerer | Nobody, catalogue: Catalogue) -> list[Pair | None]:
    """The models that may answer: one, or those of all tiers where none is fixed yet (N-02.05)."""
    if isinstance(found, Nobody):
        return []
    if found.reason == "auto":
        return _of_tiers(catalogue)
    is_open = wanted.binding == "inherit" and wanted.pair is None and found.reason == "default" and not found.note
    return [found.pair, *(_of_tiers(catalogue) if is_open else ())]


def _of_tiers(catalogue: Catalogue) -> list[Pair | None]:
    return [catalogue.tier_model(name) for name in ROUTED]


# Setting -------------------------------------------------------------------------------------------------------------


def first_pin(start: Change, catalogue: Catalogue, *, has_agent: bool = False) -> tuple[Pin, Effort | None]:
    """What a new conversation keeps. A pair that is not available is not kept, and no error (R-2.069).

    Raises `Unfit` for a binding without a colleague and for a level that nobody has (R-2.071, N-02.08).
    """
    pair = start.pair if catalogue.is_available(start.pair) else None
    binding = start.binding or "pinned"
    if binding == "inherit" and not has_agent:
        raise Unfit("binding_inherit_needs_agent", "binding.needs_agent")
    pin = Pin(binding, *(pair or (None, None)), by_person=pair is not None)
    return pin, _effort(start, Wanted(binding, pair, pin.by_person), catalogue)


def changed_pin(
    row: ConversationRow, change: Change, catalogue: Catalogue, colleague: Colleague | None = None
) -> tuple[Pin, Effort | None]:
    """What a conversation keeps after a change. A pair makes it the person's own choice (R-2.076).

    Raises `Unfit` for an unknown or disabled model, a binding without a colleague, a level that the model lacks.
    """
    if change.pair is not None:
        must_be_available(catalogue, change.pair)
    binding = change.binding or ("pinned" if change.pair is not None else cast(Binding, row.model_binding))
    if binding == "inherit" and row.agent is None and row.parent_id is None:
        raise Unfit("binding_inherit_needs_agent", "binding.needs_agent")
    before = wanted_of(row, catalogue)
    pair, by_person = (change.pair, True) if change.pair is not None else (before.pair, before.by_person)
    pin = Pin(binding, *(pair or (None, None)), by_person=by_person)
    if not change.sets_effort:
        return pin, level(row.effort)
    own = colleague.pair(catalogue) if colleague else None
    return pin, _effort(change, Wanted(binding, pair, by_person, own), catalogue)


def _effort(change: Change, wanted: Wanted, catalogue: Catalogue) -> Effort | None:
    """The level to store. Automatic is always accepted; changing only the model never fails on a stored one."""
    if change.effort is None:
        return None
    asked = level(change.effort)
    found = answerer(wanted, catalogue)
    levels = levels_of(catalogue, _candidates(wanted, found, catalogue))
    if asked is None or asked not in levels:
        raise unsupported(change.effort, levels)
    return asked
