"""Templates with the reader's words: rows, pages and pieces of pages as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from maia.core.delegation import DELEGATING
from maia.core.results import DiffBlock, TodoBlock
from maia.core.text import visible
from maia.i18n.catalogue import Catalogue, Lang
from maia.web.drawing.assets import address
from maia.web.drawing.autonomywords import CATEGORIES, LEVELS, RISKS
from maia.web.drawing.clock import Clock, zone_of
from maia.web.drawing.diff import file_diff
from maia.web.drawing.limits import limits
from maia.web.drawing.markdown import blocks_of, html_of, links_of
from maia.web.drawing.names import common_name
from maia.web.drawing.view import Words
from maia.web.drawing.words import (
    CALLS,
    COLOURS,
    EGRESS,
    FAILED,
    ICONS,
    NOTICES,
    OUTCOMES,
    PRIORITIES,
    STATUSES,
    VERDICTS,
    Speaker,
    pretty,
    state_of,
)

if TYPE_CHECKING:
    from jinja2 import Environment


_KINDS: Mapping[str, type] = {"words": Words, "diff_block": DiffBlock, "todo_block": TodoBlock}
"""Kinds of rows that templates tell apart."""


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind)


@cache
def environment() -> Environment:
    """Everything is escaped; a name that is not given is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    in_templates: dict[str, Any] = made.globals
    in_templates |= {
        "asset": address,
        "blocks": blocks,
        "common": common_name,
        "pretty": pretty,
        "shown": visible,
        "diff": file_diff,
        "hue": hue,
        "mark": mark,
        "DELEGATING": DELEGATING,
        "CALLS": CALLS,
        "STATUSES": STATUSES,
        "FAILED": FAILED,
        "state_of": state_of,
        "OUTCOMES": OUTCOMES,
        "VERDICTS": VERDICTS,
        "EGRESS": EGRESS,
        "NOTICES": NOTICES,
        "PRIORITIES": PRIORITIES,
        "COLOURS": COLOURS,
        "ICONS": ICONS,
        "CATEGORIES": CATEGORIES,
        "LEVELS": LEVELS,
        "RISKS": RISKS,
    }
    tests: dict[str, Any] = made.tests
    tests |= {name: partial(_is, kind) for name, kind in _KINDS.items()}
    return made


def blocks(words: Words, parts: Sequence[str] | None = None) -> list[tuple[str, Markup]]:
    """The blocks of a piece of the answer, each with the id of its element; `parts` where it is cut already."""
    parts = blocks_of(words.text) if parts is None else parts
    last = len(parts) if words.is_open else 0
    return [
        (f"{words.id}-b{n}", Markup(html_of(part, n == last, links)))
        for n, (part, links) in enumerate(zip(parts, links_of(parts), strict=True), 1)
        if part.strip()
    ]


def mark(name: str) -> str:
    """Two letters for a person or a provider: of its first two words, or of its only one; else its first sign."""
    words = [word for word in name.replace("-", " ").replace("_", " ").split() if word[:1].isalnum()]
    if not words:
        sign = name.strip()[:1]
        return sign if sign.isprintable() and sign else "·"
    return words[0][0].upper() + words[1][0].upper() if len(words) > 1 else words[0][:2].capitalize()


def hue(name: str) -> str:
    """The class of its colour, always the same for the same name."""
    return f"hue{sum(name.encode('utf-8', 'replace')) % 8 + 1}"


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom something is drawn: words, clock, names of providers, and what stands in every template.

    `roots` are the folders of the conversation that is drawn, so that paths can be told from there. `writes` is false
    for who may only read: nothing that changes something is drawn for them. `manages`: they set up models.
    """

    say: Catalogue
    lang: Lang
    zone: str = ""
    name_of: Callable[[str], str] = str
    roots: tuple[str, ...] = ()
    writes: bool = False
    manages: bool = False

    def draw(self, template: str, /, **values: Any) -> str:
        """A whole template."""
        return environment().get_template(template).render(**self._shared(), **values)

    def pieces(self, template: str) -> Any:
        """The macros of a template, to draw several of them."""
        return environment().get_template(template).make_module(self._shared())

    def clock(self) -> Clock:
        """Their time."""
        return Clock(datetime.now(zone_of(self.zone)), self.say, self.lang)

    def _shared(self) -> dict[str, Any]:
        speak = Speaker(self.say, self.lang, self.name_of, self.roots)
        shared = {"t": self.say, "lang": self.lang, "clock": self.clock(), "speak": speak, "writes": self.writes}
        shared["manages"] = self.manages
        return {**shared, "upload_limits": partial(limits, self.say)}
