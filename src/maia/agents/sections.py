"""The sections of an `AGENT.md` below its header: "Instructions system", "Missions", "Output" (T7.02)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from maia.agents.header import Invalid, line_of

TITLES: Final = {"instructions": "Instructions system", "missions": "Missions", "output": "Output"}
"""Our name of each section and the title it has in the file, at any heading level, in any case."""

_BY_TITLE: Final = {title.casefold(): name for name, title in TITLES.items()}
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$")
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


@dataclass(frozen=True, slots=True)
class Section:
    """`text` is what the agent is told, without HTML comments; `start` and `end` bound the raw text in the file."""

    name: str
    line: int
    start: int
    end: int
    text: str
    comments: tuple[str, ...] = ()


@dataclass(slots=True)
class _Open:
    name: str
    line: int
    start: int
    rows: list[str]
    comments: list[str]


def read_sections(text: str, body: int) -> dict[str, Section]:
    """The sections by our names. What stands before the first is for readers of the file and not told to the agent.

    A section reaches to the next of the three, so nothing below its heading is lost. Raises `Invalid` where one is
    missing, empty or there twice.
    """
    found: dict[str, Section] = {}
    first = line_of(text, body)
    for section in _sections(text, body, first):
        if section.name in found:
            raise Invalid("agents.bad.section_twice", section.line, section=TITLES[section.name])
        found[section.name] = section
    for name, title in TITLES.items():
        if name not in found:
            raise Invalid("agents.bad.section_missing", first, section=title)
        if not found[name].text:
            raise Invalid("agents.bad.section_empty", found[name].line, section=title)
    return found


def _sections(text: str, body: int, line: int) -> Iterator[Section]:
    now: _Open | None = None
    scanner = _Scanner()
    at = body
    for number, row in enumerate(_ROW.findall(text, body), line):
        shown = scanner.shown(row)
        title = scanner.title(shown)
        if title in _BY_TITLE:
            if now is not None:
                yield _closed(now, at)
            now = _Open(_BY_TITLE[title], number, at + len(row), [], [])
        elif now is not None and shown is not None:
            now.rows.append(shown)
        if now is not None:
            now.comments += scanner.comments
        at += len(row)
    if now is not None:
        yield _closed(now, len(text))


def _closed(now: _Open, end: int) -> Section:
    return Section(now.name, now.line, now.start, end, "\n".join(now.rows).strip(), tuple(now.comments))


class _Scanner:
    """Knows line by line what is code, what is a comment and what is text."""

    def __init__(self) -> None:
        self._fence = ""
        self._comment = ""
        self.comments: list[str] = []

    def shown(self, row: str) -> str | None:
        """The line as the agent is told it; None for one that is nothing but comment. `comments` end in this line."""
        self.comments = []
        text = row.rstrip("\r\n")
        if self._fence:
            found = _FENCE.match(text)
            if found and found.group(1).startswith(self._fence) and not found.group(2).strip():
                self._fence = ""
            return text
        kept = self._without_comments(text)
        if not self._comment and (found := _FENCE.match(kept)):
            self._fence = found.group(1)
        return None if kept != text and not kept.strip() else kept.rstrip() if kept != text else text

    def title(self, shown: str | None) -> str:
        """The title of a heading in one spelling, empty for any other line."""
        found = _HEADING.match(shown or "") if not self._fence else None
        return " ".join(found.group(1).strip("*_: \u00a0\u202f").casefold().split()) if found else ""

    def _without_comments(self, text: str) -> str:
        kept = ""
        while True:
            if self._comment:
                inside, closed, text = text.partition("-->")
                if not closed:
                    self._comment += inside + "\n"
                    return kept
                self.comments.append(self._comment + inside + "-->")
                self._comment = ""
            before, opened, text = text.partition("<!--")
            kept += before
            if not opened:
                return kept
            self._comment = "<!--"


def lines_of(text: str) -> list[str]:
    """A text's lines, without the blank ones around it."""
    return re.split(r"\r\n|\r|\n", text.strip())


def with_section(text: str, section: Section, new: str, newline: str) -> str:
    """The file's text with what a section tells replaced; its HTML comments stay, ahead of the new text."""
    rows = [*(comment.replace("\n", newline) for comment in section.comments), *lines_of(new)]
    last = newline if section.end < len(text) else ""
    return text[: section.start] + newline + "".join(f"{row}{newline}" for row in rows) + last + text[section.end :]
