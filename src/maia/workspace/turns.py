"""Turns run here, in the server, whoever looks on: leaving a page stops nothing, Stop is a request (R-2.172)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from maia.core.endings import Failure
from maia.core.errors import MaiaError
from maia.core.events import Notice, SessionRenamed
from maia.core.submission import Submission
from maia.database import conversations, messages
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.delegations import top_of
from maia.database.problems import ConversationGone
from maia.engine.setup import Bound
from maia.workspace.ahead import Ahead
from maia.workspace.approvals import Queue
from maia.workspace.autonomy.resuming import Earlier, Task, earlier_of
from maia.workspace.autonomy.watch import Watch
from maia.workspace.bench import OpenBench, WorkBench
from maia.workspace.calls.routing import Routing
from maia.workspace.composition import Tape, overheard, window_of
from maia.workspace.delegating.delegation import Ground, TurnDelegation
from maia.workspace.delegating.late import LateResults
from maia.workspace.delegating.refused import keep_refused
from maia.workspace.delegating.runs import Done, How
from maia.workspace.delegating.upward import Upward
from maia.workspace.files.attachments import Attachments
from maia.workspace.files.gathering import gathered
from maia.workspace.files.joining import Reader, joined
from maia.workspace.files.pictures import filled, not_passed, noted
from maia.workspace.folders import WorkFolders
from maia.workspace.kept import KeptConversations
from maia.workspace.log import Log, TurnLog
from maia.workspace.models.catalogue import Pair
from maia.workspace.models.shelf import Shelf
from maia.workspace.pausing import PausedRuns
from maia.workspace.people.working import must_work_here
from maia.workspace.privacy import Privacy
from maia.workspace.problems import Busy, ModelUnavailable, NotYours, StorageError, Unusable
from maia.workspace.recovery import SERVER_STOPPED
from maia.workspace.remembering.briefing import Briefer, Briefing
from maia.workspace.running import STORAGE_REFUSED, Prepared, RunningTurn, prepared
from maia.workspace.staff import Staff
from maia.workspace.titles import excerpt

LONGEST_MESSAGE = 400_000
_STEPS = 4
"""Of the loop, within which a request is usually on its way to its model: who sent the message hears of it after."""
_logger = logging.getLogger("maia.workspace")


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn that was accepted: its number in the conversation, and the id of the answer that is being written."""

    turn: int
    answer: str


@dataclass(slots=True)
class _Running:
    """A turn that was asked for. `task` is there once it runs; `ended` hears its end."""

    owner: str
    task: asyncio.Task[None] | None = None
    turn: RunningTurn | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: bool = False
    stuck: bool = False


