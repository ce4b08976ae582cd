"""The context bar (T2.07): how full the model's window is, in squares and in words, on one row."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from maia.terminal.colours import Look, Style
from maia.terminal.spans import EMPTY, Line, Span, cell_width, line, width_of

if TYPE_CHECKING:
    from maia.terminal.words import Words

STEP = 10_000
"""Tokens of one square, and the step in which a scale that is too wide grows."""


@dataclass(frozen=True, slots=True)
class Fill:
    """How many tokens the next request would take, of how many; `window` is None when nobody knows it."""

    tokens: int
    window: int | None = None

    @property
    def percent(self) -> int | None:
        """Rounded half up; None without a maximum."""
        return (200 * self.tokens + self.window) // (2 * self.window) if self.window else None

    @property
    def style(self) -> Style:
        """Green, yellow from 60 %, red from 85 %; the exact share counts, not the rounded one."""
        share = 100 * self.tokens
        if not self.window or share < 60 * self.window:
            return "bar_low"
        return "bar_mid" if share < 85 * self.window else "bar_high"


def used_tokens(tokens: int, window: int | None = None) -> str:
    """`850`, `45.7k`, `130.0k`; whole thousands beside a window of millions (`460k`), `1.2M` from a million on."""
    if tokens < 1_000:
        return str(tokens)
    if tokens >= 999_950:
        return f"{tokens / 1_000_000:.1f}M"
    if window is not None and window >= 1_000_000:
        return f"{(tokens + 500) // 1_000}k"
    return f"{tokens / 1_000:.1f}k"


def window_tokens(tokens: int) -> str:
    """`200k`, `131.1k`, `1M`, `1.5M`: one decimal at most, and none when it is 0."""
    if tokens < 1_000:
        return str(tokens)
    value, unit = (tokens / 1_000_000, "M") if tokens >= 999_950 else (tokens / 1_000, "k")
    return f"{value:.1f}".removesuffix(".0") + unit


def context_bar(fill: Fill | None, look: Look, say: Words) -> Line:
    """The row of the bar, right-aligned on the last column; empty before the first count.

    The whole window is drawn, used squares first (a begun one counts), the rest greyed. The scale grows by 10,000
    tokens a square until the row fits, and says so.
    """
    if fill is None or look.screen_reader:
        return EMPTY
    label = _label(fill, look, say)
    if look.width >= 25 and (row := _drawn(fill, label, look)):
        return _right(row, look)
    return _right(line(Span(label)), look)


def spoken(fill: Fill, say: Words) -> str:
    """The sentence for a screen reader: "Contexte : 23 pour cent, 45,7 k sur 200 k."."""
    used = _spoken_count(used_tokens(fill.tokens, fill.window), say)
    if fill.window is None or fill.percent is None:
        return say("term.context.spoken.unknown", used=used)
    window = _spoken_count(window_tokens(fill.window), say)
    return say("term.context.spoken", percent=fill.percent, used=used, window=window)


def _spoken_count(shown: str, say: Words) -> str:
    digits = shown.replace(".", ",") if say.lang == "fr" else shown
    return f"{digits[:-1]}\u00a0{digits[-1]}" if digits[-1:].isalpha() else digits


def _label(fill: Fill, look: Look, say: Words) -> str:
    if fill.percent is None or fill.window is None:
        return used_tokens(fill.tokens)
    share = f"{fill.percent}%"
    if look.width >= 40:
        share = f"{used_tokens(fill.tokens, fill.window)} / {window_tokens(fill.window)} · {share}"
    if look.plain and look.width >= 25 and fill.style != "bar_low":
        share += f" ({say('term.context.warning' if fill.style == 'bar_mid' else 'term.context.nearly_full')})"
    return look.text(share)


def _drawn(fill: Fill, label: str, look: Look) -> Line:
    """Squares and label at the first scale at which the row fits; nothing when none does."""
    whole = max(fill.window or fill.tokens, 1)
    scale, note = STEP, ""
    while True:
        room = look.width - 2 - cell_width(label + note)
        if room < 1:
            return EMPTY
        fitting = max(scale, ceil(whole / room / STEP) * STEP)
        if fitting == scale:
            return _row(fill, scale, label + note, look)
        scale = fitting
        note = look.text(f" (1■ = {window_tokens(scale)})") if _says_scale(fill, look) else ""


def _says_scale(fill: Fill, look: Look) -> bool:
    """Below 40 columns the label is only the percentage: no number is there that a square could be measured by."""
    return look.width >= 40 or fill.window is None


def _row(fill: Fill, scale: int, label: str, look: Look) -> Line:
    used = ceil(fill.tokens / scale)
    total = used if fill.window is None else ceil(fill.window / scale)
    used = min(used, total)
    return line(
        Span(look.text("■") * used, fill.style),
        Span(look.text("□") * (total - used), "bar_rest"),
        Span("  " + label),
    )


def _right(row: Line, look: Look) -> Line:
    space = look.width - width_of(row)
    return (Span(" " * space), *row) if space > 0 else row if space == 0 else EMPTY
