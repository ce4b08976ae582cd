"""Markdown of answers as safe HTML, block by block, so that finished blocks are made once (reference: CommonMark)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import nh3

from maia.core.text import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

LONGEST_CODE = 65_536
"""Characters of a code block that are coloured."""
LONGEST_OPEN = 6_000
"""Characters of a block that is set anew with each piece that comes; a longer one is set when it is over."""
_TAGS = {
    *("p", "h2", "h3", "h4", "ul", "ol", "li", "blockquote", "hr", "br", "em", "strong", "s", "del", "code", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "span", "div"),
}
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "span": {"class"},
    "code": {"class"},
    "pre": {"class"},
    "div": {"class"},
    "ol": {"start"},
}


_LABEL: Final = r"\[((?:[^\[\]\\]|\\.){1,999})\]"
_IN_BRACKETS: Final = re.compile(_LABEL)
"""What may be the name of an address, as `[text][name]` and `[name]` have it."""
_IN_USE: Final = re.compile(f"{_LABEL}(?!:)")


class Reference(NamedTuple):
    """An address under a name, which blocks before and after it use (`[name]: address "title"`)."""

    name: str
    label: str
    address: str
    title: str


class Links(NamedTuple):
    """The addresses that a block names, wherever they are defined, and those that it defines and nobody names."""

    named: tuple[Reference, ...] = ()
    unnamed: tuple[Reference, ...] = ()


_NO_LINKS: Final = Links()


def blocks_of(text: str) -> list[str]:
    """The text cut between its top-level blocks; joined, it is the same text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    starts = [token.map[0] for token in _parser().parse(text) if token.level == 0 and token.map and token.nesting >= 0]
    lines = text.split("\n")
    cuts = [0, *(start for start in starts[1:] if start), len(lines)]
    cuts = sorted(set(cuts))
    return ["\n".join(lines[a:b]) + ("\n" if b < len(lines) else "") for a, b in pairwise(cuts)]


class Splitter:
    """As `blocks_of`, for a text that grows: blocks that are over are not read again."""

    def __init__(self) -> None:
        self._text = ""
        self._blocks: list[str] = []

    def split(self, text: str) -> list[str]:
        """The blocks of the whole text so far."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        over = self._blocks[:-1] if text.startswith(self._text) else []
        self._blocks = [*over, *blocks_of(text[sum(map(len, over)) :])]
        self._text = text
        return self._blocks


def links_of(blocks: Sequence[str]) -> list[Links]:
    """What has to be known of the others to set each block; the first definition of a name counts."""
    defined = [_defined(block) if "]:" in block else () for block in blocks]
    known = {each.name: each for each in reversed([each for some in defined for each in some])}
    if not known:
        return [_NO_LINKS] * len(blocks)
    names = [_names(block) for block in blocks]
    used = {name for _, in_use in names for name in in_use}
    return [
        Links(
            tuple(known[name] for name in sorted(named & known.keys())),
            tuple(each for each in own if each.name not in used),
        )
        for (named, _), own in zip(names, defined, strict=True)
    ]


@lru_cache(maxsize=4096)
def _names(block: str) -> tuple[frozenset[str], frozenset[str]]:
    """What stands in brackets, and what of it defines no address there."""
    text = visible(block)
    named, in_use = (frozenset(map(_name, pattern.findall(text))) for pattern in (_IN_BRACKETS, _IN_USE))
    return named, in_use


@lru_cache(maxsize=1024)
def _defined(block: str) -> tuple[Reference, ...]:
    text, env = visible(block), dict[str, Any]()
    _parser().parse(text, env)
    labels = {_name(label): label for label in _IN_BRACKETS.findall(text)}
    told: dict[str, dict[str, str]] = env.get("references", {})
    return tuple(Reference(name, labels.get(name, name), each["href"], each["title"]) for name, each in told.items())


def _name(label: str) -> str:
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)


@lru_cache(maxsize=4096)
def html_of(block: str, is_open: bool, links: Links = _NO_LINKS) -> str:
    """One block as safe HTML. What is still being written is not coloured yet, and, when it is long, not set yet.

    An address that nobody names is shown where it is defined: it may be all that an answer says of its sources.
    """
    if is_open and len(block) > LONGEST_OPEN:
        return f'<pre class="wrap">{escape(visible(block))}</pre>'
    env: dict[str, Any] = {"is_open": is_open}
    if links.named:
        env["references"] = {each.name: {"href": each.address, "title": each.title} for each in links.named}
    tokens = _parser().parse(visible(block), env)
    rendered = _parser().renderer.render(tokens, _parser().options, env)
    rendered += "".join(_definition(each) for each in links.unnamed)
    return nh3.clean(
        rendered,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def _definition(reference: Reference) -> str:
    address = escape(reference.address)
    return f'<p>[{escape(reference.label)}]: <a href="{address}">{address}</a></p>'


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _heading_open(_renderer: Any, tokens: Any, at: int, *_: Any) -> str:
    return f"<{_heading(tokens[at].tag)}>"


def _heading_close(_renderer: Any, tokens: Any, at: int, *_: Any) -> str:
    return f"</{_heading(tokens[at].tag)}>"


def _heading(tag: str) -> str:
    """A page has its title already: an answer's own headings begin below it."""
    return {"h1": "h2", "h2": "h2", "h3": "h3"}.get(tag, "h4")


def _image(_renderer: Any, tokens: Any, at: int, *_: Any) -> str:
    """A picture from elsewhere is never loaded, since asking for it tells who reads what; a link stands for it."""
    token = tokens[at]
    source = str(token.attrGet("src") or "")
    return f'<a class="chip" href="{escape(source)}">{escape(token.content or source)}</a>'


def _code(_renderer: Any, tokens: Any, at: int, _options: Any, env: Any) -> str:
    token = tokens[at]
    language = token.info.strip().split()[0] if token.info.strip() else ""
    coloured = "" if env.get("is_open") else _coloured(token.content, language)
    return f'<pre class="code"><code>{coloured or escape(token.content)}</code></pre>\n'


_RULES: Mapping[str, Callable[..., str]] = {
    "fence": _code,
    "code_block": _code,
    "image": _image,
    "heading_open": _heading_open,
    "heading_close": _heading_close,
}


def _coloured(code: str, language: str) -> str:
    """Spans with short class names, empty where the language is not known."""
    if not language or len(code) > LONGEST_CODE:
        return ""
    from pygments.util import ClassNotFound

    kit: Any = import_module("pygments")  # its types are only half there
    lexers: Any = import_module("pygments.lexers")
    formatters: Any = import_module("pygments.formatters.html")
    try:
        lexer = lexers.get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return ""
    return str(kit.highlight(code, lexer, formatters.HtmlFormatter(nowrap=True)))
