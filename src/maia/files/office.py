"""The text of documents that are archives of XML: Office and OpenDocument. Runs in `reader` alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from zipfile import ZipFile

_LARGEST_PART: Final = 100_000_000
"""Bytes of one part, unpacked."""
_DATES: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""Number formats of the standard that are dates or times (ECMA-376, 18.8.30)."""
_QUOTED: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_OPEN: Final = frozenset(
    f"application/vnd.oasis.opendocument.{each}" for each in ("text", "spreadsheet", "presentation")
)
_TEXT: Final = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_SPACES: Final = f"{{{_TEXT}}}c"
_MS: Final = "application/vnd.openxmlformats-officedocument."


class NoDocument(Exception):
    """An archive of another kind, or one that no program writes."""


def open_document(archive: ZipFile) -> tuple[str, Iterator[str]]:
    """The media type of a document, and its text piece by piece. Raises `NoDocument`, also while it is read."""
    names = set(archive.namelist())
    if "word/document.xml" in names:
        return f"{_MS}wordprocessingml.document", _word(archive, names)
    if "xl/workbook.xml" in names:
        return f"{_MS}spreadsheetml.sheet", _sheets(archive, names)
    if "ppt/presentation.xml" in names:
        return f"{_MS}presentationml.presentation", _slides(archive, names)
    if {"mimetype", "content.xml"} <= names:
        media_type = _part(archive, "mimetype").decode("latin-1").strip()
        if media_type in _OPEN:
            return media_type, _open(archive)
    raise NoDocument


def _part(archive: ZipFile, name: str) -> bytes:
    """One part. A declared size may lie: what is read is counted."""
    with archive.open(name) as part:
        data = part.read(_LARGEST_PART + 1)
    if len(data) > _LARGEST_PART:
        raise NoDocument
    return data


def _tree(archive: ZipFile, name: str) -> Element:
    data = _part(archive, name)
    if b"<!DOCTYPE" in data[:2000]:  # none of these formats has one: it could only be there to harm
        raise NoDocument
    return ElementTree.fromstring(data)


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


# Texts and slides ----------------------------------------------------------------------------------------------------


def _word(archive: ZipFile, names: set[str]) -> Iterator[str]:
    for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
        if name in names:
            yield from _blocks(_tree(archive, name))


def _slides(archive: ZipFile, names: set[str]) -> Iterator[str]:
    found = {int(match[1]): name for name in names if (match := re.fullmatch(r"ppt/slides/slide(\d{1,6})\.xml", name))}
    for number in sorted(found):
        yield f"# {number}\n"
        yield from _blocks(_tree(archive, found[number]))
        if (notes := f"ppt/notesSlides/notesSlide{number}.xml") in names:
            yield from _blocks(_tree(archive, notes))
        yield "\n"


def _blocks(element: Element) -> Iterator[str]:
    """Paragraphs and tables, in order. Deleted text and the copy for old readers are left out."""
    match _local(element):
        case "p" | "h":
            yield _inline(element).rstrip() + "\n"
        case "tr" | "table-row":
            cells = ("".join(_blocks(cell)).split() for cell in element if _local(cell) in ("tc", "table-cell"))
            if line := " | ".join(" ".join(cell) for cell in cells).rstrip(" |"):
                yield line + "\n"
        case "Fallback" | "tracked-changes":
            pass
        case _:
            for child in element:
                yield from _blocks(child)


def _inline(element: Element) -> str:
    """The text of a paragraph; a text box in it begins a line of its own."""
    parts: list[str] = []
    for child in element:
        match _local(child):
            case "t":
                parts.append(child.text or "")
            case "tab" | "ptab":
                parts.append("\t")
            case "br" | "cr" | "line-break":
                parts.append("\n")
            case "s":
                parts.append(" " * min(int(child.get(_SPACES, "1")), 100))
            case "p":
                parts.append("\n" + _inline(child))
            case "delText" | "instrText" | "Fallback" | "rPr" | "pPr":
                pass
            case _:
                parts.append(_inline(child))
        if _TEXT in child.tag:
            parts.append(child.tail or "")
    return ((element.text or "") if _TEXT in element.tag else "") + "".join(parts)


