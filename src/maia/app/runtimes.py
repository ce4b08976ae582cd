"""Agent programs as who answers (`--runtime`): found, walled in, offered through the port of models, checked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from maia import __version__
from maia.core.costs import Cost, Usage
from maia.core.errors import MaiaError, ToolProblem, UsageProblem, system_words
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage
from maia.core.reason import Reason
from maia.core.requests import ChosenBy, Effort
from maia.core.runtime import OWN_MODEL, Bridge, Desk, ProgramEnd, ProgramStart, ProgramTask, Runtime
from maia.core.secret import Secret
from maia.engine.context import Window
from maia.engine.setup import Bound
from maia.engine.views import ModelChoice
from maia.launch import Folders
from maia.runtimes.environment import start_of
from maia.runtimes.open import open_runtime
from maia.runtimes.patience import Patience
from maia.runtimes.probe import greeted_version, is_older, version_of
from maia.runtimes.programs import PROGRAMS, Program, find, installed, named, speaking
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.places import Places, named_places, temporary_folders
from maia.sandbox.wall import WallFound, find_wall
from maia.settings import Settings
from maia.settings_values import CliSandbox, Sandbox

if TYPE_CHECKING:
    from maia.app.agentkeys import AgentKey
    from maia.runtimes.offered import OfferedModel

State: TypeAlias = Literal["warn", "ok", "skipped"]
Guard: TypeAlias = "Callable[[Runtime, Program, Path, Yard], Runtime]"
"""What stands before the turns of a program that lies at that path."""


@dataclass(frozen=True, slots=True)
class Yard:
    """Where programs run: the folders of this start, what commands may touch, and the environment with kept keys.

    `hidden` are places that they may not see, beside those that no command sees. `cli_sandbox` is the setting of that
    name; `guard` puts a check before each turn of a program.
    """

    folders: Folders
    add_dirs: tuple[Path, ...]
    sandbox: Sandbox
    env: Mapping[str, str]
    hidden: tuple[Path, ...] = ()
    cli_sandbox: CliSandbox = "required"
    patience: Patience = field(default_factory=Patience)
    guard: Guard | None = None

    def home(self, program: Program) -> Path:
        """The program's own home; people sign in there, too (docs/runtimes.md)."""
        return self.folders.config / "runtimes" / program.name

    def wall(self, home: Path, path: Path | None = None) -> WallFound:
        """The wall that commands have, with the program's home as one more place to write, and it itself in sight.

        Also where commands run without one. Raises `ToolProblem` where commands have no network.
        """
        if not self.sandbox.network:
            raise ToolProblem("runtime.no_network")
        mode = "auto" if self.sandbox.mode == "off" else self.sandbox.mode
        return find_wall(mode, self.places(home, path))

    def places(self, home: Path, path: Path | None = None) -> Places:
        """What a program that lies at `path` may touch and see."""
        writable = named_places(self.sandbox.writable, self.folders.launch)
        readable = (*named_places(self.sandbox.readable, self.folders.launch), *self.shown_for(path))
        # As a temporary folder, not as a work folder, in which `.claude` and the like could not be written.
        own = (*temporary_folders(), home)
        return Places(
            self.folders.launch,
            self.folders.home,
            self.add_dirs,
            writable,
            readable,
            hidden=self.hidden,
            temporary=own,
        )

    def shown_for(self, path: Path | None) -> tuple[Path, ...]:
        """The folders of a program that is installed in a place that is hidden (`~/.claude/local`)."""
        if path is None:
            return ()
        folders = dict.fromkeys((path.parent, path.resolve().parent))
        hidden = tuple(each.resolve() for each in self.hidden)
        return tuple(each for each in folders if any(each.resolve().is_relative_to(place) for place in hidden))


def patience_of(settings: Settings) -> Patience:
    """How long programs may be silent (N-03.10), in the settings in milliseconds."""
    usual = Patience()
    idle, tool = settings.get("model.cli.idleTimeoutMs"), settings.get("model.cli.toolTimeoutMs")
    return replace(usual, idle=idle / 1000 if idle else usual.idle, tool=tool / 1000 if tool else usual.tool)


