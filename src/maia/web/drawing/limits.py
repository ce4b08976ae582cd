"""What the composer refuses by itself, before anything is sent up (R-2.259)."""

from __future__ import annotations

from dataclasses import dataclass

from maia.core.ports import Say
from maia.workspace.files.attachments import LARGEST_FILE, MOST_FILES


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of a file and files of a message, with the words for both."""

    largest: int
    most: int
    too_large: str
    crowd: str


def limits(say: Say) -> Limits:
    """The limits in the reader's words."""
    too_large = say("files.too_large", limit=LARGEST_FILE // 1_000_000)
    return Limits(LARGEST_FILE, MOST_FILES, too_large, say("files.too_many", n=MOST_FILES))
