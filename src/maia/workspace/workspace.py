"""The workspace as doors see it: conversations of a person, their messages, their streams."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import URL, Connection

from maia.core.jsonvalue import JsonObject
from maia.core.submission import Submission
from maia.database import compositions, conversations, delegations, messages, settings
from maia.database.compositions import CompositionRow, MemoryDelivery
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.delegations import Above, Child
from maia.database.events import Logged, events_of_turns, turn_at, turns_after
from maia.database.folders import FolderRow
from maia.database.ids import ID_CHARS, now_ms
from maia.database.messages import MessageRow
from maia.database.pruning import prune_refusals
from maia.database.users import User
from maia.folders.lists import Folder
from maia.folders.safety import Safety
from maia.folders.workspaces import Location, Workspaces
from maia.privacy.mask import Masker
from maia.privacy.message import REFUSED
from maia.tools.lookups import lookup_tools
from maia.workspace.autonomy.check import Check
from maia.workspace.autonomy.levels import Levels
from maia.workspace.autonomy.security import Security, Surroundings
from maia.workspace.autonomy.tools import Tools
from maia.workspace.autonomy.watch import Watch
from maia.workspace.bench import OpenBench
from maia.workspace.calls.completion import Completion
from maia.workspace.calls.routing import Routing
from maia.workspace.changing import Changing
from maia.workspace.choosing import Answering, Change, answering, first_pin
from maia.workspace.colleagues import Colleagues, nobody
from maia.workspace.definitions import AgentFiles, Definitions
from maia.workspace.delegating.handing import Handing
from maia.workspace.delegating.runs import How
from maia.workspace.feed import Feeds
from maia.workspace.files.attachments import Attachments
from maia.workspace.folders import WorkFolders
from maia.workspace.log import Log
from maia.workspace.models.budgets import Budgets
from maia.workspace.models.catalogue import Pair
from maia.workspace.models.isolation import Isolations, NoWalls, Walls
from maia.workspace.models.quotas import Quotas
from maia.workspace.models.shelf import Shelf
from maia.workspace.models.supply import Supply
from maia.workspace.news import News
from maia.workspace.people.accounts import Accounts
from maia.workspace.people.entering import Entering
from maia.workspace.people.people import People
from maia.workspace.preferences import RETENTION, Preferences
from maia.workspace.privacy import MaskerOf, Privacy
from maia.workspace.problems import NotYours
from maia.workspace.record.board import Boards
from maia.workspace.record.cards import Cards
from maia.workspace.record.defaults import DefaultFolders
from maia.workspace.record.planning import Planning
from maia.workspace.recovery import recover
from maia.workspace.remembering.briefing import Briefer
from maia.workspace.remembering.lookups import TurnLookups
from maia.workspace.remembering.memories import Memories
from maia.workspace.sessions import TerminalSessions, Trusts, everybody
from maia.workspace.staff import Staff
from maia.workspace.terminals import Program, Terminals
from maia.workspace.titles import checked_title
from maia.workspace.turns import Begun, Turns

PAGE = 200
KEPT_DAYS = 7
"""Days for which what a turn was made of is kept, unless a setting says otherwise."""
FORGETS_EVERY = 3600.0
"""Seconds after which what is kept for some days only is looked through again."""
_logger = logging.getLogger("maia.workspace")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a conversation for a reader: the events of some turns, and where its stream goes on.

    `earlier` is the first turn shown, where there are turns before it.
    """

    row: ConversationRow
    logged: Sequence[Logged]
    earlier: int | None


