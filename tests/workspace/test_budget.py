"""How many round trips a turn may do, and what is told of them while it goes on (R-2.249, R-2.254–R-2.256)."""

import asyncio
from pathlib import Path

import pytest

from maia.core.events import StepStarted, TurnEnded, TurnStarted
from maia.core.requests import ChosenBy
from maia.core.runtime import Desk, ProgramEnd, ProgramTask
from maia.core.submission import Submission
from maia.engine.setup import Bound
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on


class Program:
    """An agent program that keeps what it was asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: ProgramTask | None = None

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        self.task = task
        return ProgramEnd("finished", "end")

    async def aclose(self) -> None: ...


class Programs(PlayedModels):
    def __init__(self, program: Program) -> None:
        super().__init__(PlayedWire([]))
        self.program = program

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, "played", None, why, runtime=self.program)


@pytest.mark.parametrize(("name", "told"), [("claude-code", 50), ("grok", None), ("kimi", None)])
def test_a_program_is_given_the_limit_and_steps_are_told_where_it_reports_them(
    database_url: str, tmp_path: Path, name: str, told: int | None
) -> None:
    async def story() -> None:
        program = Program(name)
        async with workspace_on(database_url, tmp_path, Programs(program)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("Go"))
            async for batch in workspace.follow(row, 0, 5):
                if any(isinstance(each.event, TurnEnded) for each in batch):
                    break
            page = await workspace.page(row, 5)
        (started,) = [each.event for each in page.logged if isinstance(each.event, TurnStarted)]
        assert started.most_steps == told
        assert program.task is not None
        assert program.task.max_steps == 50
        assert not [each for each in page.logged if isinstance(each.event, StepStarted) and each.event.step > 50]

    asyncio.run(story())
