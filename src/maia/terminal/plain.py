"""The same conversation in plain lines, for screen readers and for terminals that cannot place a cursor (§15).

Nothing is redrawn: each change is a new line, said once. The terminal stays in its own line mode.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from maia.core.errors import MaiaError
from maia.core.events import ApprovalAnswered, ApprovalRequested, Event, LimitReached, UserSaid
from maia.terminal import questions
from maia.terminal.actions import Actions
from maia.terminal.badges import error_lines
from maia.terminal.banner import banner_lines
from maia.terminal.colours import Look, look_of, to_ansi
from maia.terminal.history import History
from maia.terminal.loop import run_to_end
from maia.terminal.render import RenderState, flush, render, status_of
from maia.terminal.spans import Line, line, text_of
from maia.terminal.tty import as_given, unseen

if TYPE_CHECKING:
    from maia.core.secret import Secret
    from maia.terminal.ports import Conversation, Load, ScreenOptions
    from maia.terminal.questions import Choices, Picker
    from maia.terminal.secretentry import SecretEntry
    from maia.terminal.words import Words

T = TypeVar("T")
_TWICE = 2.0


class PlainDoor:
    """One conversation in lines; a `Surface` for the commands."""

    def __init__(self, conversation: Conversation, options: ScreenOptions, say: Words, look: Look) -> None:
        self.say = say
        self.conversation = conversation
        self.home = options.home
        self.keys = options.keys
        self._look = look
        self.state = RenderState()
        self._history = History(options.history)
        self._actions = Actions(self)
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._reply: asyncio.Future[str | None] | None = None
        self._asking = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._partial = b""
        self._over = False
        self._said = ""
        self._prompt = ""
        self._echoed = False
        self._working = False
        self._interrupted = 0.0
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def look(self) -> Look:
        """What may be shown; the width is the one at the start."""
        return self._look

    async def run(self) -> int:
        """Until the person leaves. Returns the exit code."""
        loop = asyncio.get_running_loop()
        loop.add_reader(0, self._read)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            loop.add_signal_handler(number, self._end, code)
        work = asyncio.create_task(self._work())
        news = asyncio.create_task(self._news())
        try:
            await asyncio.wait((work, self._left), return_when=asyncio.FIRST_COMPLETED)
            return self._left.result() if self._left.done() else work.result()
        finally:
            self.conversation.stop()
            for task in (work, news, *self._tasks.values()):
                task.cancel()
            await asyncio.wait((work, news), timeout=2)
            loop.remove_reader(0)
            await self.conversation.close()

    async def _work(self) -> int:
        await self._guarded(self._open())
        while True:
            self._ask_for("> ")
            self._echoed = self._lines.empty()
            typed = await self._lines.get()
            self._prompt = ""
            if typed is None:
                self._write("\n")
                return 0
            self._history.add(typed)
            self._working = True
            await self._guarded(self._actions.send(typed, ()))
            self._working = False
            if self._left.done():
                return self._left.result()

    async def _guarded(self, work: Any) -> None:
        try:
            await work
        except MaiaError as error:
            self.show(error_lines(error, self._look, self.say))

    async def _open(self) -> None:
        await self._actions.trust()
        await self.draw(self.conversation.open(), stored=True)
        if not self.conversation.model:
            await self._actions.choose_model()
        else:
            await self._actions.offer_key()

    async def _news(self) -> None:
        """What comes by itself stands on rows of its own, and the prompt that it came upon is there again below."""
        async for event in self.conversation.news():
            prompt = self._prompt
            if prompt:
                self._write("\n")
            self._show_event(event)
            if prompt:
                self._write(prompt)

    # Lines in

    def _read(self) -> None:
        try:
            data = os.read(0, 65_536)
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(0)
            self._end_of_input()
            return
        *whole, self._partial = (self._partial + data).split(b"\n")
        typed = ""
        for part in whole:
            typed += part.decode("utf-8", "replace").rstrip("\r")
            if typed.endswith("\\") and not typed.startswith("!"):
                typed = typed[:-1] + "\n"
                continue
            self._hand(typed)
            typed = ""
        if typed:
            self._partial = typed.encode() + self._partial

    def _end_of_input(self) -> None:
        """A last line may lack its end; every question from here on is refused, the open one first."""
        self._over = True
        if rest := self._partial.decode("utf-8", "replace").rstrip("\r"):
            self._hand(rest)
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(None)
        self._lines.put_nowait(None)

    def _hand(self, typed: str) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(typed)
        elif typed.strip():
            self._lines.put_nowait(typed)
        else:
            self._write("> ")

    def _interrupt(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._working:
            self.conversation.stop()
        elif now - self._interrupted < _TWICE:
            self._end(0)
        else:
            self._interrupted = now
            self._write("\n" + self.say("screen.exit_hint") + "\n> ")

    def _end(self, code: int) -> None:
        if not self._left.done():
            self._left.set_result(code)

    # Rows out

    def _ask_for(self, prompt: str) -> None:
        """Write a prompt that is open from now on."""
        self._prompt = prompt
        self._write(prompt)

    def _write(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:
            self._end(129)

    def show(self, rows: Sequence[Line]) -> None:
        """Print rows; empty ones are left out for a reader."""
        kept = [row for row in rows if not self._look.screen_reader or text_of(row).strip()]
        self._write("".join(to_ansi(row, self._look) + "\n" for row in kept))

    async def draw(self, events: AsyncIterator[Event], *, stored: bool = False) -> None:
        """Print events until they end (see `App.draw`)."""
        async for event in events:
            self._show_event(event, stored=stored)
            await asyncio.sleep(0)
        if stored:
            self.show(flush(self.state, self._look, self.say))

    def _show_event(self, event: Event, *, stored: bool = False) -> None:
        if isinstance(event, UserSaid) and self._echoed and not stored:
            event = replace(event, text="")  # it stands behind the prompt, where it was typed
        self.show(render(event, self.state, self._look, self.say))
        if stored:
            return
        match event:
            case ApprovalRequested():
                self._question(event.approval_id, questions.approval(event, self.say))
            case LimitReached():
                self._question(event.approval_id, questions.limit(event, self.say))
            case ApprovalAnswered() if (task := self._tasks.pop(event.approval_id, None)) is not None:
                task.cancel()
            case _:
                status = status_of(self.state, self.say)
                if status.kind in ("thinking", "tools") and status.text != self._said and not self._said:
                    self.show([line(self._look.text(status.text))])
                self._said = status.text if status.kind != "idle" else ""

    def _question(self, approval_id: str, choices: Choices[Any]) -> None:
        async def answer() -> None:
            self.conversation.answer(approval_id, await self.ask(choices))

        self._tasks[approval_id] = asyncio.create_task(answer())

    async def ask(self, choices: Choices[T]) -> T:
        """Ask in sentences until a line answers; the end of input refuses."""
        async with self._asking:
            self.show(choices.spoken(self._look))
            while choices.done is None:
                typed = await self._next_reply("? ")
                if typed is None:
                    choices.refuse()
                elif not choices.reply(typed):
                    self.show(choices.spoken(self._look)[-1:])
            assert choices.done is not None
            return choices.done[0]

    async def ask_secret(self, entry: SecretEntry) -> Secret | None:
        """Ask for a line that the terminal does not show."""
        async with self._asking:
            self.show(entry.spoken(self._look))
            with unseen(0):
                typed = await self._next_reply("? ")
            self._write("\n")
            entry.reply(typed or "")
            return entry.done[0] if entry.done else None

    async def pick(self, picker: Picker[T]) -> T | None:
        """A numbered list; the number, or a part of the name; an empty line closes it."""
        async with self._asking:
            self.show(picker.spoken(self._look))
            typed = await self._next_reply("? ")
            return picker.reply(typed or "")

    async def _next_reply(self, prompt: str) -> str | None:
        if self._over:
            return None
        self._ask_for(prompt)
        self._reply = asyncio.get_running_loop().create_future()
        try:
            return await self._reply
        finally:
            self._reply = None
            self._prompt = ""

    def forget(self) -> None:
        """Another conversation begins."""
        self.state = RenderState(fill=self.state.fill)

    def leave(self) -> None:
        """`/exit`."""
        self._end(0)


def run_plain(env: Mapping[str, str], say: Words, version: str, load: Load) -> int:
    """The interactive terminal in lines. Returns the exit code."""
    try:
        width = os.get_terminal_size(1).columns
    except OSError:
        width = 80
    look = look_of(as_given(env), width or 80)
    print("\n".join(to_ansi(row, look) for row in banner_lines(look, say, version)), flush=True)
    conversation, options = load()

    async def main() -> int:
        return await PlainDoor(conversation, options, say, look).run()

    return run_to_end(main())
