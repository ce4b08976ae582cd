import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from maia.core.agent import AgentDefinition
from maia.core.costs import Usage
from maia.core.events import ContextMeasured, TurnEnded, WireAnswer, WireEvent
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.requests import ChosenBy, ModelRequest
from maia.core.runtime import Desk, ProgramEnd, ProgramTask
from maia.core.submission import Submission
from maia.database.spending import Spent, add_spent
from maia.engine.setup import Bound
from maia.workspace.colleagues import Colleague
from maia.workspace.models.quotas import QUOTA_REACHED, Quota, next_month
from maia.workspace.problems import QuotaReached
from maia.workspace.records import ConversationRow, User
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on

USED = Usage(60, 20, cache_read=20)
"""100 tokens an answer."""


class Counting(PlayedWire):
    """Each answer takes as many tokens; those asked for `calls` call a tool first."""

    calls = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        part = TextPart("Yes.")
        if self.calls:
            self.calls -= 1
            part = ToolCallPart(f"c{len(self.requests)}", "Nothing", {})
        stop = "tool_calls" if isinstance(part, ToolCallPart) else "end"
        yield WireAnswer(AssistantMessage((part,), "m", "played"), stop, stop, USED)


def agent(name: str, tokens: int, **more: Any) -> Colleague:
    return Colleague(AgentDefinition(name, name.capitalize(), "x", "Be careful.", monthly_tokens=tokens, **more))


class Endless:
    """A program that asks its model again and again, and tells how large its prompts are."""

    name = "played"

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        for n in range(1, 1000):
            desk.tell(ContextMeasured(90 + n, None))
            desk.tell(ContextMeasured(90 + n, None))
            await asyncio.sleep(0.01)
        return ProgramEnd("finished", "end")

    async def aclose(self) -> None: ...


class EndlessModels(PlayedModels):
    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, "played", None, why, runtime=Endless())


class Office:
    def __init__(self, workspace: Workspace, user: User, wire: Counting, known: list[Colleague]) -> None:
        self.workspace, self.user, self.wire, self.known = workspace, user, wire, known

    async def new(self, name: str | None) -> ConversationRow:
        return await self.workspace.create(self.user, "", "en", fields={"agent": name} if name else None)

    async def ask(self, row: ConversationRow) -> TurnEnded:
        row = await self.workspace.conversation(self.user, row.id)
        await self.workspace.submit(self.user, row, Submission("Hello"))
        async for batch in self.workspace.follow(row, row.last_seq, 5):
            for each in batch:
                if isinstance(each.event, TurnEnded):
                    await self.workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - it is written
                    return each.event
        raise AssertionError("the stream ended")

    async def notices(self, row: ConversationRow) -> list[str]:
        meta = (await self.workspace.messages(row, 1))[0].turn_meta or {}
        return [each["key"] for each in meta["notices"]]

    async def quota(self, name: str) -> Quota:
        known = next(each for each in self.known if each.name == name)
        return await self.workspace.quotas.of(name, known.definition.monthly_tokens)


def play(
    url: str,
    folder: Path,
    known: Sequence[Colleague],
    tell: Callable[[Office], Awaitable[None]],
    of: type[PlayedModels] = PlayedModels,
) -> None:
    async def run() -> None:
        here = list(known)
        wire = Counting([])
        async with workspace_on(url, folder, of(wire), colleagues=lambda _: here) as (workspace, user):
            await tell(Office(workspace, user, wire, here))

    asyncio.run(run())


