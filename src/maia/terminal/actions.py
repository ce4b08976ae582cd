"""What a sent line does: a request, a shell command, or a slash command that shows what the conversation says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from maia.core.errors import NotConfigured, UsageProblem
from maia.core.submission import Submission
from maia.terminal import creating, views
from maia.terminal.badges import Badge, badge_lines
from maia.terminal.commands import Handler, find_command
from maia.terminal.endings import notice_lines
from maia.terminal.line import AgentCall, Bang, BangHelp, Blank, Command, SkillCall, Text, parse
from maia.terminal.questions import Picker, models, trust
from maia.terminal.render import chosen_lines, diff_of
from maia.terminal.spans import EMPTY, Line, clean_row

if TYPE_CHECKING:
    from maia.core.events import Event
    from maia.terminal.colours import Look
    from maia.terminal.keysetup import KeySetup
    from maia.terminal.ports import Change, Conversation, KeyDesk, SessionChoice
    from maia.terminal.questions import Choices
    from maia.terminal.surface import Surface

T = TypeVar("T")
Range = tuple[int, int]


class Actions:
    """The handlers of the command table, and what the other kinds of lines do. All raise `MaiaError` for a person."""

    def __init__(self, surface: Surface) -> None:
        self._on = surface

    @property
    def _talk(self) -> Conversation:
        return self._on.conversation

    async def send(self, text: str, pasted: Sequence[Range]) -> None:
        """Do what one line asks for."""
        match parse(text, pasted):
            case Blank():
                return
            case Text() as typed:
                await self._on.draw(self._talk.turn(await self._submission(typed)))
            case Command() as command:
                await self.run(command)
            case Bang() as bang:
                await self._on.draw(self._talk.shell(bang.command))
            case BangHelp():
                self._tell("info", "screen.bang.help")
            case SkillCall() | AgentCall():
                await self._on.draw(self._talk.turn(Submission(text)))

    async def run(self, command: Command) -> None:
        """Run one slash command."""
        row = find_command(command.name)
        given = command.arguments.strip()
        if given and not row.takes_argument:
            raise UsageProblem("screen.no_argument", name=row.name, given=clean_row(given, 80))
        await _HANDLERS[row.handler](self, given)

    async def _submission(self, typed: Text) -> Submission:
        """The request with the files it names, read aside; what was left out is said before it is sent."""
        if not typed.mentions:
            return Submission(typed.text)
        from maia.terminal.attach import join_files

        lang = self._on.say.lang
        joined = await asyncio.to_thread(join_files, typed, self._talk.launch, self._on.home, lang=lang)
        for notice in joined.notices:
            self._on.show(notice_lines(notice, self._on.look, self._on.say))
        return joined.submission

    def _tell(self, badge: Badge, key: str, **values: str) -> None:
        self._block(badge_lines(badge, self._on.say(key, None, **values), self._on.look))

    def _block(self, rows: Sequence[Line]) -> None:
        """Rows of a command's answer, parted from what is above and below."""
        self._on.show([EMPTY, *rows])
        self._on.state.family = "badge"

    # Models and sessions

    async def trust(self) -> None:
        """Ask about a folder that brings rules, tools or servers of its own. The answer stays in the log."""
        asked = self._talk.trust_needed()
        if asked is None:
            return
        self._talk.trust(await self._answered(trust(asked, self._on.say)))

    async def choose_model(self, provider: str = "") -> None:
        """The list of models, with search (T1.06); those of one provider where it is named, its only one at once."""
        choices = [choice for choice in await self._talk.models() if provider in ("", choice.provider)]
        if not choices:
            raise NotConfigured("screen.no_models")
        if provider and len(choices) == 1:
            await self._on.draw(self._talk.set_model(choices[0].name))
            return
        chosen = await self._on.pick(models(choices, self._on.say))
        if chosen is not None:
            await self._on.draw(self._talk.set_model(chosen.name))

    async def offer_key(self) -> None:
        """The set-up, where nothing is configured (T1.11)."""
        if self._on.keys is not None and self._on.keys.is_needed:
            await self._key_setup(self._on.keys).offer()

    async def key(self, _: str) -> None:
        if self._on.keys is None:
            raise UsageProblem("setup.not_here")
        await self._key_setup(self._on.keys).run()

    def _key_setup(self, desk: KeyDesk) -> KeySetup:
        from maia.terminal.keysetup import KeySetup

        return KeySetup(self._on, desk, self.choose_model)

    async def model(self, name: str) -> None:
        if name:
            await self._on.draw(self._talk.set_model(name))
        else:
            await self.choose_model()

    async def clear(self, _: str) -> None:
        await self._on.draw(self._talk.clear())

    async def new(self, _: str) -> None:
        self._on.forget()
        await self._on.draw(self._talk.new())

    async def load(self, name: str) -> None:
        if not name:
            name = await self._choose_session()
        if name:
            self._on.forget()
            await self._on.draw(self._talk.load(name), stored=True)

    async def _choose_session(self) -> str:
        """The list of saved sessions (§13); empty when it was closed."""
        sessions = await self._talk.sessions()
        if not sessions:
            self._tell("info", "screen.no_sessions")
            return ""
        say, now = self._on.say, datetime.now()

        def draw(shown: Sequence[SessionChoice], at: int, look: Look, total: int, most: int) -> list[Line]:
            return views.load_lines(
                shown, at, look, say, now=now, total=total, rows=max(1, (most - 2) // (1 if look.width >= 60 else 2))
            )

        def told(item: SessionChoice) -> str:
            return ", ".join(part for part in (item.name, views.when(item.changed, now, say), item.title) if part)

        chosen = await self._on.pick(Picker(sessions, draw, lambda item: f"{item.name} {item.title}", say, told=told))
        return chosen.name if chosen is not None else ""

    async def rename(self, name: str) -> None:
        if not name:
            raise UsageProblem("screen.rename.empty")

        async def renamed() -> AsyncIterator[Event]:
            yield self._talk.rename(name)

        await self._on.draw(renamed())

    async def export(self, path: str) -> None:
        self._tell("info", "screen.exported", path=str(await asyncio.to_thread(self._talk.export, path)))

    async def exit(self, _: str) -> None:
        self._on.leave()

    # Views

    async def help(self, _: str) -> None:
        self._block(views.help_lines(self._on.look, self._on.say))

    async def permissions(self, _: str) -> None:
        self._block(views.permissions_lines(self._talk.rules(), self._on.look, self._on.say))

    async def context(self, _: str) -> None:
        self._block(views.context_lines(await self._talk.context(), self._on.look, self._on.say))

    async def cost(self, _: str) -> None:
        self._block(views.cost_lines(self._talk.cost(), self._on.look, self._on.say))

    async def tools(self, _: str) -> None:
        self._block(views.tools_lines(self._talk.tools(), self._on.look, self._on.say))

    async def agents(self, _: str) -> None:
        found = await asyncio.to_thread(self._talk.agents)
        self._block(views.agents_lines(found, self._on.look, self._on.say))
        for notice in found.problems:
            self._on.show(notice_lines(notice, self._on.look, self._on.say))

    async def create_agent(self, name: str) -> None:
        """Ask for what was not said, then copy the template (T7.10)."""
        name = name or await self._answered(creating.naming(self._on.say))
        level = await self._answered(creating.level(name, self._on.say)) if name else ""
        if level:
            self._tell("info", "agents.written", file=await asyncio.to_thread(self._talk.create_agent, name, level))

    async def _answered(self, choices: Choices[T]) -> T:
        """The answer to a question, which stays in the log (T2.04)."""
        answer = await self._on.ask(choices)
        self._on.show(chosen_lines(choices.title, choices.label_of(answer), self._on.look, self._on.say))
        self._on.state.family = "badge"
        return answer

    # Files

    async def diff(self, _: str) -> None:
        """What the waiting question would change, else what the session changed, without a limit of rows."""
        blocks = diff_of(self._on.state) or await asyncio.to_thread(self._talk.diff)
        self._block(views.changes_lines(blocks, self._on.look, self._on.say))

    async def undo(self, _: str) -> None:
        self._changes("undo", await asyncio.to_thread(self._talk.undo))

    async def redo(self, _: str) -> None:
        self._changes("redo", await asyncio.to_thread(self._talk.redo))

    def _changes(self, verb: str, changes: Sequence[Change]) -> None:
        if not changes:
            self._tell("info", f"screen.{verb}.none")
        for place, change in enumerate(changes):
            badge = "warn" if change.action == "kept" else "info"
            rows = badge_lines(badge, self._on.say(f"screen.{verb}.{change.action}", path=change.path), self._on.look)
            self._on.show(rows if place else [EMPTY, *rows])
            self._on.state.family = "badge"


_HANDLERS: Mapping[Handler, Callable[[Actions, str], Coroutine[Any, Any, None]]] = {
    "help": Actions.help,
    "model": Actions.model,
    "key": Actions.key,
    "clear": Actions.clear,
    "new": Actions.new,
    "load": Actions.load,
    "rename": Actions.rename,
    "permissions": Actions.permissions,
    "context": Actions.context,
    "cost": Actions.cost,
    "undo": Actions.undo,
    "redo": Actions.redo,
    "diff": Actions.diff,
    "export": Actions.export,
    "tools": Actions.tools,
    "agents": Actions.agents,
    "create_agent": Actions.create_agent,
    "exit": Actions.exit,
}
