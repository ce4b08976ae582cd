"""The WebFetch tool: one page of the web as text, marked as words of others (T5.06)."""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.core.errors import ToolProblem
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Fetched, Hands, Say
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import visible
from maia.core.weburl import WebUrl, read_url
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec

MAX_BYTES: Final = 5 * 1024 * 1024
SECONDS: Final = 30.0
DEFAULT_LENGTH: Final = 20_000
MAX_LENGTH: Final = 100_000

PARAMETERS: Final = Parameters(
    (
        Parameter("url", "string", required=True, aliases=("uri", "link", "address", "href")),
        Parameter(
            "max_length", "integer", "characters returned, default 20000, at most 100000", aliases=("limit",), minimum=1
        ),
    )
)

Shape: TypeAlias = Literal["html", "json", "text", "refused"]

_SHAPES: Final[tuple[tuple[str, Shape], ...]] = (
    (r"(text|application)/(html|xhtml\+xml|vnd\.wap\.xhtml\+xml)", "html"),
    (r"(application|text)/(.+\+)?json", "json"),
    (r"image/svg\+xml", "text"),
    (r"text/.+", "text"),
    (r"application/(x-|.+\+)?(xml|yaml)", "text"),
    (r"application/(x-)?(javascript|ecmascript|typescript|sh|toml|sql|ndjson|jsonlines|graphql|tex|latex)", "text"),
)
"""Media types by what is made of them; the first that matches."""

_OPAQUE: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
"""Types that say nothing: the bytes are looked at."""


@dataclass(frozen=True, slots=True)
class WebFetchArgs:
    """`max_length` is in characters. `url` is the address as it will be asked."""

    url: WebUrl
    max_length: int


class WebFetchTool:
    """Fetches a page; which hosts it may ask is for the rules, which addresses for the fetcher."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("WebFetch", PARAMETERS)

    def parse(self, arguments: JsonObject) -> WebFetchArgs:
        values = PARAMETERS.read(arguments)
        url = read_url(values["url"])
        if isinstance(url, str):
            raise ToolProblem(f"web.bad_{url}", url=visible(values["url"])[:200])
        return WebFetchArgs(url, min(values["max_length"] or DEFAULT_LENGTH, MAX_LENGTH))

    def needs(self, args: WebFetchArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("WebFetch", "host", args.url.host),)

    def preview(self, args: WebFetchArgs) -> str:
        return str(args.url)

    def lock_key(self, args: WebFetchArgs, launch: Path) -> str | None:
        return None

    async def proposal(self, args: WebFetchArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: WebFetchArgs, hands: Hands) -> ToolResult:
        got = await hands.fetcher.get(str(args.url), max_bytes=MAX_BYTES, timeout=SECONDS)
        if got.redirect_to is not None:
            return _redirected(got, got.redirect_to, hands.say)
        failed = got.status >= 400
        try:
            text = await asyncio.to_thread(readable, got)
        except ToolProblem:
            if not failed:
                raise
            text = ""
        say = hands.say
        lines = [say("tool.web.status", status=got.status)] if failed else []
        lines += _page_lines(text, got.url, args.max_length, say)
        data = {"url": got.url, "status": got.status, "mediaType": got.media_type, "totalChars": len(text)}
        summary = lines[0] if failed else say("tool.web.chars", n=len(text))
        return ToolResult("\n".join(lines), is_error=failed, summary=summary, data=data)


def _redirected(got: Fetched, target: str, say: Say) -> ToolResult:
    host = read_url(target)
    name = host.host if isinstance(host, WebUrl) else ""
    text = say("tool.web.redirect", url=got.url, target=target)
    return ToolResult(text, summary=f"→ {name}", data={"url": got.url, "redirectTo": target})


def _page_lines(text: str, url: str, max_length: int, say: Say) -> list[str]:
    """The page between two marks with a number that it cannot know, so that no page can close them itself."""
    if not text:
        return [say("tool.web.empty", url=url)]
    mark = f"web-content-{os.urandom(4).hex()}"
    lines = [say("tool.web.untrusted", url=url), f"<{mark}>", text[:max_length], f"</{mark}>"]
    return lines if len(text) <= max_length else [*lines, say("tool.web.cut", n=len(text), shown=max_length)]


def readable(got: Fetched) -> str:
    """A page's text for the model: HTML as Markdown, JSON indented, other text as it is. Raises `ToolProblem`."""
    shape = shape_of(got.media_type, got.body)
    if shape == "refused":
        raise ToolProblem("tool.web.unreadable", media_type=visible(got.media_type) or "binary", url=got.url)
    text = decoded(got.body, got.encoding, is_html=shape == "html")
    return visible(_CONVERTERS[shape](text)).strip()


def shape_of(media_type: str, body: bytes) -> Shape:
    """What a body is, by its type, or by its first bytes where the type says nothing."""
    if media_type not in _OPAQUE:
        for types, shape in _SHAPES:
            if re.fullmatch(types, media_type):
                return shape
        return "refused"
    start = body[:4096]
    if b"\0" in start or start[:4] in (b"%PDF", b"\x89PNG", b"GIF8", b"PK\x03\x04"):
        return "refused"
    if re.match(rb"\s*(<!doctype html|<html)", start, re.IGNORECASE):
        return "html"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "refused"
    return "text"


_BOMS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decoded(body: bytes, named: str | None, *, is_html: bool) -> str:
    """Text of a body: by its mark, by the named encoding, by the page's own word, else UTF-8, else windows-1252.

    The order is the one of the WHATWG encoding standard, where also latin-1 means windows-1252.
    """
    marked = next((name for mark, name in _BOMS if body.startswith(mark)), None)
    own = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", body[:2048], re.IGNORECASE) if is_html else None
    for name in (marked, named, own.group(1).decode("ascii", "replace") if own else None):
        if name and (found := _text_encoding(name)):
            return body.decode(found, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _text_encoding(name: str) -> str | None:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    if not found._is_text_encoding:  # pyright: ignore[reportPrivateUsage] (base64 and zip are codecs too)
        return None
    return "cp1252" if found.name in ("iso8859-1", "ascii") else found.name


def _markdown(html: str) -> str:
    """The page without menus and pictures drawn in it, under its title where it does not begin with it.

    Text that a browser hides is left out: it is where pages put orders for a model. The library's own clean-up is off,
    because it takes away the headings of pages that have them in `<header>`.
    """
    from html import unescape

    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    plain = PreprocessingOptions(enabled=False)
    options = ConversionOptions(extract_metadata=False, preprocessing=plain, exclude_selectors=["nav", "svg"])
    content = re.sub(r"\(data:[^)\s]*", "(data:…", convert(html, options).content or "")
    found = re.search(r"<title[^>]*>([^<]{1,300})", html[:100_000], re.IGNORECASE)
    title = " ".join(unescape(found.group(1)).split()) if found else ""
    return content if title in content[:1000] else f"{title}\n\n{content}"


def _indented(text: str) -> str:
    try:
        return json.dumps(read_json(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def _same(text: str) -> str:
    return text


_CONVERTERS: Final[dict[Shape, Callable[[str], str]]] = {"html": _markdown, "json": _indented, "text": _same}
