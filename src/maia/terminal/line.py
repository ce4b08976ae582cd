"""A typed line as a value: text with its `@` mentions, a `/` command, a `!` command, a `§` skill or an `&` agent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
"""A half-open range of positions in the text, or an inclusive range of line numbers, as its field says."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to read a mention: the path as it would be opened, the lines asked for (inclusive, from 1), its end."""

    path: str
    lines: Range | None
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """An `@` in the text that may name a file. `candidates` go from the longest reading to the shortest.

    Which one is meant is decided by what exists (`attach`): a trailing dot may end the sentence or the file's name.
    `quoted` mentions are meant as files whatever they look like.
    """

    start: int
    candidates: tuple[Candidate, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A request to the model, exactly as typed, with its mentions in order."""

    text: str
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """`/name arguments`."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Bang:
    """`!command`: run in the shell by the user (T4.01)."""

    command: str


@dataclass(frozen=True, slots=True)
class BangHelp:
    """`!` alone."""


@dataclass(frozen=True, slots=True)
class SkillCall:
    """`§skill arguments` (T4.03); an empty name lists the skills."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class AgentCall:
    """`&agent task` (T4.04); an empty name lists the agents."""

    name: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class Blank:
    """Nothing was typed."""


Typed: TypeAlias = Text | Command | Bang | BangHelp | SkillCall | AgentCall | Blank


def parse(text: str, pasted: Sequence[Range] = ()) -> Typed:
    """What a submitted text asks for.

    Only the very first character makes a command, so a leading space sends the line as text. `pasted` are the ranges
    of blocks that were pasted with several lines: nothing in them is a command or a mention.
    """
    if not text.strip():
        return Blank()
    if text.strip() == "/":
        return Command("help")
    if not _inside(0, pasted):
        head, rest = text[0], text[1:].strip()
        if head == "!":
            return Bang(_unquoted(rest)) if rest else BangHelp()
        if head == "§":
            return SkillCall(*_name_and_rest(rest))
        if head == "&":
            return AgentCall(*_name_and_rest(rest))
        if head == "/" and _is_command(text):
            return Command(*_name_and_rest(rest))
    return Text(text, tuple(mentions(text, pasted)))


def _name_and_rest(text: str) -> tuple[str, str]:
    name, *rest = text.split(maxsplit=1) or [""]
    return name, rest[0] if rest else ""


def _is_command(text: str) -> bool:
    """`/model` is a command, `/usr/bin/env` and `// comment` are text."""
    name = text[1:].split(maxsplit=1)[0] if text[1:2].strip() else ""
    return name[:1].isalpha() and name.replace("-", "").replace("_", "").isalnum()


def _unquoted(command: str) -> str:
    r"""`'npm test -k "a b"'` without its outer quotes (`\'` is a quote); several quoted words stay for the shell."""
    if len(command) < 2 or command[0] != "'":
        return command
    closed = _closing(command, 1, "'")
    return command[1:closed].replace("\\'", "'") if closed == len(command) - 1 else command


def _closing(text: str, start: int, quote: str, limit: int = maxsize) -> int:
    """Where the quote that was opened before `start` closes on the same line, -1 when it does not within `limit`."""
    place = start
    while place < len(text) and place - start < limit and text[place] != "\n":
        if text[place] == "\\" and text[place + 1 : place + 2] == quote:
            place += 1
        elif text[place] == quote:
            return place
        place += 1
    return -1


# Mentions ----------------------------------------------------------------------------------------------------------

_BLANK = " \t\r\n"
"""What ends an unquoted path. Other spaces may be part of a name: macOS puts U+202F before AM and PM."""
_OPENING = "([{<«\"'‘“,;:=>|*_\u00a0\u202f—–/"
"""What may stand right before the `@` of a mention, beside a blank. Not `/`: that is a path or an address."""
_TRAILING = ".,;:!?)]}>»\"'’”…*_\u00a0\u202f"
_MAX_PATH = 4_096
_MAX_TRAILING = 12
_MAX_SUFFIX = 32


def mentions(text: str, pasted: Sequence[Range] = ()) -> Iterator[Mention]:
    """Every `@` that may name a file, in order and without overlap.

    Not one: an `@` inside a word (`jean@exemple.fr`), inside backticks, or inside a pasted block.
    """
    code = _code_ranges(text)
    place = text.find("@")
    while place >= 0:
        end = place + 1
        if _may_start(text, place) and not _inside(place, code) and not _inside(place, pasted):
            mention = _mention_at(text, place)
            if mention:
                yield mention
                end = mention.candidates[0].end
        place = text.find("@", end)


def _may_start(text: str, place: int) -> bool:
    before = text[place - 1 : place]
    return not before or before in _BLANK or (before in _OPENING and before != "/")


def _inside(place: int, ranges: Sequence[Range]) -> bool:
    """Whether a position lies in one of the ranges, which are in order and apart."""
    before = bisect_right(ranges, (place, maxsize)) - 1
    return before >= 0 and place < ranges[before][1]


def _code_ranges(text: str) -> list[Range]:
    """Ranges between runs of backticks of the same length, as Markdown pairs them; an unpaired run is text."""
    runs: list[Range] = []
    place = text.find("`")
    while place >= 0:
        end = place
        while end < len(text) and text[end] == "`":
            end += 1
        runs.append((place, end))
        place = text.find("`", end)
    later: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[index][1] - runs[index][0], []).append(index)
    found: list[Range] = []
    index = 0
    while index < len(runs):
        same = later[runs[index][1] - runs[index][0]]
        while same and same[-1] <= index:
            same.pop()
        if same:
            found.append((runs[index][0], runs[same[-1]][1]))
            index = same[-1] + 1
        else:
            index += 1
    return found


def _mention_at(text: str, place: int) -> Mention | None:
    start = place + 1
    if text[start : start + 1] in ("'", '"'):
        return _quoted(text, place, start)
    while text[start : start + 1] == " ":
        start += 1
    if start > place + 1 and text[start : start + 1] in ("'", '"'):
        return _quoted(text, place, start)
    end = _end_of_path(text, start)
    token = text[start:end]
    if not token.strip(_TRAILING + "@#") and token.strip("\"'») ]") not in (".", ".."):
        return None
    return Mention(place, tuple(_readings(token, start)))


def _end_of_path(text: str, start: int, limit: int = _MAX_PATH) -> int:
    r"""Where an unquoted path ends: at a blank not escaped by `\`, at a backtick or `"`, before a glued `,@next`."""
    place = start
    while place < len(text) and place - start < limit:
        char = text[place]
        if char in _BLANK or char in '`"' or (char in ",;|" and text[place + 1 : place + 2] == "@"):
            break
        place += 2 if char == "\\" and text[place + 1 : place + 2] == " " else 1
    return min(place, len(text))


def _quoted(text: str, place: int, opening: int) -> Mention | None:
    quote = text[opening]
    closed = _closing(text, opening + 1, quote, _MAX_PATH)
    path = text[opening + 1 : closed].replace("\\" + quote, quote)
    if closed < 0 or not path:
        return None
    suffix = text[closed + 1 : _end_of_path(text, closed + 1, _MAX_SUFFIX)]
    for tail in _shorter(suffix):
        if tail and (found := line_suffix("x" + tail)) and found[0] == "x":
            return Mention(place, (Candidate(path, found[1], closed + 1 + len(tail)),), quoted=True)
    return Mention(place, (Candidate(path, None, closed + 1),), quoted=True)


def _readings(token: str, start: int) -> Iterator[Candidate]:
    for form in _shorter(token):
        end = start + len(form)
        yield Candidate(form.replace("\\ ", " "), None, end)
        if found := line_suffix(form):
            yield Candidate(found[0].replace("\\ ", " "), found[1], end)


def _shorter(token: str) -> Iterator[str]:
    """The token, then without one trailing punctuation mark after the other, then without `'s`."""
    form = token
    for _ in range(_MAX_TRAILING):
        if form:
            yield form
        if not form or form[-1] not in _TRAILING:
            break
        form = form[:-1]
    if form[-2:] in ("'s", "’s"):
        yield form[:-2]


def line_suffix(path: str) -> tuple[str, Range] | None:
    """`a.py:12`, `a.py:12-30`, `a.py:12:5` (column), `a.py#L12`, `a.py#L12-L30` → path and lines; None without one."""
    head, mark, tail = path.rpartition("#")
    if mark and head and tail[:1] in "Ll":
        first, dash, last = tail[1:].partition("-")
        return _lines(head, first, last.lstrip("Ll") if dash else first)
    head, mark, tail = path.rpartition(":")
    if not mark or not head:
        return None
    before, colon, number = head.rpartition(":")
    if colon and before and _is_number(number) and _is_number(tail):
        return _lines(before, number, number)
    first, dash, last = tail.partition("-")
    return _lines(head, first, last if dash else first)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _lines(path: str, first: str, last: str) -> tuple[str, Range] | None:
    if not (_is_number(first) and _is_number(last)) or int(first) < 1:
        return None
    return path, (int(first), max(int(first), int(last)))
