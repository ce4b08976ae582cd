"""Where a program's own search starts, and what it includes: its arguments as a need that the rules can judge."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from maia.core.jsonvalue import JsonValue
from maia.core.permission import Need, Sweep

_INCLUDES: Final = ("glob", "globs", "include", "include_pattern", "includes", "file_pattern")
"""Names of the argument that says which files are searched (Claude Code, Qwen Code, Gemini CLI, OpenCode, Kimi)."""

_WILD: Final = re.compile(r"[*?\[{]")


def swept(tool: str, path: str, arguments: Mapping[str, JsonValue]) -> Need:
    """The need of a search that starts at `path`; the pattern of a glob tool may itself name another folder."""
    if tool != "Glob":
        return Need(tool, "path", path, Sweep(tuple(_included(arguments))))
    pattern = arguments.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return Need(tool, "path", path, Sweep())
    folder, rest = _split(pattern)
    return Need(tool, "path", posixpath.join(path, folder) if folder else path, Sweep((rest,) if rest else ()))


def _included(arguments: Mapping[str, JsonValue]) -> Iterator[str]:
    """What is left out narrows nothing (N-09.07)."""
    for name in _INCLUDES:
        value = arguments.get(name)
        for text in cast("list[Any]", value) if isinstance(value, list) else (value,):
            if isinstance(text, str) and text and not text.startswith("!"):
                yield text


def _split(pattern: str) -> tuple[str, str]:
    """The folder before the first name with a wildcard, and what is looked for below it."""
    names = pattern.split("/")
    at = next((i for i, name in enumerate(names) if _WILD.search(name)), len(names) - 1)
    folder = "/".join(names[:at])
    return folder or ("/" if pattern.startswith("/") else ""), "/".join(names[at:])
