"""A path as a model writes it: where it leads, how it is shown, and which file was probably meant."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem, system_words
from maia.core.filewrite import FileChanged
from maia.core.namedpath import named_path
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands
from maia.core.text import visible

_MAX_SIBLINGS: Final = 20_000
"""Names looked at when a file is not found; a folder with more gives no suggestions."""

_PLAIN_NAME: Final = re.compile(r"[^ ']*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_PROBLEMS: Final[dict[int, str]] = {
    errno.ENOENT: "tool.path.missing",
    errno.ENOTDIR: "tool.path.not_folder",
    errno.EISDIR: "tool.path.is_folder",
    errno.EACCES: "tool.path.denied",
    errno.EPERM: "tool.path.denied",
    errno.EINVAL: "tool.path.special",
    errno.ENXIO: "tool.path.special",
    errno.EFBIG: "tool.path.too_big",
    errno.ENOSPC: "tool.path.disk_full",
    errno.EDQUOT: "tool.path.disk_full",
    errno.EROFS: "tool.path.read_only",
    errno.ELOOP: "tool.path.link_loop",
    errno.ENAMETOOLONG: "tool.path.name_too_long",
}


def absolute(text: str, launch: Path) -> Path:
    """The path that `text` names, as `named_path` reads it from the launch folder. Raises `ToolProblem`."""
    named = named_path(text, launch)
    if isinstance(named, Path):
        return named
    raise ToolProblem(f"tool.path.{named}", path=readable(text))


def meant(text: str, launch: Path) -> Path:
    """The existing file that `text` names, also where the disk spells the name in other characters; else `absolute`.

    macOS writes decomposed accents, and U+202F before AM and PM in the names of screenshots; models write neither.
    """
    path = absolute(text, launch)
    if os.path.lexists(path):
        return path
    found = Path(path.anchor)
    for part in path.parts[1:]:
        found = found / part if os.path.lexists(found / part) else _other_spelling(found, part)
    return found if os.path.lexists(found) else path


def needed(tool: str, text: str, launch: Path) -> tuple[Need, ...]:
    """The need of a call on `text`: the path as given, or the file that will really be used where that differs."""
    path = absolute(text, launch)
    real = meant(text, launch)
    return (Need(tool, "path", text if real == path else str(real)),)


def lock_of(text: str, launch: Path) -> str:
    """The same string for every name of the same file."""
    try:
        return os.path.realpath(meant(text, launch))
    except (OSError, ValueError):
        return text


def resolved(tool: str, text: str, hands: Hands) -> Path:
    """The real path a call works on. Raises `ToolProblem` when it leads to a place that a rule denies by now."""
    real = Path(os.path.realpath(meant(text, hands.launch)))
    if hands.allowed(Need(tool, "path", str(real))).verdict is Verdict.DENY:
        raise ToolProblem("tool.path.rule_denies", path=text)
    return real


def shown(path: Path, launch: Path) -> str:
    """A path as people and models read it: relative inside the launch folder, else absolute."""
    return readable(path.relative_to(launch).as_posix() if path.is_relative_to(launch) else str(path))


def readable(name: str) -> str:
    """A name without anything that acts on a screen or that no server accepts: bytes that are no UTF-8 are U+FFFD."""
    return visible(_SURROGATE.sub("\ufffd", name)).replace("\n", "␊").replace("\t", "␉")


def as_problem(problem: OSError, text: str) -> ToolProblem:
    """What the system refused, as an error with words."""
    if isinstance(problem, FileChanged):
        return ToolProblem("tool.path.changed_meanwhile", path=text)
    key = _PROBLEMS.get(problem.errno or 0, "tool.path.other")
    return ToolProblem(key, path=text, reason=system_words(problem))


def missing(tool: str, text: str, hands: Hands) -> ToolProblem:
    """The error for a file that is not there, with names that are near to it and may be read."""
    path = absolute(text, hands.launch)
    names = [shown(near, hands.launch) for near in suggestions(path, hands.launch) if _may_be_named(tool, near, hands)]
    if names:
        return ToolProblem("tool.path.missing_near", path=text, near=", ".join(names[:3]))
    return ToolProblem("tool.path.missing", path=text)


def suggestions(path: Path, launch: Path) -> list[Path]:
    """Existing files or folders that a missing path may stand for, the likeliest first."""
    import difflib

    guesses = [launch.joinpath(*path.parts[start:]) for start in range(1, len(path.parts))]
    found = [guess for guess in guesses if guess != path and guess.name and os.path.exists(guess)][:1]
    if found:
        return found
    parent = path.parent
    while not os.path.isdir(parent) and parent != parent.parent:
        parent = parent.parent
    wanted = path.parts[len(parent.parts)] if len(path.parts) > len(parent.parts) else path.name
    names = {name.lower(): name for name in _names(parent)}
    near = difflib.get_close_matches(wanted.lower(), names, n=3, cutoff=0.6)
    same_stem = [low for low in names if Path(low).stem == Path(wanted.lower()).stem]
    return [parent / names[low] for low in dict.fromkeys((*near, *same_stem))]


def refuse_special(path: Path, text: str) -> None:
    """Raises `ToolProblem` for a FIFO, a socket or a device, before anything opens it: opening may block for ever."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ToolProblem("tool.path.special", path=text)


def _may_be_named(tool: str, path: Path, hands: Hands) -> bool:
    return hands.allowed(Need(tool, "path", str(path))).verdict is not Verdict.DENY


def _other_spelling(folder: Path, name: str) -> Path:
    """The one entry of `folder` that is `name` but for accents, spaces, quotes or unreadable bytes; else `name`."""
    if name.isascii() and _PLAIN_NAME.fullmatch(name):
        return folder / name  # nothing in it can be spelled in another way
    key = _spelling(name)
    same = [entry for entry in _names(folder) if _spelling(entry) == key]
    return folder / (same[0] if len(same) == 1 else name)


def _names(folder: Path) -> Iterable[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > _MAX_SIBLINGS:
                    return ()
    except OSError:
        return ()
    return names


def _spelling(name: str) -> str:
    same = unicodedata.normalize("NFC", readable(name))
    plain = "".join(" " if unicodedata.category(char) == "Zs" else char for char in same)
    return plain.replace("’", "'").replace("‘", "'")
