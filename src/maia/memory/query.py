"""From any text to the words that are looked for: plurals and ligatures of French and English count as one word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from maia.memory.folding import tokens

MAX_TERMS: Final = 32
MAX_CHARS: Final = 10_000
"""Of a query; what follows is not looked at."""

SHORT: Final = 3
"""Words of so few letters are looked for as they are: as beginnings they would match half of a dictionary."""


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP: Final = _listed(
    "a an and are as at be but by did do does for from had has have he her his how i if in into is it its me my no "
    "not of on or our she so that the their them then there they this to up was we were what when where which who "
    "why will with would you your "
    "au aux avec c ce ces cet cette d dans de des du elle elles en est et etait etaient ete eu il ils j je l la le "
    "les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou par pas pour qu que quel quelle qui "
    "s sa sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y"
)
"""Words that say nothing of what a text is about. A query of nothing else is looked for all the same."""

_ENDINGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("ies", ("y", "ie")),  # memories, parties
    ("aux", ("al", "au")),  # journaux, tuyaux
    ("sses", ("ss",)),  # classes
    ("shes", ("sh",)),
    ("ches", ("ch",)),
    ("xes", ("x",)),  # boxes, taxes
    ("ss", ("ss",)),  # access is no plural
    ("us", ("us",)),  # nor is status
    ("is", ("is",)),  # nor analysis, nor avis
    ("s", ("",)),
    ("x", ("", "x")),  # jeux, but prix
    ("al", ("al", "aux")),  # journal finds journaux
    ("y", ("y", "ies")),  # memory finds memories
)
"""Ending of a word, and what its other forms have instead; the first that fits. The rest is matched as a beginning."""

_SHORT_ENDINGS: Final = ("", "s", "x", "es")
"""What a short word may have behind it: APIs, jeux of `jeu`, boxes."""

_LIGATURES: Final = (("oe", "œ"), ("ae", "æ"))


@dataclass(frozen=True, slots=True)
class Term:
    """One word that is looked for, in its forms; with `is_start` a longer word that begins with one is found too."""

    forms: tuple[str, ...]
    is_start: bool


def terms(query: str) -> tuple[Term, ...]:
    """The different words of a query, those that mean something; pure, for any text.

    Where all are empty words they are taken as they are.
    """
    words = list(dict.fromkeys(tokens(query[:MAX_CHARS])))
    telling = [word for word in words if word not in STOP]
    return tuple(_term(word) for word in (telling or words)[:MAX_TERMS])


def _term(word: str) -> Term:
    if len(word) <= SHORT:
        return Term(tuple(form + end for form in _spelled((word,)) for end in _SHORT_ENDINGS), is_start=False)
    ending, others = next(((end, to) for end, to in _ENDINGS if word.endswith(end)), ("", ("",)))
    stem = word.removesuffix(ending)
    return Term(_spelled(tuple(stem + other for other in others)), is_start=True)


def _spelled(forms: tuple[str, ...]) -> tuple[str, ...]:
    """The forms, and each with its ligature or without."""
    found = dict.fromkeys(forms)
    for apart, joined in _LIGATURES:
        for form in tuple(found):
            found |= {form.replace(apart, joined): None, form.replace(joined, apart): None}
    return tuple(found)