def _open(archive: ZipFile) -> Iterator[str]:
    for body in _tree(archive, "content.xml"):
        if _local(body) == "body":
            yield from _blocks(body)


# Sheets --------------------------------------------------------------------------------------------------------------


def _sheets(archive: ZipFile, names: set[str]) -> Iterator[str]:
    """Each sheet with its name, its rows as cells between tabs."""
    book = _tree(archive, "xl/workbook.xml")
    shared = _shared(archive) if "xl/sharedStrings.xml" in names else []
    dates = _date_styles(archive) if "xl/styles.xml" in names else frozenset[int]()
    since = datetime(1904, 1, 1) if any(each.get("date1904") in ("1", "true") for each in book) else None
    targets = {
        each.get("Id", ""): each.get("Target", "").removeprefix("/xl/").removeprefix("./")
        for each in _tree(archive, "xl/_rels/workbook.xml.rels")
    }
    for sheet in book.iter():
        if _local(sheet) != "sheet":
            continue
        relation = next((value for name, value in sheet.items() if name.endswith("}id")), "")
        place = f"xl/{targets.get(relation, '')}"
        if place in names:
            yield f"# {sheet.get('name', '')}\n"
            yield from _rows(_tree(archive, place), shared, dates, since)
            yield "\n"


def _shared(archive: ZipFile) -> list[str]:
    return [
        "".join(part.text or "" for part in each.iter() if _local(part) == "t")
        for each in _tree(archive, "xl/sharedStrings.xml")
    ]


def _date_styles(archive: ZipFile) -> frozenset[int]:
    """The numbers of cell styles that show a date or a time."""
    styles = _tree(archive, "xl/styles.xml")
    own = {
        each.get("numFmtId"): _QUOTED.sub("", each.get("formatCode", "").lower())
        for each in styles.iter()
        if _local(each) == "numFmt"
    }
    formats = next((each for each in styles if _local(each) == "cellXfs"), ())
    found: set[int] = set()
    for number, each in enumerate(formats):
        code = each.get("numFmtId", "0")
        if (code.isdigit() and int(code) in _DATES) or any(letter in own.get(code, "") for letter in "ymdhs"):
            found.add(number)
    return frozenset(found)


def _rows(sheet: Element, shared: list[str], dates: frozenset[int], since: datetime | None) -> Iterator[str]:
    for row in sheet.iter():
        if _local(row) != "row":
            continue
        cells: list[str] = []
        for cell in row:
            column = _column(cell.get("r", ""))
            cells += [""] * (column - len(cells))
            cells.append(" ".join(_value(cell, shared, dates, since).split()))
        if line := "\t".join(cells).rstrip("\t"):
            yield line + "\n"


def _column(reference: str) -> int:
    """`A1` is 0, `AB7` is 27; no sheet is wider than 16,384 columns."""
    number = 0
    for letter in reference[:3]:
        if not letter.isalpha() or not letter.isascii():
            break
        number = number * 26 + ord(letter.upper()) - 64
    return min(max(number - 1, 0), 16_383)


def _value(cell: Element, shared: list[str], dates: frozenset[int], since: datetime | None) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(part.text or "" for part in cell.iter() if _local(part) == "t")
    raw = next((part.text or "" for part in cell if _local(part) == "v"), "")
    if kind == "s":
        return shared[int(raw)] if raw.isdigit() and int(raw) < len(shared) else ""
    if kind == "b":
        return "TRUE" if raw == "1" else "FALSE"
    style = cell.get("s", "0")
    return _date(raw, since) if kind == "n" and style.isdigit() and int(style) in dates else raw


def _date(raw: str, since: datetime | None) -> str:
    """A serial number as a date, a time, or both."""
    try:
        days = float(raw)
        moment = (since or datetime(1899, 12, 30)) + timedelta(days=days)
    except (ValueError, OverflowError):
        return raw
    moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.date().isoformat() if moment.time() == time() else f"{moment:%Y-%m-%d %H:%M:%S}"
