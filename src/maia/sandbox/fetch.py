"""Gets one page from the public internet and from nowhere else: the real implementation of `core.ports.Fetcher`."""

from __future__ import annotations

import asyncio
import re
import socket
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from maia import __version__
from maia.core.errors import ToolProblem, system_words
from maia.core.ports import Fetched
from maia.core.proxy import environment_proxy
from maia.core.text import visible
from maia.core.weburl import WebUrl, read_url
from maia.sandbox.addresses import is_public, names_inside

if TYPE_CHECKING:
    import ssl

    import httpx2

MAX_REDIRECTS: Final = 5
_CONNECT_SECONDS: Final = 10.0
_ADDRESSES_TRIED: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PIECE: Final = 1 << 16

_HEADERS: Final = {
    "User-Agent": f"maia/{__version__} (WebFetch)",
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip",
    "Accept-Language": "*",
}


def _usual_proxy(url: WebUrl) -> str | None:
    return environment_proxy(url.scheme, url.netloc)


class WebFetcher:
    """Fetches over httpx2, one connection a call.

    The name is resolved here, every address is checked, and the connection goes to the checked address itself, so that
    a name that changes in between leads nowhere. Behind a proxy the proxy resolves; then the name alone is judged.
    `allow_private` says whether a rule allows exactly this host. Redirects are followed on one host only, at most five,
    and never from https to http.
    """

    def __init__(
        self,
        allow_private: Callable[[str], bool],
        *,
        proxy_for: Callable[[WebUrl], str | None] = _usual_proxy,
        resolve: Callable[[str, int], Sequence[str]] | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._proxy_for = proxy_for
        self._resolve = resolve or _resolved
        self._tls = tls

    async def get(self, url: str, *, max_bytes: int, timeout: float) -> Fetched:
        """Get one page; `max_bytes` counts it unpacked, `timeout` is seconds for everything. Raises `ToolProblem`."""
        first = _checked_url(url)
        try:
            async with asyncio.timeout(timeout):
                return await self._follow(first, max_bytes)
        except TimeoutError:
            raise ToolProblem("web.timeout", host=first.host, seconds=f"{timeout:g}") from None

    async def _follow(self, url: WebUrl, max_bytes: int) -> Fetched:
        for _ in range(MAX_REDIRECTS + 1):
            got = await self._get(url, max_bytes)
            if isinstance(got, Fetched):
                return got
            target = _checked_url(got)
            if target.host != url.host or (url.scheme, target.scheme) == ("https", "http"):
                return Fetched(str(url), 302, "", b"", None, redirect_to=str(target))
            url = target
        raise ToolProblem("web.redirects", host=url.host, n=MAX_REDIRECTS)

    async def _get(self, url: WebUrl, max_bytes: int) -> Fetched | str:
        """One request: the page, or where it redirects to."""
        import httpx2

        proxy = self._proxy_for(url)
        hosts = await self._targets(url, proxy)
        tls = self._tls() if self._tls else httpx2.create_ssl_context()
        problem: Exception | None = None
        for host in hosts:
            target = httpx2.URL(str(url)).copy_with(host=host)
            try:
                async with httpx2.AsyncClient(trust_env=False, proxy=proxy, verify=tls) as client:
                    return await _ask(client, url, target, max_bytes)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                problem = error
            except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
                problem = error
                break
        said = visible(str(problem)) or type(problem).__name__
        raise ToolProblem("web.unreachable", host=url.host, problem=said) from None

    async def _targets(self, url: WebUrl, proxy: str | None) -> Sequence[str]:
        """What to connect to: checked addresses, or the name itself behind a proxy. Raises `ToolProblem`."""
        allowed = self._allow_private(url.host)
        if not allowed and names_inside(url.host):
            raise ToolProblem("web.private", host=url.host)
        if proxy is not None:
            return (url.host,)
        try:
            addresses = await asyncio.to_thread(self._resolve, url.host, url.port)
        except OSError as problem:
            raise ToolProblem("web.unresolved", host=url.host, problem=system_words(problem)) from None
        if not allowed and not all(map(is_public, addresses)):
            raise ToolProblem("web.private", host=url.host)
        return addresses[:_ADDRESSES_TRIED]


def _resolved(host: str, port: int) -> Sequence[str]:
    """All addresses of a name, in the system's order. Raises OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as problem:
        raise OSError(str(problem)) from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _checked_url(text: str) -> WebUrl:
    url = read_url(text)
    if isinstance(url, str):
        raise ToolProblem(f"web.bad_{url}", url=visible(text)[:200])
    return url


async def _ask(client: httpx2.AsyncClient, url: WebUrl, target: httpx2.URL, max_bytes: int) -> Fetched | str:
    """The request goes to `target`, but names `url`'s host in `Host` and in the certificate that is asked for."""
    import httpx2

    request = client.build_request(
        "GET",
        target,
        headers={**_HEADERS, "Host": url.netloc},
        extensions={
            "sni_hostname": url.host,
            "timeout": httpx2.Timeout(None, connect=_CONNECT_SECONDS).as_dict(),
        },
    )
    response = await client.send(request, stream=True)
    try:
        location = response.headers.get("location")
        if response.status_code in _REDIRECTS and location:
            return urljoin(str(url), location)
        body = await _read(response, url, max_bytes)
    finally:
        await response.aclose()
    kind = response.headers.get("content-type", "")
    media_type = kind.partition(";")[0].strip().lower()
    return Fetched(str(url), response.status_code, media_type, body, response.charset_encoding)


async def _read(response: httpx2.Response, url: WebUrl, max_bytes: int) -> bytes:
    """The body, unpacked in small pieces that are counted: a small archive of a huge page stops early."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    length = response.headers.get("content-length", "")
    too_large = ToolProblem("web.too_large", host=url.host, limit=max_bytes)
    if re.fullmatch("[0-9]{1,18}", length) and int(length) > max_bytes:
        raise too_large
    if packing not in ("identity", "", "gzip", "x-gzip"):
        raise ToolProblem("web.packing", host=url.host, packing=visible(packing))
    unpack = _gunzip() if "gzip" in packing else _as_it_is
    body = bytearray()
    try:
        async for packed in response.aiter_raw():
            for piece in unpack(packed):
                body += piece
                if len(body) > max_bytes:
                    raise too_large
    except zlib.error as problem:
        raise ToolProblem("web.unreachable", host=url.host, problem=str(problem)) from None
    return bytes(body)


def _as_it_is(packed: bytes) -> Iterable[bytes]:
    return (packed,)


def _gunzip() -> Callable[[bytes], Iterable[bytes]]:
    """Unpacks gzip that comes in pieces (RFC 1952: also several members in a row), never much at a time."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def unpack(packed: bytes) -> Iterable[bytes]:
        nonlocal unpacker
        while True:
            piece = unpacker.decompress(packed, _PIECE)
            if piece:
                yield piece
            packed = unpacker.unconsumed_tail
            if unpacker.eof and unpacker.unused_data:
                packed = unpacker.unused_data
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
            elif not packed and len(piece) < _PIECE:
                return

    return unpack
