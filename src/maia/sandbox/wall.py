"""The wall around a command: bubblewrap where it works, else Landlock, else none and a clear notice (decisions §9)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.core.reason import Reason
from maia.sandbox.confined import Confined, Wall
from maia.sandbox.landlock import LandlockWall, landlock_version
from maia.sandbox.places import Layout, Places, lay_out
from maia.sandbox.threshold import Threshold

Mode: TypeAlias = Literal["auto", "required", "off"]
"""The setting `sandbox`: use a wall where one works; refuse to run without one; use none."""


@dataclass(frozen=True, slots=True)
class WallFound:
    """The wall to use, if any, and what the person should know about it. `required`: nothing may run without."""

    wall: Wall | None
    notice: Reason | None = None
    required: bool = False


_KEPT_CAPABILITIES: Final = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""Root in a container works on files of others; what could undo the wall (SYS_ADMIN, DAC_READ_SEARCH…) is dropped."""

_PROBE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class BubblewrapWall:
    """bubblewrap(1): the whole system read-only, the folders of `places` writable, secrets hidden.

    Processes inside see only each other, and end with the command. There is no `--new-session`: the command already
    has a session without a terminal, and in its group it can be told to end well.
    """

    program: str
    places: Places
    name: Literal["bubblewrap"] = "bubblewrap"

    @property
    def network(self) -> bool:
        return self.places.network

    def confine(self, argv: Sequence[str], cwd: Path, /) -> Confined:
        words = (*self._base(), *_mounts(lay_out(self.places)), "--chdir", str(cwd), "--", *argv)
        return Confined(words, contained=True)

    def problem(self) -> str | None:
        """Try it once: why it does not work here (no user namespaces, an AppArmor rule, a container), or None."""
        threshold = Threshold()
        try:
            tried = subprocess.run(
                (*self._base(), *threshold.options, "--", "true"),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_SECONDS,
                pass_fds=threshold.handles,
            )
        except subprocess.TimeoutExpired:
            return f"bwrap: timed out after {_PROBE_SECONDS:g} s"
        except OSError as problem:
            return str(problem)
        finally:
            threshold.close()
        if tried.returncode == 0:
            return None
        return last_words(tried.stderr.decode("utf-8", "replace"), tried.returncode)

    def _base(self) -> Sequence[str]:
        options = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-ipc"]
        if not self.places.network:
            options.append("--unshare-net")
        if os.geteuid() == 0:
            options += ["--cap-drop", "ALL"]
            options += [word for name in _KEPT_CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
        return (self.program, *options, "--die-with-parent")


def last_words(said: str, code: int | None) -> str:
    """Why bubblewrap itself failed: its last line, or its exit code where it said nothing."""
    lines = said.strip().splitlines()
    return lines[-1] if lines else f"bwrap: exit code {code}"


def _mounts(layout: Layout) -> list[str]:
    """One option a place, parents before what lies in them; on the same place the later kind wins."""
    kinds = (
        [(path, ["--bind", str(path), str(path)]) for path in layout.writable]
        + [(path, ["--ro-bind", str(path), str(path)]) for path in layout.read_only]
        + [(path, _hide(path, layout)) for path in layout.hidden if path not in layout.writable]
        + [(path, ["--ro-bind", str(path), str(path)]) for path in layout.shown if path not in layout.writable]
    )
    ordered = sorted(kinds, key=lambda kind: len(kind[0].parts))
    return [word for _, options in ordered for word in options]


def _hide(path: Path, layout: Layout) -> list[str]:
    """Mount over a place. One that has gone meanwhile bubblewrap would make, on the disk where that can be written.

    So there the place is first bound to itself, which fails if it has gone, and the places are looked at again.
    """
    there = ["--ro-bind", str(path), str(path)] if any(map(path.is_relative_to, layout.writable)) else []
    return [*there, *(("--tmpfs",) if path.is_dir() else ("--ro-bind", "/dev/null")), str(path)]


def find_wall(mode: Mode, places: Places, *, which: Callable[[str], str | None] = shutil.which) -> WallFound:
    """The best wall that works here, tried once; blocks for some 20 ms, five seconds at worst.

    `which` finds a program by its name.
    """
    if mode == "off":
        return WallFound(None)
    required = mode == "required"
    program = which("bwrap")
    if program is None:
        reason, key = "", "missing"
    else:
        wall = BubblewrapWall(program, places)
        reason, key = wall.problem(), "broken"
        if reason is None:
            return WallFound(wall, None, required)
    version = landlock_version()
    if version > 0:
        return WallFound(LandlockWall(version, places), Reason(f"sandbox.landlock_{key}", {"reason": reason}), required)
    return WallFound(None, Reason(f"sandbox.none_{key}", {"reason": reason}), required)


_HINTS: Final = (
    ("write", r"Read-only file system|EROFS|Device or resource busy"),
    ("network", r"Could not resolve host|Network is unreachable|Temporary failure in name res|ENOTFOUND|EAI_AGAIN"),
    (
        "secret",
        r"[Pp]ermission denied \(publickey|could not read Username|Host key verif|gpg failed to sign|docker\.sock",
    ),
)
"""What a command says when the wall is in its way, by what the wall forbids."""

_DENIED: Final = r"Permission denied|EACCES|Operation not permitted"


def hint_for(wall: Wall, output: str) -> Reason | None:
    """Why a failed command may have failed: the wall. None where its words point elsewhere."""
    end = output[-10_000:]
    for kind, words in _HINTS:
        if (kind != "network" or not wall.network) and re.search(words, end):
            return Reason(f"sandbox.hint_{kind}")
    if wall.name == "landlock" and re.search(_DENIED, end):
        return Reason("sandbox.hint_write")
    return None
