"""Which requests come from our own pages: by the names this server has, and by what a browser says of the sender."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which this server may be asked; a page of another site that points its name here is refused.

    A server on loopback answers to loopback alone. One that is open to a network answers to any bare address, which no
    name server can give away, and to the `names` it was told.
    """

    is_loopback: bool
    names: frozenset[str] = frozenset()

    def knows(self, host: str) -> bool:
        """Whether the `Host` of a request is one of ours."""
        name = host_name(host)
        if name in self.names or name == "localhost":
            return True
        found = _address(name)
        return found == "loopback" if self.is_loopback else found != "none"


@lru_cache(256)
def _address(name: str) -> Literal["none", "loopback", "other"]:
    """What kind of bare address a name is. Requests come with the same few names, and to read one takes a while."""
    try:
        return "loopback" if ipaddress.ip_address(name).is_loopback else "other"
    except ValueError:
        return "none"


def host_name(host: str) -> str:
    """The name in a `Host` header, without its port and brackets; empty for one that is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_foreign(method: str, headers: Mapping[str, str]) -> bool:
    """Whether another site sent this request. Header names are in lower case.

    A page of ours keeps its address to itself (`Referrer-Policy: no-referrer`) and sends a form with the origin `null`;
    then only a browser's word `same-origin` counts. `same-site` is foreign, too: other programs on this machine are
    other ports of one site. Only opening a page by a link or the address line may come from elsewhere; the cookie then
    stays at home (`SameSite=Strict`).
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin == "null":
        return site != "same-origin"
    if origin is not None and not _is_own(origin, headers.get("host", "")):
        return True
    if site in (None, "same-origin", "none"):
        return False
    is_page = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (method in SAFE and is_page)


def _is_own(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()
