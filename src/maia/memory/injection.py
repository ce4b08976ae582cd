"""Texts that speak to a model instead of telling a fact: they are kept, and never recalled (N-11.11)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from maia.memory.folding import folded

_HIDDEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_SIGNS: Final = re.compile(
    "|".join(
        (
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}"
            r"\b(?:instructions?|prompts?|rules|directives?|guidelines|guardrails)\b",
            r"\b(?:ignore[rzs]?|oublie[rzs]?|neglige[rzs]?|contourne[rzs]?)\b[^.!?\n]{0,40}"
            r"\b(?:instructions?|consignes?|regles|directives?|invites?)\b",
            r"\b(?:you are now|from now on,? you|tu es (?:desormais|maintenant)|vous etes (?:desormais|maintenant))\b",
            r"\b(?:reveal|print|show|repeat|leak|affiche[rz]?|revele[rz]?)\b[^.!?\n]{0,30}"
            r"\b(?:system|developer|systeme)[ _-]?(?:prompt|message)?\b",
            r"\b(?:do not|don't|never) (?:tell|inform|warn|alert) (?:the |your )?(?:user|human|person|owner)\b",
            r"\bne (?:dis|dites|previens|prevenez|signale[sz]?)\b[^.!?\n]{0,20}\b(?:utilisateur|utilisatrice|humain)\b",
            r"</?\s*(?:system|assistant|developer|instructions?|tool_(?:call|result))\b[^>]{0,80}>",
            r"<\|[a-z_]{2,20}\|>|\[/?inst\]|\[/?sys(?:tem)?\]",
            r"^\s*(?:system|assistant|developer)\s*:",
        )
    ),
    re.MULTILINE,
)


def is_injection(text: str) -> bool:
    """Whether a text reads like orders to a model, in English or French. Pure; case, accents and hidden signs aside."""
    plain = folded(unicodedata.normalize("NFKC", _HIDDEN.sub("", text)))
    return _SIGNS.search(re.sub(r"[ \t]+", " ", plain)) is not None
