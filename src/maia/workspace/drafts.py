"""What somebody wants of an agent's definition, and the fields of its file that this comes to. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from maia.core.runtime import OWN_MODEL
from maia.workspace.colleagues import Colleague
from maia.workspace.models.binding import must_be_available
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import LADDER, level, unsupported
from maia.workspace.problems import Unfit

SHOWN_TURNS: Final = 10
"""What the empty field shows, and what saving it stores (N-05.07)."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What was asked for. `fields` are those of the file under its names, None takes one out.

    `sets_model` with `pair` None is the conversation's own model. `revision` is that of the text it was made for.
    """

    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = ""
    pair: Pair | None = None
    sets_model: bool = False
    revision: str = ""

    @property
    def nickname(self) -> str | None:
        given = self.fields.get("nickname")
        return given if isinstance(given, str) else None

    @property
    def model_of_program(self) -> str | None:
        """The model that a program is asked for, None for its own usual one."""
        return None if self.pair is None or self.pair.model == OWN_MODEL else self.pair.model


def file_fields(draft: Draft, now: Colleague | None, catalogue: Catalogue) -> dict[str, Any]:
    """The fields to set, texts in one form. `now` is the agent as it is, None for a new one.

    Raises `Unfit`: `model_binding_unavailable` with both ids for a model that cannot answer (N-05.11), and
    `EFFORT_UNSUPPORTED` for a level that the model has not.
    """
    fields = {name: _clean(name, value) for name, value in draft.fields.items()}
    if draft.pair is not None:
        _must_answer(catalogue, draft.pair)
    elif draft.sets_model:
        fields |= {"model": None, "runner": None}
    pair = draft.pair if draft.sets_model else now.pair(catalogue) if now is not None else None
    if fields.get("effort") is not None:
        _must_have(catalogue, pair, str(fields["effort"]))
    return fields


def levels_for(catalogue: Catalogue, pair: Pair | None) -> tuple[str, ...]:
    """The levels of a model; all of them where the conversation's model answers, none where nobody knows any."""
    if pair is None:
        return LADDER
    model = catalogue.model(pair)
    return tuple(model.efforts or ()) if model is not None else ()


def _must_answer(catalogue: Catalogue, pair: Pair) -> None:
    try:
        must_be_available(catalogue, pair)
    except Unfit as problem:
        problem.more = {"providerId": pair.provider, "modelId": pair.model}
        raise


def _must_have(catalogue: Catalogue, pair: Pair | None, asked: str) -> None:
    levels = levels_for(catalogue, pair)
    if level(asked) is None or asked not in levels:
        raise unsupported(asked, [each for each in LADDER if each in levels])


_ONE_LINE: Final = ("nickname", "description", "role", "avatar")


def _clean(name: str, value: Any) -> Any:
    """Browsers send lines that end in two characters; an empty text of the header is none."""
    if isinstance(value, list):
        words = [" ".join(str(each).split()) for each in cast(list[object], value)]
        return [each for each in words if each] or ([] if name == "tools" else None)
    if not isinstance(value, str):
        return value
    text = re.sub(r"\r\n?", "\n", value).strip()
    text = " ".join(text.split()) if name in _ONE_LINE else text
    return text or (None if name not in ("instructions", "missions", "output", "description") else "")


def free_name(called: str, taken: Iterable[str]) -> str:
    """A name for the folder of an agent that people call so, which no other has."""
    plain = unicodedata.normalize("NFKD", called).encode("ascii", "ignore").decode().casefold()
    wanted = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "agent"
    known = {each.casefold() for each in taken}
    numbered = (wanted, *(f"{wanted}-{n}" for n in range(2, 1000)))
    return next((each for each in numbered if each not in known), wanted)
