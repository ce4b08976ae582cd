"""Files that pages need, under addresses that change with their content, so that browsers keep them for ever."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


_STYLE = "style.css"
_STYLES = ("tokens.css", "maia.css", "pages.css", "shared.css")
"""Sent as one file, in this order: each request of a first load costs more than what stands in it."""
_SCRIPT = "page.js"
_SCRIPTS = ("app.js", "records.js", "keys.js")
"""What every page runs, as one file, too; each in a block of its own, so that none sees the names of another."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, ready to be sent."""

    body: bytes
    media_type: str
    digest: str


@cache
def assets() -> dict[str, Asset]:
    """All files by their path in the folder; style sheets are one, and so is what every page runs.

    Files of a type that is not known are not served.
    """
    found: dict[str, Asset] = {}
    for path in sorted(_FOLDER.rglob("*")):
        name = path.relative_to(_FOLDER).as_posix()
        if path.suffix in _TYPES and path.is_file() and name not in (*_STYLES, *_SCRIPTS):
            found[name] = _asset(path.read_bytes(), path.suffix)
    found[_STYLE] = _asset(b"\n".join((_FOLDER / name).read_bytes() for name in _STYLES), ".css")
    found[_SCRIPT] = _asset(b"\n".join(b"{\n" + (_FOLDER / name).read_bytes() + b"\n}" for name in _SCRIPTS), ".js")
    return found


def _asset(body: bytes, suffix: str) -> Asset:
    return Asset(body, _TYPES[suffix], sha256(body).hexdigest()[:12])


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
