"""Files that pages need, under addresses that change with their content, so that browsers keep them for ever."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, ready to be sent."""

    body: bytes
    media_type: str
    digest: str


@cache
def assets() -> dict[str, Asset]:
    """All files by their path in the folder. Files of a type that is not known here are not served."""
    found: dict[str, Asset] = {}
    for path in sorted(_FOLDER.rglob("*")):
        media_type = _TYPES.get(path.suffix)
        if media_type is not None and path.is_file():
            body = path.read_bytes()
            found[path.relative_to(_FOLDER).as_posix()] = Asset(body, media_type, sha256(body).hexdigest()[:12])
    return found


@cache
def packed(name: str) -> bytes:
    """The same file for browsers that unpack it: a quarter of the bytes. Pages are not packed, they hold secrets.

    Raises `KeyError` for one that is not there.
    """
    import gzip

    return gzip.compress(assets()[name].body, 9, mtime=0)


def address(name: str) -> str:
    """Where a page finds a file. Raises `KeyError` for one that is not there."""
    return f"/static/{assets()[name].digest}/{name}"
