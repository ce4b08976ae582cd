"""Markdown as styled rows (T2.02, §14): the whole of it is here, and whatever goes wrong the raw text is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from maia.terminal.colours import Look, Style
from maia.terminal.spans import (
    EMPTY,
    Line,
    Span,
    chop_line,
    clean,
    line,
    prefix,
    text_of,
    width_of,
    wrap,
    wrap_text,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MAX_NESTING = 24
_MAX_CHARS = 1_000_000
_MAX_DELIMITERS = 100_000
"""Beyond these the text is no prose that anybody reads, and a parser could be kept busy with it."""
_NARROWEST = 8
"""A nested block that would get fewer columns is drawn below its mark instead of beside it."""
_SAFE_LINKS = ("http://", "https://", "mailto:", "file://")


def markdown_lines(text: str, look: Look, lang: str = "en") -> list[Line]:
    """The rows of a complete Markdown text. Raw text when it is hostile or the renderer fails: nothing gets lost."""
    if not look.markdown or len(text) > _MAX_CHARS or any(text.count(mark) > _MAX_DELIMITERS for mark in "*_[`<!~&"):
        return raw_lines(text, look)
    try:
        tokens = _parser().parse(clean(text))
        if any(token.level >= _MAX_NESTING for token in tokens):
            return raw_lines(text, look)
        return _stack(_tree(tokens).children, look, look.width, lang) or raw_lines(text, look)
    except Exception:  # T2.02: a renderer failure shows the raw text, whatever it was
        return raw_lines(text, look)


def raw_lines(text: str, look: Look) -> list[Line]:
    """The text as it is, wrapped."""
    return wrap_text(look.text(clean(text)), look.width)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML stays text; a link's address is shown, so that no text can hide where it leads.
    return (
        MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING + 1})
        .enable(["table", "strikethrough"])
        .disable("reference")
    )  # a definition that nothing refers to would vanish


@dataclass(slots=True)
class _Node:
    """A block with what is in it; `kind` is the token's type without `_open`."""

    kind: str
    token: Token | None = None
    children: list[_Node] = field(default_factory=list["_Node"])


def _tree(tokens: Sequence[Token]) -> _Node:
    root = _Node("root")
    open_nodes = [root]
    for token in tokens:
        if token.nesting < 0:
            open_nodes.pop()
            continue
        node = _Node(token.type.removesuffix("_open"), token)
        open_nodes[-1].children.append(node)
        if token.nesting > 0:
            open_nodes.append(node)
    return root


# Blocks ------------------------------------------------------------------------------------------------------------


def _stack(nodes: Sequence[_Node], look: Look, width: int, lang: str, *, tight: bool = False) -> list[Line]:
    """Blocks one under the other with a blank row between, except in tight lists and right after a small heading."""
    rows: list[Line] = []
    joined = True
    for node in nodes:
        drawn = _block(node, look, width, lang)
        if not drawn:
            continue
        if not joined and not tight:
            rows.append(EMPTY)
        rows += drawn
        joined = node.kind == "heading" and node.token is not None and node.token.tag != "h1"
    return rows


def _block(node: _Node, look: Look, width: int, lang: str) -> list[Line]:
    match node.kind:
        case "heading":
            return _heading(node, look, width)
        case "paragraph":
            return _inline_rows(node, look, width)
        case "bullet_list" | "ordered_list":
            return _list(node, look, width, lang)
        case "blockquote":
            bar = line(Span(look.text("▏") + " ", "quote"))
            return _nested(node.children, bar, bar, look, width, lang)
        case "fence" | "code_block":
            return _code(node, look, width)
        case "table":
            return _table(node, look, width, lang)
        case "hr":
            return [line(Span(look.text("─") * width, "muted"))]
        case "inline":
            return _wrapped(_inline(node.token, look, "plain"), width)
        case _:
            return _stack(node.children, look, width, lang)


def _nested(
    nodes: Sequence[_Node], first: Line, rest: Line, look: Look, width: int, lang: str, *, tight: bool = False
) -> list[Line]:
    room = width - width_of(rest)
    if room < _NARROWEST:
        mark = text_of(first).strip()
        return [*wrap(line(mark), width), *_stack(nodes, look, width, lang, tight=tight)]
    rows = _stack(nodes, look, room, lang, tight=tight)
    if text_of(rest).strip():
        bare = tuple(span._replace(text=span.text.rstrip()) for span in rest)
        return [rest + row if row else bare for row in rows]
    return prefix(rows, first, rest)


