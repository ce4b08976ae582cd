"""How deep a model thinks: which levels are offered, who asked for one, and which is sent (R-2.150–R-2.156)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from maia.core.requests import Effort
from maia.database.providers import ModelRow
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.problems import Unfit

LADDER: Final[tuple[Effort, ...]] = get_args(Effort)
"""From none to most; more is deeper, slower and dearer (R-2.153)."""

By: TypeAlias = Literal["conversation", "colleague", "delegating", "tier", "model", ""]
"""Who asked for a level, the first that did (N-02.02); empty where nobody did."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """What was asked and what is sent. `sent` is None where the model gets no such parameter (N-02.03)."""

    asked: Effort | None = None
    sent: Effort | None = None
    by: By = ""


@dataclass(frozen=True, slots=True)
class Options:
    """What the select offers: the levels, the one that is stored, and what Automatic stands for."""

    levels: tuple[Effort, ...]
    is_toggle: bool
    current: Effort | None
    inherited: Thinking


def level(word: object) -> Effort | None:
    """The level of that name."""
    return next((each for each in LADDER if each == word), None)


def nearest(asked: Effort, levels: Sequence[Effort]) -> Effort | None:
    """The supported level nearest to the asked one, of two the lower; None where there is none (N-02.03)."""
    place = LADDER.index(asked)
    return min(levels, key=lambda each: (abs(LADDER.index(each) - place), LADDER.index(each)), default=None)


def thinking(
    model: ModelRow | None,
    *,
    stored: Effort | None = None,
    colleague: Effort | None = None,
    delegating: Effort | None = None,
    tier: Effort | None = None,
) -> Thinking:
    """The level of a turn, for the model that really answers. Without known facts nothing is sent (N-02.03)."""
    givers: tuple[tuple[Effort | None, By], ...] = (
        (stored, "conversation"),
        (colleague, "colleague"),
        (delegating, "delegating"),
        (tier, "tier"),
    )
    known = model.efforts if model is not None else None
    for asked, by in givers:
        if asked is not None:
            return Thinking(asked, nearest(asked, known) if known else None, by)
    usual = model.default_effort if model is not None else None
    return Thinking(usual, None, "model") if usual is not None else Thinking()


def levels_of(catalogue: Catalogue, pairs: Iterable[Pair | None]) -> tuple[Effort, ...]:
    """Every level that at least one of these models has, in order (N-02.05)."""
    models = [catalogue.model(pair) for pair in pairs if pair is not None]
    known = {each for model in models if model is not None for each in model.efforts or ()}
    return tuple(each for each in LADDER if each in known)


def unsupported(asked: str, levels: Sequence[Effort]) -> Unfit:
    """The refusal of a level; it names those that there are (R-2.154, N-02.08)."""
    key = "effort.unsupported" if levels else "effort.no_control"
    refused = Unfit("EFFORT_UNSUPPORTED", key, level=asked, levels=", ".join(levels))
    refused.more = {"effort": asked, "levels": list(levels)}
    return refused


def is_toggle(levels: Sequence[Effort]) -> bool:
    """Whether a model only thinks or does not (R-2.151)."""
    return len(levels) == 2 and levels[0] == "none"
