"""What a file is, by its content alone: neither its name nor what a browser claims is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from maia.core.filetext import is_binary, kind_of

FileKind: TypeAlias = Literal["image", "text", "document", "other"]
"""`image` is one that models may see; `document` is one of which text can be read; `other` is kept as it is."""

HEAD_BYTES: Final = 65_536
"""From the start of a file, enough for `sniff`."""
UNKNOWN: Final = "application/octet-stream"
_PICTURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """A first guess: a picture may still be broken, an archive may turn out to be a document."""

    kind: FileKind
    media_type: str


def sniff(head: bytes) -> Sniffed:
    """What a file is, from its first `HEAD_BYTES` bytes. HTML and SVG are text like any other."""
    for magic, media_type in _PICTURES:
        if head.startswith(magic):
            return Sniffed("image", media_type)
    if kind_of(head) == "WebP image":
        return Sniffed("image", "image/webp")
    if b"%PDF-" in head[:1024]:
        return Sniffed("document", "application/pdf")
    if head.startswith(b"PK\x03\x04"):
        return Sniffed("document", "application/zip")
    return Sniffed("other", UNKNOWN) if is_binary(head) else Sniffed("text", "text/plain")
