"""Where the door listens on http, before anything is loaded that serves there."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final

from maia.core.errors import UsageProblem, system_words

PATH: Final = "/mcp"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one. Raises `UsageProblem` where the address cannot be had."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except (OSError, OverflowError, UnicodeError) as problem:
        why = system_words(problem) if isinstance(problem, OSError) else str(problem)
        raise UsageProblem("mcp.listen", host=host, port=port, why=why) from problem
    return listening


def url_of(listening: socket.socket, host: str) -> str:
    """Where clients reach it."""
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(name: str) -> bool:
    """Whether a host is written as numbers."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
