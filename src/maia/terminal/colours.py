"""The one module of colours (T2.03): what a style looks like, and what this terminal can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

Level: TypeAlias = Literal["none", "16", "true"]
"""How many colours the terminal shows. `none` writes no SGR at all."""


class Paint(NamedTuple):
    """A style outside the table, for pictures: colours as `#RRGGBB`, 16-colour codes as SGR parameters."""

    fg: str = ""
    bg: str = ""
    basic: str = ""


Style: TypeAlias = (
    Literal[
        "plain",
        "bold",
        "italic",
        "bold_italic",
        "struck",
        "muted",
        "selected",
        "border",
        "spinner",
        "working",
        "status",
        "info",
        "warn",
        "fail",
        "fail_text",
        "ask",
        "answered",
        "answered_choice",
        "bar_low",
        "bar_mid",
        "bar_high",
        "bar_rest",
        "rule_allow",
        "rule_ask",
        "rule_deny",
        "ok",
        "failed",
        "user",
        "tool",
        "diff_old",
        "diff_new",
        "agent",
        "title",
        "subtitle",
        "heading",
        "code",
        "code_keyword",
        "code_name",
        "code_text",
        "code_number",
        "quote",
        "link",
        "tagline",
        "motto",
        "credit",
    ]
    | Paint
)


class _Codes(NamedTuple):
    """How a style is written: truecolour foreground and background, 16-colour SGR parameters, text attributes."""

    fg: str = ""
    bg: str = ""
    basic: str = ""
    attributes: str = ""


_GREEN, _YELLOW, _RED = "#22C55E", "#EAB308", "#EF4444"
_BRIGHT_GREEN, _BRIGHT_YELLOW, _GREY, _INK = "#4ADE80", "#FACC15", "#8A8F98", "#0B0D10"

STYLES: Mapping[str, _Codes] = {
    "plain": _Codes(),
    "bold": _Codes(attributes="1"),
    "italic": _Codes(attributes="3"),
    "bold_italic": _Codes(attributes="1;3"),
    "struck": _Codes(attributes="9"),
    "muted": _Codes(_GREY, "", "90"),
    "selected": _Codes(attributes="7"),
    "border": _Codes(_BRIGHT_GREEN, "", "92"),
    "spinner": _Codes(_BRIGHT_GREEN, "", "92"),
    "working": _Codes(_GREY, "", "90"),
    "status": _Codes(_BRIGHT_YELLOW, "", "93"),
    "info": _Codes(_INK, "#60A5FA", "30;104"),
    "warn": _Codes(_INK, _BRIGHT_YELLOW, "30;103"),
    "fail": _Codes(_INK, "#DC8ADD", "30;105"),
    "fail_text": _Codes("#DC8ADD", "", "95"),
    "ask": _Codes(_INK, _BRIGHT_GREEN, "30;102"),
    "answered": _Codes(_BRIGHT_GREEN, "", "92"),
    "answered_choice": _Codes(_BRIGHT_GREEN, "", "92", "1"),
    "bar_low": _Codes(_GREEN, "", "32"),
    "bar_mid": _Codes(_YELLOW, "", "33"),
    "bar_high": _Codes(_RED, "", "31"),
    "bar_rest": _Codes(_GREY, "", "90"),
    "rule_allow": _Codes(_GREEN, "", "32", "1"),
    "rule_ask": _Codes(_YELLOW, "", "33", "1"),
    "rule_deny": _Codes(_RED, "", "31", "1"),
    "ok": _Codes(_GREEN, "", "32"),
    "failed": _Codes(_RED, "", "31"),
    "user": _Codes(attributes="1"),
    "tool": _Codes(attributes="1"),
    "diff_old": _Codes(_RED, "", "31"),
    "diff_new": _Codes(_GREEN, "", "32"),
    "agent": _Codes("#22D3EE", "", "36"),
    "title": _Codes(_BRIGHT_GREEN, "", "92", "1"),
    "subtitle": _Codes(attributes="1"),
    "heading": _Codes(_GREY, "", "90", "1"),
    "code": _Codes("#22D3EE", "", "36"),
    "code_keyword": _Codes("#C084FC", "", "95"),
    "code_name": _Codes("#60A5FA", "", "94"),
    "code_text": _Codes("#86EFAC", "", "32"),
    "code_number": _Codes("#FBBF24", "", "33"),
    "quote": _Codes(_GREY, "", "90"),
    "link": _Codes(attributes="4"),
    "tagline": _Codes(_BRIGHT_GREEN, "", "92"),
    "motto": _Codes("#F472B6", "", "95"),
    "credit": _Codes(_BRIGHT_YELLOW, "", "93"),
}
"""Every colour of the terminal. Sources: the specification's table of colours; no other module names one."""

