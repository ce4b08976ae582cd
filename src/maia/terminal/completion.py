"""What can be completed at the cursor, in which order, and the rows of the list that offers it (§5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from maia.i18n.formats import number
from maia.terminal.colours import Look
from maia.terminal.commands import COMMANDS
from maia.terminal.spans import Line, Span, cell_width, clean_row, clip, line, width_of

if TYPE_CHECKING:
    from maia.terminal.fileindex import FileIndex
    from maia.terminal.words import Words

Kind: TypeAlias = Literal["commands", "files", "skills", "agents", "models", "sessions"]

MAX_ROWS = 6
"""Rows of the list, the one with the count included."""
_DESCRIBED = 60
"""From this width on there is room for descriptions."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: what is inserted, what is shown, what it is. `folder` is the greyed part of a path.

    `goes_on` is True when more is typed right after it (a folder), so that no space follows.
    """

    insert: str
    label: str
    detail: str = ""
    folder: str = ""
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The piece of the text that is being completed: `text[start:end]`, with `query` without its sigil and quotes."""

    kind: Kind
    query: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Menu:
    """An open list. `total` counts all there are, matching or not; `more` says that not all matches are listed."""

    wanted: Wanted
    choices: tuple[Choice, ...]
    total: int
    more: bool = False
    note: Literal["", "indexing", "partial"] = ""


Provider: TypeAlias = Callable[[], Sequence[Choice]]
"""Gives all of a kind, with the name without sigil as `label`; fewer while they are still being fetched."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where choices come from; a kind without a source is not completed."""

    files: FileIndex | None = None
    lists: Mapping[Kind, Provider] = field(default_factory=dict[Kind, Provider])


def wanted_at(text: str, cursor: int) -> Wanted | None:
    """What the cursor stands in: a command, skill or agent at the very beginning, its argument, or an `@` path."""
    first = text[:1]
    if first in _SIGILS and cursor >= 1 and not any(char.isspace() for char in text[:cursor]):
        query = text[1:cursor]
        if first != "/" or "/" not in query:
            return Wanted(_SIGILS[first], query, 0, _word_end(text, cursor))
    return _argument_at(text, cursor) or _mention_at(text, cursor)


_SIGILS: Mapping[str, Kind] = {"/": "commands", "§": "skills", "&": "agents"}
_ARGUMENTS: Mapping[str, Kind] = {
    f"/{name}": row.completes for row in COMMANDS if row.completes for name in (row.name, *row.aliases)
}


def _argument_at(text: str, cursor: int) -> Wanted | None:
    name, blank, _ = text.partition(" ")
    kind = _ARGUMENTS.get(name.lower())
    start = len(name) + 1
    if kind is None or not blank or cursor < start or "\n" in text:
        return None
    return Wanted(kind, text[start:cursor].lstrip(), start, len(text))


def _word_end(text: str, place: int) -> int:
    while place < len(text) and not text[place].isspace():
        place += 1
    return place


