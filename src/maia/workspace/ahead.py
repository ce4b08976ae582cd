"""What a turn needs of the disk beside its folders, read in one go with them: who there is, settings, instructions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from maia.engine.setup import Config
from maia.workspace.bench import WorkBench
from maia.workspace.colleagues import Colleague, Colleagues


class Ahead:
    """`bench` is the one that the conversation had last; where the turn gets another one, that is read once more."""

    def __init__(self, bench: WorkBench | None, read: Colleagues) -> None:
        self._bench = bench
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
