"""What one turn delegates: a `core.delegation.Delegation` over the conversation that it belongs to (N-06)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from maia.core.delegation import Delegate, Opened, Run, status_of
from maia.core.events import Event, Notice, RecordChanged, SubConversationChanged, SubConversationStarted
from maia.core.ports import Say
from maia.core.results import ToolStatus
from maia.core.text import visible
from maia.database import conversations, delegations, history
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.delegations import DEEPEST, Above, Delegated, DelegationKind, Handed
from maia.database.events import Stamped
from maia.database.ids import now_ms
from maia.folders.lists import Folder
from maia.workspace.colleagues import Colleague, is_specialist, is_talked_to
from maia.workspace.delegating.problem import problem_of
from maia.workspace.delegating.runs import Done, How, Runs
from maia.workspace.folders import WorkFolders
from maia.workspace.log import Log
from maia.workspace.models.catalogue import Pair
from maia.workspace.problems import NotThere, Unusable
from maia.workspace.staff import Staff
from maia.workspace.titles import excerpt

Emit = Callable[[Event], None]
WAITS: Final = {"answer": "delegate.asks", "approval": "delegate.approval"}
"""What people read in the chat above when a specialist needs something of them; `conversation` is where."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What all delegations of a server share."""

    database: Database
    log: Log
    staff: Staff
    folders: WorkFolders
    runs: Runs