class Turns:
    """All turns of this server."""

    def __init__(
        self,
        database: Database,
        log: Log,
        folders: WorkFolders,
        open_bench: OpenBench,
        models: Shelf,
        privacy: Privacy,
        routing: Routing,
        briefer: Briefer,
        files: Attachments,
        staff: Staff,
        watch: Watch,
    ) -> None:
        self._database = database
        self._files = files
        self._log = log
        self._folders = folders
        self._privacy = privacy
        self._briefer = briefer
        self._models = models
        self._routing = routing
        self._staff = staff
        self._watch = watch
        self._running: dict[str, _Running] = {}
        self._kept = KeptConversations(database, open_bench)
        self._closing = False
        self._warming: set[asyncio.Task[None]] = set()
        self.late = LateResults(database, log, staff, self, self._words)
        self.paused = PausedRuns(database, log, self, self._words, self.late)
        self.queue = Queue(database, log, self.paused.decided)

    # What doors call

    async def submit(
        self,
        row: ConversationRow,
        author_id: str,
        submission: Submission,
        override: Pair | None = None,
        *,
        masked: bool = False,
        files: Sequence[str] = (),
        how: How | None = None,
    ) -> Begun:
        """Store a person's message and begin to answer it; returns as soon as it is stored.

        With `masked` protected data in it are replaced first; `files` are ids of those that go with it; `how` says who
        asks where no person does. Raises `Unusable` for an empty or endless message, `Busy` while an answer is being
        written, `ModelUnavailable`, `PrivacyBlocked`, `FileGone`, `NotYours` once it is gone: then nothing is stored.
        """
        _check(submission, files)
        before = self._running.get(row.id)
        if before is not None and before.turn is not None and before.turn.is_over:
            await before.ended.wait()  # its end was told already; only what is behind it is not put away yet
        if self._closing or row.id in self._running:
            raise Busy("workspace.busy")
        running = self._running[row.id] = _Running(row.owner_id)
        try:
            how = how or How()
            return await self._begin(row, author_id, submission, running, override, masked=masked, files=files, how=how)
        except BaseException:
            if running.task is None:  # else its message is stored and it runs, whoever waits to hear of that
                self._over(row.id, running)
            raise

    async def begin(self, row: ConversationRow, text: str, how: How) -> None:
        """Begin a turn in a person's place; its refusal stays as a failed turn, and is raised."""
        try:
            await self.submit(row, row.owner_id, Submission(text), masked=True, how=how)
        except (Busy, NotYours):
            raise
        except MaiaError as error:
            await keep_refused(self._database, self._log, row, text, how.by, error)
            raise

    async def done(self, conversation_id: str) -> Done:
        """Wait for the turn that was begun there, and tell how it ended."""
        running = self._running.get(conversation_id)
        turn = running.turn if running is not None else None
        if running is None or turn is None:
            raise Unusable("delegate.no_answer")
        await running.ended.wait()
        if turn.sums.ended is None:
            raise Unusable("delegate.no_answer")
        text = turn.sums.texts[-1] if turn.sums.texts else ""
        return Done(text, turn.sums.ended, turn.sums.whole_cost(), turn.waits)

    def warm(self, row: ConversationRow) -> None:
        """Make the tools of a conversation ready, for who is about to write there; returns at once, and never fails."""
        if row.id not in self._kept and row.id not in self._running and not self._closing:
            task = asyncio.create_task(self._warm(row))
            self._warming.add(task)
            task.add_done_callback(self._warming.discard)

    async def _warm(self, row: ConversationRow) -> None:
        with suppress(Exception):  # whatever is wrong is told to who sends a message
            assigned = await self._staff.of(row)
            await self._kept.keep(row, await self._folders.room(row, assigned.folders), assigned.role)

    def stop(self, conversation_id: str) -> bool:
        """Stop the turn that runs; returns at once, False when there is none. What was written is kept."""
        running = self._running.get(conversation_id)
        if running is None or (running.turn is not None and running.turn.is_over):
            return False
        _cancel(running)
        return True

    def stop_all(self, owner_id: str) -> None:
        """Stop every turn of that person."""
        for conversation_id in [key for key, running in self._running.items() if running.owner == owner_id]:
            self.stop(conversation_id)

    async def ended(self, conversation_id: str) -> None:
        """Wait until no turn runs there."""
        if (running := self._running.get(conversation_id)) is not None:
            await running.ended.wait()

    async def close(self) -> None:
        """End all turns: each gets the ending of a server that stopped, not of a person who did."""
        self._closing = True
        waiting = list(self._running)
        for conversation_id in waiting:
            _cancel(self._running[conversation_id])
        await asyncio.gather(
            self.paused.close(), self.late.close(), *(self.ended(each) for each in waiting), *self._warming
        )

    # Inside

    async def _begin(
        self,
        row: ConversationRow,
        author_id: str,
        submission: Submission,
        running: _Running,
        override: Pair | None,
        *,
        masked: bool,
        files: Sequence[str],
        how: How,
    ) -> Begun:
        if not how.is_by_person:
            await must_work_here(self._database, row.owner_id)
        assigned = await self._staff.of(row)
        if assigned.missing:
            raise ModelUnavailable("agent_unavailable", "binding.agent_gone", name=assigned.missing)
        ahead = Ahead(self._kept.last(row.id), self._staff.read)
        room = await self._folders.room(row, assigned.folders, ahead.look, ahead.places)
        kept = await self._kept.keep(row, room, how.bounded(assigned.role))
        bench = kept.bench
        way = await self._routing.way(row, bench, assigned, submission, override, masked=masked)
        known, chosen = self._models.catalogue, way.chosen
        bound = way.purse.around(await _opened(bench, chosen.pair))
        is_auto = chosen.why.reason == "auto"
        listed = known.model(chosen.pair)
        window = window_of(listed, bound.provider)
        tape = Tape(window=window)
        inner = overheard(filled(bound, self._files.read), tape.inside)
        passed = await self._privacy.passed(
            bench, inner, row.id, author_id, submission, masked=masked, is_auto=is_auto, heard=tape.mask
        )
        bound = overheard(passed.bound, tape.outside, tape.ended)
        reader = Reader(window, bench.launch, bound.runtime is not None)
        goes_along = await joined(self._database, self._files, row, files, reader)
        results = await self.late.of(row, bench.say)
        submission = replace(passed.submission, attachments=(*results.attachments, *goes_along.attachments))
        tape.files, tape.has_words = submission.attachments, bool(submission.text)
        transcript = await self._kept.transcript(row, kept)
        notices = (*(room.notices if how.is_by_person else _logged(room.notices, bench)), *way.notices)
        if known.is_blind(chosen.pair):
            bound, notice = noted(bound), not_passed(transcript.messages(), submission.attachments, chosen.pair.model)
            notices += (notice,) if notice else ()
        title = ""
        if row.title_by == "message" and not row.title:
            title = excerpt(submission.text) or excerpt(submission.attachments[0].source)

        earlier = await self._earlier(row.id, how.resumes)
        tree = await self._database.read(lambda c: top_of(c, row.id)) if row.parent_id else row.id
        upward = Upward(self._log)

        author = author_id if how.is_by_person else None

        def store(connection: Connection) -> Begun:
            said = submission.text.replace("\x00", "\ufffd")
            changed = conversations.pinned(*chosen.pair) if chosen.is_kept else {}
            if title:
                changed |= {"title": title, "title_by": "message"}
            opened = messages.open_turn(connection, row.id, author, said, **changed)
            if row.parent_id is not None:
                upward.note(connection, row.id)
            passed.along(connection)
            goes_along.along(connection, opened.turn)
            return Begun(opened.turn, opened.answer)

        kept.is_behind = True
        ground = Ground(self._database, self._log, self._staff, self._folders, self)
        delegation = TurnDelegation(ground, row, chosen.pair, how, bench.say, ahead.known)

        def brief(number: int = row.last_turn + 1, *, can_look: bool = chosen.has_tools) -> Awaitable[Briefing]:
            return self._briefer.brief(row, number, submission.text, bound, window, delegation, can_look=can_look)

        preparing = asyncio.create_task(prepared(bench, brief, ahead), name=f"preparing {row.id}")
        preparing.add_done_callback(_heard)
        try:
            begun = await self._database.write_at_once(store)
        except BaseException as problem:
            preparing.cancel()
            if isinstance(problem, ConversationGone):
                raise NotYours("workspace.not_found") from None
            raise
        upward.tell()
        transcript.turn = begun.turn - 1
        turn_log = TurnLog(
            self._log,
            row.id,
            begun.turn,
            lambda: self._stuck(row.id),
            lambda c: messages.note_turn(c, row.id, begun.turn, row.status, author),
        )
        if title:
            turn_log.take(SessionRenamed(title))
        turn = RunningTurn(
            conversation=row.id,
            number=begun.turn,
            bench=bench,
            chosen=chosen,
            transcript=transcript,
            log=turn_log,
            why_stopped=lambda: self._why(running),
            bound=bound,
            masking=passed.masking,
            queue=self.queue,
            watch=self._watch,
            attended=how.attended,
            resumes=how.resumes,
            task=earlier.task if how.resumes else Task(submission.text, how.by),
            done=earlier.done,
            tape=tape,
            notices=notices,
            purse=way.purse,
            preparing=preparing,
            system=how.system or earlier.system,
            tree=tree,
            brief_more=lambda: brief(begun.turn, can_look=False),
            by=how.by,
            agent=assigned.colleague.nickname if assigned.colleague is not None else "",
            upward=upward,
            awaited_by=how.awaited_by,
            read=results.along if results.ids else None,
        )
        running.turn = turn
        delegation.begin(begun.turn, turn.emit)
        running.task = asyncio.create_task(self._run(row, turn, submission, running), name=f"turn {row.id}")
        if running.stopped:
            _cancel(running)
        for _ in range(_STEPS):
            await asyncio.sleep(0)
        return begun

    async def _run(self, row: ConversationRow, turn: RunningTurn, submission: Submission, running: _Running) -> None:
        try:
            await turn.run(submission)
            if row.title_by == "message" and not row.title and submission.text and not self._closing:
                self._routing.name(row, turn.number, submission.text, turn.bench)
            workspace = self._folders.own_workspace(row.id)
            if workspace is not None and not self._closing:
                await turn.tell(await gathered(self._files, row, turn.number, workspace))
        except StorageError as problem:  # what a model wrote stays where it is, and is kept after the next turn
            _logger.error("attachments: %s", type(problem).__name__)
        finally:
            turn.purse.put_away()
            self._over(turn.conversation, running)
            if turn.is_late and row.parent_id is not None:
                self.late.came(row.parent_id)

    def _why(self, running: _Running) -> Failure | None:
        """Why a turn was stopped, where no person stopped it."""
        if running.stuck:
            return STORAGE_REFUSED
        return SERVER_STOPPED if self._closing else None

    def _stuck(self, conversation_id: str) -> None:
        """The database refuses for good: the turn must not go on spending money unrecorded."""
        if (running := self._running.get(conversation_id)) is not None:
            running.stuck = True
            _cancel(running)

    def _over(self, conversation_id: str, running: _Running) -> None:
        if self._running.get(conversation_id) is running:
            del self._running[conversation_id]
        running.ended.set()

    async def _words(self, row: ConversationRow, how: How, key: str, n: int) -> str:
        """What a run that waited is told when it goes on."""
        assigned = await self._staff.of(row)
        role, room = how.bounded(assigned.role), await self._folders.room(row, assigned.folders)
        kept = await self._kept.keep(row, room, role)
        return kept.bench.say(key, n=n)

    async def _earlier(self, conversation_id: str, resumes: int) -> Earlier:
        if not resumes:
            return Earlier()
        return await self._database.read(lambda c: earlier_of(c, conversation_id, resumes))


