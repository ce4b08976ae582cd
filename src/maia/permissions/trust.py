"""Whether a person trusted a folder's own configuration, remembered with a digest of what counts (decisions §9)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
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
SETTINGS_NAME = "settings.json"
COUNTED = (SETTINGS_NAME, "mcp.json", "hooks.json", "tools", "hooks", "agents", "skills", "commands", "extensions")
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


Note: TypeAlias = Callable[[Path, bytes | None, bytes | None], None]
"""Called with a file, what it held when it was read, and what was written; None where there was or is none."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What counts in a folder at one moment: a digest of each file, by its path below `.maia`."""

    contents: tuple[str, ...]
    parts: Mapping[str, bytes]
    digest: str


def trust_state(folder: Path, home: Path) -> TrustState:
    """What is known about a folder. The home folder's own `.maia` is the user's; never raises."""
    if os.path.realpath(folder) == os.path.realpath(home):
        return TrustState("trusted")
    return _state(folder, home, _look(folder))


def _state(folder: Path, home: Path, look: _Look) -> TrustState:
    if not look.contents:
        return TrustState("trusted")
    known = _remembered(home).get(os.path.realpath(folder))
    if known is None:
        return TrustState("unknown", look.contents, look.digest)
    return TrustState("trusted" if known == look.digest else "changed", look.contents, look.digest)


@contextmanager
def own_changes(folder: Path, home: Path) -> Generator[Note]:
    """A folder that is trusted stays so over the changes of this person's that are noted inside.

    What differs beside, or held something else when it was read, came from somebody else meanwhile (an agent that may
    write here, a `git pull`): then nothing is remembered, and the folder asks again. Raises as `remember`.
    """
    before = _look(folder)
    is_trusted = _state(folder, home, before).verdict == "trusted"
    changes: dict[str, tuple[bytes | None, bytes | None]] = {}
    root = os.path.realpath(folder / FOLDER)

    def note(path: Path, old: bytes | None, new: bytes | None) -> None:
        changes[os.path.relpath(os.path.realpath(path), root)] = old, new

    yield note
    after = _look(folder)
    if is_trusted and after.parts != before.parts and _explains(changes, before.parts, after.parts):
        remember(folder, home, after.digest)


def _explains(
    changes: Mapping[str, tuple[bytes | None, bytes | None]], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> bool:
    """Whether the changes are all that lies between two looks. A folder that is gone takes its files along."""
    gone = tuple(f"{name}/" for name, (_, new) in changes.items() if new is None)
    for name in {*before, *after}:
        if before.get(name) == after.get(name) or (name not in after and name.startswith(gone)):
            continue
        old, new = changes.get(name, (None, None))
        if not (_holds(name, before.get(name), old) and _holds(name, after.get(name), new)):
            return False
    return True


def _holds(name: str, part: bytes | None, data: bytes | None) -> bool:
    """Whether a look saw this content. Whether the file may be run is no matter: on some file systems every one may."""
    if name == SETTINGS_NAME:
        return (part or b"") == _settings_in(data or b"")
    if part is None or data is None:
        return part is None and data is None
    return any(part == _print(data, mode) for mode in range(0o112) if mode & 0o111 == mode)


def remember(folder: Path, home: Path, seen: str = "") -> None:
    """Trust the folder as it is now, or as it was `seen` (a state's digest): what changed since then asks again.

    Raises `SettingsProblem` when that cannot be written down.
    """
    from maia.core.filelock import locked
    from maia.core.filewrite import keep_private

    memory = home / MEMORY
    digest = seen or _look(folder).digest
    try:
        memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(memory.with_name(f"{memory.name}.lock")):
            folders = {**_remembered(home), os.path.realpath(folder): digest}
            data = {"version": 1, "folders": dict(sorted(folders.items()))}
            text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
            keep_private(memory, text.encode("utf-8", "surrogatepass"))  # a folder's name may be no UTF-8
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


def _look(folder: Path) -> _Look:
    """What counts now, and one digest of names and contents."""
    import hashlib  # only here, since most folders bring nothing of their own

    own = folder / FOLDER
    digest = hashlib.sha256()
    contents: list[str] = []
    parts: dict[str, bytes] = {}
    for name in COUNTED:
        path = own / name
        if name == SETTINGS_NAME:
            settings = _settings(path)
            if settings:
                contents.append(f"./{FOLDER}/{name}")
                parts[name] = settings
                digest.update(b"settings\0" + settings)
            continue
        for count, file in enumerate(_files(path)):
            if count >= MAX_FILES:
                break
            shown = file.relative_to(own).parts[:2]
            contents.append(f"./{FOLDER}/{'/'.join(shown)}")
            part = parts[str(file.relative_to(own))] = _content(file)
            digest.update(os.fsencode(str(file.relative_to(own))) + b"\0" + part + b"\0")
    return _Look(tuple(dict.fromkeys(contents)), parts, digest.hexdigest())


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
            with file.open("rb") as handle:
                digest.update(_header(status.st_size, status.st_mode & 0o111, changed) + handle.read(MAX_BYTES))
    except OSError as error:
        digest.update(f"unreadable {error.errno}".encode())
    return digest.digest()


def _header(size: int, mode: int, changed: int) -> bytes:
    return f"{size} {mode} {changed}\0".encode()


def _print(data: bytes, mode: int) -> bytes:
    """The part of a plain file of at most `MAX_BYTES` that holds this."""
    import hashlib

    return hashlib.sha256(_header(len(data), mode, 0) + data).digest()


def _settings(path: Path) -> bytes:
    try:
        return _settings_in(read_bounded(path, MAX_SETTINGS_BYTES))
    except OSError:
        return b""


def _settings_in(text: bytes) -> bytes:
    """The settings that wait for trust, spacing left out; empty when they only restrict (deny and ask rules)."""
    try:
        data: object = parsed(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return b""  # what the rules cannot read either is not loaded at all
    if not isinstance(data, dict):
        return b""
    values = dict(cast("dict[str, Any]", data))
    permissions = values.pop("permissions", None)
    allow = cast("dict[str, Any]", permissions).get("allow") if isinstance(permissions, dict) else None
    if allow:
        values["permissions"] = {"allow": allow}
    return json.dumps(values, sort_keys=True, ensure_ascii=True).encode() if values else b""