class TurnDelegation:
    """Of one turn, which really runs on `pair`; `known` are the agents that there are."""

    def __init__(
        self, ground: Ground, row: ConversationRow, pair: Pair, how: How, say: Say, known: Sequence[Colleague]
    ) -> None:
        self._g = ground
        self._row = row
        self._pair = pair
        self._how = how
        self._say = say
        self._turn = 0
        self._emit: Emit = _unheard
        self._known = known

    def begin(self, turn: int, emit: Emit) -> None:
        """The turn has its number, and takes events from here on; nothing is delegated before."""
        self._turn, self._emit = turn, emit

    @property
    def specialists(self) -> Sequence[Delegate]:
        return [_delegate(each) for each in self._known if is_specialist(each) and self._is_new(each)]

    @property
    def colleagues(self) -> Sequence[Delegate]:
        return [_delegate(each) for each in self._known if is_talked_to(each) and self._is_new(each)]

    def _is_new(self, agent: Colleague) -> bool:
        return agent.name != self._row.agent

    # The port

    async def run(self, call_id: str, agent: str, task: str, conversation: str) -> Run:
        wanted = self._named(agent, specialist=True)
        taken_over: Handed | None = None
        if conversation:
            child, taken_over = await self._again(call_id, conversation, wanted)
            self._tell_earlier(child, taken_over, "unknown")
        else:
            child = await self._make("specialist", call_id, excerpt(task), wanted)
        self._emit(SubConversationStarted(call_id, child.id, wanted.nickname))
        how = replace(self._how, kind="specialist", by=self._called, resumes=0, system="")
        going = asyncio.create_task(self._through(child, task, how))
        try:
            done = await asyncio.shield(going)
        except asyncio.CancelledError:
            await self._stopped(child, going)
            raise
        if not done.waits:
            self._tell_earlier(child, taken_over, status_of(done.ended.outcome))
        else:
            named = {"name": visible(wanted.nickname), "conversation": child.id}
            self._emit(Notice("warn", WAITS[done.waits], named))
        problem, later = problem_of(done.ended.failure, self._say), not how.attended
        end = (done.ended.outcome, done.text, problem, done.cost)
        return Run(child.id, wanted.nickname, *end, done.waits, later)

    async def _stopped(self, child: ConversationRow, going: asyncio.Task[Done]) -> None:
        """Stop the child and wait for its end: nothing above ends before it.

        A call is cancelled several times over: by the turn, by other calls of its answer, by a program that goes.
        """
        is_told = False
        while not going.done():
            is_told = is_told or self._g.runs.stop(child.id)
            with suppress(asyncio.CancelledError):
                await asyncio.wait({going}, timeout=None if is_told else 0.05)

    async def assign(self, call_id: str, agent: str, title: str, task: str) -> Opened:
        wanted = self._named(agent, specialist=False)
        child = await self._make("card", call_id, excerpt(title or task), wanted)
        return await self._opened(call_id, child, task, wanted.nickname)

    async def open(self, call_id: str, title: str, message: str, agent: str) -> Opened:
        wanted = self._named(agent, specialist=None) if agent else None
        child = await self._make("sub", call_id, excerpt(title), wanted)
        return await self._opened(call_id, child, message, wanted.nickname if wanted else "")

    # Inside

    @property
    def _called(self) -> str:
        """How this conversation's agent is called where it stands in a person's place."""
        agent = self._row.agent
        return next((each.nickname for each in self._known if each.name == agent), agent or "maia")

    def _named(self, word: str, *, specialist: bool | None) -> Colleague:
        """The agent of that name, or that people call so. Raises `NotThere`, which lists those that there are."""
        offered = [
            each
            for each in self._known
            if (is_specialist(each) and specialist is not False) or (is_talked_to(each) and specialist is not True)
        ]
        plain = word.strip().casefold()
        found = next((each for each in offered if plain in (each.name.casefold(), each.nickname.casefold())), None)
        if found is None:
            known = ", ".join(visible(each.name) for each in offered) or "–"
            raise NotThere("delegate.no_agent", name=visible(word)[:100], known=known)
        return found

    async def _through(self, child: ConversationRow, task: str, how: How) -> Done:
        await self._g.runs.begin(child, task, how)
        return await self._g.runs.done(child.id)

    async def _opened(self, call_id: str, child: ConversationRow, task: str, agent: str) -> Opened:
        """A conversation that nobody waits for; without a task it waits for a person."""
        self._emit(SubConversationStarted(call_id, child.id, agent))
        if task:
            how = replace(self._how, kind="background", by=self._called, attended=False, resumes=0, system="")
            await self._g.runs.begin(child, task, how)
        else:
            event = Stamped(now_ms(), RecordChanged(("children",)))
            self._g.log.write(self._row.id, self._turn, [event])
        return Opened(child.id, child.title, agent, bool(task))

    def _tell_earlier(self, child: ConversationRow, earlier: Handed | None, status: ToolStatus) -> None:
        """The row of a call whose work a later one took over: what comes of that is what comes of both."""
        if earlier is not None:
            event = Stamped(now_ms(), SubConversationChanged(earlier.call_id, child.id, status))
            self._g.log.write(self._row.id, earlier.turn, [event])

    async def _again(
        self, call_id: str, conversation_id: str, agent: Colleague
    ) -> tuple[ConversationRow, Handed | None]:
        """A conversation of that specialist which this one started before, to go on with on this turn's model.

        With it comes the earlier call whose row waits until now.
        """

        def find(connection: Connection) -> tuple[ConversationRow, Handed | None] | None:
            row = conversations.conversation_of(connection, conversation_id, self._row.owner_id)
            if row is None or (row.parent_id, row.is_sub, row.agent) != (self._row.id, True, agent.name):
                return None
            earlier = delegations.handed(connection, row.id)
            delegations.renew(connection, row.id, self._turn, call_id, *self._pair)
            return row, earlier if earlier is not None and earlier.status == "pending" else None

        found = await self._g.database.write(find)
        if found is None:
            raise NotThere("delegate.no_conversation", id=visible(conversation_id)[:60], name=agent.nickname)
        self._how.allowance.take()
        return found

    async def _make(self, kind: DelegationKind, call_id: str, title: str, agent: Colleague | None) -> ConversationRow:
        """A new conversation below this one, in its project and its folders. Raises `Unusable`, the reason told."""
        row = self._row
        above = await self._g.database.read(lambda c: delegations.above(c, row.id))
        check(row, above, agent)
        self._how.allowance.take()
        name = agent.name if agent else None
        wanted = Delegated(kind, row.id, self._turn, call_id, *self._pair, title, row.lang, name)
        folders = [Folder(each.name, each.path) for each in await self._g.folders.settle(row.id)]

        def make(connection: Connection) -> ConversationRow:
            made = delegations.add_delegated(connection, row.owner_id, wanted, row.project_id)
            self._g.folders.to_keep(made, folders)(connection)
            if kind == "card":
                history.add_change(connection, row.id, "task", title, "running", None)
            child = conversations.conversation(connection, made)
            assert child is not None
            return child

        return await self._g.database.write(make)


def _unheard(_event: Event) -> None:
    pass


def check(row: ConversationRow, above: Sequence[Above], agent: Colleague | None) -> None:
    """Raises `Unusable` where a conversation below this one would be too deep, or its agent works above it already."""
    if len(above) >= DEEPEST:
        raise Unusable("delegate.too_deep", n=DEEPEST)
    if agent is not None and agent.name in {row.agent, *(each.agent for each in above)}:
        raise Unusable("delegate.circle", name=agent.nickname)


def _delegate(agent: Colleague) -> Delegate:
    return Delegate(agent.name, agent.nickname, agent.description)
