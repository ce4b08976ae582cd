"""Numbers, durations and days as each language writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date  # imported by whoever has a date, not at every start

_THOUSANDS = {"fr": "\u202f", "en": ","}
_DECIMAL = {"fr": ",", "en": "."}
_MONTHS = {
    "fr": ("janv.", "févr.", "mars", "avril", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."),
    "en": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
}
_LONG_MONTHS = {
    "fr": (
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ),
    "en": (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
}
_WEEKDAYS = {
    "fr": ("Lundi", "Mardi", "Mercredi", "Jeudi", "Vendredi", "Samedi", "Dimanche"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}
_UNITS = {"fr": ("o", "ko", "Mo", "Go"), "en": ("B", "kB", "MB", "GB")}
_NBSP = "\u00a0"


def number(value: float, lang: str, decimals: int = 0) -> str:
    """`412 208` (U+202F) and `3,1` in French, `412,208` and `3.1` in English."""
    text = f"{value:,.{decimals}f}"
    whole, _, rest = text.partition(".")
    return whole.replace(",", _THOUSANDS[lang]) + (_DECIMAL[lang] + rest if rest else "")


def seconds(value: float, lang: str) -> str:
    """A duration in seconds: `3,1 s`, `1 min 12`, `2 h 05` (English: `3.1 s`, `1 min 12`, `2 h 05`)."""
    if value < 59.95:
        return f"{number(value, lang, 1)}{_NBSP}s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60}{_NBSP}min{_NBSP}{whole % 60:02d}"
    minutes = whole // 60
    return f"{minutes // 60}{_NBSP}h{_NBSP}{minutes % 60:02d}"


def size(value: int, lang: str) -> str:
    """A number of bytes in steps of 1,000: `12 o`, `1,5 Mo` in French, `12 B`, `1.5 MB` in English."""
    shown = float(value)
    units = _UNITS[lang]
    step = 0
    while shown >= 1000 and step < len(units) - 1:
        shown /= 1000
        step += 1
    return f"{number(shown, lang, 1 if step and shown < 100 else 0)}{_NBSP}{units[step]}"


def day(value: date, lang: str, today: date) -> str:
    """`27 nov.` or `27 Nov`, with the year when it is not this one."""
    text = f"{value.day}{_NBSP}{_MONTHS[lang][value.month - 1]}"
    return text if value.year == today.year else f"{text}{_NBSP}{value.year}"


def month(value: date, lang: str) -> str:
    """`novembre` or `November`."""
    return _LONG_MONTHS[lang][value.month - 1]


def long_day(value: date, lang: str) -> str:
    """`Lundi 30 novembre`, `Mardi 1er décembre`, or `Monday, 30 November`: a heading, without the year."""
    number_ = "1er" if lang == "fr" and value.day == 1 else str(value.day)
    comma = "" if lang == "fr" else ","
    return f"{_WEEKDAYS[lang][value.weekday()]}{comma} {number_} {month(value, lang)}"
