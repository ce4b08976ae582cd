"""Programs given to `sed` and `awk` as an argument: do they only change text, or also run and write."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["none", "write", "run"]

_AWK_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*")|(?P<comment>\#[^\n]*)|(?P<word>\w+)|(?P<blank>(?:[ \t]|\\\n)+)"""
    r"""|(?P<other>\+\+|--|.)""",
    re.DOTALL | re.VERBOSE,
)
_AWK_REGEX = re.compile(r"/(?:\\.|\[[^\]]*\]|[^/\\\n])+/", re.DOTALL)
_AWK_BEFORE_REGEX = frozenset({"", *"(,{;!~&|=?:+-*%<>^\n}", "print", "printf", "return", "in", "case", "else", "do"})
"""After these a slash opens a pattern; after a value it divides."""
_AWK_RUNS = re.compile(r"\bsystem\s*\(|(?<!\|)\|(?!\|)|@\w|\bgetline\b")
_AWK_WRITES = re.compile(r"\b(?:print|printf)\b[^;}\n]*>")
_AWK_SCREEN = re.compile(r">>?[ \t]*\x01[ \t]*(?=[;}\n]|\Z)")
_SCREENS = ('"/dev/stdout"', '"/dev/stderr"', '"/dev/null"')


def awk_effect(program: str) -> Effect:
    """What an awk program does beside printing: `system()`, pipes, `getline`, `print > file`.

    A slash behind a bracket may divide or open a pattern: the program does what either reading of it does.
    """
    readings = {_awk_bare(program, closed_bracket_ends_value=ends) for ends in (True, False)}
    effects = {_awk_effect(bare) for bare in readings}
    return "run" if "run" in effects else "write" if "write" in effects else "none"


def _awk_effect(bare: str) -> Effect:
    if _AWK_RUNS.search(bare):
        return "run"
    bare = _AWK_SCREEN.sub("", bare)
    while (shorter := re.sub(r"\([^()]*\)", "", bare)) != bare:
        bare = shorter
    return "write" if _AWK_WRITES.search(bare) else "none"


def _awk_bare(program: str, *, closed_bracket_ends_value: bool) -> str:
    """The program without what its strings, patterns and comments hold; the screen as a file is one character."""
    out: list[str] = []
    before = ""
    at = 0
    while at < len(program):
        opens = before in _AWK_BEFORE_REGEX or (before == ")" and not closed_bracket_ends_value)
        pattern = _AWK_REGEX.match(program, at) if opens else None
        if pattern:
            out.append("//")
            at, before = pattern.end(), "value"
            continue
        token = _AWK_TOKEN.match(program, at)
        if token is None:
            break
        at = token.end()
        text = token.group()
        match token.lastgroup:
            case "string":
                out.append("\x01" if text in _SCREENS else '""')
                before = "value"
            case "comment":
                continue
            case "blank":
                out.append(text)
            case _:
                out.append(text)
                before = text
    return "".join(out)


_SED_ADDRESS = re.compile(
    r"\s*(?:(?:\d+(?:~\d+)?|\$|/(?:\\.|\[[^\]]*\]|[^/\\])*/[IM]*|\\(.)(?:\\.|(?!\1).)*\1[IM]*|,\s*(?:[+~]?\d+|\$|(?=[/\\])))\s*)*!*\s*",
    re.DOTALL,
)


def sed_effect(script: str) -> Effect:
    """What a sed script does beside printing: `w`, `W`, `s///w` write, `e`, `s///e` run. Not understood: `run`."""
    worst: Effect = "none"
    at = 0
    while at < len(script):
        found = _SED_ADDRESS.match(script, at)
        at = found.end() if found else at
        if at >= len(script):
            break
        effect, at = _sed_command(script, at)
        if effect == "run":
            return "run"
        worst = "write" if effect == "write" else worst
    return worst


def _sed_command(script: str, at: int) -> tuple[Effect, int]:
    """The effect of the command at `at`, and where the next one starts."""
    name = script[at]
    if name in "{};\n \t":
        return "none", at + 1
    if name == "#" or name in "aicrR:btT":
        return "none", _line_end(script, at, stop=";}" if name in "btT:" else "")
    if name in "sy":
        return _sed_substitution(script, at)
    if name in "wW":
        return ("none" if _to_screen(script[at + 1 : _line_end(script, at)]) else "write"), _line_end(script, at)
    if name in "=dDgGhHlnNpPxzqQF":
        digits = re.compile(r"\s*\d*").match(script, at + 1)
        return "none", digits.end() if digits else at + 1
    return "run", len(script)


def _line_end(script: str, at: int, stop: str = "") -> int:
    for i in range(at + 1, len(script)):
        if script[i] in stop or (script[i] == "\n" and script[i - 1] != "\\"):
            return i + 1
    return len(script)


def _to_screen(name: str) -> bool:
    return name.strip() in ("/dev/stdout", "/dev/stderr")


def _sed_substitution(script: str, at: int) -> tuple[Effect, int]:
    if at + 1 >= len(script):
        return "run", len(script)
    end = at + 1
    for part in range(2):
        end = _delimited(script, end, sets=part == 0 and script[at] == "s")
        if end < 0:
            return "run", len(script)
    flags = re.compile(r"[gpiImM0-9]*").match(script, end + 1)
    after = flags.end() if flags else end + 1
    if script[at] == "s" and after < len(script) and script[after] == "e":
        return "run", len(script)
    if script[at] == "s" and after < len(script) and script[after] == "w":
        stop = _line_end(script, after)
        return ("none" if _to_screen(script[after + 1 : stop]) else "write"), stop
    return "none", after


def _delimited(script: str, opened: int, *, sets: bool) -> int:
    """Where the delimiter at `opened` comes next, not escaped and (with `sets`) not in a set; -1 for never."""
    delimiter, i, in_set = script[opened], opened + 1, False
    while i < len(script):
        if script[i] == "\\":
            i += 1
        elif script[i] == delimiter and not in_set:
            return i
        elif script[i] == "[" and sets and not in_set:
            in_set = "]" in script[i + 2 :]
            i += 1 if script[i + 1 : i + 2] == "^" else 0
            i += 1 if script[i + 1 : i + 2] == "]" else 0
        elif in_set and script[i] == "[" and (named := re.compile(r"\[([:.=]).*?\1\]").match(script, i)):
            i = named.end() - 1
        elif script[i] == "]" and in_set:
            in_set = False
        i += 1
    return -1
