"""A path as a person or a model writes it becomes the path that it names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeAlias

PathFault: TypeAlias = Literal["invalid", "no_home"]
"""Why a text names no path: empty or with characters that no file name can have; `~` of a user without a home."""


def named_path(text: str, base: Path) -> Path | PathFault:
    """The path that `text` names, `~` and `~user` expanded, relative ones from `base`; or why it names none.

    Touches no file and follows no link: `..` is left to the system, since after a link it leads elsewhere than in the
    text.
    """
    if not text or "\0" in text or not _is_encodable(text):
        return "invalid"
    try:
        return base / Path(text).expanduser()
    except RuntimeError:  # no such user, or one without a home
        return "no_home"


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