_HEADINGS: Mapping[str, Style] = {"h1": "title", "h2": "subtitle"}


def _heading(node: _Node, look: Look, width: int) -> list[Line]:
    tag = node.token.tag if node.token else ""
    return _inline_rows(node, look, width, _HEADINGS.get(tag, "heading"))


def _inline_rows(node: _Node, look: Look, width: int, style: Style = "plain") -> list[Line]:
    return [row for child in node.children for row in _wrapped(_inline(child.token, look, style), width)]


def _wrapped(rows: Sequence[Line], width: int) -> list[Line]:
    return [piece for row in rows for piece in wrap(row, width)]


def _list(node: _Node, look: Look, width: int, lang: str) -> list[Line]:
    start = int(node.token.attrs.get("start", 1)) if node.token else 1
    ordered = node.kind == "ordered_list"
    last = f"{start + len(node.children) - 1}. "
    rows: list[Line] = []
    tight = all(_is_tight(item) for item in node.children)
    for place, item in enumerate(node.children):
        mark = f"{start + place}. ".rjust(len(last)) if ordered else "• "
        first = look.text(mark)
        drawn = _nested(item.children, line(first), line(" " * len(first)), look, width, lang, tight=tight)
        if rows and not tight:
            rows.append(EMPTY)
        rows += drawn or [line(first.rstrip())]
    return rows


def _is_tight(item: _Node) -> bool:
    return all(child.token is None or child.token.hidden for child in item.children if child.kind == "paragraph")


def _code(node: _Node, look: Look, width: int) -> list[Line]:
    """The text starts in column 3 behind a bar; it is broken at the edge, never at words."""
    token = node.token
    if token is None:
        return []
    language = look.text(clean(token.info.split()[0])) if token.info.strip() else ""
    bar = look.text("│") + " " if width >= _NARROWEST else ""
    rows = wrap(line(Span("  " + language, "muted")), width) if language else []
    width = max(1, width - len(bar))
    for row in _coloured(clean(token.content.removesuffix("\n")), token.info, look):
        rows += [line(Span(bar if piece else bar.rstrip(), "muted"), *piece) for piece in chop_line(row, width)]
    return rows


def _coloured(text: str, info: str, look: Look) -> list[Line]:
    """The lines of code, in colours where there are any and the language is known."""
    language = (info.split() or [""])[0]
    if look.plain or not language:
        return [line(part) for part in look.text(text).split("\n")]
    from maia.terminal.syntax import coloured  # not needed by answers without code

    return coloured(look.text(text), language)


# Tables ------------------------------------------------------------------------------------------------------------


def _table(node: _Node, look: Look, width: int, lang: str) -> list[Line]:
    grid = [
        [_cell(cell, look) for cell in row.children]
        for part in node.children
        for row in part.children
        if row.kind == "tr"
    ]
    if not grid:
        return []
    sides = [_side(cell) for cell in node.children[0].children[0].children]
    header, body = [_bold(cell) for cell in grid[0]], grid[1:]
    cells = [max(width_of(row[place]) for row in grid if place < len(row)) for place in range(len(header))]
    if sum(cells) + 2 * (len(cells) - 1) > width:
        return _records(header, body, look, width, lang)
    rule = [line(Span(look.text("─") * max(1, cell), "muted")) for cell in cells]
    return [_table_row(row, cells, sides) for row in (header, rule, *body)]


def _cell(node: _Node, look: Look) -> Line:
    rows = [row for child in node.children for row in _inline(child.token, look, "plain")]
    return tuple(span for place, row in enumerate(rows) for span in ((Span(" "), *row) if place else row))


def _bold(row: Line) -> Line:
    return tuple(span._replace(style="bold") if span.style == "plain" else span for span in row)


def _side(node: _Node) -> str:
    style = str(node.token.attrs.get("style", "")) if node.token else ""
    return style.removeprefix("text-align:")


