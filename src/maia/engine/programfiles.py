"""What a call of an agent program changed in files: looked at before the program may go on, and again at its end."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from maia.core.fileread import read_regular
from maia.core.ports import ChangeLog
from maia.core.runtime import ProgramCall

_CHANGING = ("Edit", "Write")


@dataclass(frozen=True, slots=True)
class Before:
    """A file as it was while the program waited for its permission; None where there was none."""

    path: Path
    data: bytes | None


def changes_files(call: ProgramCall) -> bool:
    """Whether the call says that it changes files."""
    return any(need.kind == "path" and need.tool in _CHANGING for need in call.needs)


def before(call: ProgramCall, folder: Path) -> tuple[Before, ...]:
    """The files that the call is about, as they are now. Blocks. What cannot be read is left out."""
    named = dict.fromkeys(need.value for need in call.needs if need.kind == "path" and need.tool in _CHANGING)
    return tuple(_looked_at(folder / value for value in named))


def _looked_at(paths: Iterable[Path]) -> Iterable[Before]:
    for path in paths:
        try:
            real = path.resolve()
            yield Before(real, _data(real))
        except (OSError, RuntimeError, ValueError):  # links in a circle; no path at all
            continue


def _data(path: Path) -> bytes | None:
    """Raises OSError for what is no regular file or too big to be kept."""
    try:
        return read_regular(path)[0]
    except FileNotFoundError:
        return None


def record(changes: ChangeLog, call_id: str, files: Iterable[Before]) -> None:
    """Remember what has become of these files, so that it can be undone. Blocks; raises nothing."""
    for file in files:
        try:
            after = _data(file.path)
            mode = stat.S_IMODE(file.path.stat().st_mode) if after is not None else None
        except (OSError, ValueError):
            continue
        if after != file.data:
            changes.record(call_id, file.path, file.data, after, mode)
