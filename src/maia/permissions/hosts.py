"""Hosts as `WebFetch(domain:…)` rules see them."""

from __future__ import annotations

import re
import socket

from maia.core.weburl import read_url
from maia.permissions import wildcard


def host_of(value: str) -> str:
    """A host as compared: of a URL or of `host:port`, as the fetcher reads it; empty for what readers disagree about.

    An address is in its usual form: `0x7f.1` is `127.0.0.1`.
    """
    read = read_url(value.strip())
    if read == "credentials":
        scheme, _, rest = value.strip().rpartition("://")
        authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
        read = read_url(f"{scheme or 'https'}://{authority.rpartition('@')[2]}")
    return "" if isinstance(read, str) else _address(read.host)


def _address(host: str) -> str:
    if host.startswith("::ffff:"):
        import ipaddress  # for the one address in a thousand

        return str(ipaddress.IPv6Address(host).ipv4_mapped)
    if not re.fullmatch(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}", host):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return host


def host_matches(pattern: str, value: str) -> bool:
    """Whether the pattern of `domain:` names the host of a value: itself, or with `*.` every host below."""
    wanted, host = pattern.rstrip(".").lower(), host_of(value)
    if not host:
        return False
    if wanted.startswith("*."):
        return host.endswith(host_of(wanted[2:]).join((".", ""))) and len(host) > len(wanted) - 1
    if "*" in wanted:
        return wildcard.matches(wildcard.segments(wanted), host)
    return host == host_of(wanted)
