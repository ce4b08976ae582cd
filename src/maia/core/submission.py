"""What a person submits: the text as typed, with what is joined to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file, a picture, a command result or what a specialist found, joined to a request, already cut to its limit.

    `source` is the path as written, the file's name or the command line; `cut_chars` says how much of it was left out.
    For a file that is here whole, `path` is where it is and `digest` what it held: the model has seen it as after a
    Read. `id`, `media_type` and `size` are those of a file that a workspace keeps, `place` is where tools find it; the
    `id` of a result is that of the conversation that brought it. An image has no text and no path; its `digest` is that
    of the picture to send.
    """

    kind: Literal["file", "folder", "command", "image", "result"]
    source: str
    text: str
    cut_chars: int = 0
    path: str = ""
    digest: str = ""
    id: str = ""
    media_type: str = ""
    size: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """One request of a person: the text as typed, and what goes with it."""

    text: str
    attachments: tuple[Attachment, ...] = ()
