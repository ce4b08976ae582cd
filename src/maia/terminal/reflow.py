"""What another width makes of the rows on a terminal: broken and joined again, or cut; and which of both it did.

Most terminals reflow: a row that is too long goes on in the next one, and comes together again when there is room.
Some cut it (xterm, st, the Linux console). Pure: nothing here reads or writes a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maia.terminal.spans import cell_width

_RESET = "\x1b[0m"


class Rest(str):
    """A row that is the rest of the row above it, because the terminal broke that one."""

    __slots__ = ()


class Ghost(str):
    """A row of the zone that went up into the scrollback, out of reach, when there was no room left for it."""

    __slots__ = ()


def cuts_rows(name: str) -> bool | None:
    """Whether the terminal that calls itself `name` (XTVERSION) cuts rows; None where its settings decide."""
    kind = name.partition("(")[0].partition(" ")[0].lower()
    return {"xterm": True, "mintty": None}.get(kind, False) if kind else None


def refit(rows: Iterable[str], width: int, *, cut: bool) -> list[str]:
    """The rows as the terminal shows them at `width` cells."""
    whole: list[str] = []
    for row in rows:
        if isinstance(row, Rest) and whole:
            whole[-1] = type(whole[-1])(_joined(whole[-1], row))
        else:
            whole.append(row if isinstance(row, Ghost) else str(row))
    return [piece for row in whole for piece in broken(row, width)[: 1 if cut else None]]


def as_ghosts(rows: Iterable[str]) -> list[str]:
    """These rows of the zone, marked as out of reach."""
    return [row if isinstance(row, Rest) else Ghost(row) for row in rows]


def without_ghosts(rows: Iterable[str]) -> list[str]:
    """The rows of the log among these."""
    kept: list[str] = []
    haunted = False
    for row in rows:
        haunted = isinstance(row, Ghost) or (haunted and isinstance(row, Rest))
        if not haunted:
            kept.append(row)
    return kept


def broken(row: str, width: int) -> list[str]:
    """One row in pieces of at most `width` cells, at least one; colours go on in the next piece."""
    if row_cells(row) <= width:
        return [row]
    pieces: list[str] = []
    current: list[str] = []
    style, used = "", 0
    for text, is_code in _parts(row):
        if is_code:
            current.append(text)
            if text.endswith("m"):
                style = "" if text == _RESET else style + text
            continue
        for char in text:
            cells = cell_width(char)
            if used + cells > width and used:
                pieces.append("".join(current) + _RESET)
                current, used = [style], 0
            current.append(char)
            used += cells
    pieces.append("".join(current))
    return [type(row)(pieces[0]), *(Rest(piece) for piece in pieces[1:])]


def around(rows: Sequence[str], row: int, column: int, width: int, *, cut: bool) -> tuple[int, int, int]:
    """Rows above and below a cursor that stood at `row`, `column` of `rows`, and its column, all at `width` cells."""
    if cut:
        return row, len(rows) - 1 - row, min(column, width - 1)
    heights = [len(broken(text, width)) for text in rows]
    inside = 0
    for piece in broken(rows[row], width)[:-1]:
        if column < (cells := row_cells(piece)):
            break
        column -= cells
        inside += 1
    return sum(heights[:row]) + inside, sum(heights[row:]) - inside - 1, min(column, width - 1)


def was_cut(
    rows: Sequence[str], spot: tuple[int, int], told: tuple[int, int], size: tuple[int, int], shorter: int
) -> bool | None:
    """Whether the terminal cut `rows`, by what it tells of its cursor; None where both would look the same.

    `spot` is where the cursor stood among `rows`, which end the screen; `told` is where it is now on a screen of `size`
    (columns, rows), `shorter` rows less than before (negative: more). A screen that gets shorter loses the rows below
    the cursor first (tmux, xterm), or scrolls; one that gets higher shows older rows again, or empty ones below.
    """
    row, column = spot
    below = size[1] - 1 - told[0]
    left = rows[: max(row + 1, len(rows) - max(0, shorter))]
    fits: list[bool] = []
    for cut in (False, True):
        places = [around(some, row, column, size[0], cut=cut)[1:] for some in (rows, left)]
        fits.append(any(told[1] == at and 0 <= below - under <= max(0, -shorter) for under, at in places))
    return fits[1] if fits[0] != fits[1] else None


def row_cells(row: str) -> int:
    """Cells that a row with codes takes."""
    if "\x1b" not in row:
        return cell_width(row)
    return sum(cell_width(text) for text, is_code in _parts(row) if not is_code)


def _joined(row: str, rest: str) -> str:
    """A row and its rest as before they were broken, without the codes that `broken` put between them."""
    body = row.removesuffix(_RESET)
    style = ""
    for text, is_code in _parts(body):
        if is_code and text.endswith("m"):
            style = "" if text == _RESET else style + text
    return body + rest[len(style) :] if body != row and rest.startswith(style) else row + rest


def _parts(row: str) -> list[tuple[str, bool]]:
    """Text and codes (SGR, OSC 8) of a row, in order; the second value is True for a code."""
    parts: list[tuple[str, bool]] = []
    at = 0
    while at < len(row):
        code = row.find("\x1b", at)
        if code < 0:
            parts.append((row[at:], False))
            break
        if code > at:
            parts.append((row[at:code], False))
        if row[code + 1 : code + 2] == "]":
            end = row.find("\x1b\\", code)
            at = len(row) if end < 0 else end + 2
        else:
            at = code + 2
            while at < len(row) and not "@" <= row[at] <= "~":
                at += 1
            at += 1
        parts.append((row[code:at], True))
    return parts