RAINBOW = ((255, 82, 82), (255, 154, 60), (250, 214, 60), (74, 214, 110), (77, 150, 255), (176, 98, 245))
"""Red, orange, yellow, green, blue, violet, as red, green and blue: the letters of the banner from left to right."""
RAINBOW_BASIC = ("91", "33", "93", "92", "94", "95")
RAINBOW_BASIC_SHADOW = ("31", "33", "33", "32", "34", "35")


@dataclass(frozen=True, slots=True)
class Look:
    """What this terminal can show. `width` is in columns; pass a new value when it changes.

    `links` says that OSC 8 is understood, `italic` that italics are not shown as something else; `screen_reader` asks
    for sentences instead of drawings, `animated` is False when nothing may move, `markdown` when answers stay raw.
    """

    width: int = 80
    level: Level = "true"
    unicode: bool = True
    links: bool = False
    italic: bool = True
    screen_reader: bool = False
    animated: bool = True
    markdown: bool = True

    @property
    def plain(self) -> bool:
        """No colour at all: badges get brackets and the bar gets words (NO_COLOR, `TERM=dumb`)."""
        return self.level == "none"

    def text(self, text: str) -> str:
        """The text in the characters that this terminal has."""
        return text if self.unicode or text.isascii() else to_ascii(text)


def look_of(env: Mapping[str, str], width: int, *, is_tty: bool = True) -> Look:
    """What the environment says about the terminal: colours, characters, links and modes."""
    level = color_level(env, is_tty=is_tty)
    reader = _is_set(env, "MAIA_SCREEN_READER")
    return Look(
        width=max(1, width),
        level="none" if reader else level,
        unicode=has_unicode(env),
        links=level != "none" and has_links(env),
        italic=env.get("TERM", "") not in ("linux", "screen") and not env.get("TERM", "").startswith("screen"),
        screen_reader=reader,
        animated=not reader and not _is_set(env, "MAIA_NO_ANIMATION") and env.get("TERM") != "dumb",
        markdown=not _is_set(env, "MAIA_NO_MARKDOWN"),
    )


def _is_set(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "") not in ("", "0", "false", "no")


_FORCED: Mapping[str, Level] = {"0": "none", "false": "none", "": "16", "true": "16", "1": "16", "2": "16", "3": "true"}


def color_level(env: Mapping[str, str], *, is_tty: bool = True) -> Level:
    """`none`, `16` or `true` from NO_COLOR (no-color.org), FORCE_COLOR (force-color.org), TERM, COLORTERM.

    Nearly all of today's terminals that call themselves `…-256color` read truecolour codes. Two do not: Apple's
    Terminal, which names itself, and any of them at the far end of an ssh line, where nothing names it.
    """
    if env.get("NO_COLOR"):
        return "none"
    if "FORCE_COLOR" in env:
        return _FORCED.get(env["FORCE_COLOR"].lower(), "16")
    term = env.get("TERM", "")
    if not is_tty or term in ("", "dumb", "unknown"):
        return "none"
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit") or "direct" in term:
        return "true"
    if env.get("TERM_PROGRAM") == "Apple_Terminal" or env.get("SSH_CONNECTION") or term.startswith("screen"):
        return "16"
    known = ("kitty", "alacritty", "foot", "ghostty", "wezterm", "tmux")
    return "true" if "256color" in term or any(name in term for name in known) else "16"


