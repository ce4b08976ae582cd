"""What a turn needs of the disk beside its folders, read in one go with them: who there is, settings, instructions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from maia.engine.setup import Config
from maia.workspace.bench import WorkBench
from maia.workspace.colleagues import Colleague, Colleagues
from maia.workspace.kept import Kept


class Ahead:
    """`kept` is what stayed of the conversation; where the turn gets another bench, that one is read once more.

    `places` are the folders that `look` looks into.
    """

    def __init__(self, kept: Kept | None, read: Colleagues) -> None:
        self._bench = kept.bench if kept is not None else None
        self.places = [root.real for root in kept.room.roots] if kept is not None else []
        self._read = read
        self._config: Config | None = None
        self._problem: Exception | None = None
        self.known: Sequence[Colleague] = ()

    def look(self, brings: str | None) -> None:
        """Look at it now, with the agents that this folder brings along. Blocks. What fails is raised by `config`."""
        try:
            self.known = self._read(brings)
            if self._bench is not None:
                self._config = self._bench.configure()
        except Exception as problem:
            self._problem = problem

    async def config(self, bench: WorkBench) -> Config:
        """The settings and rules of the turn. Raises what reading raised, `MaiaError` where they cannot be used."""
        if self._problem is not None:
            raise self._problem
        if self._config is None or bench is not self._bench:
            return await asyncio.to_thread(bench.configure)
        return self._config
