from __future__ import annotations

import errno
import socket
import ssl

import httpx2
import pytest

from maia.core.endings import Failure, FailureCause, FailureKind
from maia.llm.causes import failure_from_exception


def behind(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


def connect_error(inner: BaseException) -> BaseException:
    return behind(httpx2.ConnectError("All connection attempts failed"), inner)


def certificate_error() -> ssl.SSLCertVerificationError:
    return ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")


def wrong_version() -> ssl.SSLError:
    error = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    error.reason = "WRONG_VERSION_NUMBER"
    return error


@pytest.mark.parametrize(
    ("error", "kind", "cause", "words"),
    [
        (connect_error(OSError(errno.ECONNREFUSED, "x")), "network", "refused", "Connection refused"),
        (connect_error(OSError(errno.ENETUNREACH, "x")), "network", "unreachable", "Network is unreachable"),
        (connect_error(socket.gaierror(-2, "Name or service not known")), "network", "unknown_host", "Name or service"),
        (connect_error(certificate_error()), "network", "certificate", "certificate verify failed"),
        (connect_error(wrong_version()), "network", "not_tls", "wrong version number"),
        (httpx2.ConnectTimeout("x"), "timeout", "no_connection", "x"),
        (httpx2.ReadTimeout("x"), "timeout", "silent", "x"),
        (httpx2.RemoteProtocolError("peer closed"), "network", "closed", "peer closed"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "network", "closed", "Connection reset by peer"),
        (TimeoutError("slow"), "timeout", "system", "slow"),
        (TypeError("defect"), "other", "system", "defect"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_an_exception_says_what_kept_the_server_from_answering(
    error: BaseException, kind: FailureKind, cause: FailureCause, words: str
) -> None:
    failure = failure_from_exception(error, "host")
    code = "certificate" if cause == "certificate" else type(error).__name__
    assert failure == Failure(kind, "host", code=code, provider_text=failure.provider_text, cause=cause)
    assert words in failure.provider_text
    assert "Errno" not in failure.provider_text