def test_an_agent_counts_its_own_tokens_is_warned_of_and_then_refused_before_anything_is_stored(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(office: Office) -> None:
        first, other = await office.new("iris"), await office.new("iris")
        assert await office.quota("iris") == Quota(0, 250)
        await office.ask(first)
        await office.ask(await office.new("basile"))
        await office.ask(await office.new(None))
        assert (await office.quota("iris"), await office.quota("basile")) == (Quota(100, 250), Quota(100, 0))
        await office.ask(other)
        assert await office.notices(other) == []
        await office.ask(first)
        assert await office.notices(first) == ["quota.near"], "80 per cent were used before it began"
        assert await office.quota("iris") == Quota(300, 250)
        await office.workspace.cards.delete(office.user, first)
        with pytest.raises(QuotaReached) as refused:
            await office.ask(other)
        until = next_month(date.today())
        values = {"name": "Iris", "n": 250, "until": f"{until:%d/%m/%Y}"}
        assert (refused.value.code, refused.value.values) == ("agent_quota", values), "deleting gives nothing back"
        assert refused.value.more == {"used": 300, "limit": 250, "until": until.isoformat()}
        assert (await office.workspace.conversation(office.user, other.id)).last_turn == 1
        assert (await office.ask(await office.new("basile"))).outcome == "finished", "others go on"
        office.known[:] = [agent("iris", 1000)]
        assert (await office.ask(other)).outcome == "finished", "more tokens count at once"

    play(database_url, tmp_path, [agent("iris", 250), agent("basile", 0)], tell)


def test_a_turn_that_uses_up_the_tokens_ends_after_its_step(tmp_path: Path) -> None:
    async def tell(office: Office) -> None:
        office.wire.calls = 9
        row = await office.new("iris")
        ended = await office.ask(row)
        assert (ended.outcome, ended.failure, ended.usage) == ("failed", QUOTA_REACHED, USED + USED + USED)
        assert len(office.wire.requests) == 3
        assert await office.quota("iris") == Quota(300, 250), "what flew is counted once"

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, [agent("iris", 250)], tell)


def test_a_program_is_stopped_once_it_used_up_the_tokens_and_what_it_used_at_least_is_counted(tmp_path: Path) -> None:
    async def tell(office: Office) -> None:
        ended = await office.ask(await office.new("iris"))
        assert (ended.outcome, ended.failure) == ("failed", QUOTA_REACHED)
        quota = await office.quota("iris")
        assert quota.used >= 91 + 92 + 93, "each size once"
        with pytest.raises(QuotaReached):
            await office.ask(await office.new("iris"))

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, [agent("iris", 250)], tell, EndlessModels)


def test_a_month_is_that_of_the_calendar(database_url: str, tmp_path: Path) -> None:
    async def tell(office: Office) -> None:
        before = date.today().replace(day=1).toordinal() - 1
        row = Spent("turn:iris", "played", "m", 500, 500)
        database = office.workspace._database  # pyright: ignore[reportPrivateUsage] - nobody waits for a month
        await database.write(lambda c: add_spent(c, date.fromordinal(before).isoformat(), row))
        await database.write(lambda c: add_spent(c, date.today().replace(day=1).isoformat(), row))
        await database.write(lambda c: add_spent(c, date.today().isoformat(), Spent("turn:iri", "played", "m", 7, 7)))
        assert await office.quota("iris") == Quota(1000, 2000)

    play(database_url, tmp_path, [agent("iris", 2000)], tell)


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        pytest.param(Quota(9, 0), (0, False, False), id="no limit"),
        pytest.param(Quota(79, 100), (79, False, False), id="below"),
        pytest.param(Quota(80, 100), (80, True, False), id="near"),
        pytest.param(Quota(999, 1000), (99, True, False), id="one is left"),
        pytest.param(Quota(1000, 1000), (100, True, True), id="reached"),
    ],
)
def test_how_near_a_limit_is(quota: Quota, expected: tuple[int, bool, bool]) -> None:
    assert (quota.percent, quota.is_near, quota.is_reached) == expected


@pytest.mark.parametrize(("day", "expected"), [("2026-01-31", "2026-02-01"), ("2026-12-01", "2027-01-01")])
def test_the_next_month_begins_on_its_first_day(day: str, expected: str) -> None:
    assert next_month(date.fromisoformat(day)).isoformat() == expected