class ProgramModels:
    """The engine's `Models` port where a program answers. Its models are its own business."""

    def __init__(
        self,
        program: Program,
        runtime: Runtime,
        model: str | None,
        notices: tuple[Notice, ...] = (),
        bridge: Bridge | None = None,
    ) -> None:
        self._program = program
        self._bridge = bridge
        self._notices = notices
        self._runtime = runtime
        self._model = model or OWN_MODEL

    async def choices(self) -> Sequence[ModelChoice]:
        return [ModelChoice(self._model, self._program.name)]

    async def problems(self) -> Sequence[Notice]:
        return self._notices

    async def start(self, resumed: str) -> Bound | None:
        """The program, whatever model the session had before: `resumed` names one that it may not have."""
        del resumed
        return self._bound("default" if self._model == OWN_MODEL else "option")

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        """Another model of the same program, which itself refuses one that it does not have."""
        self._model = name
        return self._bound(why)

    async def close(self) -> None:
        await self._runtime.aclose()

    def effort(self, bound: Bound, asked: Effort | None) -> Effort | None:
        """The program sets its own."""
        del bound, asked

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        """Unknown to us: the program keeps its own context, and tells how full it is where it can."""
        return Window(), Notice("info", "runtime.own_context", {"program": self._program.title, "model": bound.model})

    def price(self, model: str, provider: str, usage: Usage | None, reported: float | None) -> Cost:
        """As reported; never guessed, since nobody knows through whom the program is paid."""
        del model, provider, usage
        return Cost() if reported is None else Cost(reported, "reported")

    def address_of(self, provider: str) -> str | None:
        """Not known: programs speak to a service of their own."""
        del provider

    def _bound(self, why: ChosenBy) -> Bound:
        return Bound(self._model, self._program.name, None, why, runtime=self._runtime, bridge=self._bridge)


class ExplainingRuntime:
    """A program whose refusal by its server is explained: by its key's shape and address, else by how one signs in."""

    def __init__(self, runtime: Runtime, program: Program, home: Path, env: Mapping[str, str]) -> None:
        self._runtime = runtime
        self._program = program
        self._home = home
        self._env = env

    @property
    def name(self) -> str:
        return self._runtime.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        end = await self._runtime.turn(task, desk)
        if end.failure is None or end.failure.kind != "auth":
            return end
        from maia.app.refusals import explained_key

        sent = tuple(sent_keys(self._program, self._env))
        if len(sent) == 1:  # of several, nobody but the program knows which one was refused
            name, url, _ = sent[0]
            failure = explained_key(end.failure, Secret(self._env[name]), url, name)
            if failure.why is not None:
                return replace(end, failure=failure)
        why = Reason("runtime.not_signed_in", access_values(self._program, self._home))
        return replace(end, failure=replace(end.failure, why=why))

    async def aclose(self) -> None:
        await self._runtime.aclose()


@dataclass(frozen=True, slots=True)
class TellingRuntime:
    """A program that may run without a wall: once in a conversation that is told (R-2.236)."""

    runtime: Runtime
    program: Program
    yard: Yard

    @property
    def name(self) -> str:
        return self.runtime.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        told = any(isinstance(each, AssistantMessage) and each.provider == self.name for each in task.history)
        found = await asyncio.to_thread(self.yard.wall, self.yard.home(self.program))
        if found.wall is None and not told:
            desk.tell(Notice("warn", "runtime.no_sandbox", {"program": self.program.title}))
        return await self.runtime.turn(task, desk)

    async def aclose(self) -> None:
        await self.runtime.aclose()


def program_models(name: str, model: str | None, yard: Yard, key: AgentKey | None = None) -> ProgramModels:
    """The program of that name; `key` is the only one that it gets, where an agent names one.

    Raises `UsageProblem` for an unknown program or a key that is none for it, `NotConfigured` for one that is absent.
    """
    program = named(name)
    if key is not None:
        from maia.app.agentkeys import program_environment

        yard = replace(yard, env=program_environment(program, key, yard.env))
    env, notices = without_blocked(program, yard.env)
    path = installed(program, env)
    guard_keys(program, env)
    if model and program.model_var:
        env = {**env, program.model_var: model}
    yard = replace(yard, env=env)
    runtime = open_runtime(
        program,
        path,
        PipedPrograms(lambda home: yard.wall(home, path), bare=yard.cli_sandbox == "auto" and program.asks).start,
        folder=yard.folders.launch,
        home=yard.home(program),
        env=env,
        version=__version__,
        patience=yard.patience,
    )
    driver = runtime
    if yard.cli_sandbox == "auto" and program.asks:
        runtime = TellingRuntime(runtime, program, yard)
    if yard.guard is not None:
        runtime = yard.guard(runtime, program, path, yard)
    explaining = ExplainingRuntime(runtime, program, yard.home(program), env)
    return ProgramModels(program, explaining, model, notices, driver)


async def models_told(program: Program, yard: Yard) -> tuple[OfferedModel, ...]:
    """The models that a program says it offers; none is called. Raises `MaiaError` where it cannot be started."""
    from maia.runtimes.claude_code import ARGUMENTS
    from maia.runtimes.offered import offered_models

    path = installed(program, yard.env)
    more = ARGUMENTS if program.speaks == "claude-code" else ()
    arguments = (*speaking(program, yard.env), *more)
    start = start_of(program, path, arguments, folder=yard.folders.launch, home=yard.home(program), env=yard.env)
    return await offered_models(program, PipedPrograms(lambda home: yard.wall(home, path)).start, start)


