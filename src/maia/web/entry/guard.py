"""What every request passes before any route, and what every answer carries: hosts, senders, sizes, headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maia.web.entry.hosts import Hosts, is_foreign

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
"""What an answer carries unless it says otherwise; nothing of anybody is kept by a browser or on the way."""
Told: TypeAlias = Callable[[Mapping[str, str], int, str, str, bool], tuple[str, str]]
"""A refusal: of headers, status, code, key of the words and whether a browser shows it, the media type and body."""
_RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
LARGEST_BODY: Final = 2_000_000
"""Bytes of a request that is no upload."""
LARGEST_UPLOAD: Final = 26_000_000
"""Bytes of one that is; the file itself may be a little smaller, so that its own words are told."""
_REFUSALS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("bad_address", "web.error.bad_address"),
    403: ("foreign_request", "web.error.foreign"),
    413: ("too_large", "web.error.too_large"),
    421: ("host_unknown", "web.error.host_unknown"),
}
"""Code and words by the status."""
_NOWHERE: Final = "/nowhere"
"""A place that has no page: what is opened by an address that nothing can have."""
_UPLOAD: Final = re.compile(r"/api/v1/conversations/[0-9a-z]{1,40}/attachments")


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, hosts: Hosts, told: Told) -> None:
        self._app = app
        self._hosts = hosts
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["type"] == "websocket":
            await self._line(scope, receive, send, headers)
            return
        if not self._hosts.knows(headers.get("host", "")) and not _is_dress(scope):
            await self._refuse(scope, send, headers, 421)
        elif is_foreign(scope["method"], headers):
            await self._refuse(scope, send, headers, 403)
        elif b"%00" in scope["query_string"] or "\x00" in scope["path"]:
            if not _is_page(scope, headers):
                await self._refuse(scope, send, headers, 400)  # no text that anything keeps has a NUL in it
                return
            nowhere = {**scope, "path": _NOWHERE, "raw_path": _NOWHERE.encode(), "query_string": b""}
            await self._pass(nowhere, receive, send, LARGEST_BODY)
        elif _length(headers) > (largest := _largest(scope)):
            await self._refuse(scope, send, headers, 413)
        else:
            await self._pass(scope, receive, send, largest)

    async def _line(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        """A line is opened by our own pages only: a browser says who asks, and no site may be let in by silence."""
        is_ours = "origin" in headers and not is_foreign("GET", headers) and self._hosts.knows(headers.get("host", ""))
        if is_ours and "\x00" not in scope["path"]:
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _refuse(self, scope: Scope, send: Send, headers: Mapping[str, str], status: int) -> None:
        code, key = _REFUSALS[status]
        kind, words = self._told(headers, status, code, key, _is_page(scope, headers))
        body = words.encode()
        sent: list[Any] = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), *_RAW]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})

    async def _pass(self, scope: Scope, receive: Receive, send: Send, largest: int) -> None:
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > largest:
                raise HTTPException(413)
            return message

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", [])}
                message = {
                    **message,
                    "headers": [*message.get("headers", []), *(pair for pair in _RAW if pair[0] not in own)],
                }
            await send(message)

        await self._app(scope, bounded, dressed)


def _is_page(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Whether somebody opened this address in a browser, who reads a page and no codes."""
    opened = "text/html" in headers.get("accept", "") and headers.get("sec-fetch-mode", "navigate") == "navigate"
    return opened and not scope["path"].startswith("/api/")


def _is_dress(scope: Scope) -> bool:
    """Whether it is a style sheet or script of the pages, the same everywhere, which an error page needs, too."""
    return scope["method"] == "GET" and scope["path"].startswith("/static/")


def _largest(scope: Scope) -> int:
    return LARGEST_UPLOAD if scope["method"] == "POST" and _UPLOAD.fullmatch(scope["path"]) else LARGEST_BODY


def _length(headers: dict[str, str]) -> int:
    given = headers.get("content-length", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 16 else LARGEST_UPLOAD + 1
