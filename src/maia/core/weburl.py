"""Reads a web address strictly into the one form that rules judge and that is connected to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

UrlFault: TypeAlias = Literal["scheme", "credentials", "host", "form"]
"""Why an address is not taken: not http(s); a user or password in it; no usable host; anything else."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_DEVIATING: Final = frozenset("ßς\u200c\u200d")
"""Characters whose encoding in a host name depends on the edition of IDNA (UTS #46): never guessed."""


@dataclass(frozen=True, slots=True)
class WebUrl:
    """An http(s) address without user, fragment and default port. `host` is in lower case, ASCII, without brackets."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def netloc(self) -> str:
        """Host and port as the `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"


def read_url(text: str) -> WebUrl | UrlFault:
    """The address that `text` names, or why it names none. `example.org/x` is taken as https.

    What readers of addresses disagree about (backslashes, blanks and control characters, `%` in a host, two forms of
    one name) is refused, so that the host that was judged is the host that is asked.
    """
    text = text.strip()
    if re.search(r"[\x00-\x20\x7f\\]", text):
        return "form"
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) or re.match(r"[A-Za-z0-9.-]+:\d+(/|$)", text):
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return "host"
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        return "scheme"
    if "@" in parts.netloc:
        return "credentials"
    host = _host(parts.hostname or "")
    if host is None:
        return "host"
    target = _target(parts.path, parts.query)
    return WebUrl(scheme, host, _DEFAULT_PORTS[scheme] if port is None else port, target)


@cache
def _plain_host() -> re.Pattern[str]:
    return re.compile(r"[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?")


def _host(name: str) -> str | None:
    if ":" in name:
        try:
            return str(IPv6Address(name))
        except ValueError:
            return None
    name = name.lower().removesuffix(".")
    if not name.isascii():
        if _DEVIATING & set(name):
            return None
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    return name if _plain_host().fullmatch(name) and ".." not in name else None


def _target(path: str, query: str) -> str:
    """Path and query in ASCII; what is already encoded stays as it is."""
    from urllib.parse import quote

    safe = "%/:?#[]@!$&'()*+,;=-._~|"
    target = quote(path, safe=safe.replace("?", "").replace("#", "")) or "/"
    return f"{target}?{quote(query, safe=safe)}" if query else target


@lru_cache(256)
def is_loopback_host(host: str) -> bool:
    """Whether a host is this machine: by its address, or by the names that are reserved for it (RFC 6761).

    A name that only begins like such an address is anybody's.
    """
    name = host.lower().removesuffix(".").removeprefix("[").removesuffix("]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
