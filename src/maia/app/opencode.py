"""OpenCode on terminals of the workspace: found as agent programs are, in their wall, with a home of each person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from maia.app.runtimes import Yard
from maia.core.errors import MaiaError, system_words
from maia.core.runtime import ProgramStart
from maia.core.screens import Screen, Size
from maia.folders.safety import Safety
from maia.runtimes.environment import screen_start
from maia.runtimes.programs import BY_NAME, installed
from maia.sandbox.screen import ScreenPrograms
from maia.workspace.folders import Room

_PROGRAM: Final = BY_NAME["opencode"]


class OpenCode:
    """`workspace.terminals.Program`. `homes` is the folder of the homes; `look` says what is protected now.

    What one person signed in to and said there is another's neither to read nor to use.
    """

    def __init__(self, yard: Yard, homes: Path, look: Callable[[], Safety]) -> None:
        self._yard = yard
        self._homes = homes
        self._look = look

    def check(self) -> None:
        """Raises `NotConfigured` with how it is installed."""
        installed(_PROGRAM, self._yard.env)

    async def open(self, room: Room, person: str, size: Size) -> Screen:
        """Start it in the first folder of the room, with the others to write in, too. Raises `MaiaError`."""
        first, *others = (Path(root.real) for root in room.roots)
        hidden = tuple(Path(place.path) for place in self._look().places if place.kind != "sensitive")
        yard = replace(
            self._yard,
            folders=replace(self._yard.folders, launch=first),
            add_dirs=tuple(others),
            hidden=hidden,
        )
        return await ScreenPrograms(yard.wall).start(self._start(yard, person), size)

    def _start(self, yard: Yard, person: str) -> ProgramStart:
        path = installed(_PROGRAM, yard.env)
        try:
            self._homes.mkdir(mode=0o700, parents=True, exist_ok=True)
            return screen_start(
                _PROGRAM, path, folder=yard.folders.launch, home=self._homes / person / _PROGRAM.name, env=yard.env
            )
        except OSError as problem:
            raise MaiaError("runtime.home", problem=system_words(problem)) from None
