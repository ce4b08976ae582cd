"""HTTP to one model server: connected on first use, bounded waiting, nothing followed to another host.

Works on `httpcore2`, the engine below httpx2: half the CPU at start-up of the whole client, and nothing of what a
client adds (cookies, netrc, redirects, proxies from the environment) happens unasked.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from maia import __version__
from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonValue
from maia.core.proxy import environment_proxy
from maia.llm.addresses import is_loopback
from maia.llm.causes import failure_from_exception
from maia.llm.debuglog import DebugLog, debug_path
from maia.llm.errors import failure_from_response, without
from maia.llm.pools import give_back, lend, without_surplus
from maia.llm.target import WireTarget

if TYPE_CHECKING:
    import httpcore2

MAX_ERROR_BYTES: Final = 256 * 1024
MAX_JSON_BYTES: Final = 32 * 1024 * 1024
LIST_TIMEOUT: Final = 15.0
_SAFE: Final = "/%:@!$&'()*+,;=~-._"


class CallFailed(Exception):
    """A request failed before or while its answer came; `failure` says how. Stays inside `llm`."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.kind)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer whose body is still to be read. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read(self, limit: int) -> bytes:
        """The body, cut at `limit` bytes."""
        body = bytearray()
        async for chunk in self.chunks:
            body += chunk
            if len(body) >= limit:
                break
        return bytes(body[:limit])


def join_url(base: str, path: str) -> str:
    """Base and path with exactly one slash between them. The path never leads to another host: keys go there."""
    return base.rstrip("/") + "/" + path.lstrip("/") if path else base


class Channel:
    """The way to one target; its connections are kept alive between calls. Close it with `aclose`."""

    def __init__(self, target: WireTarget) -> None:
        self.target = target
        self.host = _split(target.base_url).netloc.rpartition("@")[2]
        self.secrets = tuple(_secrets(target))
        path = debug_path(os.environ)
        self._log = DebugLog(path, self.secrets) if path else None

    @asynccontextmanager
    async def exchange(
        self, method: str, url: str, body: bytes | None = None, *, timeout: float | None = None
    ) -> AsyncGenerator[Reply]:
        """Send a request and give its answer while the context is open. Leaving it closes an unread answer.

        Raises `CallFailed` when no answer came, also from reading the body; `timeout` bounds each silence, in seconds.
        """
        try:
            async with self._open(method, url, body, timeout or self.target.idle_timeout) as reply:
                yield reply
        except (Exception, asyncio.CancelledError) as error:
            if self._log:
                self._log.end(type(error).__name__)
            if isinstance(error, (CallFailed, asyncio.CancelledError)) or not _is_http_error(error):
                raise
            # `from None`: an HTTP library's exception may quote headers, and with them the key.
            raise CallFailed(without(failure_from_exception(error, self.host), self.secrets)) from None

    async def aclose(self) -> None:
        """Close connections that nobody else uses. The next call opens new ones."""
        await give_back(self)

    @asynccontextmanager
    async def _open(self, method: str, url: str, body: bytes | None, idle: float) -> AsyncGenerator[Reply]:
        connect = min(self.target.connect_timeout, idle)
        limits = {"connect": connect, "read": idle, "write": idle, "pool": None}
        for _ in range(3):
            if self._log:
                self._log.request(method, url, body or b"")
            async with lend(self, _proxy(self.target.base_url) or "", _parsed_proxy).stream(
                method, _parsed(url), headers=self._headers(), content=body, extensions={"timeout": limits}
            ) as response:
                headers = {n.decode("latin-1").lower(): v.decode("latin-1") for n, v in response.headers}
                if self._log:
                    self._log.answer(response.status, headers)
                moved = _moved(url, response.status, headers.get("location", ""))
                if moved is None:
                    try:
                        async with aclosing(self._chunks(response, headers)) as chunks:
                            yield Reply(response.status, headers, chunks)
                    finally:
                        await without_surplus(response)
                    return
                url = moved
        raise CallFailed(Failure("not_llm", self.host, 308, provider_text=f"redirected again and again → {url}"))

    async def _chunks(self, response: httpcore2.Response, headers: Mapping[str, str]) -> AsyncGenerator[bytes]:
        # None was asked for, as compressed streams arrive in lumps; some gateways compress all the same.
        unpack = zlib.decompressobj(47) if headers.get("content-encoding", "") in ("gzip", "deflate") else None
        async with aclosing(response.aiter_stream()) as raw:
            async for chunk in raw:
                data = unpack.decompress(chunk) if unpack else chunk
                if self._log:
                    self._log.chunk(data)
                yield data
        if self._log:
            self._log.end("end")

    def _headers(self) -> list[tuple[bytes, bytes]]:
        """Request headers. Raises `CallFailed` for a key or value that no header can carry, without quoting it."""
        target = self.target
        headers = {
            "user-agent": f"maia/{__version__}",
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",
        }
        anthropic = target.format == "anthropic-messages"
        if anthropic:
            headers["anthropic-version"] = "2023-06-01"
        headers |= self._credentials("x-api-key" if anthropic else "bearer")
        headers |= {name.lower(): value.strip() for name, value in target.headers.items()}
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                code = "malformed_key" if name in ("authorization", "x-api-key") else "malformed_header"
                raise CallFailed(Failure("auth", self.host, code=code, provider_text=name))
        return [(name.encode(), value.encode()) for name, value in headers.items()]

    def _credentials(self, usual: str) -> dict[str, str]:
        if self.target.key:
            key = self.target.key.reveal().strip()
            match self.target.options.auth or usual:
                case "bearer":
                    return {"authorization": f"Bearer {key}"}
                case "x-api-key":
                    return {"x-api-key": key}
                case _:
                    pass
        return _basic(self.target.base_url)


