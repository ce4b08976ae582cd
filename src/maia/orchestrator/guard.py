"""What stands before the server on http: path, Host and Origin, bearer token, and how much is taken in at once."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from maia.core.errors import MaiaError
from maia.orchestrator.address import PATH, is_address, is_loopback
from maia.orchestrator.calls import Identity

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES: Final = 10 * 1024 * 1024
MOST_BODY_BYTES: Final = 4 * MAX_BODY_BYTES
"""Of all requests that are being read in at one time."""
IDENTITY: Final = "maia.identity"
"""Where the guard leaves the `Identity` in the scope of a request."""

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer of ours instead of the server's."""

    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


_NOWHERE: Final = Refusal(404, f"Nothing here; the server is at {PATH}")
_OTHER_HOST: Final = Refusal(421, "This Host is not served")
_OTHER_ORIGIN: Final = Refusal(403, "This Origin is not served")
_NO_TOKEN: Final = Refusal(
    401, "A bearer token is needed: maia mcp token create NAME", ((b"www-authenticate", b"Bearer"),)
)
_TOO_BIG: Final = Refusal(413, f"Body of more than {MAX_BODY_BYTES // 1024 // 1024} MB")
_TOO_MUCH: Final = Refusal(503, "Too much is being sent at once; try again", ((b"retry-after", b"1"),))


class Guard:
    """Lets through what may reach the server. `identify` knows the tokens; `host` is the address we listen on.

    A page in a browser that was made to reach this address under another name (DNS rebinding) is stopped by its `Host`
    and `Origin`, before any token is looked at.
    """

    def __init__(self, app: App, identify: Callable[[str], Identity | None], host: str) -> None:
        self._app = app
        self._identify = identify
        self._host = host
        self._taken_in = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        size = _size(scope, headers)
        refusal = self._refusal(scope, headers, size)
        if refusal is not None:
            await _refuse(send, refusal)
        else:
            await self._pass_on(scope, receive, send, size)

    def _refusal(self, scope: Scope, headers: dict[str, str], size: int) -> Refusal | None:
        if scope["path"] != PATH:
            return _NOWHERE
        if not is_expected_host(headers.get("host", ""), self._host):
            return _OTHER_HOST
        if not _is_expected_origin(headers.get("origin"), self._host):
            return _OTHER_ORIGIN
        identity = self._identity(headers.get("authorization", ""))
        if identity is None:
            return _NO_TOKEN
        if size > MAX_BODY_BYTES:
            return _TOO_BIG
        if self._taken_in + size > MOST_BODY_BYTES:
            return _TOO_MUCH
        scope[IDENTITY] = identity
        # The SDK keeps a session for whoever opened it, by the name in here.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=identity.name, scopes=[]))
        return None

    def _identity(self, authorization: str) -> Identity | None:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        try:
            return self._identify(token.strip())
        except MaiaError:
            return None  # nobody is let in while the file of the tokens cannot be read

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, size: int) -> None:
        """The room that a body takes is free again once it has been read."""
        held = size
        self._taken_in += held

        async def counted() -> MutableMapping[str, Any]:
            nonlocal held
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body"):
                self._taken_in -= held
                held = 0
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            self._taken_in -= held


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _size(scope: Scope, headers: dict[str, str]) -> int:
    """Bytes of the body as announced; one of unknown length may have as many as any."""
    if scope["method"] != "POST":
        return 0
    announced = headers.get("content-length", "")
    return int(announced) if announced.isascii() and announced.isdigit() else MAX_BODY_BYTES


def is_expected_host(given: str, listening: str) -> bool:
    """Whether a `Host` names this machine as it listens: the loopback names, or, beyond the loopback, any address.

    A name would be no protection there: any can be made to lead here. What protects is the token.
    """
    name = _name(given)
    if name in _LOCAL or name == listening.lower():
        return True
    return not is_loopback(listening) and is_address(name)


def _is_expected_origin(given: str | None, listening: str) -> bool:
    """Programs send none. A page of this machine may be one of the person's own tools."""
    if given is None:
        return True
    scheme, _, rest = given.partition("://")
    return scheme in ("http", "https") and "/" not in rest and is_expected_host(rest, listening)


def _name(host: str) -> str:
    """`localhost:80`, `[::1]:80`, `::1` without the port and the brackets."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if name.count(":") == 1 else name


async def _refuse(send: Send, refusal: Refusal) -> None:
    """An answer without having read the body, so the connection is of no more use."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": refusal.text}}
    body = json.dumps(error).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *refusal.headers,
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
