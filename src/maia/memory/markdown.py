"""A whole memory as one Markdown file that people read and edit, and back again without loss (C6.04).

# Memory of agent:reviewer

## 2026-11-30 14:24:32.123456 UTC — decisions, storage
<!-- {"id": "9cdb63217ded", "source": "run_7"} -->

The text, as it is. Only a line that begins with `## ` gets a backslash before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, cast

from maia.core.jsontext import read_json
from maia.core.memories import MemoryEntry
from maia.core.text import visible

_MICRO: Final = 1_000_000
_HEADING: Final = re.compile(r"^## (.*)$", re.MULTILINE)
_PLAIN_HEADING: Final = re.compile(r"^(\\*## )", re.MULTILINE)
_SHIELDED_HEADING: Final = re.compile(r"^\\(\\*## )", re.MULTILINE)
_WHEN: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[ T](?P<time>\d\d:\d\d(?::\d\d)?)(?:\.(?P<micro>\d{1,6}))?)?(?: ?UTC|Z)?"
    r"(?: — (?P<tags>.*))?"
)
_ASIDE: Final = re.compile(r"\n<!-- (\{.*\}) -->(?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class Written:
    """One entry of a file, with the line (from 1) on which it begins."""

    line: int
    entry: MemoryEntry


def write_markdown(title: str, entries: Sequence[MemoryEntry]) -> str:
    """The file of these entries, in their order. `title` is its first line."""
    return f"# {visible(' '.join(title.split()))}\n\n" + "".join(map(_section, entries))


def _section(entry: MemoryEntry) -> str:
    tags = f" — {', '.join(entry.tags)}" if entry.tags else ""
    aside = json.dumps({"id": entry.entry_id, "source": entry.source}).replace(">", "\\u003e")
    text = _PLAIN_HEADING.sub(r"\\\1", entry.text)
    return f"## {_when(entry.created)}{tags}\n<!-- {aside} -->\n\n{text}\n\n"


def _when(created: float) -> str:
    seconds, micro = divmod(round(created * _MICRO), _MICRO)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{micro:06} UTC"


def read_markdown(text: str, now: float) -> list[Written]:
    """The entries of a file, in their order; what no date begins is an entry, too, of `now`.

    What `write_markdown` wrote comes back as it was. Of a file by hand every part under a `## ` heading becomes one
    entry; without an id in it, it gets one that its words decide, so that the same file taken in twice is there once.
    """
    text = text.removeprefix("\ufeff")
    if "\r\n" in text[: text.find("\n") + 1]:  # an editor changed the line ends of the whole file
        text = text.replace("\r\n", "\n")
    return list(_entries(text, now))


def _entries(text: str, now: float) -> Iterator[Written]:
    headings = list(_HEADING.finditer(text))
    starts = [*(heading.start() for heading in headings), len(text)]
    before = re.sub(r"\A# .*\n?", "", text[: starts[0]])
    if before.strip():
        yield Written(1, _by_hand(before.strip("\n"), now))
    for number, (heading, end) in enumerate(zip(headings, starts[1:], strict=True)):
        line = text.count("\n", 0, heading.start()) + 1
        entry = _entry(heading.group(1).strip(), text[heading.end() : end], now + number / _MICRO)
        if entry.text.strip():
            yield Written(line, entry)


def _entry(heading: str, below: str, now: float) -> MemoryEntry:
    found = _WHEN.fullmatch(heading)
    created = _seconds(found) if found else None
    if found is None or created is None:
        return _by_hand(f"{heading}\n\n{_body(below)}".strip("\n"), now)
    aside = _aside(below)
    body = _body(below[len(aside.group()) :] if aside else below)
    tags = tuple(tag for tag in (found["tags"] or "").split(", ") if tag)
    noted = cast("dict[str, Any]", read_json(aside.group(1))) if aside else {}
    entry_id = str(noted.get("id") or _id_of(body))
    return MemoryEntry(entry_id, body, created, tags, str(noted.get("source") or ""))


def _aside(below: str) -> re.Match[str] | None:
    """What only machines need, where it is there and whole."""
    found = _ASIDE.match(below)
    try:
        return found if found and isinstance(read_json(found.group(1)), dict) else None
    except ValueError:
        return None


def _body(below: str) -> str:
    """The text between the empty line that follows the heading and the one before the next."""
    text = below.removeprefix("\n").removeprefix("\n")
    text = text.removesuffix("\n").removesuffix("\n")
    return _SHIELDED_HEADING.sub(r"\1", text)


def _by_hand(text: str, now: float) -> MemoryEntry:
    return MemoryEntry(_id_of(text), text, round(now, 6))


def _id_of(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _seconds(found: re.Match[str]) -> float | None:
    """The date of a heading as seconds since 1970; None where the calendar has no such day or hour."""
    try:
        when = datetime.fromisoformat(f"{found['day']}T{found['time'] or '00:00'}+00:00")
    except ValueError:
        return None
    micro = int((found["micro"] or "0").ljust(6, "0"))
    return (round(when.timestamp()) * _MICRO + micro) / _MICRO
