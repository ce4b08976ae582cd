"""HTTP to one model server: a client made on first use, bounded waiting, nothing followed to another host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from maia import __version__
from maia.core.errors import ModelFailed
from maia.core.types import Failure, JsonValue
from maia.llm.debuglog import DebugLog, debug_path
from maia.llm.errors import failure_from_exception, failure_from_response, without
from maia.llm.target import WireTarget

if TYPE_CHECKING:
    import ssl

    import httpx2

MAX_ERROR_BYTES: Final = 256 * 1024
MAX_JSON_BYTES: Final = 32 * 1024 * 1024
LIST_TIMEOUT: Final = 15.0
_LOOPBACK: Final = ("localhost", "::1", "0.0.0.0", "::")


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


def preload() -> None:
    """Import the HTTP client, for a door that has a quiet moment after its first paint."""
    import httpx2  # noqa: F401 # pyright: ignore[reportUnusedImport] - imported for its effect on the next call


def join_url(base: str, path: str) -> str:
    """Base and path with exactly one slash between them; a path that is a whole URL stands for itself."""
    if path.startswith(("http://", "https://")):
        return path
    return base.rstrip("/") + "/" + path.lstrip("/") if path else base


def is_loopback(host: str) -> bool:
    return host in _LOOPBACK or host.endswith(".localhost") or host.startswith("127.")


class Channel:
    """The connection to one target, kept alive between calls. Close it with `aclose`."""

    def __init__(self, target: WireTarget) -> None:
        self.target = target
        self.host = urlsplit(target.base_url).netloc.rpartition("@")[2]
        self.secrets = tuple(_secrets(target))
        path = debug_path(os.environ)
        self._log = DebugLog(path, self.secrets) if path else None
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def exchange(
        self, method: str, url: str, body: bytes | None = None, *, timeout: float | None = None
    ) -> AsyncGenerator[Reply]:
        """Send a request and give its answer while the context is open. Leaving it closes an unread answer.

        Raises `CallFailed` when no answer came, also from reading the body; `timeout` bounds each silence.
        """
        try:
            async with self._open(method, url, body, timeout) as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                if self._log:
                    self._log.answer(response.status_code, headers)
                async with aclosing(self._chunks(response)) as chunks:
                    yield Reply(response.status_code, headers, chunks)
        except CallFailed:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if self._log:
                self._log.end(type(error).__name__)
            if isinstance(error, asyncio.CancelledError) or not self._is_http_error(error):
                raise
            # `from None`: an HTTP library's exception may quote headers, and with them the key.
            raise CallFailed(without(failure_from_exception(error, self.host), self.secrets)) from None

    async def aclose(self) -> None:
        """Close the kept connections. The next call opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    @asynccontextmanager
    async def _open(
        self, method: str, url: str, body: bytes | None, timeout: float | None
    ) -> AsyncGenerator[httpx2.Response]:
        import httpx2

        client = self._ready()
        idle = timeout or self.target.idle_timeout
        limits = httpx2.Timeout(idle, connect=min(self.target.connect_timeout, idle), pool=None)
        for _ in range(3):
            if self._log:
                self._log.request(method, url, body or b"")
            request = client.build_request(method, url, content=body, headers=self._headers(), timeout=limits)
            response = await client.send(request, stream=True)
            try:
                moved = self._moved(response)
                if moved is None:
                    yield response
                    return
                url = moved
            finally:
                await response.aclose()
        raise CallFailed(Failure("not_llm", self.host, 308, provider_text=f"redirected again and again → {url}"))

    def _moved(self, response: httpx2.Response) -> str | None:
        """Where a redirect leads that may be followed: same host, same method, and never from TLS to plain text."""
        if response.status_code not in (307, 308) or "location" not in response.headers:
            return None
        old, new = response.request.url, response.request.url.join(response.headers["location"])
        same = (old.scheme, old.host, old.port) == (new.scheme, new.host, new.port)
        upgraded = old.host == new.host and (old.scheme, new.scheme) == ("http", "https")
        return str(new) if same or upgraded else None

    async def _chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes]:
        encoded = response.headers.get("content-encoding", "identity") != "identity"
        async for chunk in response.aiter_bytes() if encoded else response.aiter_raw():
            if self._log:
                self._log.chunk(chunk)
            yield chunk
        if self._log:
            self._log.end("end")

    def _ready(self) -> httpx2.AsyncClient:
        import httpx2

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            parts = urlsplit(self.target.base_url)
            transport = httpx2.AsyncHTTPTransport(
                verify=_tls(parts.scheme == "https"),
                trust_env=False,
                proxy=_proxy(self.target.base_url),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=4, keepalive_expiry=50.0),
            )
            # trust_env would also read ~/.netrc, whose entry replaces the Authorization header.
            self._client = httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)
            self._loop = loop
        return self._client

    def _headers(self) -> dict[str, str]:
        target = self.target
        headers = {
            "user-agent": f"maia/{__version__}",
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",  # compressed streams arrive in lumps
        }
        anthropic = target.format == "anthropic-messages"
        if anthropic:
            headers["anthropic-version"] = "2023-06-01"
        if target.key:
            key = target.key.reveal().strip()
            if not key.isascii() or not key.isprintable():
                raise CallFailed(Failure("auth", self.host, code="malformed_key"))
            match target.options.auth or ("x-api-key" if anthropic else "bearer"):
                case "bearer":
                    headers["authorization"] = f"Bearer {key}"
                case "x-api-key":
                    headers["x-api-key"] = key
                case "none":
                    pass
        return headers | {name.lower(): value for name, value in target.headers.items()}

    @staticmethod
    def _is_http_error(error: BaseException) -> bool:
        import httpx2

        return isinstance(error, (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, UnicodeError))


def _secrets(target: WireTarget) -> list[str]:
    """Texts that must not be shown: the key, and the values of headers that may carry another one."""
    secrets = [target.key.reveal().strip()] if target.key else []
    for name, value in target.headers.items():
        if any(word in name.lower() for word in ("auth", "key", "token", "secret", "cookie")):
            secrets += [value, value.rpartition(" ")[2]]
    password = urlsplit(target.base_url).password
    return [secret for secret in [*secrets, password or ""] if secret]


def _tls(needed: bool) -> ssl.SSLContext:
    """The checked context with the system's authorities, or SSL_CERT_FILE / SSL_CERT_DIR; none are loaded for http."""
    import ssl

    import httpx2

    return httpx2.create_ssl_context() if needed else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for this URL. A server on this machine is never asked through one."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = getproxies()
    if is_loopback(host) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


async def get_json(target: WireTarget, path: str) -> JsonValue:
    """The JSON that the target answers to GET `base_url + path` (list of models, model info).

    Raises `ModelFailed` when it does not answer within 15 s of silence, refuses, or answers something else than JSON.
    """
    import json

    channel = Channel(target)
    try:
        async with channel.exchange("GET", join_url(target.base_url, path), timeout=LIST_TIMEOUT) as reply:
            body = await reply.read(MAX_JSON_BYTES)
            if reply.status != 200:
                failure = failure_from_response(
                    reply.status, reply.headers, body, channel.host, has_key=bool(target.key)
                )
                raise CallFailed(without(failure, channel.secrets))
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                failure = failure_from_response(200, reply.headers, body, channel.host)
                raise CallFailed(without(failure, channel.secrets)) from None
    except CallFailed as failed:
        raise ModelFailed(failed.failure) from None
    finally:
        await channel.aclose()
