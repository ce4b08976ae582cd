"""Builds one conversation from the folder, the settings and the options: every concrete class is named here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from maia import __version__
from maia.app.acting import NOBODY, section_of, steps_of, tools_for
from maia.app.ground import Ground, plain_ground
from maia.app.memory import Remembered
from maia.app.models import EndpointModels, Wish
from maia.app.nicknames import wished_runner
from maia.app.rules import saved_outputs
from maia.app.undo import SessionUndo
from maia.app.workspaces import from_workspace
from maia.core.agent import OWN_RUNNER, RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.ports import FileState, Hands, ToolMemory
from maia.core.reason import Reason
from maia.core.requests import Section
from maia.core.tool import AnyTool
from maia.engine.context import Door, Tally, base_sections, project_section, read_start_context
from maia.engine.conversation import Conversation
from maia.engine.setup import AgentDesk, BangOutcome, Bound, CallContext, Config, Setup
from maia.engine.toolset import ALL, Toolset
from maia.engine.views import Trust
from maia.i18n.catalogue import Catalogue
from maia.sandbox.fetch import WebFetcher
from maia.sandbox.process import LocalProcesses
from maia.sandbox.wall import WallFound
from maia.settings import Settings
from maia.store.changes import Changes
from maia.store.sessions import Sessions
from maia.terminal.options import Options
from maia.tools.readlog import SessionReads
from maia.tools.toolbox import built_in_tools

if TYPE_CHECKING:
    from maia.app.paying import Purses
    from maia.app.runtimes import ProgramModels, Yard
    from maia.engine.masking import AddressOf, Masking
    from maia.workspace.bench import WorkBench


def lay_ground(options: Options, env: Mapping[str, str], say: Catalogue) -> Ground:
    """Find and prepare the folders (T1.01, T1.03), and act as the agent that `--agent` names.

    Raises `UsageProblem` for a folder or an agent that is not there.
    """
    ground = plain_ground(options, env, say)
    if options.agent is None:
        return ground
    from maia.app.agents import act_as, find_agent

    return act_as(ground, find_agent(ground.folders, options.agent))


def build_conversation(ground: Ground, models: EndpointModels | None = None) -> Conversation:
    """One conversation over the real rooms. Only a person needs tokens counted and an old session shown again.

    `models` are those of this ground, where the caller has them already.
    """
    person = ground.options.prompt is None
    sessions = Sessions(ground.folders.sessions, lambda name: from_workspace(ground, name))
    masking = _masking(ground)
    builder = _Builder(ground, sessions, masking)
    answering = models or _models(ground)
    return Conversation(
        Setup(
            launch=ground.folders.launch,
            say=ground.say,
            version=__version__,
            models=masking.models(answering, answering.address_of) if masking else answering,
            sessions=sessions,
            configure=builder.configure,
            hands=builder.hands,
            undo=builder.undo,
            renamed=builder.renamed,
            seen=builder.seen,
            bang=builder.bang,
            price=answering.price,
            tally=_tally() if person else None,
            trust_needed=builder.trust_needed,
            trust=builder.trust,
            resume=_resumed(ground.options, sessions),
            replay=person,
            release=builder.release,
            screen=_screen(masking, answering.address_of) if masking else None,
            agents=(lambda: _agents(ground)) if person else None,
        )
    )


def _masking(ground: Ground) -> Masking | None:
    """What the setting `privacy` asks for; its room is loaded only then. Raises `InvalidPolicy`."""
    wish = ground.rules.settings.privacy
    if wish.mode == "off":
        return None
    from maia.app.masking import wished_masking

    return wished_masking(wish, ground.say)


def _screen(masking: Masking, address_of: AddressOf) -> Callable[[Bound, str], None]:
    from maia.engine.masking import destination_of

    return lambda bound, text: masking.screen(text, destination_of(bound, address_of))


def _agents(ground: Ground) -> AgentDesk:
    """The agents of the folder and of home, for a person who asks for them."""
    from maia.app.agents import PersonsAgents

    return PersonsAgents(ground)


def work_bench(
    ground: Ground, models: EndpointModels, purses: Purses, tell: Callable[[str, Sequence[Notice]], None]
) -> WorkBench:
    """The tools, rules and words of one conversation of the workspace; its models are those of the server.

    `tell` hears what of an agent's file cannot be followed, `purses` pay where the agent has a key of its own.
    """
    from maia.app.supply import opener, priced
    from maia.engine.masking import destination_of
    from maia.workspace.bench import WorkBench

    builder = _Builder(ground, Sessions(ground.folders.sessions), door="workspace")
    acting = ground.acting
    tell(acting.agent.shown if acting else "", (*(acting.notices if acting else ()), *builder.tool_notices))
    return WorkBench(
        launch=ground.folders.launch,
        say=ground.say,
        models=models,
        hands=builder.hands,
        price=priced(models),
        configure=builder.configure,
        seen=builder.seen,
        destination=lambda bound: destination_of(bound, models.address_of),
        open=opener(models, yard_of(ground), acting.key if acting else None, purses),
    )


def endpoint_models(ground: Ground) -> EndpointModels:
    """The models of all endpoints that the settings and the environment name."""
    acting = ground.acting or NOBODY
    wish = Wish(ground.options.model, ground.options.prompt is None, acting.model, acting.is_strict, acting.key)
    remembered = Remembered(ground.folders.config / "models.json")
    return EndpointModels(ground.rules.current, wish, ground.env, ground.say, remembered)


def _models(ground: Ground) -> EndpointModels | ProgramModels:
    """Who answers: a model of an endpoint, or a program that `--runtime`, a nickname or the agent names."""
    wished = runner_of(ground)
    if wished.runner == OWN_RUNNER:
        return endpoint_models(ground)
    from maia.app.runtimes import program_models

    return program_models(wished.runner, wished.model or None, yard_of(ground), ground.acting and ground.acting.key)


def runner_of(ground: Ground) -> RealModel:
    """Who runs the session, and with which model where that is a program."""
    return wished_runner(ground.rules.settings.nicknames, ground.options, ground.acting or NOBODY)


def yard_of(ground: Ground) -> Yard:
    """Where agent programs run."""
    from maia.app.runtimes import Yard, patience_of

    settings = ground.rules.settings
    return Yard(
        ground.folders,
        ground.add_dirs,
        settings.sandbox,
        ground.env,
        ground.hidden,
        settings.security.cli_sandbox or "required",
        patience_of(settings),
        ground.guard,
    )


def look_for_wall(ground: Ground) -> WallFound:
    """The wall around commands that the settings ask for and this machine has. Blocks; reads nothing before."""
    from maia.sandbox.places import Places, named_places
    from maia.sandbox.wall import find_wall

    sandbox, folders = ground.rules.settings.sandbox, ground.folders
    return find_wall(
        sandbox.mode,
        Places(
            folders.launch,
            folders.home,
            ground.add_dirs,
            named_places(sandbox.writable, folders.launch),
            named_places(sandbox.readable, folders.launch),
            sandbox.network,
            hidden=ground.hidden,
        ),
    )


def _resumed(options: Options, sessions: Sessions) -> str | None:
    """The session that `--resume` or `--continue` goes on with. Raises `UsageProblem` when there is none yet."""
    if options.resume is not None:
        return options.resume
    if not options.continue_last:
        return None
    latest = sessions.latest()
    if latest is None:
        raise UsageProblem("session.none")
    return latest


def _tally() -> Tally:
    from maia.llm.count import MessageTally, TokenCounter, sections_tokens, tools_tokens

    counter = TokenCounter()
    tally = MessageTally(counter)
    return Tally(
        warm=lambda: counter.warm().join(),
        messages=tally.tokens,
        sections=lambda sections: sections_tokens(sections, counter),
        tools=lambda specs: tools_tokens(specs, counter),
    )


@dataclass(slots=True)
class _SessionState:
    """What tools remember within one session."""

    reads: SessionReads
    memory: ToolMemory
    changes: Changes
    turn: int = 0


class _Builder:
    """Makes the parts of a session that settings and folder decide, and makes them again when they are read again."""

    def __init__(
        self, ground: Ground, sessions: Sessions, masking: Masking | None = None, door: Door = "terminal"
    ) -> None:
        self._door: Door = door
        self._ground = ground
        self._sessions = sessions
        self._states: dict[str, _SessionState] = {}
        self._notify: Callable[[Notice], None] = lambda _notice: None
        self._memory = ground.memory(lambda notice: self._notify(notice)) if ground.memory else None
        self._acting = ground.acting
        own, self.tool_notices = self._own_tools()
        tools = {**own, **{tool.spec.name: tool for tool in self._memory_tools()}}
        self._tools = masking.tools(tools) if masking else tools
        self._rules = ground.rules
        self._processes = self._new_processes()

    @property
    def settings(self) -> Settings:
        """As they were last read."""
        return self._rules.settings

    def configure(self) -> Config:
        """Read settings, rules and start context again (`/clear`, `/new`)."""
        ground, folders = self._ground, self._ground.folders
        self._rules.reload()
        start = read_start_context(folders.launch)
        project = (project_section(start.section),) if start.section else ()
        acting = self._acting
        agent = (section_of(acting.agent, ground.turns),) if acting else ()
        limit = self.settings.max_iterations
        return Config(
            judge=self._rules.judge,
            tools=self._tools,
            sections=(*self._base(folders.launch), *agent, *project),
            notices=(
                Notice("info", "start.folder", {"folder": str(folders.launch)}),
                *folders.notices,
                *start.notices,
                *self._rules.notices(),
                *(acting.notices if acting else ()),
                *self.tool_notices,
            ),
            rules=self._rules.shown(),
            max_iterations=ground.turns or (steps_of(acting.agent, limit) if acting else limit),
            max_output_tokens=self.settings.max_output_tokens,
            effort=(acting and acting.agent.effort) or self.settings.effort,
            concludes=acting is not None and ground.options.prompt is not None,
            toolset=ALL if ground.offered is None else Toolset(frozenset((*self._tools, *ground.offered))),
        )

    def hands(self, config: Config, context: CallContext) -> Hands:
        """The hands of one call."""
        self._notify = context.notify
        state = self._state(context.session)
        if state.turn != context.turn:
            state.turn = context.turn
            state.changes.begin_turn()
        return Hands(
            launch=self._ground.folders.launch,
            call_id=context.call_id,
            say=self._ground.say,
            processes=self._processes,
            fetcher=WebFetcher(self._rules.allows_private_host),
            reads=state.reads,
            changes=state.changes,
            memory=state.memory,
            current_model=context.model,
            emit=context.emit,
            allowed=lambda need: config.judge.decide((need,)),
            saved_outputs=self._outputs,
            folders=self._ground.add_dirs,
            session=context.session,
        )

    def undo(self, session: str) -> SessionUndo:
        return SessionUndo(self._state(session).changes, self._ground.folders)

    def renamed(self, old: str, new: str) -> None:
        """The session has another name: what its tools remember goes with it."""
        if old in self._states:
            self._states[new] = self._states.pop(old)
        source, target = self._changes_folder(old), self._changes_folder(new)
        if source.is_dir() and not target.exists():
            try:
                os.rename(source, target)
            except OSError:
                return  # what was recorded stays where it is, and this run goes on undoing from there
            if new in self._states:
                self._states[new] = replace(self._states[new], changes=Changes(target))

    def seen(self, session: str, path: str, digest: str) -> None:
        """The model knows this file: an edit needs no Read before it, unless the file changed since."""
        self._state(session).reads.note(Path(path), FileState(0, 0, digest))

    async def bang(self, command: str, emit: Callable[[str], None], stop: asyncio.Event) -> BangOutcome:
        """Run what a person typed after `!` (T4.01)."""
        from maia.sandbox.bang import run_bang

        end = await run_bang(
            command,
            processes=self._processes,
            cwd=self._ground.folders.launch,
            say=self._ground.say,
            on_output=emit,
            stop=stop,
        )
        return BangOutcome(end.attachment, not end.state, end.shown, end.state)

    def trust_needed(self) -> Trust | None:
        return self._rules.trust_needed()

    def trust(self, yes: bool) -> None:
        self._rules.trust(yes)

    async def release(self) -> None:
        """Let go of what the tools hold open."""
        if self._memory is not None:
            await self._memory.aclose()

    def _base(self, launch: Path) -> tuple[Section, ...]:
        """The day stands in the prompt of a session that begins once; in the workspace the clock rides on messages."""
        today = date.today() if self._door == "terminal" else None
        return base_sections(launch, self._ground.add_dirs, door=self._door, today=today)

    def _own_tools(self) -> tuple[dict[str, AnyTool], tuple[Notice, ...]]:
        tools: dict[str, AnyTool] = {tool.spec.name: tool for tool in built_in_tools()}
        if self._door == "workspace":  # at a terminal the person is there, and reads what is asked
            from maia.tools.ask_user import AskUserTool

            tools["AskUser"] = AskUserTool()
        shown = self._acting.agent.shown if self._acting else ""
        return tools_for(self._ground.offered, shown, tools)

    def _memory_tools(self) -> tuple[AnyTool, ...]:
        if self._memory is None:
            return ()
        from maia.app.memories import memory_tools

        return memory_tools(self._memory)

    @property
    def _outputs(self) -> Path:
        return saved_outputs(self._ground.folders)

    def _changes_folder(self, session: str) -> Path:
        return self._sessions.folder / f"{session}.changes"

    def _state(self, session: str) -> _SessionState:
        if session not in self._states:
            changes = Changes(self._changes_folder(session))
            self._states[session] = _SessionState(SessionReads(), ToolMemory(), changes)
        return self._states[session]

    def _new_processes(self) -> LocalProcesses:
        return LocalProcesses(
            self._outputs, lambda: look_for_wall(self._ground), on_notice=self._tell, shown=self.settings.sandbox.env
        )

    def _tell(self, reason: Reason) -> None:
        """What the sandbox has to say once, when the first command runs."""
        self._notify(Notice("warn", reason.key, reason.values))
