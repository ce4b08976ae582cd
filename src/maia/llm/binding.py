"""Which model answers, and why: a pure choice from the list. A chosen model is never swapped in silence (T1.06)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from maia.core.errors import NotConfigured, SettingsProblem, UsageProblem
from maia.core.events import Notice
from maia.core.requests import ChosenBy
from maia.llm.endpoint import Endpoint
from maia.llm.models import ModelInfo, described


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that answers. `others` also fit the word that was given: the first listed was taken.

    `notices` say what the user should know: several fitted, or the last choice is gone. A choice of an earlier
    run counts as `resumed`.
    """

    model: ModelInfo
    why: ChosenBy
    others: tuple[ModelInfo, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who asks for which model, by any name: `--model`, the settings, the resumed session, the last choice."""

    option: str | None = None
    setting: str | None = None
    resumed: str | None = None
    remembered: str | None = None


def choose(
    models: Sequence[ModelInfo], wanted: Wanted, endpoints: Sequence[Endpoint] = (), unlisted: Sequence[str] = ()
) -> Choice:
    """The model by the first word that is given, in the order of `Wanted`; else the default: the first that is usable.

    `models` are in the order of `endpoints`, whose `prefer` patterns name better defaults than the first of a vendor's
    whole list; `unlisted` names the endpoints whose list could not be had, whose models are taken on trust. Raises
    `UsageProblem` (option), `SettingsProblem` (setting) with suggestions when there is no such model, `NotConfigured`
    when there is none at all.
    """
    trusted = [endpoint for endpoint in endpoints if endpoint.name in unlisted]
    if wanted.option:
        return _named(models, trusted, wanted.option, "option")
    if wanted.resumed and (found := exactly(models, wanted.resumed, trusted)):
        return Choice(found[0], "resumed")
    gone = (Notice("warn", "models.resumed_gone", {"name": wanted.resumed}),) if wanted.resumed else ()
    if wanted.resumed and (elsewhere := exactly(models, wanted.resumed.partition("/")[2])):
        return Choice(elsewhere[0], "resumed", (), gone)
    if wanted.setting:
        choice = _named(models, trusted, wanted.setting, "settings")
        return Choice(choice.model, choice.why, choice.others, gone + choice.notices)
    if wanted.remembered:
        if found := exactly(models, wanted.remembered, trusted):
            return Choice(found[0], "resumed", (), gone)
        gone += (Notice("warn", "models.remembered_gone", {"name": wanted.remembered}),)
    return Choice(default_model(models, endpoints), "default", (), gone)


def _named(models: Sequence[ModelInfo], trusted: Sequence[Endpoint], word: str, why: ChosenBy) -> Choice:
    found = find(models, word, trusted)
    if found:
        others = tuple(found[1:])
        values = {"name": word, "model": found[0].id, "n": len(others)}
        return Choice(found[0], why, others, (Notice("info", "models.several_fit", values),) if others else ())
    if not models:
        raise NotConfigured("models.none", name=word)
    close = ", ".join(suggestions(models, word))
    if why == "settings":
        raise SettingsProblem("models.setting_gone", name=word, close=close)
    raise UsageProblem("models.no_such_model", name=word, close=close)


def find(models: Sequence[ModelInfo], word: str, trusted: Sequence[Endpoint] = ()) -> list[ModelInfo]:
    """The models that a word names, the one to take first; several only where the word is a fragment.

    Tried in this order: what `exactly` finds, then a part of a name (usable models before others). When only one
    endpoint is in `trusted`, any id is its own.
    """
    word = word.strip()
    if not word:
        return []
    if found := exactly(models, word, trusted):
        return found
    low = word.lower()
    parts = [model for model in models if low in model.full_name.lower()]
    if parts:
        return sorted(parts, key=lambda model: (low not in model.id.lower(), not model.usable))
    return [described(word, trusted[0])] if len(trusted) == 1 and re.fullmatch(r"\S+", word) else []


def exactly(models: Sequence[ModelInfo], name: str, trusted: Sequence[Endpoint] = ()) -> list[ModelInfo]:
    """The model of that whole name, if any: a name kept from an earlier run must not become another that holds it.

    Tried in this order: the id, `provider/id`, both without regard to case. An endpoint in `trusted` has no list:
    `provider/id` is its own.
    """
    low = name.lower()
    exact = (
        [model for model in models if model.id == name],
        [model for model in models if model.full_name == name],
        [model for model in models if low in (model.id.lower(), model.full_name.lower())],
    )
    if found := next(filter(None, exact), None):
        return found[:1]
    provider, _, rest = name.partition("/")
    return [described(rest, endpoint) for endpoint in trusted if rest and endpoint.name == provider][:1]


def default_model(models: Sequence[ModelInfo], endpoints: Sequence[Endpoint] = ()) -> ModelInfo:
    """The model where nobody chose: of the first endpoint with usable models the newest that fits its `prefer`.

    Where none fits, its first. Raises `NotConfigured` when there is no model.
    """
    usable = [model for model in models if model.usable] or list(models)
    if not usable:
        raise NotConfigured("models.none", name="")
    first = [model for model in usable if model.provider == usable[0].provider]
    prefer = next((endpoint.prefer for endpoint in endpoints if endpoint.name == usable[0].provider), "")
    best = [model for model in first if prefer and re.fullmatch(prefer, model.id, re.IGNORECASE)]
    return max(best, key=lambda model: version_of(model.id)) if best else first[0]


def version_of(name: str) -> tuple[int, ...]:
    """The numbers in a name, to tell the newer of two models of a family. Dates (six digits and more) come last."""
    numbers = [int(digits) for digits in re.findall(r"\d+", name)]
    small = [number for number in numbers if number < 100_000]
    return (*small, *[0] * (4 - len(small)), *(number for number in numbers if number >= 100_000))


def suggestions(models: Sequence[ModelInfo], word: str, most: int = 3) -> list[str]:
    """Names close to a word that names no model, the closest first; the first listed where none is close."""
    from difflib import get_close_matches  # only when a name is wrong

    by_low = {model.id.lower(): model.id for model in reversed(models)}
    close = get_close_matches(word.lower(), by_low, most, 0.5)
    pieces = [name for name in _sharing(by_low, word.lower()) if name not in close]
    return [by_low[name] for name in (*close, *pieces)][:most] or [model.id for model in models[:most]]


def _sharing(names: dict[str, str], word: str) -> Iterator[str]:
    """Names that share a word of three letters or more."""
    pieces = [piece for piece in re.split(r"[^a-z0-9]+", word) if len(piece) > 2]
    return (name for name in names if any(piece in name for piece in pieces))