def _cancel(running: _Running) -> None:
    """End it soon, whatever it waits for: the model, or a database that refuses its last events."""
    running.stopped = True
    if running.task is not None:
        asyncio.get_running_loop().call_soon(running.task.cancel)


def _heard(preparing: asyncio.Task[Prepared]) -> None:
    """What went wrong is told by the turn, where one comes of it."""
    if not preparing.cancelled():
        preparing.exception()


def _logged(notices: Sequence[Notice], bench: WorkBench) -> tuple[Notice, ...]:
    """Of a run that nobody looks on, left out folders are told to the log of the server alone (R-2.343)."""
    for notice in notices:
        _logger.warning("%s", bench.say(notice.key, **notice.values))
    return ()


async def _opened(bench: WorkBench, pair: Pair) -> Bound:
    """The way to that model. Raises `ModelUnavailable` where there is none any more; nothing is stored then."""
    try:
        return await bench.open(pair)
    except MaiaError as error:
        raise ModelUnavailable("model_binding_unavailable", error.key, **error.values) from error


def _check(submission: Submission, files: Sequence[str]) -> None:
    if not submission.text.strip() and not files:
        raise Unusable("workspace.message_empty")
    if len(submission.text) > LONGEST_MESSAGE:
        raise Unusable("workspace.message_long", n=len(submission.text), limit=LONGEST_MESSAGE)
