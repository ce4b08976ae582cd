"""`maia mcp`: joins the door of the orchestrator to runs, agents and memories, and serves it; and its tokens."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from maia.app.usage import wrong_words
from maia.core.errors import MaiaError, UsageProblem
from maia.core.memories import PERSON
from maia.core.text import visible, whole_number
from maia.i18n.catalogue import Catalogue
from maia.launch import Folders, find_folders
from maia.orchestrator.calls import Desk, Identity
from maia.orchestrator.tokens import Tokens
from maia.terminal.options import Options

if TYPE_CHECKING:
    from maia.app.build import Ground
    from maia.core.memories import Memory
    from maia.core.runs import Runs

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 6242
TOKEN_VARIABLE: Final = "MAIA_MCP_TOKEN"
_PATIENCE: Final = 5.0
"""Seconds that runs which a client took back may take to stop when the front ends."""


def mcp(options: Options, say: Catalogue) -> int:
    """`maia mcp`, `maia mcp token create NAME | list | revoke NAME`. Raises `UsageProblem`."""
    _, *words = options.command
    if words:
        if words[0] != "token":
            raise wrong_words("mcp")
        return _token(options, say, words[1:])
    if (options.transport or "stdio") == "http":
        return _over_http(options, say)
    return _over_stdio(options, say)


def _folders(options: Options) -> Folders:
    from maia.app.machine import folder_of

    return find_folders({**os.environ, **({"MAIA_CWD": folder_of(options.cwd)} if options.cwd else {})})


def _tokens(folders: Folders) -> Tokens:
    return Tokens(folders.config / "mcp-tokens.json")


# The two transports


def _over_stdio(options: Options, say: Catalogue) -> int:
    if options.host or options.port:
        raise UsageProblem("mcp.only_http")
    identity = _identity(options)
    if sys.stdin.isatty():
        print(say("mcp.waiting"), file=sys.stderr)

    async def serve() -> int:
        from maia.orchestrator.server import Door
        from maia.orchestrator.stdio import serve_stdio

        front = Front(options, say)
        door = Door(front.desk, lambda _context: identity, say)

        def ended() -> None:
            door.is_closing = True

        try:
            await _until_told(serve_stdio(door.server(), ended))
        finally:
            await front.aclose()
        return 0

    return _run(serve())


def _over_http(options: Options, say: Catalogue) -> int:
    from maia.orchestrator.address import is_loopback, listen, url_of

    if options.acting_as:
        raise UsageProblem("mcp.only_stdio")
    host, tokens = options.host or DEFAULT_HOST, _tokens(_folders(options))
    is_first = not tokens.all()
    listening = listen(host, _port(options))
    print(say("mcp.listening", url=url_of(listening, host)))
    if not is_loopback(host):
        print(say("mcp.not_loopback", host=host), file=sys.stderr)
    if is_first:
        print(say("mcp.first_token", token=tokens.create(PERSON, Identity()).reveal()))
    sys.stdout.flush()

    async def serve() -> int:
        from maia.orchestrator.guard import IDENTITY
        from maia.orchestrator.http import serve_http
        from maia.orchestrator.server import Context, Door

        def identify(context: Context) -> Identity:
            return context.request.scope[IDENTITY] if context.request is not None else Identity("nobody")

        front = Front(options, say)
        door = Door(front.desk, identify, say)
        try:
            await serve_http(door.server(), tokens.identity_of, listening, host, _on_signals)
        finally:
            await front.aclose()
        return 0

    return _run(serve())


def _identity(options: Options) -> Identity:
    """Who speaks on stdio: the person who started us, or the agent whose token they were given to start us with."""
    if options.acting_as is None:
        os.environ.pop(TOKEN_VARIABLE, None)
        return Identity()
    # Taken out, so that no run and no program that we start inherits it.
    folders = _folders(options)
    found = _tokens(folders).identity_of(os.environ.pop(TOKEN_VARIABLE, ""))
    if found is None or not found.agent or found.agent != _name_of(options.acting_as, folders):
        raise UsageProblem("mcp.not_that_agent", agent=options.acting_as, variable=TOKEN_VARIABLE)
    return found


def _name_of(word: str, folders: Folders) -> str:
    """The name of the agent that is called so; the word itself where there is none, whose token may outlive it."""
    from maia.app.agents import find_agent

    try:
        return find_agent(folders, word).name
    except MaiaError:
        return word


def _port(options: Options) -> int:
    if options.port is None:
        return DEFAULT_PORT
    port = whole_number(options.port)
    if port is None or port > 65_535:
        raise UsageProblem("mcp.bad_port", given=options.port)
    return port


def _run(work: Coroutine[Any, Any, int]) -> int:
    import logging

    from maia.terminal.loop import run_to_end

    # What the SDK has to say names sessions and shows the inside of the program; people get our words.
    logging.getLogger().addHandler(logging.NullHandler())
    return run_to_end(work)


def _on_signals(end: Callable[[], object]) -> None:
    """Call that when the system or a person wants us to end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, end)


