"""Adding allow rules to a settings file without losing anything that a person wrote there."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from maia.core.errors import SettingsProblem, system_words
from maia.core.filelock import locked
from maia.core.fileread import read_bounded
from maia.core.filewrite import keep_private
from maia.permissions.rule_files import MAX_BYTES

LOCK_SUFFIX = ".lock"


def add_allow_rules(path: Path, shown: str, texts: Sequence[str]) -> tuple[str, str]:
    """Write rules into `permissions.allow` of the file, atomically and one process at a time; known ones are left.

    Returns the text before and after. Order, other content and indentation stay; a new file is for its owner only
    (0600). Raises `SettingsProblem` when
    the file is no JSON object or cannot be written: it is then unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(path.name + LOCK_SUFFIX)):
            before = _read(path, shown)
            data = _parsed(before, shown)
            allow = _allow_list(data, shown)
            added = [text for text in dict.fromkeys(texts) if text not in allow]
            if not added:
                return before, before
            allow += added
            after = _dumped(data, before)
            keep_private(path, after.encode("utf-8", "surrogatepass"))
            return before, after
    except OSError as error:
        raise SettingsProblem("perm.save.failed", file=shown, why=system_words(error)) from error


def _read(path: Path, shown: str) -> str:
    try:
        return read_bounded(path, MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsProblem("perm.save.broken", file=shown, line=1) from error


def _parsed(text: str, shown: str) -> dict[str, Any]:
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        data: object = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_no_repeats)
    except json.JSONDecodeError as error:
        raise SettingsProblem("perm.save.broken", file=shown, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise SettingsProblem("perm.save.shape", file=shown) from error
    if not isinstance(data, dict):
        raise SettingsProblem("perm.save.shape", file=shown)
    return cast("dict[str, Any]", data)


class _Repeated(ValueError):
    """A key that stands twice: writing the file back would lose one of the two."""


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _Repeated
    return out


def _allow_list(data: dict[str, Any], shown: str) -> list[Any]:
    permissions = data.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        raise SettingsProblem("perm.save.shape", file=shown)
    allow = cast("dict[str, Any]", permissions).setdefault("allow", [])
    if not isinstance(allow, list):
        raise SettingsProblem("perm.save.shape", file=shown)
    return cast("list[Any]", allow)


def _dumped(data: dict[str, Any], before: str) -> str:
    """The new text in the old one's style: indentation, line ends, byte order mark, final line end."""
    found = re.search(r"^([ \t]+)\S", before, re.MULTILINE)
    one_line = bool(before.strip()) and "\n" not in before.strip()
    indent = None if one_line else found.group(1) if found else "  "
    text = json.dumps(data, ensure_ascii=not before.isascii() and "\\u" in before, indent=indent)
    text += "\n" if not before.strip() or before.endswith("\n") else ""
    if "\r\n" in before:
        text = text.replace("\n", "\r\n")
    return ("\ufeff" if before.startswith("\ufeff") else "") + text
