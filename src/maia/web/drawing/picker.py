"""What the model picker and the effort field show: choices in their groups, why a model answers, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from maia.core.ports import Say
from maia.core.requests import BoundWhy, Effort
from maia.core.text import visible
from maia.workspace.choosing import Answering
from maia.workspace.models.binding import Answerer, Nobody, refusal
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import Options, Thinking


@dataclass(frozen=True, slots=True)
class Choice:
    """One model of a group. `detail` is what stands at its end: pinned, local, its window."""

    pair: Pair
    detail: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The models of one provider (R-2.030)."""

    name: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Inherit:
    """The colleague's default (R-2.032); `label` names the model that it comes to now."""

    label: str
    detail: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class Picker:
    """`label` is what the button says; `warning` a fallback's reason (R-2.036), `trouble` why nobody answers.

    `blind` says that the model cannot see images, empty where it can or nobody knows (R-2.263).
    """

    label: str
    mark: str
    tooltip: str
    warning: str
    trouble: str
    is_auto: bool
    may_auto: bool
    inherit: Inherit | None
    groups: tuple[Group, ...]
    blind: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """One choice of the effort field; `value` empty is Automatic."""

    value: str
    label: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class EffortField:
    """The field of effort; without levels but Automatic there is nothing to choose."""

    label: str
    levels: tuple[Level, ...]


def compact(tokens: int | None) -> str:
    """A window in few characters: `200 k`, `1 M`; empty where nobody knows it."""
    if tokens is None:
        return ""
    return f"{tokens / 1e6:.3g} M" if tokens >= 1_000_000 else f"{round(tokens / 1000)} k"


def picker_of(answering: Answering, catalogue: Catalogue, say: Say) -> Picker:
    """The picker of a conversation, for its next message."""
    found, wanted = answering.found, answering.wanted
    is_auto = wanted.binding == "auto"
    pinned = wanted.pair if wanted.binding == "pinned" else None
    groups = tuple(_groups(catalogue, pinned, say))
    inherit = _inherit(answering, catalogue, say)
    if isinstance(found, Nobody):
        trouble = refusal(found, catalogue)
        words = visible(say(trouble.key, **trouble.values))
        label = _shown(found.pair, catalogue) if found.pair else say("picker.none")
        mark = catalogue.name_of(found.pair.provider) if found.pair else ""
        return Picker(label, mark, words, "", words, is_auto, catalogue.auto_allowed, inherit, groups)
    return Picker(
        _label(answering, found, catalogue, say),
        catalogue.name_of(found.pair.provider),
        _tooltip(found, catalogue, say),
        say(f"binding.note.{found.note}") if found.note else "",
        "",
        is_auto,
        catalogue.auto_allowed,
        inherit,
        groups,
        say("files.blind", model=found.pair.model) if catalogue.is_blind(found.pair) else "",
    )


def _inherit(answering: Answering, catalogue: Catalogue, say: Say) -> Inherit | None:
    """The choice, where there is a colleague."""
    found = answering.inherited
    if found is None:
        return None
    meant = found.pair or answering.wanted.colleague
    model = catalogue.model(found.pair) if found.pair else None
    label = say("picker.colleague", model=meant.model if meant else say("picker.none"))
    return Inherit(label, compact(model.window) if model else "", answering.wanted.binding == "inherit")


def _label(answering: Answering, found: Answerer, catalogue: Catalogue, say: Say) -> str:
    if found.reason == "auto":
        return say("picker.auto")
    if answering.wanted.binding == "pinned" and answering.wanted.pair is None:
        return say("picker.default")
    return _shown(found.pair, catalogue)


def _tooltip(found: Answerer, catalogue: Catalogue, say: Say) -> str:
    reason = say(f"binding.reason.{found.reason}")
    if found.reason == "auto":
        reason += f" ({say('binding.shown_tier')})"
    return say(
        "binding.answers", provider=catalogue.name_of(found.pair.provider), model=found.pair.model, reason=reason
    )


def answered(provider: str, model: str, why: BoundWhy | None, say: Say) -> str:
    """The tooltip of an answer: by whom, why, and which fallback applied (R-2.062)."""
    if why is None:
        return say("web.answered_by", provider=provider, model=model)
    words = say("binding.answered", provider=provider, model=model, reason=say(f"binding.reason.{why.reason}"))
    return f"{words}. {say(f'binding.note.{why.note}')}" if why.note else words


def chip(why: BoundWhy | None, model: str, say: Say) -> tuple[str, str] | None:
    """The effort under an answer and who set it; None where nothing was asked or sent (N-02.06)."""
    if why is None or why.effort_asked is None or why.effort is None:
        return None
    asked, sent = say(f"effort.level.{why.effort_asked}"), say(f"effort.level.{why.effort}")
    shown = asked if asked == sent else say("effort.moved", asked=asked, sent=sent)
    title = say(f"effort.by.{why.effort_by}")
    if asked != sent:
        title = f"{say('effort.moved_why', asked=asked, sent=sent, model=model)} · {title}"
    return say("effort.chip", level=shown), title


def _shown(pair: Pair, catalogue: Catalogue) -> str:
    return f"{catalogue.name_of(pair.provider)} / {pair.model}"


def _groups(catalogue: Catalogue, pinned: Pair | None, say: Say) -> Iterator[Group]:
    for provider in catalogue.providers:
        pairs = [Pair(provider.id, each.id) for each in catalogue.models_of(provider.id)]
        choices = [_choice(pair, catalogue, pinned, say) for pair in pairs if catalogue.is_available(pair)]
        if choices:
            yield Group(provider.name, tuple(choices))


def _choice(pair: Pair, catalogue: Catalogue, pinned: Pair | None, say: Say) -> Choice:
    provider, model = catalogue.provider(pair.provider), catalogue.model(pair)
    parts = (
        say("picker.pinned") if pair == pinned else "",
        say("picker.local") if provider is not None and provider.kind == "local" else "",
        compact(model.window) if model is not None else "",
    )
    return Choice(pair, " · ".join(part for part in parts if part), pair == pinned)


# Effort --------------------------------------------------------------------------------------------------------------


def effort_field(answering: Answering, say: Say) -> EffortField:
    """The field of effort: the model's levels, and what Automatic stands for (R-2.150–R-2.155)."""
    options, model = answering.options, answering.found.pair.model if answering.found.pair else ""
    automatic = _automatic(options.inherited, say)
    levels = [Level(each, _level(each, options, say), each == options.current) for each in options.levels]
    label = automatic
    if options.current is not None:
        label = _stored(options, answering.thinking, model, say)
    return EffortField(label, (Level("", automatic, options.current is None), *levels))


def _level(level: Effort, options: Options, say: Say) -> str:
    if options.is_toggle:
        return say("effort.toggle.off" if level == "none" else "effort.toggle.on")
    return say(f"effort.level.{level}")


def _automatic(inherited: Thinking, say: Say) -> str:
    if inherited.asked is None:
        return say("effort.automatic")
    level = say(f"effort.level.{inherited.asked}")
    if inherited.by == "model":
        return say("effort.automatic_model", level=level)
    return say("effort.automatic_from", level=level, origin=say(f"effort.by.{inherited.by}"))


def _stored(options: Options, thinking: Thinking, model: str, say: Say) -> str:
    assert options.current is not None
    if options.current in options.levels:
        return _level(options.current, options, say)
    asked = say(f"effort.level.{options.current}")
    if thinking.sent is None:
        return say("effort.not_sent", asked=asked, model=model)
    return say("effort.moved_why", asked=asked, sent=say(f"effort.level.{thinking.sent}"), model=model)