def _table_row(row: Sequence[Line], cells: Sequence[int], sides: Sequence[str]) -> Line:
    spans: list[Span] = []
    for place, width in enumerate(cells):
        cell = row[place] if place < len(row) else EMPTY
        free = width - width_of(cell)
        left = free if sides[place] == "right" else free // 2 if sides[place] == "center" else 0
        last = place == len(cells) - 1
        spans += line(" " * left, *cell, "" if last else " " * (free - left + 2))
    return tuple(spans)


def _records(header: Sequence[Line], body: Sequence[Sequence[Line]], look: Look, width: int, lang: str) -> list[Line]:
    """A table that is wider than the screen: a block for each row, `Name: value` on each of its rows."""
    colon = "\u202f: " if lang == "fr" else ": "
    rows: list[Line] = []
    for place, record in enumerate(body):
        if place:
            rows.append(EMPTY)
        for name, value in zip(header, record, strict=False):
            pieces = wrap((*name, Span(look.text(colon)), *value), width if width < _NARROWEST else width - 2)
            rows += pieces if width < _NARROWEST else prefix(pieces, EMPTY, line("  "))
    return rows or [tuple(span for name in header for span in (*name, Span("  ")))]


# Inline ------------------------------------------------------------------------------------------------------------

_EMPHASIS: Mapping[str, frozenset[str]] = {
    "strong": frozenset({"bold"}),
    "em": frozenset({"italic"}),
    "s": frozenset({"struck"}),
}


@dataclass(slots=True)
class _Inline:
    """Rows of inline text while they are written: a line end in the source ends a row."""

    base: Style
    look: Look
    rows: list[list[Span]] = field(default_factory=lambda: [[]])
    marks: list[str] = field(default_factory=list[str])
    links: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])

    def add(self, text: str, style: Style | None = None) -> None:
        shown = self.look.text(clean(text).replace("\n", " "))
        href = self.links[-1][0] if self.links else ""
        if shown:
            self.rows[-1].append(Span(shown, style or self._style(), href))

    def _style(self) -> Style:
        if self.links:
            return "link"
        marks = set(self.marks)
        if self.base != "plain":
            return self.base
        if {"bold", "italic"} <= marks:
            return "bold_italic"
        return "bold" if "bold" in marks else "italic" if "italic" in marks else "struck" if marks else "plain"


def _inline(token: Token | None, look: Look, base: Style) -> list[Line]:
    if token is None:
        return []
    out = _Inline(base, look)
    for child in token.children or ():
        _inline_token(child, out)
    return [_tasked(tuple(row), look) for row in out.rows]


def _inline_token(token: Token, out: _Inline) -> None:
    kind = token.type
    name = kind.removesuffix("_open").removesuffix("_close")
    if name in _EMPHASIS and token.nesting:
        mark = next(iter(_EMPHASIS[name]))
        out.marks.append(mark) if token.nesting > 0 else out.marks.remove(mark)
    elif kind in ("softbreak", "hardbreak"):
        out.rows.append([])
    elif kind == "code_inline":
        out.add(f"`{token.content}`" if out.look.plain else token.content, "code")
    elif kind == "link_open":
        out.links.append((_address(token.attrs), len(out.rows) - 1, len(out.rows[-1])))
    elif kind == "link_close":
        _close_link(out)
    elif kind == "image":
        out.add(token.content or "image", "link")
        out.add(f" ({token.attrs.get('src', '')})", "muted")
    else:
        out.add(token.content)


def _address(attributes: Mapping[str, Any]) -> str:
    href = str(attributes.get("href", ""))
    return href if href.isascii() and href.isprintable() else ""


def _close_link(out: _Inline) -> None:
    href, row, place = out.links.pop()
    words = "".join(span.text for part in out.rows[row:] for span in part[place if part is out.rows[row] else 0 :])
    if href and href not in (words, "mailto:" + words):
        out.add(f" ({href})", "muted")
    if not href.startswith(_SAFE_LINKS):
        out.rows[row:] = [[span._replace(href="") for span in part] for part in out.rows[row:]]


def _tasked(row: Line, look: Look) -> Line:
    """`[ ]` and `[x]` at the beginning of a text become ☐ and ☑ where there are such characters."""
    if not row or not look.unicode:
        return row
    head = row[0].text
    for source, box in (("[ ] ", "☐ "), ("[x] ", "☑ "), ("[X] ", "☑ ")):
        if head.startswith(source):
            return (row[0]._replace(text=box + head[4:]), *row[1:])
    return row
