"""Puts new files in the place of old ones, all or none of them, whenever it is interrupted; the old ones are kept.

A plan says what goes where. Until the plan is written nothing was changed; from then on any start carries it out to its
end, each step once.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

STAGE: Final = ".restoring"
"""The folder in the data folder in which everything is made ready."""
_PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class Move:
    """`new` goes to `place`, None for nothing; what is at `place` goes to `before` first."""

    place: str
    new: str | None
    before: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All moves. They hold once the database knows `marker`, which is empty where the database is one of them."""

    marker: str
    moves: tuple[Move, ...]


def stage_of(data: Path) -> Path:
    """Where things are made ready."""
    return data / STAGE


def settle(data: Path, plan: Plan) -> None:
    """From here on the plan holds. Raises `OSError`."""
    stage = stage_of(data)
    draft = stage / f"{_PLAN}.part"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(plan), file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(draft, stage / _PLAN)
    _sync(stage)


def finish(data: Path, holds: Callable[[str], bool]) -> bool:
    """Carry out a plan that waits; True where there was one. What was made ready without a plan is thrown away.

    `holds` says whether the database knows a marker. Raises `OSError`.
    """
    stage = stage_of(data)
    plan = _read(stage / _PLAN)
    if plan is not None and (not plan.marker or holds(plan.marker)):
        for move in plan.moves:
            _do(move)
        shutil.rmtree(stage)
        return True
    if stage.exists():
        shutil.rmtree(stage)
    return False


def _do(move: Move) -> None:
    """One move; one that was done changes nothing.

    While `new` is still there, what is at `place` is the old one; when it is gone, it is at `place`.
    """
    place, before = Path(move.place), Path(move.before)
    is_due = move.new is None or os.path.lexists(move.new)
    if is_due and os.path.lexists(place) and not os.path.lexists(before):
        before.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.rename(place, before)
        _sync(before.parent)
    if move.new is not None and os.path.lexists(move.new):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.rename(move.new, place)
    _sync(place.parent)


def _read(path: Path) -> Plan | None:
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return Plan(found["marker"], tuple(Move(**each) for each in found["moves"]))


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def moves_of(data: Path, stage: Path, before: Path, kept: Sequence[str]) -> list[Move]:
    """Moves that put every entry of `stage` into `data`, and all others of `data` but the `kept` ones to `before`."""
    new = {each.name for each in stage.iterdir()} if stage.is_dir() else set[str]()
    old = {each.name for each in data.iterdir()} - set(kept)
    return [
        Move(str(data / name), str(stage / name) if name in new else None, str(before / name))
        for name in sorted(new | old)
    ]
