import re
from pathlib import Path

import pytest

from maia.terminal.colours import (
    STYLES,
    Look,
    Paint,
    color_level,
    has_links,
    has_unicode,
    look_of,
    sgr,
    to_ansi,
    to_ascii,
)
from maia.terminal.spans import Span, line

LEVELS = [
    ("colorterm says it", {"TERM": "xterm", "COLORTERM": "truecolor"}, "true"),
    ("24bit is the other word for it", {"TERM": "xterm", "COLORTERM": "24bit"}, "true"),
    ("a 256-colour terminal of today reads truecolour", {"TERM": "xterm-256color"}, "true"),
    ("tmux translates", {"TERM": "tmux-256color"}, "true"),
    ("kitty", {"TERM": "xterm-kitty"}, "true"),
    ("Apple's terminal does not", {"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "16"),
    ("behind ssh nobody knows", {"TERM": "xterm-256color", "SSH_CONNECTION": "1 2 3 4"}, "16"),
    (
        "behind ssh with the word carried over",
        {"TERM": "xterm", "COLORTERM": "truecolor", "SSH_CONNECTION": "1"},
        "true",
    ),
    ("the Linux console", {"TERM": "linux"}, "16"),
    ("screen", {"TERM": "screen-256color"}, "16"),
    ("NO_COLOR", {"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, "none"),
    ("an empty NO_COLOR does not count", {"TERM": "xterm-256color", "NO_COLOR": ""}, "true"),
    ("NO_COLOR wins over FORCE_COLOR", {"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "3"}, "none"),
    ("dumb", {"TERM": "dumb"}, "none"),
    ("no TERM", {}, "none"),
    ("FORCE_COLOR=3 even when dumb", {"TERM": "dumb", "FORCE_COLOR": "3"}, "true"),
    ("FORCE_COLOR=1", {"TERM": "dumb", "FORCE_COLOR": "1"}, "16"),
    ("FORCE_COLOR=0", {"TERM": "xterm-256color", "FORCE_COLOR": "0"}, "none"),
]


@pytest.mark.parametrize(("env", "level"), [row[1:] for row in LEVELS], ids=[row[0] for row in LEVELS])
def test_the_environment_says_how_many_colours_there_are(env: dict[str, str], level: str) -> None:
    assert color_level(env) == level


def test_a_file_gets_no_colour() -> None:
    assert color_level({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, is_tty=False) == "none"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"LANG": "C"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LANG": "fr_FR.UTF-8"}, True),
        ({"LANG": "C.UTF-8"}, True),
        ({"LANG": "fr_FR.utf8"}, True),
        ({"LANG": "fr_FR.ISO-8859-1"}, False),
        ({"LANG": "fr_FR@euro"}, True),
        ({}, True),
        ({"LANG": "fr_FR.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "en_GB.UTF-8"}, True),
    ],
)
def test_the_locale_says_whether_there_is_unicode(env: dict[str, str], expected: bool) -> None:
    assert has_unicode(env) is expected


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "6003"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"VTE_VERSION": "x"}, False),
        ({"TERM": "xterm-256color"}, False),
    ],
)
def test_links_are_used_only_where_they_are_known_to_work(env: dict[str, str], expected: bool) -> None:
    assert has_links(env) is expected


SPECIFIED = [
    ("border", "38;2;74;222;128", "92"),
    ("spinner", "38;2;74;222;128", "92"),
    ("working", "38;2;138;143;152", "90"),
    ("status", "38;2;250;204;21", "93"),
    ("info", "38;2;11;13;16;48;2;96;165;250", "30;104"),
    ("warn", "38;2;11;13;16;48;2;250;204;21", "30;103"),
    ("fail", "38;2;11;13;16;48;2;220;138;221", "30;105"),
    ("fail_text", "38;2;220;138;221", "95"),
    ("ask", "38;2;11;13;16;48;2;74;222;128", "30;102"),
    ("answered", "38;2;74;222;128", "92"),
    ("answered_choice", "1;38;2;74;222;128", "1;92"),
    ("bar_low", "38;2;34;197;94", "32"),
    ("bar_mid", "38;2;234;179;8", "33"),
    ("bar_high", "38;2;239;68;68", "31"),
    ("bar_rest", "38;2;138;143;152", "90"),
    ("rule_allow", "1;38;2;34;197;94", "1;32"),
    ("rule_ask", "1;38;2;234;179;8", "1;33"),
    ("rule_deny", "1;38;2;239;68;68", "1;31"),
    ("user", "1", "1"),
    ("tool", "1", "1"),
    ("diff_old", "38;2;239;68;68", "31"),
    ("diff_new", "38;2;34;197;94", "32"),
    ("agent", "38;2;34;211;238", "36"),
]


@pytest.mark.parametrize(("style", "true", "basic"), SPECIFIED, ids=[row[0] for row in SPECIFIED])
def test_each_element_has_the_colours_of_the_specification(style: str, true: str, basic: str) -> None:
    assert (sgr(style, "true"), sgr(style, "16"), sgr(style, "none")) == (true, basic, "")  # type: ignore[arg-type]


def test_without_colour_no_code_is_written_at_all() -> None:
    row = line(*(Span("x", style) for style in STYLES))  # type: ignore[arg-type]
    assert to_ansi(row, Look(level="none")) == "x" * len(STYLES)


def test_every_styled_span_ends_with_a_reset() -> None:
    row = line(Span("a", "bold"), "b", Span("c", Paint("#010203", "#040506", "31")))
    assert to_ansi(row, Look()) == "\x1b[1ma\x1b[0mb\x1b[38;2;1;2;3;48;2;4;5;6mc\x1b[0m"
    assert to_ansi(row, Look(level="16")) == "\x1b[1ma\x1b[0mb\x1b[31mc\x1b[0m"


def test_a_link_is_written_only_where_links_work() -> None:
    row = line(Span("x", "link", "https://a.example"))
    assert to_ansi(row, Look(links=True)) == "\x1b]8;;https://a.example\x1b\\\x1b[4mx\x1b[0m\x1b]8;;\x1b\\"
    assert to_ansi(row, Look(links=False)) == "\x1b[4mx\x1b[0m"


def test_italics_are_underlined_where_they_are_missing() -> None:
    assert to_ansi(line(Span("x", "italic")), Look(italic=False)) == "\x1b[4mx\x1b[0m"


def test_modes_come_from_the_environment() -> None:
    env = {
        "TERM": "xterm-256color",
        "LANG": "C",
        "MAIA_NO_MARKDOWN": "1",
        "MAIA_NO_ANIMATION": "1",
    }
    assert look_of(env, 100) == Look(width=100, unicode=False, animated=False, markdown=False)
    assert look_of({"TERM": "xterm-256color", "MAIA_SCREEN_READER": "1"}, 80) == Look(
        level="none", screen_reader=True, animated=False
    )
    assert look_of({"TERM": "xterm-256color", "MAIA_SCREEN_READER": "0"}, 0) == Look(width=1)


def test_without_unicode_every_character_has_a_stand_in() -> None:
    assert to_ascii("┈■□▹▸✓✗⊘»◆") == ".#->>okxnoskip*"
    assert to_ascii("«\u202fété\u202f» … — − ❯ ☐ ☑") == '"ete" ... - - > [ ] [x]'
    assert to_ascii("漢 🙂") == "? ?"
    assert to_ascii("œuvre Œ €") == "oeuvre OE EUR"


def test_no_other_module_names_a_colour() -> None:
    folder = Path(__file__).resolve().parents[3] / "src" / "maia" / "terminal"
    named = re.compile(
        r"#[0-9A-Fa-f]{6}\b|\b[34]8;[25];|\\x1b\[[0-9;]*[1-9][0-9;]*m|ansibright|\(\d{1,3}, \d{2,3}, \d{1,3}\)"
    )
    allowed = {"colours.py", "banner_data.py"}
    guilty = [path.name for path in folder.glob("*.py") if path.name not in allowed and named.search(path.read_text())]
    assert guilty == []