def has_unicode(env: Mapping[str, str]) -> bool:
    """False when the locale says C, POSIX or another character set than UTF-8; an unset locale counts as UTF-8."""
    locale = next((env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), "")
    charset = locale.partition(".")[2].partition("@")[0]
    if charset:
        return charset.lower().replace("-", "") == "utf8"
    return locale.partition("@")[0].upper() not in ("C", "POSIX")


_LINKING = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby")


def has_links(env: Mapping[str, str]) -> bool:
    """Whether OSC 8 is known to work; a terminal without it may show the code as text, so the unknown counts as no."""
    if env.get("TERM_PROGRAM") in _LINKING or env.get("WT_SESSION") or env.get("KONSOLE_VERSION"):
        return True
    if any(name in env.get("TERM", "") for name in ("kitty", "alacritty", "foot", "ghostty", "wezterm")):
        return True
    version = env.get("VTE_VERSION", "")[:9]
    return version.isdecimal() and int(version) >= 5000


# Writing -----------------------------------------------------------------------------------------------------------


@cache
def sgr(style: Style, level: Level, italic: bool = True) -> str:
    """The SGR parameters of a style, empty where there is nothing to say."""
    if level == "none" or style == "plain":
        return ""
    attributes = ""
    if isinstance(style, Paint):
        fg, bg, basic = style
    else:
        fg, bg, basic, attributes = STYLES[style]
        if not italic:
            attributes = attributes.replace("3", "4")
    if level == "16":
        return ";".join(part for part in (attributes, basic) if part)
    colours = (f"{code};2;{_rgb(value)}" for code, value in (("38", fg), ("48", bg)) if value)
    return ";".join(part for part in (attributes, *colours) if part)


def _rgb(value: str) -> str:
    return ";".join(str(int(value[place : place + 2], 16)) for place in (1, 3, 5))


def to_ansi(row: Iterable[tuple[str, Style, str]], look: Look) -> str:
    """A line's spans (text, style, address) with their codes, each with its reset: a cut line colours no other."""
    pieces: list[str] = []
    for text, style, href in row:
        codes = sgr(style, look.level, look.italic)
        piece = f"\x1b[{codes}m{text}\x1b[0m" if codes else text
        if href and look.links:
            piece = f"\x1b]8;;{href}\x1b\\{piece}\x1b]8;;\x1b\\"
        pieces.append(piece)
    return "".join(pieces)


# Characters --------------------------------------------------------------------------------------------------------

_ASCII: Mapping[int, str] = {
    ord(char): plain
    for chars, plain in (
        ("┈", "."),
        ("■", "#"),
        ("□", "-"),
        ("▹▸❯›→▶", ">"),
        ("✓", "ok"),
        ("✗", "x"),
        ("⊘", "no"),
        ("»", "skip"),
        ("◷", "wait"),
        ("◆•", "*"),
        ("│┃║▏▌", "|"),
        ("─═—–−·", "-"),
        ("╔╗╚╝", "+"),
        ("…", "..."),
        ("’‘", "'"),
        ("“”«", '"'),
        ("\u00a0\u202f\u2009", " "),
        ("☐", "[ ]"),
        ("☑", "[x]"),
        ("⏎", "\\n"),
        ("⋮", ":"),
        ("█▙▟▜▛▀▄▝", "#"),
        ("▖▘", " "),
        ("Œ", "OE"),
        ("œ", "oe"),
        ("€", "EUR"),
    )
    for char in chars
}
_CLOSING_QUOTE = "\u202f»"
"""« … » is a pair of quotation marks in French text, while a lone » is the mark of a skipped call."""


def to_ascii(text: str) -> str:
    """The text in ASCII: the table above, accents taken off, `?` for what is left."""
    from unicodedata import normalize

    pairs = text.replace(_CLOSING_QUOTE, '"').replace(" »", '"').replace("«\u202f", '"').replace("« ", '"')
    plain = pairs.translate(_ASCII)
    return (
        plain if plain.isascii() else normalize("NFKD", plain).translate(_COMBINING).encode("ascii", "replace").decode()
    )


_COMBINING: Mapping[int, None] = dict.fromkeys(range(0x300, 0x370))
