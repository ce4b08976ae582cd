"""A picture made fit for models and for pages: upright, small enough, and without what it tells beside the picture.

Runs in `reader` alone: decoders of pictures are where hostile files do their work.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import IO, Final

from PIL import Image, ImageOps

MOST_PIXELS: Final = 64_000_000
"""A photograph of 64 megapixels; what claims more is a bomb, or of no use to a model."""
_LONGEST_EDGE: Final = 1568
"""Pixels. What is longer is made smaller by the servers themselves, which only costs time."""
_THUMBNAIL_EDGE: Final = 480
_ORIENTATION: Final = 0x0112
_LYING: Final = range(5, 9)
"""Orientations of a camera that was held sideways (EXIF 2.32, 4.6.4)."""
_LARGEST_PNG: Final = 1_500_000
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")


class NoPicture(Exception):
    """It cannot be decoded, or is larger than any picture."""


@dataclass(frozen=True, slots=True)
class Pictured:
    """The size as it is looked at, the picture for models with its type, and a WebP for pages."""

    width: int
    height: int
    media_type: str
    sent: bytes
    thumbnail: bytes


def prepare(file: IO[bytes]) -> Pictured:
    """Decode it; of a moving picture the first frame. Raises `NoPicture`."""
    Image.MAX_IMAGE_PIXELS = None  # checked here, before anything is decoded
    try:
        with Image.open(file, formats=_FORMATS) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise NoPicture
            is_photograph = opened.format in ("JPEG", "WEBP")
            width, height = opened.size
            if opened.getexif().get(_ORIENTATION, 1) in _LYING:
                width, height = height, width
            opened.draft("RGB", (_LONGEST_EDGE, _LONGEST_EDGE))  # a JPEG is decoded no larger than it is needed
            picture = _plain(ImageOps.exif_transpose(opened))
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, MemoryError) as problem:
        raise NoPicture from problem
    picture.thumbnail((_LONGEST_EDGE, _LONGEST_EDGE))
    media_type, sent = _sent(picture, is_photograph=is_photograph)
    picture.thumbnail((_THUMBNAIL_EDGE, _THUMBNAIL_EDGE))
    return Pictured(width, height, media_type, sent, _saved(picture, "WEBP", quality=80))


def _plain(picture: Image.Image) -> Image.Image:
    """Red, green, blue, and transparency where there is some; nothing else of what the file told."""
    if picture.mode == "I;16":  # of each grey the upper half, which a conversion would take for white
        picture = Image.frombytes("L", picture.size, picture.tobytes()[1::2])
    sees_through = "transparency" in picture.info or picture.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    plain = picture.convert("RGBA" if sees_through else "RGB")
    plain.info = {}
    return plain


def _sent(picture: Image.Image, *, is_photograph: bool) -> tuple[str, bytes]:
    if not is_photograph or picture.mode == "RGBA":
        exact = _saved(picture, "PNG")
        if len(exact) <= _LARGEST_PNG:
            return "image/png", exact
    if picture.mode == "RGBA":
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture).convert("RGB")
    return "image/jpeg", _saved(picture, "JPEG", quality=88)


def _saved(picture: Image.Image, form: str, **options: int) -> bytes:
    into = BytesIO()
    picture.save(into, form, **options)
    return into.getvalue()