def without_blocked(program: Program, env: Mapping[str, str]) -> tuple[Mapping[str, str], tuple[Notice, ...]]:
    """The environment without a key that is not for models until the person allows it (C1.02), and what is told."""
    from maia.app.keyguard import policy_of
    from maia.credentials.signals import Ballot
    from maia.credentials.vote import resolve

    policy, notices, blocked = policy_of(env), list[Notice](), set[str]()
    for name in program.key_vars:
        vote = resolve(Ballot(Secret(env.get(name, "")), name, policy=policy))
        if problem := next((each for each in vote.problems if each.code == "OPENROUTER_BLOCKED"), None):
            blocked.add(name)
            notices.append(Notice("warn", problem.words, problem.values))
    kept = {name: value for name, value in env.items() if name not in blocked} if blocked else env
    return kept, tuple(notices)


def guard_keys(program: Program, env: Mapping[str, str]) -> None:
    """Raises `UsageProblem` where a key of the program would go to the host of another company (C2.04).

    Without an address of its own, a program sends a key to the company after which the key's variable is named.
    """
    from maia.app.keyguard import policy_of
    from maia.credentials.signals import Ballot
    from maia.credentials.vote import resolve

    for name, url, told in sent_keys(program, env):
        vote = resolve(Ballot(Secret(env[name]), base_url=url, base_url_from=told, policy=policy_of(env)))
        for problem in vote.problems:
            if problem.code == "TOKEN_URL_CONFLICT" and problem.level == "fail":
                raise UsageProblem(problem.words, **problem.values)


def sent_keys(program: Program, env: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The variables of the keys that it gets, the address each goes to, and what says so. Of some, nobody knows."""
    from maia.credentials.providers import by_hint, usual_address

    owner = by_hint().get(env.get(program.provider_var, "").strip().lower()) if program.provider_var else None
    base = next((name for name in program.pass_vars if name.endswith("BASE_URL") and env.get(name)), "")
    for name in program.key_vars:
        url, told = (env[base], base) if base else (owner.base_url if owner else usual_address(name), name)
        if env.get(name) and url:
            yield name, url, told


# `maia doctor` ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """One row about a program, or about all that are absent."""

    program: str
    check: str
    state: State
    reason: Reason


async def check_programs(yard: Yard) -> list[Finding]:
    """Which programs are there, in which version, and whether each could reach its model. Starts each once."""
    env = yard.env
    found = [(program, find(program, env)) for program in PROGRAMS]
    there = [(program, path) for program, path in found if path is not None]
    checked = await asyncio.gather(*(_check(program, path, yard, env) for program, path in there))
    findings = [finding for each in checked for finding in each]
    if absent := ", ".join(program.name for program, path in found if path is None):
        findings.append(Finding("", "runtime", "skipped", Reason("runtime.not_found", {"names": absent})))
    return findings


async def _check(program: Program, path: Path, yard: Yard, env: Mapping[str, str]) -> list[Finding]:
    home = yard.home(program)
    values = {"program": program.title, "path": yard.folders.shown(path)}
    try:
        ask, arguments = version_of, program.version_arguments
        if not arguments:
            ask, arguments = greeted_version, program.arguments
        start = start_of(program, path, arguments, folder=yard.folders.launch, home=home, env=env)
        version = await ask(PipedPrograms(yard.wall).start, _without_keys(start))
    except MaiaError as problem:
        return [Finding(program.name, "runtime", "warn", Reason(problem.key, problem.values))]
    except OSError as problem:
        return [Finding(program.name, "runtime", "warn", Reason("runtime.home", {"problem": system_words(problem)}))]
    if version is None:
        return [Finding(program.name, "runtime", "warn", Reason("runtime.no_version", values))]
    values |= {"version": version, "tried": program.tried, "install": program.install}
    state, key = ("warn", "runtime.older") if is_older(version, program.tried) else ("ok", "runtime.found")
    return [Finding(program.name, "runtime", state, Reason(key, values)), *_access(program, home, env)]


def _without_keys(start: ProgramStart) -> ProgramStart:
    """Who is only asked for a version needs no key."""
    kept = {name: value for name, value in start.env.items() if name not in start.secrets}
    return replace(start, env=kept, secrets={})


def _access(program: Program, home: Path, env: Mapping[str, str]) -> Iterator[Finding]:
    """Whether it has a key, or was signed in or set up in its own home."""
    keys = [name for name in program.key_vars if env.get(name)]
    files = [name for name in program.logins if (home / name).exists()]
    if keys or files:
        yield Finding(program.name, "access", "ok", Reason("runtime.access", {"by": (keys or files)[0]}))
    else:
        yield Finding(program.name, "access", "warn", Reason("runtime.no_access", access_values(program, home)))


def access_values(program: Program, home: Path) -> JsonObject:
    """What a person needs to know to give it access."""
    return {"program": program.title, "keys": ", ".join(program.key_vars), "home": str(home)}