def _is_http_error(error: BaseException) -> bool:
    import httpcore2

    kinds = (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.ProxyError,
        httpcore2.UnsupportedProtocol,
    )
    return isinstance(error, (*kinds, OSError, UnicodeError, ImportError, zlib.error))


def _parsed(url: str) -> httpcore2.URL:
    """The URL in bytes: host in IDNA, path quoted, user and password left out. Raises `CallFailed` when it is none."""
    import httpcore2

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError:
        raise CallFailed(Failure("network", code="InvalidURL")) from None
    if parts.scheme not in ("http", "https") or not name:
        raise CallFailed(Failure("network", host, code="InvalidURL"))
    target = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else "")
    return httpcore2.URL(scheme=parts.scheme, host=name, port=port, target=target)


def _moved(url: str, status: int, location: str) -> str | None:
    """Where a redirect leads that may be followed: same host, same method, and never from TLS to plain text."""
    if status not in (307, 308) or not location:
        return None
    target = urljoin(url, location)
    old, new = urlsplit(url), urlsplit(target)
    same = (old.scheme, old.netloc) == (new.scheme, new.netloc)
    upgraded = old.hostname == new.hostname and (old.scheme, new.scheme) == ("http", "https")
    return target if same or upgraded else None


def _split(url: str) -> SplitResult:
    """The parts of a URL; all empty when it is none, which `_parsed` then reports."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _basic(url: str) -> dict[str, str]:
    """The header for a user and a password inside the URL."""
    parts = _split(url)
    if not parts.username and not parts.password:
        return {}
    from base64 import b64encode

    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return {"authorization": "Basic " + b64encode(pair.encode()).decode()}


def _secrets(target: WireTarget) -> list[str]:
    """Texts that must not be shown: the key, and the values of headers that may carry another one."""
    secrets = [target.key.reveal().strip()] if target.key else []
    for name, value in target.headers.items():
        if any(word in name.lower() for word in ("auth", "key", "token", "secret", "cookie")):
            secrets += [value, value.rpartition(" ")[2]]
    secrets += [_split(target.base_url).password or ""]
    secrets += [value.rpartition(" ")[2] for value in _basic(target.base_url).values()]
    return [secret for secret in secrets if secret]


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for this URL. A server on this machine is never asked through one."""
    parts = _split(url)
    if is_loopback(parts.hostname or ""):
        return None
    return environment_proxy(parts.scheme, parts.netloc.rpartition("@")[2])


def _parsed_proxy(url: str) -> httpcore2.Proxy:
    """The proxy in the engine's form. Raises `CallFailed` when its address is none, without quoting it."""
    import httpcore2

    parts = _split(url)
    try:
        where = httpcore2.URL(scheme=parts.scheme, host=parts.hostname or "", port=parts.port, target="/")
    except (ValueError, TypeError):
        raise CallFailed(Failure("network", code="InvalidProxy")) from None
    if parts.scheme not in ("http", "https", "socks5", "socks5h") or not parts.hostname:
        raise CallFailed(Failure("network", parts.hostname or "", code="InvalidProxy"))
    auth = (unquote(parts.username or ""), unquote(parts.password or "")) if parts.username else None
    return httpcore2.Proxy(where, auth=auth)


async def get_json(target: WireTarget, path: str) -> JsonValue:
    """The JSON that the target answers to GET `base_url + path` (list of models, model info).

    Raises `ModelFailed` when it is silent for 15 s, refuses, or answers something else than JSON.
    """
    channel = Channel(target)
    try:
        async with channel.exchange("GET", join_url(target.base_url, path), timeout=LIST_TIMEOUT) as reply:
            body = await reply.read(MAX_JSON_BYTES)
            if reply.status == 200:
                try:
                    return read_json(body)
                except ValueError:
                    pass  # told below as what it is: no model server
            has_key = bool(target.key)
            failure = failure_from_response(reply.status, reply.headers, body, channel.host, has_key=has_key)
            raise ModelFailed(without(failure, channel.secrets))
    except CallFailed as failed:
        raise ModelFailed(failed.failure) from None
    finally:
        await channel.aclose()
