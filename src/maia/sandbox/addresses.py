"""Which network addresses a page may be fetched from: public ones only, whatever form they are written in (T5.06)."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_EMBEDDING: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"), IPv6Network("::ffff:0:0:0/96"))
"""IPv6 networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052), mapped (RFC 4291), translated (RFC 2765)."""

_REFUSED: Final = (
    IPv6Network("::/96"),  # compatible, deprecated (RFC 4291)
    IPv6Network("64:ff9b:1::/48"),  # local NAT64 (RFC 8215)
    IPv6Network("2001::/32"),  # Teredo (RFC 4380)
    IPv6Network("fec0::/10"),  # site-local, deprecated (RFC 3879)
)

_REFUSED_V4: Final = (
    IPv4Network("168.63.129.16/32"),  # Azure's channel to the host lies in public space
    IPv4Network("192.0.0.0/24"),  # protocol assignments (RFC 6890), Oracle's metadata among them
    IPv4Network("192.88.99.0/24"),  # 6to4 relays, deprecated (RFC 7526)
)

_LOCAL_NAMES: Final = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "localdomain")
"""Last labels of names that lead inside (RFC 6761, 6762, 8375, ICANN's private-use list)."""


def is_public(address: str) -> bool:
    """Whether a numeric address, as the resolver gives it, lies in the public internet."""
    try:
        number = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return _is_public4(number) if isinstance(number, IPv4Address) else _is_public6(number)


def _is_public4(number: IPv4Address) -> bool:
    return number.is_global and not number.is_multicast and not any(number in network for network in _REFUSED_V4)


def _is_public6(number: IPv6Address) -> bool:
    if any(number in network for network in _EMBEDDING):
        return _is_public4(IPv4Address(int(number) & 0xFFFFFFFF))
    if number.sixtofour is not None:
        return _is_public4(number.sixtofour)
    return number.is_global and not number.is_multicast and not any(number in network for network in _REFUSED)


def names_inside(host: str) -> bool:
    """Whether a host leads inside by its name alone: a private address in any spelling, or a local name.

    Needed where a proxy resolves the name; elsewhere the resolved addresses are checked as well.
    """
    try:
        return not is_public(str(ip_address(host)))
    except ValueError:
        pass
    try:
        return not is_public(socket.inet_ntoa(socket.inet_aton(host)))  # 127.1, 0x7f.1, 017700000001, 2130706433
    except OSError:
        pass
    return "." not in host or any(host.endswith(f".{name}") for name in _LOCAL_NAMES)
