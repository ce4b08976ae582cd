"""One open session: a request in, events out; what a person may do between two requests; stop at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from maia.core.agent import AgentLevel
from maia.core.errors import MaiaError, NotConfigured
from maia.core.events import (
    ContextCleared,
    ContextMeasured,
    Event,
    ModelChanged,
    Notice,
    SessionRenamed,
    SessionStarted,
)
from maia.core.permission import Answer
from maia.core.ports import ContextView
from maia.core.results import DiffBlock
from maia.core.submission import Submission
from maia.engine.answering import Answering, assembler_for, said_next
from maia.engine.approvals import Approvals, By
from maia.engine.bang import Bang
from maia.engine.context import Assembler, view_context
from maia.engine.costs import costs_by_model
from maia.engine.export import write_markdown
from maia.engine.limits import SilentCut
from maia.engine.recorder import Recorder
from maia.engine.runner import Runner
from maia.engine.setup import Bound, Setup
from maia.engine.transcript import Transcript, known_files
from maia.engine.views import AgentList, Change, ModelChoice, ModelCost, RuleFile, SessionChoice, ToolRow, Trust
from maia.engine.window import WindowSearch
from maia.store.journal import JsonlJournal
from maia.store.sessions import checked_name


class Conversation:
    """One session that is open for a person or a script; doors call nothing else of the engine.

    At most one of the event iterators is read at a time. Closing one early is the same as `stop`.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._config = setup.configure()
        self._approvals = Approvals()
        self._cut = SilentCut()
        self._bound: Bound | None = None
        self._runner = Runner()
        self._news: asyncio.Queue[Event | None] = asyncio.Queue()
        self._search = WindowSearch(setup.models, self._news.put_nowait, self._tell_measure)
        self._recorder = self._new_recorder()
        self._bang = Bang(setup, self._emit)
        self._closed = False
        self._thread = 0

    # What it is

    @property
    def name(self) -> str:
        journal = self._recorder.journal
        return journal.name if journal is not None else self._recorder.transcript.name

    @property
    def is_kept(self) -> bool:
        """Whether there is a file to come back to."""
        return self._recorder.journal is not None

    @property
    def model(self) -> str:
        return self._bound.model if self._bound else ""

    @property
    def launch(self) -> Path:
        return self._setup.launch

    @property
    def transcript(self) -> Transcript:
        """The conversation as its events left it; for reading only."""
        return self._recorder.transcript

    def trust_needed(self) -> Trust | None:
        return self._setup.trust_needed()

    def trust(self, yes: bool) -> None:
        self._setup.trust(yes)
        self._config = self._setup.configure()

    # Opening and closing

    def open(self) -> AsyncIterator[Event]:
        """The start log, after the events of a resumed session (T1, T8.01). Raises `MaiaError` for a bad `--model`."""
        return self._runner.run(self._open)

    async def news(self) -> AsyncIterator[Event]:
        """Events that come by themselves until `close`: a window found later."""
        while (event := await self._news.get()) is not None:
            yield event

    async def close(self) -> None:
        """Stop what runs and let the file go. May be called twice."""
        if self._closed:
            return
        self._closed = True
        await self._runner.close()
        await self._search.close()
        self._recorder.close()
        await self._setup.models.close()
        if self._setup.release is not None:
            await self._setup.release()
        self._news.put_nowait(None)

    async def _open(self) -> None:
        if self._setup.resume is not None:
            self._resume(self._setup.resume)
        else:
            self._begin()
        for notice in await self._setup.models.problems():
            self._emit(notice)
        await self._begin_with_model()

    async def _begin_with_model(self) -> Bound | None:
        last = self.transcript
        bound = await self._setup.models.start(f"{last.provider}/{last.model}" if last.model else "")
        if bound is not None:
            await self._bind(bound)
        return bound

    def _begin(self) -> None:
        self._emit(
            SessionStarted(self._recorder.transcript.name, str(self.launch), self._setup.version, self._config.sections)
        )
        self._tell_config()

    def _tell_config(self) -> None:
        for notice in self._config.notices:
            self._emit(notice)

    def _resume(self, name: str) -> None:
        """Go on with a saved session: its events are shown again, not written again."""
        resumed = self._setup.sessions.resume(name, datetime.now())
        journal, loaded = resumed.journal, resumed.loaded
        self._recorder.close()
        self._recorder = self._new_recorder(journal)
        for record in loaded.records:
            self.transcript.apply(record.event)
            self._recall(record.event)
            if self._setup.replay:
                self._runner.tell(record.event)
        self._tell_config()
        if loaded.skipped:
            self._emit(Notice("warn", "session.skipped", {"n": loaded.skipped}))
        if resumed.is_copy:
            self._emit(Notice("warn", "session.copied", {"name": name, "copy": journal.name}))

    def _recall(self, event: Event) -> None:
        """What an event says of files that the model knows, for the rule that only known files are edited."""
        for path, digest in known_files(event):
            self._setup.seen(self.name, path, digest)

    def _new_recorder(self, journal: JsonlJournal | None = None) -> Recorder:
        now = datetime.now()
        transcript = Transcript(name=self._setup.sessions.free_name(now))
        recorder = Recorder(
            lambda: self._setup.sessions.create(now), transcript, self._runner.tell, saved=self._setup.save
        )
        if journal is not None:
            recorder.adopt(journal)
        return recorder

    # A turn

    def turn(self, submission: Submission) -> AsyncIterator[Event]:
        """Run one request. Ends with `TurnEnded`, whatever happens.

        A session that could not begin with a model tries once more, since its server may be there by now; `MaiaError`
        is raised when there is still none.
        """
        return self._runner.run(lambda: self._turn(submission))

    async def _turn(self, submission: Submission) -> None:
        bound = self._bound or await self._begin_with_model()
        if bound is None:
            raise NotConfigured("turn.no_model")
        if self._setup.screen is not None:
            self._setup.screen(bound, submission.text)
        said = said_next(self.transcript, submission)
        self._recall(said)
        await self._answering(bound).run(said)

    def _answering(self, bound: Bound) -> Answering:
        return Answering(
            bench=self._setup,
            config=self._config,
            bound=bound,
            transcript=self.transcript,
            approvals=self._approvals,
            cut=self._cut,
            session=lambda: self.name,
            thread=self._thread,
            emit=self._emit,
            measure=self._measure if self._setup.tally is not None else None,
        )

    def shell(self, command: str) -> AsyncIterator[Event]:
        """Run a `!` command (T4.01); its result goes with the next request."""
        return self._runner.run(lambda: self._bang.run(command))

    def stop(self) -> None:
        """Stop what runs. Returns at once; the iterator that is being read then ends properly.

        When nothing runs, the search for the model's window is given up (T3.01).
        """
        if not self._bang.stop() and not self._runner.stop():
            self._search.give_up()

    def answer(self, approval_id: str, answer: Answer, by: By = "person") -> None:
        """Answer an `ApprovalRequested` or a `LimitReached`; an unknown or answered id is ignored."""
        self._approvals.answer(approval_id, answer, by)

    # Commands

    async def measure(self, draft: Submission | None = None) -> ContextMeasured:
        """What the next request would hold, counted off the event loop (T2.08)."""
        await self._warm()
        view = self._view(draft)
        return ContextMeasured(view.tokens, view.window)

    async def context(self) -> ContextView:
        await self._warm()
        return self._view(None)

    async def models(self) -> Sequence[ModelChoice]:
        """Every model that can be chosen, the one that answers now marked. Raises `ModelFailed`."""
        choices = await self._setup.models.choices()
        bound = self._bound
        if bound is None:
            return choices
        names = (bound.model, f"{bound.provider}/{bound.model}")
        return [
            replace(choice, current=choice.provider == bound.provider and choice.name in names) for choice in choices
        ]

    def set_model(self, name: str) -> AsyncIterator[Event]:
        """Another model answers from here on. Raises `MaiaError` for an unknown name; then nothing has changed."""

        async def change() -> None:
            await self._bind(await self._setup.models.bind(name, "command"))

        return self._runner.run(change)

    def clear(self) -> AsyncIterator[Event]:
        """Forget the messages, read settings, rules and start context again (`/clear`)."""

        async def clear() -> None:
            self._config = self._setup.configure()
            self._thread += 1
            self._emit(ContextCleared())
            self._tell_config()

        return self._runner.run(clear)

    def new(self) -> AsyncIterator[Event]:
        """Leave this session, saved under its name, and begin another with everything read again (T8.01)."""

        async def begin() -> None:
            left = self.name if self._recorder.journal is not None else ""
            self._recorder.close()
            self._recorder = self._new_recorder()
            self._config = self._setup.configure()
            self._thread += 1
            self._begin()
            if left:
                self._emit(Notice("info", "session.left", {"name": left}))
            if self._bound is not None:
                self._emit(self._changed(self._bound))

        return self._runner.run(begin)

    async def sessions(self) -> Sequence[SessionChoice]:
        infos = await asyncio.to_thread(self._setup.sessions.list)
        return [SessionChoice(info.name, info.modified, info.tokens, info.title) for info in infos]

    def load(self, name: str) -> AsyncIterator[Event]:
        """Leave this session and go on with another one, shown again from its first event (T8.01)."""

        async def load() -> None:
            self._config = self._setup.configure()
            self._thread += 1
            self._resume(name)
            if self._bound is not None:
                self._emit(self._changed(self._bound))

        return self._runner.run(load)

    def rename(self, name: str) -> Event:
        """Give the session another name. Raises `SessionProblem`; then it keeps the old one."""
        name, old = checked_name(name), self.name
        journal = self._recorder.journal
        if isinstance(journal, JsonlJournal):
            journal.rename(self._setup.sessions.path(name))
        else:
            self._setup.sessions.check_free(name)
            self._recorder.reserve(lambda: self._setup.sessions.create_named(name))
        event = SessionRenamed(name)
        self._emit(event)
        self._setup.renamed(old, name)
        return event

    def cost(self) -> Sequence[ModelCost]:
        """One row a model, in the order of first use."""
        return costs_by_model(self.transcript.spent)

    def rules(self) -> Sequence[RuleFile]:
        return self._config.rules

    def tools(self) -> Sequence[ToolRow]:
        return [ToolRow(spec.name, spec.description) for spec in self._assembler().specs()]

    def agents(self) -> AgentList:
        """The agents that can be called, with what was left out. Reads files."""
        return self._setup.agents().listed() if self._setup.agents is not None else AgentList()

    def create_agent(self, name: str, level: AgentLevel) -> str:
        """Make an agent from the template (T7.10); the file's shown name. Raises `MaiaError`."""
        if self._setup.agents is None:
            raise MaiaError("agents.none", name=name)
        return self._setup.agents().create(name, level)

    def undo(self) -> Sequence[Change]:
        return self._setup.undo(self.name).undo()

    def redo(self) -> Sequence[Change]:
        return self._setup.undo(self.name).redo()

    def diff(self) -> Sequence[DiffBlock]:
        return self._setup.undo(self.name).diff()

    def export(self, path: str) -> Path:
        """Write the conversation as Markdown. Raises `SessionProblem` when the file exists or cannot be written."""
        return write_markdown(self.transcript, self.name, self.launch, path)

    # Inside

    def _emit(self, event: Event) -> None:
        self._recorder.emit(event)

    def _assembler(self) -> Assembler:
        return assembler_for(self._setup.models, self._config, self._bound)

    async def _warm(self) -> None:
        """Load the vocabulary aside; the counting itself stays here, where the messages change."""
        if self._setup.tally is not None:
            await asyncio.to_thread(self._setup.tally.warm)

    def _view(self, draft: Submission | None) -> ContextView:
        tally = self._setup.tally
        if tally is None:
            raise MaiaError("turn.no_counter")
        transcript = self.transcript
        return view_context(
            self._assembler(), transcript.so_far(), tuple(transcript.pending), draft, self._search.window, tally
        )

    def _measure(self) -> ContextMeasured:
        view = self._view(None)
        return ContextMeasured(view.tokens, view.window)

    def _changed(self, bound: Bound) -> ModelChanged:
        return ModelChanged(bound.model, bound.provider, bound.why)

    async def _bind(self, bound: Bound) -> None:
        for notice in bound.notices:
            self._emit(notice)
        self._bound = bound
        self._emit(self._changed(bound))
        if self._setup.tally is not None:
            await self._search.follow(bound)

    async def _tell_measure(self) -> None:
        self._news.put_nowait(await self.measure())
