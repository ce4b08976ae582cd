"""Tries from the inside what a program could do behind its wall: one shell that reads, writes and looks (N-03.02).

No model is called and the program is not started: its wall, its home and its environment are, with `/bin/sh` in its
place.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from maia.core.runtime import CheckId, IsolationCheck, ProgramGone, ProgramStart, StartProgram

SHELL: Final = "/bin/sh"
SECONDS: Final = 20.0
_MOST: Final = 60
"""Things of one kind that are tried."""

_SCRIPT: Final = r"""
reads() {
  if [ -d "$1" ]; then ls -A "$1" 2>/dev/null | grep -q .; else [ -s "$1" ] && (: < "$1") 2>/dev/null; fi
}
for each in "$@"; do
  kind=${each%%:*} what=${each#*:}
  case $kind in
    home|data) if reads "$what"; then printf '%s\n' "$each"; fi ;;
    keys) if (eval "[ \"\${$what+x}\" ]"); then printf '%s\n' "$each"; fi ;;
    others) if (: < "/proc/$what/environ") 2>/dev/null; then printf 'keys:%s\n' "/proc/$what/environ"; fi ;;
    writes) (: > "$what") 2>/dev/null ;;
    network) if [ "$(readlink /proc/self/ns/net)" != "$what" ]; then printf '%s\n' "$each"; fi ;;
  esac
done
printf 'done\n'
"""


@dataclass(frozen=True, slots=True)
class Trials:
    """What is tried. `home` and `data` may not be read, `folders` not be written, variables `names` not be there.

    `process` is one whose environment may not be read, `network` the network in which the program is to be.
    """

    home: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    process: int = 0
    network: str = ""


CHECKS: Final[tuple[CheckId, ...]] = ("home", "data", "keys", "writes", "network")


async def check_isolation(
    start_program: StartProgram, start: ProgramStart, trials: Trials, seconds: float = SECONDS
) -> tuple[IsolationCheck, ...]:
    """One check of each kind. `start` is how the program itself is started.

    Whether something was written is looked at from outside: what is hidden may be written behind the wall, and is gone
    with it. Where the shell does not come to its end, no check has passed. Raises `MaiaError` where nothing can be
    started.
    """
    mark = f".maia-isolation-{os.urandom(8).hex()}"
    arguments = ("-c", _SCRIPT, "maia", *_arguments(trials, mark))
    process = await start_program(replace(start, argv=(SHELL, *arguments)))
    said: list[str] = []
    try:
        process.end_input()
        async with asyncio.timeout(seconds):
            while (line := await process.read_line()) is not None:
                said.append(line)
    except (TimeoutError, ProgramGone):
        pass
    finally:
        await process.stop("now")
    written = await asyncio.to_thread(_written, trials.folders, mark)
    return tuple(_read([*(f"writes:{folder}" for folder in written), *said]))


def _written(folders: Sequence[str], mark: str) -> list[str]:
    """The folders in which the mark stands; it is taken away."""
    found: list[str] = []
    for folder in folders:
        path = Path(folder, mark)
        if os.path.lexists(path):
            found.append(folder)
            with suppress(OSError):
                path.unlink()
    return found


def _arguments(trials: Trials, mark: str) -> Iterator[str]:
    named: tuple[tuple[str, Sequence[str]], ...] = (
        ("home", trials.home),
        ("data", trials.data),
        ("keys", [name for name in trials.names if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)]),
        ("writes", [f"{folder}/{mark}" for folder in trials.folders]),
        ("others", [str(trials.process)] if trials.process else []),
        ("network", [trials.network] if trials.network else []),
    )
    for kind, values in named:
        yield from (f"{kind}:{value}" for value in values[:_MOST] if "\n" not in value)


def _read(said: Sequence[str]) -> Iterator[IsolationCheck]:
    is_whole = bool(said) and said[-1] == "done"
    for check in CHECKS:
        found = tuple(line.partition(":")[2] for line in said if line.startswith(f"{check}:"))
        yield IsolationCheck(check, is_whole and not found, found)


def readable_things(places: Iterable[str], open_to_it: Sequence[Path]) -> Iterator[str]:
    """What of these places is there and could be read: whole, or in parts where a part is open to the program."""
    for place in places:
        yield from _things(Path(os.path.realpath(place)), open_to_it)


def _things(place: Path, open_to_it: Sequence[Path]) -> Iterator[str]:
    if any(place.is_relative_to(each) for each in open_to_it):
        return
    try:
        names = sorted(os.listdir(place)) if place.is_dir() else []
        is_there = bool(names) or (place.is_file() and place.stat().st_size > 0)
    except OSError:
        return
    if not any(each.is_relative_to(place) for each in open_to_it):
        if is_there:
            yield str(place)
        return
    for name in names:
        yield from _things(place / name, open_to_it)


def closed_folders(folders: Iterable[Path], writable: Sequence[Path]) -> tuple[str, ...]:
    """Those of the folders that are there and may not be written."""
    real = tuple(Path(os.path.realpath(each)) for each in writable)
    there = dict.fromkeys(Path(os.path.realpath(each)) for each in folders if os.path.isdir(each))
    return tuple(str(each) for each in there if not any(each.is_relative_to(place) for place in real))
