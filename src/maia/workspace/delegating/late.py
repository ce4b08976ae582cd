"""Results of specialists that waited for a person: a run goes on by them, a chat reads them with its next message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from sqlalchemy import Connection

from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.ports import Say
from maia.core.submission import Attachment, Submission
from maia.core.text import cut_middle, visible
from maia.database import conversations, delegations, late
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.events import Stamped, events_of_turns
from maia.database.ids import now_ms
from maia.database.late import AwaitedBy, Late, WaitsFor
from maia.workspace.colleagues import named
from maia.workspace.delegating.problem import problem_of
from maia.workspace.delegating.runs import How
from maia.workspace.delegating.upward import Upward
from maia.workspace.log import Log
from maia.workspace.meta import TurnSums
from maia.workspace.problems import Busy
from maia.workspace.staff import Staff

LONGEST_RESULT: Final = 30_000
"""Characters of a result that the model reads."""
Words: TypeAlias = Callable[[ConversationRow, How, str, int], Awaitable[str]]
"""(conversation, in which way, key, how many) → what a run is told that goes on, in its language."""


class Runs(Protocol):
    """What begins turns and knows when they are over; `Turns` is one."""

    async def submit(self, row: ConversationRow, author_id: str, submission: Submission, *, how: How) -> Any: ...

    async def ended(self, conversation_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Results:
    """What a turn that begins reads of them. `along` stores that it did, with the message that they go with."""

    attachments: tuple[Attachment, ...] = ()
    ids: tuple[str, ...] = ()

    def along(self, connection: Connection) -> None:
        if self.ids:
            late.forget(connection, self.ids)


def note_end(
    connection: Connection, conversation_id: str, turn: int, waits: WaitsFor, awaited_by: AwaitedBy = ""
) -> bool:
    """A turn of a delegated conversation is over; whether it brings a result that was owed.

    `awaited_by`: the turn that gave it the task waits for it, and is told by its call how it went.
    """
    if not waits:
        return late.settle(connection, conversation_id, turn)
    if awaited_by:
        late.owe(connection, conversation_id, awaited_by)
    else:
        late.owe_again(connection, conversation_id)
    return False


class LateResults:
    """All of this server. What is owed stands in the database, so that a restart loses none."""

    def __init__(self, database: Database, log: Log, staff: Staff, runs: Runs, words: Words) -> None:
        self._database = database
        self._log = log
        self._staff = staff
        self._runs = runs
        self._words = words
        self._expecting: dict[str, int] = {}
        """How often something came for each conversation for which there may be results."""
        self._closing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def take_up(self) -> None:
        """What came while no server was there, and what one did not come to tell any more."""
        upward = Upward(self._log)

        def look(connection: Connection) -> Sequence[str]:
            parents = late.expecting(connection)
            for each in (each for parent in parents for each in late.late_below(connection, parent)):
                if each.awaited_by != "told":
                    upward.note_call(connection, each.conversation_id)
            return parents

        parents = await self._database.read(look)
        upward.tell()
        for parent_id in parents:
            self.came(parent_id)

    def came(self, parent_id: str) -> None:
        """A turn below that conversation is over; returns at once."""
        self._expecting[parent_id] = self._expecting.get(parent_id, 0) + 1
        if not self._closing:
            task = asyncio.create_task(self._pass_on(parent_id), name=f"results for {parent_id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def refused(self, row: ConversationRow) -> None:
        """All that it waited for was refused: it stays stopped, and whoever waits for it is told."""
        if row.parent_id is not None:
            upward = Upward(self._log)

            def along(connection: Connection) -> None:
                late.settle(connection, row.id, row.last_turn, is_refused=True)
                upward.note_call(connection, row.id)

            await self._database.write(along)
            upward.tell()
            self.came(row.parent_id)

    async def close(self) -> None:
        """Begin nothing more."""
        self._closing = True
        await self.settled()

    async def settled(self) -> None:
        """Wait until each was passed on."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def of(self, row: ConversationRow, say: Say) -> Results:
        """What the turn that begins there reads."""
        if (known_of := self._expecting.get(row.id)) is None:
            return Results()
        found = await self._database.read(lambda c: _with_ends(c, row.id))
        if not found:
            self._expect_no_more(row.id, known_of)
        known = await self._staff.everybody(row) if found else ()
        nicknames = {each.name: each.nickname for each in known}
        attachments = [_attachment(each, sums, nicknames.get(each.agent, each.agent), say) for each, sums in found]
        return Results(tuple(attachments), tuple(each.conversation_id for each, _ in found))

    # Inside

    def _expect_no_more(self, parent_id: str, known_of: int) -> None:
        """Nothing was found there; what came while that was looked for is looked for again."""
        if self._expecting.get(parent_id) == known_of:
            del self._expecting[parent_id]

    async def _pass_on(self, parent_id: str) -> None:
        await self._runs.ended(parent_id)

        def look(connection: Connection) -> tuple[ConversationRow | None, Sequence[Late], bool, bool]:
            row = conversations.conversation(connection, parent_id)
            is_run = row is not None and late.is_run(connection, row.id, row.last_turn)
            waits = bool(late.waits_below(connection, parent_id))
            return row, late.late_below(connection, parent_id), is_run, waits

        known_of = self._expecting.get(parent_id, 0)
        row, found, is_run, waits = await self._database.read(look)
        if row is None or not found:
            self._expect_no_more(parent_id, known_of)
        elif not is_run or all(each.awaited_by != "run" for each in found):
            await self._tell(row, found)
        elif not waits:
            await self._go_on(row, found)

    async def _go_on(self, row: ConversationRow, found: Sequence[Late]) -> None:
        try:
            known = await self._staff.everybody(row)
            agents = {each.agent: named(known, each.agent) for each in found}
            by = ", ".join(agent.nickname if agent else name for name, agent in agents.items())
            kind = await self._database.read(lambda c: delegations.kind_of(c, row.id))
            run = "specialist" if kind == "specialist" else "background"
            how = How(run, by=by or "maia", attended=False, resumes=row.last_turn)
            words = await self._words(row, how, "delegate.go_on", len(found))
            await self._runs.submit(row, row.owner_id, Submission(words), how=how)
        except Busy:
            if not self._closing:
                self.came(row.id)  # somebody wrote there meanwhile
        except MaiaError as error:
            if not self._closing:
                told = Notice("fail", "autonomy.not_resumed"), Notice("fail", error.key, error.values)
                await self._write(row, told, found)

    async def _tell(self, row: ConversationRow, found: Sequence[Late]) -> None:
        """People read that a result is there, each once."""
        new = [each for each in found if each.awaited_by != "told"]
        if new:
            notices = [Notice("info", "delegate.late", {"title": visible(each.title)}) for each in new]
            await self._write(row, notices, new)

    async def _write(self, row: ConversationRow, notices: Sequence[Notice], found: Sequence[Late]) -> None:
        stamped = [Stamped(now_ms(), notice) for notice in notices]
        ids = [each.conversation_id for each in found]
        await asyncio.wrap_future(self._log.write(row.id, row.last_turn, stamped, lambda c: late.tell(c, ids)))


def _with_ends(connection: Connection, parent_id: str) -> list[tuple[Late, TurnSums]]:
    found: list[tuple[Late, TurnSums]] = []
    for each in late.late_below(connection, parent_id):
        sums = TurnSums()
        for logged in events_of_turns(connection, each.conversation_id, each.turn, each.turn):
            sums.take(logged.event)
        found.append((each, sums))
    return found


def _attachment(result: Late, sums: TurnSums, agent: str, say: Say) -> Attachment:
    """A result as the model reads it, fenced as data; people see whose it is, and where."""
    ended = sums.ended
    outcome = "stopped" if ended is None else "refused_call" if ended.outcome == "waiting_approval" else ended.outcome
    problem = problem_of(ended.failure, say) if ended is not None else ""
    head = say(f"delegate.run.{outcome}", agent=visible(agent), id=result.conversation_id, problem=problem)
    said = cut_middle(sums.texts[-1], LONGEST_RESULT).text if sums.texts else say("delegate.no_words")
    text = f"{head}\n\n{visible(said)}"
    return Attachment("result", visible(f"{agent} · {result.title}"), text, id=result.conversation_id, size=len(said))