def _mention_at(text: str, cursor: int) -> Wanted | None:
    line_start = max(text.rfind("\n", 0, cursor) + 1, cursor - 4_096)
    at = text.rfind("@", line_start, cursor)
    if at < 0 or (at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_./`@")):
        return None
    if text.count("`", line_start, at) % 2:
        return None
    typed = text[at + 1 : cursor]
    if typed[:1] in ("'", '"'):
        quote = typed[0]
        if quote in typed[1:].replace("\\" + quote, ""):
            return None
        return Wanted("files", typed[1:].replace("\\" + quote, quote), at, cursor)
    if any(char in " \t" for char in typed.replace("\\ ", "")):
        return None
    return Wanted("files", typed.replace("\\ ", " "), at, _word_end(text, cursor))


def menu_for(wanted: Wanted, sources: Sources, say: Words) -> Menu | None:
    """The choices for what is wanted, None when there are none. Reads no disk except for paths outside the folder."""
    if wanted.kind == "files":
        return _files(wanted, sources.files) if sources.files is not None else None
    if wanted.kind == "commands":
        rows = [Choice(f"/{row.name}", f"/{row.name}", say(row.description)) for row in COMMANDS]
    elif wanted.kind in sources.lists:
        sigil = next((sigil for sigil, kind in _SIGILS.items() if kind == wanted.kind), "")
        rows = [Choice(sigil + c.insert, sigil + c.label, c.detail) for c in sources.lists[wanted.kind]()]
    else:
        return None
    found = rank(wanted.query, rows, lambda choice: choice.label.lstrip("/§&"))
    return Menu(wanted, tuple(found), len(rows)) if found else None


def rank(query: str, choices: Sequence[Choice], name_of: Callable[[Choice], str]) -> list[Choice]:
    """Choices that match: those that begin with the query, then those that hold it, then its letters in order.

    Within each kind the order stays. An empty query matches all.
    """
    low = query.lower()
    tiers: list[list[Choice]] = [[], [], []]
    for choice in choices:
        tier = _tier(low, name_of(choice).lower())
        if tier is not None:
            tiers[tier].append(choice)
    return [choice for tier in tiers for choice in tier]


def _tier(query: str, name: str) -> int | None:
    if name.startswith(query):
        return 0
    if query in name:
        return 1
    rest = iter(name)
    return 2 if all(char in rest for char in query) else None


def _files(wanted: Wanted, index: FileIndex) -> Menu | None:
    found = index.search(wanted.query)
    choices = tuple(_file_choice(path) for path in found.paths)
    if not choices and not found.note:
        return None
    return Menu(wanted, choices, found.total, found.more, found.note)


def _file_choice(path: str) -> Choice:
    bare = path.rstrip("/")
    folder, slash, name = bare.rpartition("/")
    return Choice(quoted_mention(path), name + path[len(bare) :], folder=folder + slash, goes_on=path.endswith("/"))


def quoted_mention(path: str) -> str:
    r"""`@src/a.py`, and `@'l\'été 2026.txt'` where the path has blanks, quotes or anything a mention would end at."""
    if any(char in path for char in " \t'\"`,;|") or not (path[-1:].isalnum() or path[-1:] in "/-"):
        escaped = path.replace("'", "\\'")
        return f"@'{escaped}'"
    return "@" + path


def accept(text: str, menu: Menu, choice: Choice) -> tuple[str, int]:
    """The text with the choice in it, and where the cursor then stands."""
    insert = choice.insert
    if choice.goes_on and insert.endswith("'"):
        insert = insert[:-1]  # a quoted folder stays open for what comes in it
    elif not choice.goes_on and text[menu.wanted.end : menu.wanted.end + 1] != " ":
        insert += " "
    return text[: menu.wanted.start] + insert + text[menu.wanted.end :], menu.wanted.start + len(insert)


# Drawing -----------------------------------------------------------------------------------------------------------


def menu_lines(menu: Menu, selected: int, look: Look, say: Words) -> list[Line]:
    """The list above the status line: at most six rows, the current one in reverse video with `›`, the count last."""
    room = MAX_ROWS - 1
    first = max(0, min(selected - room // 2, len(menu.choices) - room)) if len(menu.choices) > room else 0
    shown = menu.choices[first : first + room]
    column = max((cell_width(_label(choice)) for choice in shown), default=0) + 3
    rows = [_choice_row(choice, first + place == selected, column, look) for place, choice in enumerate(shown)]
    return [*rows, _count_row(menu, look, say)]


def _label(choice: Choice) -> str:
    return clean_row(choice.folder + choice.label)


def _choice_row(choice: Choice, is_current: bool, column: int, look: Look) -> Line:
    folder, label = look.text(clean_row(choice.folder)), look.text(clean_row(choice.label))
    mark = look.text("›") if is_current else " "
    spans = [Span("  "), Span(mark + " "), Span(folder, "muted"), Span(label)]
    if choice.detail and look.width >= _DESCRIBED:
        spans.append(Span(" " * (column - cell_width(folder + label))))
        spans.append(Span(look.text(clean_row(choice.detail)), "muted"))
    row = clip(line(*spans), look.width)
    if not is_current:
        return row
    return tuple(span if place == 0 else span._replace(style="selected") for place, span in enumerate(row))


def _count_row(menu: Menu, look: Look, say: Words) -> Line:
    shown = number(len(menu.choices), say.lang) + ("+" if menu.more else "")
    text = look.text(say(f"term.completion.{menu.wanted.kind}", n=menu.total, shown=shown))
    if menu.note:
        text = look.text(say(f"term.completion.{menu.note}"))
    row = clip(line(Span(text, "muted")), max(1, look.width - 2))
    return (Span(" " * max(0, look.width - 2 - width_of(row))), *row)
