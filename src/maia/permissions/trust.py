"""Whether a person trusted a folder's own configuration, remembered with a digest of what counts (decisions §9)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from maia.core.errors import SettingsProblem, system_words
from maia.core.fileread import read_bounded
from maia.permissions.rule_files import MAX_BYTES as MAX_SETTINGS_BYTES
from maia.permissions.rule_files import parsed

TrustVerdict: TypeAlias = Literal["trusted", "unknown", "changed"]

FOLDER = ".maia"
MEMORY = Path(".maia/trusted.json")
COUNTED = ("settings.json", "mcp.json", "hooks.json", "tools", "hooks", "agents", "skills", "commands", "extensions")
"""What of `./.maia` acts by itself once it is loaded. Sessions and other data do not count."""

_MEMORY_BYTES = 4_000_000
MAX_FILES = 5_000
MAX_BYTES = 1_000_000
"""Of a longer file the first bytes, the size and the time of its last change count."""


@dataclass(frozen=True, slots=True)
class TrustState:
    """`contents` are the shown paths of what waits for a yes; a folder that brings nothing is trusted with none.

    `digest` is of what counted when the state was looked at.
    """

    verdict: TrustVerdict
    contents: tuple[str, ...] = ()
    digest: str = field(default="", compare=False)


def trust_state(folder: Path, home: Path) -> TrustState:
    """What is known about a folder. The home folder's own `.maia` is the user's; never raises."""
    if os.path.realpath(folder) == os.path.realpath(home):
        return TrustState("trusted")
    contents, digest = _inventory(folder)
    if not contents:
        return TrustState("trusted")
    known = _remembered(home).get(os.path.realpath(folder))
    if known is None:
        return TrustState("unknown", contents, digest)
    return TrustState("trusted" if known == digest else "changed", contents, digest)


def remember(folder: Path, home: Path, seen: str = "") -> None:
    """Trust the folder as it is now, or as it was `seen` (a state's digest): what changed since then asks again.

    Raises `SettingsProblem` when that cannot be written down.
    """
    from maia.permissions.save import locked, write_private

    memory = home / MEMORY
    digest = seen or _inventory(folder)[1]
    try:
        memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(memory):
            folders = {**_remembered(home), os.path.realpath(folder): digest}
            data = {"version": 1, "folders": dict(sorted(folders.items()))}
            write_private(memory, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        why = system_words(error)
        raise SettingsProblem("perm.trust.failed", file=f"~/{MEMORY}", why=why) from error


def _remembered(home: Path) -> dict[str, str]:
    """Folder -> digest. An unreadable memory trusts nothing, so everything is asked again."""
    try:
        data: object = json.loads(read_bounded(home / MEMORY, _MEMORY_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    folders: object = cast("dict[str, Any]", data).get("folders") if isinstance(data, dict) else None
    if not isinstance(folders, dict):
        return {}
    return {key: value for key, value in cast("dict[str, Any]", folders).items() if isinstance(value, str)}


def _inventory(folder: Path) -> tuple[tuple[str, ...], str]:
    """Shown paths of what counts, and one digest of names and contents."""
    import hashlib  # only here, since most folders bring nothing of their own

    own = folder / FOLDER
    digest = hashlib.sha256()
    contents: list[str] = []
    for name in COUNTED:
        path = own / name
        if name == "settings.json":
            settings = _settings(path)
            if settings:
                contents.append(f"./{FOLDER}/{name}")
                digest.update(b"settings\0" + settings)
            continue
        for count, file in enumerate(_files(path)):
            if count >= MAX_FILES:
                break
            shown = file.relative_to(own).parts[:2]
            contents.append(f"./{FOLDER}/{'/'.join(shown)}")
            digest.update(os.fsencode(str(file.relative_to(own))) + b"\0" + _content(file) + b"\0")
    return tuple(dict.fromkeys(contents)), digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    """Every file below, in a fixed order; links are followed to files but not into folders."""
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted([*names, *(f for f in folders if os.path.islink(os.path.join(folder, f)))]):
            yield Path(folder, name)


def _content(file: Path) -> bytes:
    import hashlib

    digest = hashlib.sha256()
    try:
        if file.is_symlink():
            digest.update(os.fsencode(os.readlink(file)))
        if file.is_file():
            status = file.stat()
            changed = status.st_mtime_ns if status.st_size > MAX_BYTES else 0
            digest.update(f"{status.st_size} {status.st_mode & 0o111} {changed}\0".encode())
            with file.open("rb") as handle:
                digest.update(handle.read(MAX_BYTES))
    except OSError as error:
        digest.update(f"unreadable {error.errno}".encode())
    return digest.digest()


def _settings(path: Path) -> bytes:
    """The settings that wait for trust, spacing left out; empty when they only restrict (deny and ask rules)."""
    try:
        data: object = parsed(read_bounded(path, MAX_SETTINGS_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return b""  # what the rules cannot read either is not loaded at all
    if not isinstance(data, dict):
        return b""
    values = dict(cast("dict[str, Any]", data))
    permissions = values.pop("permissions", None)
    allow = cast("dict[str, Any]", permissions).get("allow") if isinstance(permissions, dict) else None
    if allow:
        values["permissions"] = {"allow": allow}
    return json.dumps(values, sort_keys=True, ensure_ascii=True).encode() if values else b""