async def _until_told(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    _on_signals(task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _command() -> tuple[str, ...]:
    """How a client starts us: by name where the name leads to maia, else by this Python."""
    import shutil

    return ("maia", "mcp") if shutil.which("maia") else (sys.executable, "-P", "-m", "maia", "mcp")


class Front:
    """What the tools work with, made with the first call: the import of the rooms costs more than the door itself."""

    def __init__(self, options: Options, say: Catalogue) -> None:
        self._options = options
        self._say = say
        self._desk: Desk | None = None
        self._runs: Runs | None = None
        self._memories: dict[str, Memory] = {}
        self._aside: set[asyncio.Task[Any]] = set()

    def desk(self) -> Desk:
        """The desk. Raises `MaiaError` where the folder or the settings cannot be used."""
        if self._desk is None:
            from maia.app.agentbook import ClientsAgents
            from maia.app.build import lay_ground
            from maia.app.defects import reported
            from maia.app.runs import open_runs

            environment = dict(os.environ)
            if self._options.cwd:
                environment["MAIA_CWD"] = str(_folders(self._options).launch)
            ground = lay_ground(self._options, environment, self._say)
            self._runs = open_runs(ground)
            self._desk = Desk(
                say=ground.say,
                runs=self._runs,
                agents=ClientsAgents(ground),
                memory=self._memory_of(ground),
                aside=self._go_on,
                defect=reported,
                command=_command(),
            )
        return self._desk

    def _memory_of(self, ground: Ground) -> Callable[[str], Coroutine[Any, Any, Memory]]:
        async def memory(identity: str) -> Memory:
            if identity not in self._memories:
                from maia.app.memories import open_memory

                self._memories[identity] = open_memory(ground.rules.settings, ground.folders, ground.env, identity)
            return self._memories[identity]

        return memory

    def _go_on(self, work: Coroutine[Any, Any, Any]) -> object:
        task = asyncio.create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)
        return task

    async def aclose(self) -> None:
        """Let what was begun aside end, within bounds; runs go on in their host."""
        if self._aside:
            await asyncio.wait(self._aside, timeout=_PATIENCE)
        for memory in self._memories.values():
            with suppress(MaiaError):
                await memory.aclose()
        if self._runs is not None:
            await self._runs.aclose()


# Tokens


def _token(options: Options, say: Catalogue, words: Sequence[str]) -> int:
    tokens = _tokens(_folders(options))
    match words:
        case ["create", name]:
            return _create_token(options, say, tokens, name)
        case ["list"]:
            return _list_tokens(options, say, tokens)
        case ["revoke", name]:
            tokens.revoke(name)
            print(say("mcp.token.revoked", name=visible(name)))
            return 0
        case _:
            raise wrong_words("mcp")


def _create_token(options: Options, say: Catalogue, tokens: Tokens, name: str) -> int:
    identity = _identity_for(options, name)
    token = tokens.create(name, identity).reveal()
    if options.as_json:
        print(json.dumps({"name": name, "identity": identity.name, "token": token}, ensure_ascii=False))
        return 0
    print(token)
    print(say("mcp.token.once", identity=visible(identity.name)), file=sys.stderr)
    return 0


def _identity_for(options: Options, name: str) -> Identity:
    """The person's own for the name `person`; an agent's with `--as`; else one that the name alone makes."""
    from maia.app.memories import agent_identity, client_identity

    if options.acting_as is None:
        return Identity() if name == PERSON else Identity(client_identity(name))
    from maia.app.agents import agent_shelf

    folders = _folders(options)
    agent = agent_shelf(folders).read().find(options.acting_as)
    return Identity(agent_identity(agent.name, agent.level, folders.launch), agent.name)


def _list_tokens(options: Options, say: Catalogue, tokens: Tokens) -> int:
    rows = tokens.all()
    if options.as_json:
        shown = [{"name": row.name, "identity": row.identity, "created": row.created} for row in rows]
        print(json.dumps(shown, ensure_ascii=False))
        return 0
    if not rows:
        print(say("mcp.token.none"), file=sys.stderr)
    for row in rows:
        when = datetime.fromtimestamp(row.created).strftime("%Y-%m-%d %H:%M")
        print(visible(f"{row.name}  {when}  {row.identity}"))
    return 0
