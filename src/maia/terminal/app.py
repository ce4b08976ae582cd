"""The interactive terminal: a line is read and sent, events are drawn until the turn ends, questions are answered."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from maia.core.errors import MaiaError, SessionProblem
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    LimitReached,
    ToolCallFinished,
    TurnEnded,
)
from maia.terminal import questions
from maia.terminal.actions import Actions
from maia.terminal.arguments import Arguments
from maia.terminal.badges import error_lines
from maia.terminal.colours import to_ansi
from maia.terminal.commands import find_command
from maia.terminal.completion import Sources
from maia.terminal.contextbar import Fill, context_bar
from maia.terminal.dialogue import Dialogue, Range
from maia.terminal.external import edit_text
from maia.terminal.fileindex import FileIndex
from maia.terminal.history import History
from maia.terminal.line import Command, Text, parse
from maia.terminal.render import RenderState, flush, live_lines_of, render, status_of
from maia.terminal.screen import Screen
from maia.terminal.spans import EMPTY, Line, Span, clean, clean_row, line, wrap_text
from maia.terminal.zones import TAIL_ROWS

if TYPE_CHECKING:
    from maia.core.permission import Answer
    from maia.core.secret import Secret
    from maia.terminal.colours import Look
    from maia.terminal.firstpaint import Prompt
    from maia.terminal.ports import Conversation, ScreenOptions
    from maia.terminal.questions import Choices, Picker
    from maia.terminal.secretentry import SecretEntry

T = TypeVar("T")
_TWICE, _STUCK = 2.0, 5.0
"""Seconds within which a second Ctrl+C leaves, and after which something that was told to stop counts as stuck."""
_BIG = 20_000
"""Characters of an answer from which it is rendered aside, so that keys stay live."""
_BACKLOG = 2_000
_SOON = 0.5
"""Seconds after which a start that still goes on is told."""
_LONG_TURN, _AWAY = 20.0, 8.0
"""Seconds of a turn that is worth a call at its end, and seconds without a key after which anything calls at all."""


class App:
    """One conversation on one screen, from the first frame to the exit code.

    Everything that takes time is one activity at a time; what is sent meanwhile waits, visible, until it is over.
    """

    def __init__(self, prompt: Prompt, conversation: Conversation, options: ScreenOptions) -> None:
        self.say = prompt.say
        self.conversation = conversation
        self.state = RenderState()
        self._options = options
        self._prompt = prompt
        self._loop = asyncio.get_running_loop()
        history = History(options.history)
        prompt.editor.older = history.entries
        self.home = options.home
        self.keys = options.keys
        self._files = FileIndex(conversation.launch, options.home, on_ready=self._files_ready)
        self._arguments = Arguments(conversation, self.say, self._spawn, self._offer)
        self._dialogue = Dialogue(prompt.editor, history, Sources(self._files, self._arguments.lists), self, self.say)
        self._screen = Screen(prompt, on_key=self._dialogue.key, on_gone=self._gone, compose=self._compose)
        self._actions = Actions(self)
        self._queue: list[tuple[str, Sequence[Range]]] = [(text, ()) for text in prompt.lines]
        self._open_questions: dict[str, asyncio.Task[None]] = {}
        self._activity: asyncio.Task[None] | None = None
        self._code: asyncio.Future[int] = self._loop.create_future()
        self._opened = self._sent = False
        self._output = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._began = self._loop.time()
        self._interrupted = -_TWICE
        self._stopping = 0.0
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            self._loop.add_signal_handler(number, self._end, code)

    @property
    def look(self) -> Look:
        """What the terminal can show, with its width now."""
        return self._screen.look

    async def run(self) -> int:
        """Until the person leaves. Returns the exit code; the terminal is restored whatever happens."""
        self._spawn(self._news())
        self._begin(self._open())
        try:
            return await self._code
        finally:
            self.conversation.stop()
            for task in (self._activity, *self._tasks):
                if task is not None:
                    task.cancel()
            if self._tasks or self._activity is not None:
                await asyncio.wait([*self._tasks, *filter(None, [self._activity])], timeout=3)
            self._screen.close()
            self._farewell()
            await self.conversation.close()

    def _farewell(self) -> None:
        """How to come back, once something was asked and kept; quiet when the terminal is gone."""
        failed = self._code.done() and (self._code.cancelled() or self._code.exception())
        if not failed and self._sent and self.conversation.is_kept:
            words = self.say("screen.left", name=shlex.quote(clean_row(self.conversation.name)))
            with suppress(OSError):
                self._prompt.tty.write("\r\n" + to_ansi(line(Span(self.look.text(words), "muted")), self.look) + "\r\n")

    def _fail(self, error: BaseException) -> None:
        if not self._code.done():
            self._code.set_exception(error)

    def _end(self, code: int) -> None:
        if not self._code.done():
            self._code.set_result(code)

    def _gone(self) -> None:
        self._end(129)

    # Activities

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Something that goes on beside the activity; a defect in it ends the program like any other."""
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)
        self._screen.refresh()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._stopping = 0.0
        self._activity = asyncio.create_task(self._guarded(work))
        self._activity.add_done_callback(self._ended)
        self._screen.refresh()

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Run one activity; an error for a person is shown, any other one ends the program with its traceback."""
        try:
            await work
        except MaiaError as error:
            self.show([EMPTY, *error_lines(error, self.look, self.say)])
            self.state.family = "badge"

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._activity = None
        if self.state.working:  # a turn that failed without its end
            self.show(flush(self.state, self.look, self.say))
        self._finished(task)
        if self._queue and not self._code.done():
            self._begin(self._send(*self._queue.pop(0)))

    async def _open(self) -> None:
        """The start. What fails in it is told, and the prompt with its bar is there all the same."""
        await self._actions.trust()
        self._loop.call_later(_SOON, self._screen.refresh)
        try:
            await self.draw(self.conversation.open(), stored=True)
        except SessionProblem as error:  # the session asked for cannot be had: nothing to go on with
            self._fail(error)
            return
        finally:
            self._opened = True
            self._spawn(self._measure())
        if not self.conversation.model:
            await self._actions.choose_model()
            self._spawn(self._measure())
        else:
            await self._actions.offer_key()

    async def _news(self) -> None:
        async for event in self.conversation.news():
            await self._show_event(event)

    def _files_ready(self) -> None:
        """The list of files is there (called from its thread)."""
        try:
            self._loop.call_soon_threadsafe(self._offer)
        except RuntimeError:  # the loop is closed: the terminal was left while files were still being listed
            return

    def _offer(self) -> None:
        self._dialogue.offer()
        self._screen.refresh()

    async def _send(self, text: str, pasted: Sequence[Range]) -> None:
        began = self._loop.time()
        self._sent = True
        try:
            await self._actions.send(text, pasted)
        except MaiaError:
            if not self.state.working and not self._prompt.editor.text and isinstance(parse(text), Text):
                self._prompt.editor.set(text)  # no turn began: what was asked stands ready to be sent again
            raise
        self._spawn(self._measure())
        if self._loop.time() - began > _LONG_TURN:
            self._call(self.say("screen.done"))

    async def _measure(self) -> None:
        """Count the context again (T2.08)."""
        measured = await self.conversation.measure()
        self.state.fill = Fill(measured.tokens, measured.window)
        self._screen.refresh()

    # Events

    async def draw(self, events: AsyncIterator[Event], *, stored: bool = False) -> None:
        """Draw events until they end, without ever holding up the keys.

        Those of a `stored` session ask nothing again, and a turn that was cut there is closed as it is.
        """
        count = 0
        async for event in events:
            await self._show_event(event, stored=stored)
            count += 1
            if self._screen.behind > _BACKLOG:
                await self._screen.drain()
            elif count % 32 == 0:
                await asyncio.sleep(0)
        if stored:
            await self._log(flush(self.state, self.look, self.say))
        await self._screen.drain()

    async def _show_event(self, event: Event, *, stored: bool = False) -> None:
        if isinstance(event, Answered) and sum(len(getattr(part, "text", "")) for part in event.message.parts) > _BIG:
            rows = await asyncio.to_thread(render, event, self.state, self.look, self.say)
        else:
            rows = render(event, self.state, self.look, self.say)
        if not stored:
            self._watch(event)
        await self._log(rows)

    async def _log(self, rows: Sequence[Line]) -> None:
        for start in range(0, len(rows), _BACKLOG):
            self._screen.log(rows[start : start + _BACKLOG])
            if len(rows) > _BACKLOG:
                await self._screen.drain()
        self._screen.refresh()

    def _watch(self, event: Event) -> None:
        """Ask what has to be asked, and keep the last output for Ctrl+O."""
        match event:
            case ToolCallFinished(text=text) if text:
                self._output = text
            case ApprovalRequested():
                self._question(event.approval_id, questions.approval(event, self.say))
            case LimitReached():
                self._question(event.approval_id, questions.limit(event, self.say))
            case ApprovalAnswered():
                self._withdraw(event.approval_id)
            case TurnEnded():
                for approval_id in tuple(self._open_questions):
                    self._withdraw(approval_id)
            case _:
                pass

    def _question(self, approval_id: str, choices: Choices[Answer]) -> None:
        async def answer() -> None:
            self.conversation.answer(approval_id, await self._dialogue.ask(choices, stops=True))

        self._open_questions[approval_id] = self._spawn(answer())
        self._call(choices.title)

    def _withdraw(self, approval_id: str) -> None:
        task = self._open_questions.pop(approval_id, None)
        if task is not None:
            task.cancel()

    def _call(self, words: str) -> None:
        """Ring, or tell the desktop, when nobody has typed for a while."""
        if self._loop.time() - self._dialogue.last_key < _AWAY or self._options.notify == "off":
            return
        safe = "".join(char for char in words[:200] if char.isprintable())
        self._screen.call("\a" if self._options.notify == "bell" else f"\x1b]9;{safe}\x1b\\")

    # The surface for commands

    def show(self, rows: Sequence[Line]) -> None:
        """Rows for the log."""
        self._screen.log(rows)

    async def ask(self, choices: Choices[T]) -> T:
        """Ask inside the input zone."""
        future = self._dialogue.ask(choices)
        self._screen.refresh()
        return await future

    async def ask_secret(self, entry: SecretEntry) -> Secret | None:
        """Ask for a secret inside the input zone; None when it was left."""
        future = self._dialogue.ask(entry)
        self._screen.refresh()
        return await future

    async def pick(self, picker: Picker[T]) -> T | None:
        """Let the person choose from a list; None when it was closed."""
        future = self._dialogue.pick(picker)
        self._screen.refresh()
        return await future

    def forget(self) -> None:
        """The log goes on with another conversation: what was open in the last one is no longer drawn."""
        self.state = RenderState(family="end", fill=self.state.fill)

    # What the dialogue asks for

    def submit(self, text: str, pasted: Sequence[Range]) -> None:
        """Send a line, or let it wait while something runs; commands that may run meanwhile do."""
        self._interrupted = -_TWICE
        self._arguments.forget()
        if self._activity is None:
            self._begin(self._send(text, pasted))
        elif (meanwhile := self._meanwhile(text)) is not None:
            self._spawn(self._actions.run(meanwhile))
        else:
            self._queue.append((text, pasted))

    def _meanwhile(self, text: str) -> Command | None:
        typed = parse(text)
        try:
            return typed if isinstance(typed, Command) and find_command(typed.name).while_working else None
        except MaiaError:
            return typed if isinstance(typed, Command) else None

    def interrupt(self, *, empty: bool) -> bool:
        """Ctrl+C: stop what runs, and give what waits back to the editor; twice on an empty idle line leaves.

        When something still runs long after it was told to stop, one more Ctrl+C leaves.
        """
        now = self._loop.time()
        if self._activity is not None:
            if self._stopping and now - self._stopping > _STUCK:
                self._end(130)
            self.stop()
            while (text := self.take_back()) is not None:
                rest = self._prompt.editor.value
                self._prompt.editor.set(f"{text}\n{rest}" if rest else text)
            return True
        if empty:
            if now - self._interrupted < _TWICE:
                self._end(0)
            self._interrupted = now
            self._loop.call_later(_TWICE, self._screen.refresh)
        return False

    def stop(self) -> None:
        """Escape: what runs is told to stop."""
        if self._activity is not None:
            self._stopping = self._stopping or self._loop.time()
            self.conversation.stop()

    def leave(self) -> None:
        """Ctrl+D: leave."""
        self._end(0)

    def take_back(self) -> str | None:
        """The last line that waits, no longer waiting."""
        return self._queue.pop()[0] if self._queue else None

    def edit(self) -> None:
        """The line in the person's editor; what runs goes on meanwhile."""
        self._spawn(self._edit())

    async def _edit(self) -> None:
        editor = self._prompt.editor
        self._screen.step_aside()
        try:
            editor.set(await asyncio.to_thread(edit_text, editor.value, self._prompt.env))
        finally:
            self._screen.step_back()

    def expand(self) -> None:
        """The last output of a tool or a shell command in the log, whole, as far as it was kept."""
        if self._output:
            text, self._output = self._output, ""
            self._spawn(self._log([EMPTY, *wrap_text(self.look.text(clean(text)), self.look.width, "muted")]))

    def now(self) -> float:
        """The loop's clock."""
        return self._loop.time()

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """After a while, on the loop."""

        def act() -> None:
            what()
            self._screen.refresh()

        self._loop.call_later(seconds, act)

    # What is seen

    def _title(self, *, working: bool) -> str:
        """`maia — folder`, with a mark in front while it works or waits for an answer: a tab says it from afar."""
        mark = "? " if self._dialogue.waiting and self._opened else "▸ " if working else ""
        return f"{mark}maia — {clean_row(self.conversation.launch.name, 60)}"

    def _compose(self) -> None:
        look = self.look
        zone = self._screen.zone
        status = status_of(self.state, self.say)
        mark = Span(look.text("? "), "status") if status.kind == "waiting" else Span("")
        zone.status = line(mark, Span(look.text(status.text), "status"))
        zone.thinking = status.kind in ("thinking", "tools")
        if not self._opened and self._loop.time() - self._began >= _SOON and not self._dialogue.waiting:
            zone.status, zone.thinking = line(Span(look.text(self.say("screen.starting")), "status")), True
        zone.working = self._activity is not None and self._opened and not self._dialogue.waiting
        live = live_lines_of(self.state, look, self.say, TAIL_ROWS)
        zone.tail = live if len(live) < TAIL_ROWS or live[0] == EMPTY else (EMPTY, *live)
        zone.bar = context_bar(self.state.fill, look, self.say)
        self._prompt.entitle(self._title(working=zone.working))
        zone.queue = [text for text, _ in self._queue]
        recent = self._loop.time() - self._interrupted < _TWICE
        zone.note = self.say("screen.exit_hint") if recent and self._activity is None else ""
        self._dialogue.compose(zone, look, self._screen.rows)
