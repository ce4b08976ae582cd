"""`maia serve`: the web workspace of this machine, from the folders and settings to a listening server."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from maia import __version__
from maia.app.ground import with_kept_keys
from maia.app.memory import Remembered
from maia.app.models import EndpointModels, Wish
from maia.core.errors import MaiaError, UsageProblem, system_words
from maia.core.text import whole_number
from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang
from maia.launch import find_folders
from maia.settings import load_settings
from maia.terminal.options import Options

if TYPE_CHECKING:
    from uvicorn import Server

    from maia.web.entry.hosts import Hosts
    from maia.workspace.bench import WorkBench
    from maia.workspace.colleagues import Role
    from maia.workspace.folders import Room
    from maia.workspace.workspace import Workspace

HOST, PORT = "127.0.0.1", 8642
CHAT_STEPS = 25
"""Round trips to the model that a chat turn may do, where no setting says otherwise (R-2.254)."""
_LAST_SECONDS = 3
_COLLECT = (10_000, 20, 50)
"""How seldom cycles are looked for: the usual numbers look a dozen times for each answer, and find nothing."""


def serve(options: Options, say: Catalogue) -> int:
    """Serve until SIGTERM or Ctrl+C. Raises `MaiaError` where it cannot begin."""
    if len(options.command) > 1:
        from maia.app.backup import backups

        return backups(options, say)
    import uvloop

    listening = _listen(options.host or HOST, _port(options.port))
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(options, say, listening))
    finally:
        listening.close()


async def _serve(options: Options, say: Catalogue, listening: socket.socket) -> int:
    from maia.workspace.record.planning import FIRST_STAGES

    workspace = await asyncio.to_thread(_workspace, options, os.environ, say)
    try:
        installation = await workspace.start()
        token = await workspace.accounts.open_first_run()
        if token is None:  # otherwise the first owner's language names them
            await workspace.planning.begin([say(f"planning.first.{name}") for name in FIRST_STAGES])
        server = _server(workspace, say, listening, installation)
        _tell(listening, token, say)
        gc.collect()
        gc.freeze()  # what is there for good is not walked through again and again while people wait
        gc.set_threshold(*_COLLECT)
        await server.serve(sockets=[listening])
    finally:
        workspace.let_go()
        await workspace.close()
    return 0


def _workspace(options: Options, env: Mapping[str, str], say: Catalogue) -> Workspace:
    from maia.app.agentfiles import HomeFiles
    from maia.app.backup import resume_restore
    from maia.app.colleagues import KnownAgents
    from maia.app.keyground import KeyGround
    from maia.app.masking import masker_of
    from maia.app.nicknames import own_model
    from maia.app.opencode import OpenCode
    from maia.app.paying import Purses
    from maia.app.rooms import Benches, Rooms
    from maia.app.runtimes import Yard
    from maia.app.supply import Supplied
    from maia.app.walls import ProgramWalls
    from maia.credentials.vault import open_vault
    from maia.database.address import database_url
    from maia.llm.endpoint import OFFLINE
    from maia.permissions.trust import trust_state
    from maia.workspace.autonomy.categories import GREEN_COMMANDS
    from maia.workspace.workspace import Workspace

    folders = find_folders(env)
    home = folders.home
    env = with_kept_keys(home / ".maia" / "keys", env)
    settings = load_settings(home, home, env, {}, folder_trusted=False)
    if settings.security.cli_sandbox is None:
        raise UsageProblem("serve.cli_sandbox", file="~/.maia/settings.json")
    rooms = Rooms(env, home, settings)
    for notice in rooms.notices:
        print(say(notice.key, **notice.values), file=sys.stderr, flush=True)
    url = database_url(options.database or env.get("MAIA_DATABASE_URL"), rooms.location.data)
    resume_restore(url, rooms.location.data)
    rooms.keep_in(url)
    remembered = Remembered(home / ".maia" / "models.json")
    models = EndpointModels(lambda: settings, Wish(None, is_person=False, always_local=True), env, say, remembered)
    steps = options.max_iterations or settings.get("MaxIterations") or CHAT_STEPS
    asked = replace(options, model=None, max_iterations=steps, allow=(*options.allow, *GREEN_COMMANDS))

    purses = Purses(lambda: settings, env, say, remembered)
    agents = KnownAgents(env, home, settings.nicknames, say)
    files = HomeFiles(agents, settings)
    shared = Benches(models, purses, agents, say)

    def bench(room: Room, lang: str, role: Role) -> WorkBench:
        return rooms.bench(room, lang, role, asked, shared)

    word = own_model(settings.nicknames, options.model) if options.model else None
    usual = own_model(settings.nicknames, settings.model or "")
    keys = KeyGround(options, env, say, home, open_vault(home / ".maia" / "keys", env))
    yard = Yard(folders, (), settings.sandbox, env, cli_sandbox=settings.security.cli_sandbox)
    supply = Supplied(
        models,
        yard,
        lambda: keys,
        usual,
        offers_offline=OFFLINE in (word, usual),
        purses=purses,
        outside=lambda: rooms.trialist.outside(yard),
    )
    return Workspace(
        url,
        rooms.location,
        rooms.look,
        bench,
        supply,
        word,
        masker_of,
        agents=files,
        colleagues=agents,
        trusts=lambda folder: trust_state(folder, home).verdict == "trusted",
        program=OpenCode(yard, rooms.location.data / "terminals", rooms.look),
        walls=ProgramWalls(yard, rooms.trialist),
        surroundings=rooms.surroundings(settings),
    )


# The server ----------------------------------------------------------------------------------------------------------


def _port(given: str | None) -> int:
    port = PORT if given is None else whole_number(given)
    if port is None or port > 65_535:
        raise UsageProblem("serve.bad_port", given=given)
    return port


def _listen(host: str, port: int) -> socket.socket:
    """A socket that waits at that address. Raises `MaiaError` when it is taken or not one of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise MaiaError("serve.no_address", host=host, port=port, problem=system_words(error)) from error
    return listening


