"""Paths as rules see them: the path as given and as resolved, matched against globs, and places that always ask."""

from __future__ import annotations

import os
import stat
import sys
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from maia.core.permission import Rule
from maia.permissions import globs


@dataclass(frozen=True, slots=True)
class Place:
    """Where paths of a decision start: the launch folder (T1.01), the home folder, whether case counts, `--add-dir`."""

    launch: Path
    home: Path
    fold_case: bool = sys.platform in ("darwin", "win32")
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One path as a call means it. `given` is absolute and tidied by name only, `resolved` follows every symlink."""

    shown: str
    given: str
    resolved: str


def target(path: str, place: Place, folder: str = "") -> Target:
    """The path as it would be opened from `folder` (relative to the launch folder). Never raises."""
    given, resolved = _located(_plain(path), str(place.launch), str(place.home), folder)
    return Target(path, given, resolved)


def _located(path: str, launch: str, home: str, folder: str) -> tuple[str, str]:
    base = os.path.normpath(_joined(launch, _home(folder, home))) if folder else launch
    whole = _joined(base, _special(_home(path, home), base))
    try:
        resolved = os.path.realpath(whole)
    except (OSError, ValueError):  # a NUL, a name too long, a loop: nothing can be opened there
        resolved = os.path.normpath(whole)
    return _tidy(whole), resolved


def _plain(path: str) -> str:
    return path.removeprefix("file://") if path.startswith("file:///") else path


def _home(path: str, home: str) -> str:
    """`~` and `~user` as the shell reads them; of an unknown user it is a plain name."""
    if not path.startswith("~"):
        return path
    user, slash, rest = path.partition("/")
    if user == "~":
        return home + slash + rest
    if user == "~+":
        return "." + slash + rest
    try:
        expanded = os.path.expanduser(user)
    except (OSError, ValueError, KeyError):
        return path
    return expanded + slash + rest if expanded != user else path


def _special(path: str, base: str) -> str:
    """`/proc/self/cwd` and `/proc/$$/cwd` are the folder of the process that opens them, which is not this one."""
    if not path.startswith("/proc/"):
        return path
    tidied = _tidy(path)
    names = tidied.split("/")
    if len(names) > 3 and names[3] == "cwd" and not names[2].isdigit():
        return "/".join((base, *names[4:]))
    return path


def _joined(base: str, path: str) -> str:
    return path if path.startswith("/") else f"{base}/{path}"


def _tidy(path: str) -> str:
    tidied = os.path.normpath(path)
    return tidied[1:] if tidied.startswith("//") else tidied


@lru_cache(maxsize=256)
def _resolved_folder(folder: str) -> str:
    return os.path.realpath(folder)


@dataclass(frozen=True, slots=True)
class _Globs:
    """A rule's glob, absolute: written from the folders as given, and from them resolved."""

    given: str
    resolved: str


@lru_cache(maxsize=4096)
def _absolute(pattern: str, launch: str, home: str) -> _Globs:
    if pattern == "~" or pattern.startswith("~/"):
        return _Globs(_under(home, pattern[2:]), _under(_resolved_folder(home), pattern[2:]))
    if pattern.startswith("/"):
        glob = _under("/", pattern)
        private = sys.platform == "darwin" and glob.startswith(("/tmp/", "/var/", "/etc/"))
        return _Globs(glob, f"/private{glob}" if private else glob)
    return _Globs(_under(launch, pattern), _under(_resolved_folder(launch), pattern))


def _under(folder: str, rest: str) -> str:
    """A glob under a folder, whose own name is taken literally. `..` at its start climbs."""
    names: list[str] = []
    for name in rest.split("/"):
        if name == ".." and names and names[-1] != "**":
            names.pop()
        elif name == ".." and not names:
            folder = os.path.dirname(folder)
        elif name not in ("", "."):
            names.append(name)
    rest = "/".join(names) + ("/" if names and rest.endswith("/") else "")
    base = globs.escaped(folder.rstrip("/"))
    return _composed(f"{base}/{rest}" if rest else base or "/")


def _composed(text: str) -> str:
    """One form for a name that may be written in two: an accent of its own, or one with its letter."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def covers(rule: Rule, path: Target, place: Place) -> bool:
    """Whether an allow rule covers the path: as given and as resolved, so that a symlink opens nothing new."""
    if rule.pattern is None:
        return True
    glob = _absolute(rule.pattern, str(place.launch), str(place.home))
    return all(
        _fits(glob.given, form, place) or _fits(glob.resolved, form, place) for form in (path.given, path.resolved)
    )


def touches(rule: Rule, path: Target, place: Place) -> bool:
    """Whether a deny or ask rule meets the path: given or resolved, it or a folder that it lies in; or a hard link."""
    if rule.pattern is None:
        return True
    glob = _absolute(rule.pattern, str(place.launch), str(place.home))
    patterns = {glob.given, glob.resolved, *_through_link(glob, place)}
    if any(_fits_or_within(pattern, form, place) for pattern in patterns for form in {path.given, path.resolved}):
        return True
    return globs.is_literal(glob.given) and _is_other_name(globs.literal_folder(glob.given), path.resolved)


def _is_other_name(named: str, path: str) -> bool:
    """Whether a path is a hard link to the one file that a rule names; the files under a glob are not gone through."""
    try:
        found = os.stat(path)
        return found.st_nlink > 1 and stat.S_ISREG(found.st_mode) and os.path.samestat(found, os.stat(named))
    except (OSError, ValueError):
        return False


def _through_link(glob: _Globs, place: Place) -> tuple[str, ...]:
    """The glob from where its literal folder really is, where a symlink stands in it."""
    folder = globs.literal_folder(glob.given)
    launch = str(place.launch)
    names = folder.split("/")
    known = launch.count("/") + 1 if folder.startswith(launch + "/") else 1
    if not any(os.path.islink("/".join(names[: n + 1])) for n in range(known, len(names))):
        return ()
    return (globs.escaped(os.path.realpath(folder)) + _rest(glob.given),)


def _rest(glob: str) -> str:
    """What follows the literal folder of a glob, with its slash."""
    names = glob.split("/")
    literal = globs.literal_folder(glob)
    count = len(literal.split("/")) if literal != "/" else 1
    rest = "/".join(names[count:])
    return f"/{rest}" if rest else ""


def _fits(glob: str, path: str, place: Place) -> bool:
    return globs.compiled(glob, fold_case=place.fold_case).match(_composed(path)) is not None


def _fits_or_within(glob: str, path: str, place: Place) -> bool:
    pattern = globs.compiled(_composed(glob), fold_case=place.fold_case)
    path = _composed(path)
    if pattern.match(path):
        return True
    at = path.rfind("/")
    while at > 0:
        if pattern.match(path, 0, at):
            return True
        at = path.rfind("/", 0, at)
    return False
