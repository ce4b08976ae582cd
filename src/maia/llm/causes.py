"""What kept a call from being answered: an exception of the HTTP client or of the system as a `Failure`."""

from __future__ import annotations

import errno
import os
import socket
import ssl
from collections.abc import Iterator
from typing import Final

from maia.core.endings import Failure, FailureCause, FailureKind
from maia.llm.errors import clean

_BY_ERRNO: Final[dict[int, FailureCause]] = {
    errno.ECONNREFUSED: "refused",
    errno.ECONNRESET: "closed",
    errno.ECONNABORTED: "closed",
    errno.EPIPE: "closed",
    errno.EHOSTUNREACH: "unreachable",
    errno.ENETUNREACH: "unreachable",
    errno.ENETDOWN: "unreachable",
    errno.ETIMEDOUT: "no_connection",
}
_BY_CLASS: Final[dict[str, FailureCause]] = {
    "ConnectTimeout": "no_connection",
    "ReadTimeout": "silent",
    "WriteTimeout": "silent",
    "RemoteProtocolError": "closed",
}
"""httpx2's exceptions that say enough by themselves; others are looked at through what is behind them."""

_TIMEOUT: Final = frozenset({"TimeoutException", "TimeoutError", "APITimeoutError"})
_NETWORK: Final = frozenset(
    {"NetworkError", "ProtocolError", "ProxyError", "UnsupportedProtocol", "TransportError", "APIConnectionError"}
    | {"OSError", "UnicodeError", "ImportError", "error"}  # `zlib.error`: a body that is not what its header says
)


def failure_from_exception(error: BaseException, host: str) -> Failure:
    """The failure behind an exception: a timeout or the network for those of an HTTP client, `other` for a defect."""
    names = {cls.__name__ for cls in type(error).__mro__}
    kind: FailureKind = "timeout" if names & _TIMEOUT else "network" if names & _NETWORK else "other"
    chain = list(_chain(error))
    words = [word for word in map(_words, chain) if word]
    causes: list[FailureCause] = [found for found in map(_cause, reversed(chain)) if found]
    cause = causes[0] if causes else "system"
    code = "certificate" if cause == "certificate" else type(error).__name__
    return Failure(kind, host, code=code, provider_text=clean(words[-1] if words else ""), cause=cause)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and those behind it, the root cause last."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _words(error: BaseException) -> str:
    """What an exception says; system errors in the system's words, without their number."""
    if isinstance(error, socket.gaierror):
        return str(error.strerror or "")
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0 and not isinstance(error, ssl.SSLError):  # TLS has numbers of its own
        return os.strerror(number)
    return str(error).strip()


def _cause(error: BaseException) -> FailureCause | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "certificate"
    if isinstance(error, ssl.SSLError):
        return "not_tls" if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST") else None
    if isinstance(error, socket.gaierror):
        return "unknown_host"
    found = _BY_ERRNO.get(error.errno) if isinstance(error, OSError) and error.errno is not None else None
    return found or _BY_CLASS.get(type(error).__name__)
