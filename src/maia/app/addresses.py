"""Model servers that people add by address: what an address may be, and the setting that it stands for."""

from __future__ import annotations

import re
import socket
import unicodedata
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from maia.core.errors import MaiaError, system_words
from maia.core.jsonvalue import JsonObject
from maia.database.providers import BY_PERSON, ProviderRow
from maia.llm.addresses import is_loopback_url, url_problem
from maia.llm.providers import LOCAL_SERVERS
from maia.llm.providers import PROVIDERS as SERVED
from maia.sandbox.addresses import is_public
from maia.workspace.models.supply import Address

Resolve = Callable[[str, int], Sequence[str]]
"""(host, port) → numeric addresses. Raises OSError."""

_METADATA: Final = frozenset(("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"))
"""Where clouds tell a machine its own secrets, beside the link-local addresses (Alibaba, Azure, Oracle, AWS)."""
_RESERVED: Final = frozenset((*(each.name for each in SERVED), *(each.name for each in LOCAL_SERVERS), "offline"))
_KEY_PREFIX: Final = "MAIA_AT_"


def provider_of(address: Address, taken: Sequence[str], resolve: Resolve) -> ProviderRow:
    """The provider that an address becomes. Raises `MaiaError` with what is wrong with its name or address."""
    made = id_of(address.name)
    if not made:
        raise MaiaError("provider.name_unusable")
    if made in _RESERVED or made in taken:
        raise MaiaError("provider.name_taken", name=address.name)
    url = address.url.strip()
    if problem := url_problem(url):
        raise MaiaError(f"provider.{problem.rpartition('.')[2]}")
    places = reached(url, resolve)
    is_plain = url.lower().startswith("http://")
    if address.key is not None and is_plain and any(map(is_public, places)):
        raise MaiaError("provider.key_in_clear")
    variable = _KEY_PREFIX + made.upper().replace("-", "_") if address.key is not None else None
    kind = "local" if is_loopback_url(url) else "api"
    return ProviderRow(made, address.name, kind, url, variable, BY_PERSON, format=address.format)


def id_of(name: str) -> str:
    """The provider's id of a name: its letters and digits, without accents."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")


def reached(url: str, resolve: Resolve) -> Sequence[str]:
    """The numeric addresses behind a URL. Raises `MaiaError` where one is for a network's own services."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        places = resolve(host, parts.port or (80 if parts.scheme == "http" else 443))
    except OSError as error:
        raise MaiaError("provider.unresolved", host=host, problem=system_words(error)) from None
    if any(map(_is_forbidden, places)):
        raise MaiaError("provider.forbidden_place", host=host)
    return places


def resolved(host: str, port: int) -> Sequence[str]:
    """All addresses of a name. Raises OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as problem:
        raise OSError(str(problem)) from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_forbidden(place: str) -> bool:
    """Link-local, multicast, and what is named above, also where an IPv6 address wraps it."""
    number = ip_address(place.partition("%")[0])
    if isinstance(number, IPv6Address):
        number = number.ipv4_mapped or number.sixtofour or number
    return number.is_link_local or number.is_multicast or str(number) in _METADATA


def entry_of(row: ProviderRow) -> JsonObject:
    """The entry of the setting `endpoints` that such a provider stands for."""
    entry: JsonObject = {"format": row.format, "url": row.base_url}
    return {**entry, "key_env": row.secret_name} if row.secret_name else entry
