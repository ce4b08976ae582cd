"""Whether what is sent stays on this machine: decided by the host that is spoken to, never by a name (N-10.08)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal
from urllib.parse import urlsplit

from maia.core.weburl import is_loopback_host


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a message will go.

    `here`: a model inside this process. `endpoint`: a server, at `url`. `program`: an agent program, which speaks to a
    service of its own. `auto`: chosen after the message is looked at. `unknown`: nobody knows.
    """

    kind: Literal["here", "endpoint", "program", "auto", "unknown"]
    url: str = ""


HERE: Final = Destination("here")
PROGRAM: Final = Destination("program")
AUTO: Final = Destination("auto")
UNKNOWN: Final = Destination("unknown")


def is_local(destination: Destination, local_hosts: Sequence[str] = ()) -> bool:
    """Whether nothing leaves: a model in here, or a server on this machine or on a host that counts as such (R-2.271).

    What is not known counts as remote.
    """
    match destination.kind:
        case "here":
            return True
        case "endpoint":
            host = _host_of(destination.url)
            return is_loopback_host(host) or (host != "" and host in {_plain(each) for each in local_hosts})
        case "program" | "auto" | "unknown":
            return False


def all_local(destinations: Sequence[Destination], local_hosts: Sequence[str] = ()) -> bool:
    """Whether nothing leaves although several models get it; of no model nothing is known (R-2.273)."""
    return bool(destinations) and all(is_local(each, local_hosts) for each in destinations)


def _host_of(url: str) -> str:
    try:
        return _plain(urlsplit(url if "://" in url else f"//{url}").hostname or "")
    except ValueError:
        return ""


def _plain(host: str) -> str:
    """A name in small letters, an address in its shortest form."""
    host = host.lower().rstrip(".")
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)