class Workspace:
    """Everything that a door may ask for. Other people's conversations are `NotYours` everywhere."""

    def __init__(
        self,
        url: URL,
        location: Location,
        look: Callable[[], Safety],
        open_bench: OpenBench,
        supply: Supply,
        started_with: str | None = None,
        masker: MaskerOf = Masker,
        *,
        agents: AgentFiles,
        colleagues: Colleagues = nobody,
        trusts: Trusts = everybody,
        program: Program | None = None,
        walls: Walls | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        """Open the database and bring it up to date; blocks. Raises `DatabaseProblem`.

        `look` says what is protected on this machine at that moment, `trusts` whether what a folder brings is.
        `program` is what runs in terminals, `surroundings` what the page of security tells of this machine.
        """
        self._database = Database(url)
        self._feeds = Feeds()
        self._news = News()
        self._log = Log(self._database, self._feeds, self._news)
        self.models = Shelf(self._database, supply, started_with)
        self.isolations = Isolations(self.models, walls or NoWalls())
        self.work_folders = WorkFolders(self._database, Workspaces(location.workspaces, location.data), look)
        self.privacy = Privacy(self._database, location.data / "privacy.yaml", masker, self._news)
        self.budgets = Budgets(self._database)
        self.quotas = Quotas(self._database)
        self.completion = Completion(self.models, self.budgets, self.privacy)
        self.routing = Routing(self._log, self.models, self.budgets, self.quotas, self.privacy)
        self.preferences = Preferences(self._database)
        self.memories = Memories(self._database, self.privacy)
        self.attachments = Attachments(self._database, location.data / "attachments")
        self.staff = Staff(self._database, colleagues)
        self.levels = Levels(self._database, self._news)
        self.tools = Tools(lambda: lookup_tools(TurnLookups(self._database, self.memories, "")))
        self.security = Security(self._database, look, location, self.isolations, surroundings)
        self._watch = Watch(self._database, self.levels, Check(self.routing.background, self.privacy))
        self._turns = Turns(
            self._database,
            self._log,
            self.work_folders,
            open_bench,
            self.models,
            self.privacy,
            self.routing,
            Briefer(self._database, self.memories),
            self.attachments,
            self.staff,
            self._watch,
        )
        self.definitions = Definitions(self._database, agents, self.models, self._news)
        self._forgetting: asyncio.Task[None] | None = None
        self.accounts = Accounts(self._database)
        self.terminals = Terminals(self._database, self.accounts, self.work_folders, program)
        self.entering = Entering(self._database, self.accounts)
        self.people = People(self._database, self.accounts, self._turns.stop_all)
        self.approvals = self._turns.queue
        self._handing = Handing(self._database, self._turns)
        self.cards = Cards(
            self._database, self._log, self.work_folders, self.staff, self._news, self._handing, self._turns.late
        )
        self.planning = Planning(self._database, self._news)
        self.boards = Boards(self._database, self._news)
        self.defaults = DefaultFolders(self._database, self.work_folders)
        self.sessions = TerminalSessions(self._database, self._log, self.work_folders, self.models, trusts)
        self.changing = Changing(self._log, self.work_folders, self.models, self.cards, self.staff)

    # Life

    async def start(self) -> str:
        """End what an earlier server left open; the name of this installation, the same at every start."""
        await self.models.start()
        for conversation_id in await self._database.read(conversations.running):
            await self._database.write(lambda c, each=conversation_id: recover(c, each))
        name = await self._database.read(lambda c: settings.setting(c, "installation"))
        if not isinstance(name, str):
            name = f"{now_ms():x}"
            await self._database.write(lambda c, made=name: settings.keep_setting(c, "installation", made))
        await self.attachments.open(name)
        await self._watch.start()
        await self._turns.paused.take_up()
        await self._turns.late.take_up()
        self._forgetting = asyncio.create_task(self._forget())
        return name

    def let_go(self) -> None:
        """Streams and terminals end, so that the door can close."""
        self.terminals.close()
        self._feeds.close()
        self._news.close()

    async def close(self) -> None:
        """End all turns, write the rest, close the database."""
        if self._forgetting is not None:
            self._forgetting.cancel()
            await asyncio.wait({self._forgetting})
        await self.routing.close()
        await self._handing.close()
        await self._turns.close()
        await self.models.close()
        await asyncio.to_thread(self._database.close)

    # Conversations

    async def create(
        self,
        user: User,
        title: str,
        lang: str,
        folders: Sequence[Folder] = (),
        start: Change | None = None,
        *,
        fields: JsonObject | None = None,
    ) -> ConversationRow:
        """A new conversation of that person (R-2.005); without folders it gets a workspace of its own (R-2.347).

        `start` says who answers, `fields` are those of `Cards.prepared`. Raises `Unusable` for a title that is too long
        or a value that cannot be, `FolderRefused` and `ListRefused`, `Unfit`: then none is made (R-2.336).
        """
        title = checked_title(title) if title.strip() else ""
        checked = await self.work_folders.checked(user.id, folders)
        has_agent = bool(fields and fields.get("agent"))
        pin, effort = first_pin(start or Change(), await self.models.known(), has_agent=has_agent)
        change = await self.cards.prepared(user, fields) if fields else None

        def make(connection: Connection) -> str:
            made = conversations.add_conversation(connection, user.id, title, lang, pin, effort)
            if change is not None:
                change(connection, made)
            if checked:
                self.work_folders.to_keep(made, checked)(connection)
            return made

        made = await self._database.write(make)
        if not checked:
            await self.work_folders.settle(made)
        self._news.tell(made)
        if change is not None:
            await self._handing.look(made, None)
        return await self.conversation(user, made)

    async def folders(self, row: ConversationRow) -> tuple[FolderRow, ...]:
        """The folders of a conversation, the primary one first."""
        return await self.work_folders.of(row.id)

    async def answering(self, row: ConversationRow) -> Answering:
        """Who answers the next message of a conversation, and how deep (R-2.077)."""
        return answering(row, await self.models.known(), await self.staff.of(row))

    async def home_thread(self, user: User, name: str, lang: str) -> ConversationRow:
        """The conversation that goes on with a colleague, made at the first opening (R-2.004). Raises `NotThere`."""
        found, is_new = await self.staff.home(user, name, lang)
        if is_new:
            await self.work_folders.settle(found)
        return await self.conversation(user, found)

    async def conversation(self, user: User, conversation_id: str) -> ConversationRow:
        """One conversation. Raises `NotYours`."""
        if len(conversation_id) != ID_CHARS or not conversation_id.isascii() or not conversation_id.isalnum():
            raise NotYours("workspace.not_found")
        row = await self._database.look(lambda c: conversations.conversation_of(c, conversation_id, user.id))
        if row is None:
            raise NotYours("workspace.not_found")
        return row

    async def conversations(
        self, user: User, limit: int, before: tuple[int, str] | None = None, *, archived: bool = False
    ) -> Sequence[ConversationRow]:
        """Their conversations, the last changed first; `before` is (updated_at, id) of the last one seen."""
        limit = max(1, min(limit, PAGE))
        return await self._database.read(
            lambda c: conversations.list_conversations(c, user.id, limit, before, archived=archived)
        )

    async def children(self, row: ConversationRow) -> Sequence[Child]:
        """What a conversation delegated, the first one first."""
        return await self._database.read(lambda c: delegations.children_of(c, row.id))

    async def above(self, row: ConversationRow) -> Sequence[Above]:
        """The conversations that delegated this one, the nearest first."""
        if row.parent_id is None:
            return ()
        return await self._database.read(lambda c: delegations.above(c, row.id))

    # Messages and turns

    async def messages(self, row: ConversationRow, limit: int, before_turn: int | None = None) -> list[MessageRow]:
        """The last messages, oldest first."""
        return await self._database.read(lambda c: messages.messages_of(c, row.id, limit, before_turn))

    async def whole(self, row: ConversationRow) -> list[MessageRow]:
        """All messages, oldest first."""
        return await self._database.read(lambda c: messages.messages_of(c, row.id, None))

    async def submit(
        self,
        user: User,
        row: ConversationRow,
        submission: Submission,
        override: Pair | None = None,
        *,
        masked: bool = False,
        files: Sequence[str] = (),
        system: str = "",
    ) -> Begun:
        """Send a message; the answer is written whoever looks on. `override` answers this turn alone (R-2.068).

        `files` are ids of attachments that wait, `system` replaces the system prompt. Raises as `Turns.submit`.
        """
        how = How(system=system)
        return await self._turns.submit(row, user.id, submission, override, masked=masked, files=files, how=how)

    def warm(self, row: ConversationRow) -> None:
        """Somebody looks at a conversation, and may write: their first words then wait for less."""
        self._turns.warm(row)

    def stop(self, row: ConversationRow) -> bool:
        """Stop the answer that is being written; False when there is none."""
        return self._turns.stop(row.id)

    async def page(self, row: ConversationRow, turns: int, before: int | None = None) -> Page:
        """The last turns of a conversation, or those before turn `before`, with all their events."""
        last = row.last_turn if before is None else min(before - 1, row.last_turn)
        first = max(1, last - turns + 1)

        def find(connection: Connection) -> Page:
            now = conversations.conversation(connection, row.id) or row
            until = now.last_turn if before is None else last
            logged = events_of_turns(connection, row.id, first, until)
            return Page(now, logged, first if first > 1 else None)

        return await self._database.read(find)

    async def since(self, row: ConversationRow, seq: int) -> tuple[int, Sequence[Logged]]:
        """For a page that shows the log up to `seq`: the turn it had come to, and all events from that turn on.

        Of turns before that there are all events, too, where something came after `seq`.
        """

        def find(connection: Connection) -> tuple[int, Sequence[Logged]]:
            now = conversations.conversation(connection, row.id) or row
            turn = turn_at(connection, row.id, seq)
            logged = [*events_of_turns(connection, row.id, max(1, turn), now.last_turn)]
            for earlier in turns_after(connection, row.id, seq, turn):
                logged += events_of_turns(connection, row.id, earlier, earlier)
            return turn, sorted(logged, key=lambda each: each.seq)

        return await self._database.read(find)

    async def turns_until(self, row: ConversationRow, turns: Iterable[int], seq: int) -> Sequence[Logged]:
        """These turns as they stood before that number of the log."""

        def find(connection: Connection) -> Sequence[Logged]:
            found = (each for turn in turns for each in events_of_turns(connection, row.id, turn, turn))
            return [each for each in found if each.seq < seq]

        return await self._database.read(find)

    def follow(self, row: ConversationRow, seq: int, patience: float) -> AsyncIterator[tuple[Logged, ...]]:
        """The log after that number, then what comes; an empty tuple after `patience` seconds of silence."""
        return self._log.follow(row.id, seq, patience)

    async def composition(self, row: ConversationRow, turn: int) -> CompositionRow | None:
        """What the last model call of that turn received, while it is kept (R-2.126)."""
        return await self._database.read(lambda c: compositions.composition(c, row.id, turn))

    async def composed(self, row: ConversationRow) -> Sequence[int]:
        """The turns of which that is kept, the last first."""
        return await self._database.read(lambda c: compositions.turns_composed(c, row.id))

    async def memory_delivery(self, days: int) -> Sequence[MemoryDelivery]:
        """What memory reached each provider's models in the last days, today among them, in UTC (R-2.127)."""
        since = datetime.now(UTC).date() - timedelta(days=days - 1)
        return await self._database.read(lambda c: compositions.memory_delivery(c, since))

    async def _forget(self) -> None:
        """Drop what is kept for some days only, now and once an hour (N-18.04)."""
        while True:
            try:
                await self._forget_once()
            except Exception:  # a database that refuses now is asked again: what is over must not stay for that
                _logger.exception("forgetting")
            await asyncio.sleep(FORGETS_EVERY)

    async def _forget_once(self) -> None:
        days = await self._database.read(lambda c: settings.setting(c, RETENTION))
        kept = days if isinstance(days, int) and days >= 0 else KEPT_DAYS
        before = now_ms() - kept * 86_400_000
        await self._database.write(lambda c: compositions.purge_compositions(c, before))
        await self._database.write(lambda c: prune_refusals(c, now_ms(), REFUSED))
        await self.attachments.sweep()

    async def answer(self, row: ConversationRow, turn: int) -> MessageRow | None:
        """The answer of a turn."""
        found = await self._database.read(lambda c: messages.messages_of(c, row.id, 2, turn + 1))
        return next((each for each in found if each.role == "assistant" and each.turn == turn), None)
