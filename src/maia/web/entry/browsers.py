"""What a browser is called, by what it says of itself: for a list that a person reads, nothing depends on it."""

from __future__ import annotations

from typing import Final

from maia.core.text import visible

_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
"""The first word that is found counts: browsers name each other."""


def browser_name(said: str) -> str:
    """`Firefox · Linux`, else the first word of what it said; empty where it said nothing."""
    named = [next((name for word, name in table if word in said), "") for table in (_BROWSERS, _SYSTEMS)]
    return " · ".join(filter(None, named)) or visible(said.partition(" ")[0])[:60]