def _server(workspace: Workspace, say: Catalogue, listening: socket.socket, installation: str) -> Server:
    from uvicorn import Config, Server

    from maia.app.entrance import oidc_of, public_address
    from maia.app.lines import FromSlowLines
    from maia.web.api.line import LARGEST_MESSAGE
    from maia.web.app import make_app
    from maia.web.entry.desk import Desk

    class Quiet(Server):
        """Signals are ours: they let the streams go, too."""

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    words: dict[Lang, Catalogue] = {lang: say if lang == say.lang else Catalogue(lang) for lang in LANGUAGES}
    public, oidc = public_address(os.environ), oidc_of(os.environ)
    desk = Desk(
        workspace, words, say.lang, _hosts(listening, public), f"maia-{installation}", __version__, public, oidc
    )
    config = Config(
        make_app(desk),
        log_config=None,
        access_log=False,
        lifespan="off",
        http=FromSlowLines,
        ws="none",  # until the first one is opened: `FromSlowLines`
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        loop="asyncio",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    server = Quiet(config)
    loop = asyncio.get_running_loop()

    def leave() -> None:
        server.should_exit = True
        workspace.let_go()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    return server


def _hosts(listening: socket.socket, public: str) -> Hosts:
    import ipaddress
    from urllib.parse import urlsplit

    from maia.web.entry.hosts import Hosts

    address = ipaddress.ip_address(listening.getsockname()[0])
    named = os.environ.get("MAIA_ALLOWED_HOSTS", "").replace(",", " ").lower().split()
    if own := urlsplit(public).hostname:
        named.append(own)
    return Hosts(address.is_loopback, frozenset(named))


def _tell(listening: socket.socket, token: str | None, say: Catalogue) -> None:
    """Where to open it, on standard output, so that scripts can read it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    url = f"http://{shown}:{port}/" + (f"first-run?token={token}" if token else "")
    print(say("serve.open", url=url), flush=True)
    if token:
        print(say("serve.first_run"), file=sys.stderr, flush=True)
