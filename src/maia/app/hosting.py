"""What a host of runs is made of: each wish gets its own ground, rules and conversation, as `maia -p` would."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from maia.app.agents import act_as, agent_shelf, find_agent, limits_of
from maia.app.build import build_conversation, lay_ground, runner_of
from maia.app.ground import Ground, named_folder
from maia.app.runs import options_of, run_store
from maia.core.agent import AgentDefinition
from maia.core.errors import RunProblem, UsageProblem
from maia.core.runs import RunWish
from maia.i18n.catalogue import Catalogue, choose_language
from maia.runs.host import HostDoor, RunHost
from maia.runs.hostplace import Card, HostPlace
from maia.runs.live import Limits, Prepared
from maia.runs.store import RunStore
from maia.sandbox.environment import hide_own_environment
from maia.store.sessions import Sessions
from maia.terminal.loop import run_to_end
from maia.terminal.options import Options

_AGENT = "agent:"
"""What the identity of an agent begins with (`app.memories.agent_identity`)."""


def host_runs(folder: str, listening: int) -> int:
    """Host the runs of one front until nobody needs them. The exit code.

    `folder` is the host's place, where the front wrote what it wants; `listening` is the descriptor of the socket.
    """
    hide_own_environment()
    place = HostPlace(Path(folder))
    card = place.card()
    say = Catalogue(choose_language(card.wishes["lang"], os.environ))
    env = {**os.environ, "MAIA_CWD": str(card.wishes["launch"])}
    options = options_of(card.wishes["options"])
    ground = lay_ground(replace(options, agent=None), env, say)  # runs of other agents have nothing of this one
    preparing = Preparing(ground, run_store(ground), options.agent or "")
    return run_to_end(_serve(place, card, preparing, socket.socket(fileno=listening)))


async def _serve(place: HostPlace, card: Card, preparing: Preparing, listening: socket.socket) -> int:
    ground, store = preparing.ground, preparing.store
    settings = ground.rules.settings.runs
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    limits = Limits(at_once=settings.at_once, approval_wait=settings.approval_minutes * 60)
    host = RunHost(place.folder.name, store, preparing, limits)
    pruning = asyncio.create_task(
        asyncio.to_thread(store.prune, time.time(), keep=settings.keep, days=settings.keep_days)
    )
    await HostDoor(host, card.word).serve(listening, stop, card.wishes["idle"])
    await pruning
    if host.is_idle:
        place.remove()
    return 0


class Preparing:
    """Makes wishes ready on the ground of the front: its options, its environment, its folders.

    `agent` is the one that the front was started with, for wishes that name none.
    """

    def __init__(self, ground: Ground, store: RunStore, agent: str = "") -> None:
        self.ground = ground
        self.store = store
        self._agent = agent

    def __call__(self, wish: RunWish) -> Prepared:
        """Raises `MaiaError` for an unknown agent, a folder that is not allowed, a session that is not there."""
        wish = self._going_on(wish)
        word = wish.agent or self._agent
        agent = find_agent(self.ground.folders, word) if word else None
        folder = self._folder(wish.folder, agent)
        ground = lay_ground(self._options(wish), self._env(folder), self.ground.say)
        if agent is not None:
            ground = act_as(ground, agent, is_strict=True, launch=self.ground.folders.launch)
        caller = self._caller(wish.identity)
        if caller is not None and caller != agent:
            ground.rules.restrict(limits_of(self.ground, caller))
        elif folder != self.ground.folders.launch:
            ground.rules.restrict(self.ground.rules)
        if wish.session:
            Sessions(ground.folders.sessions).check_there(wish.session)
        return Prepared(
            folder=str(folder),
            begin=lambda: build_conversation(ground),
            agent=agent.name if agent else "",
            nickname=agent.nickname if agent else "",
            runner=runner_of(ground).runner,
            session=wish.session,
        )

    def _caller(self, identity: str) -> AgentDefinition | None:
        """The agent that asks for a run: it gains nothing by having another one, or plain maia, do it (C6.06).

        Raises `RunProblem` for one that is no more: nobody knows what it may do.
        """
        from maia.app.memories import agent_identity

        if not identity.startswith(_AGENT):
            return None
        launch = self.ground.folders.launch
        for agent in agent_shelf(self.ground.folders).read().found:
            if agent_identity(agent.name, agent.level, launch) == identity:
                return agent
        raise RunProblem("runs.no_caller", agent=identity.removeprefix(_AGENT))

    def _options(self, wish: RunWish) -> Options:
        """The front's options with those of the wish. A wished agent's own model and runner come before the front's."""
        front = self.ground.options
        return replace(
            front,
            model=wish.model or (None if wish.agent else front.model),
            runtime=wish.runner or (None if wish.agent else front.runtime),
            max_iterations=wish.max_iterations or front.max_iterations,
            resume=wish.session or None,
            continue_last=False,
        )

    def _env(self, folder: Path) -> Mapping[str, str]:
        return {**self.ground.env, "MAIA_CWD": str(folder)}

    def _going_on(self, wish: RunWish) -> RunWish:
        """A run may be named instead of its session; folder and agent are then its own unless others are wished."""
        if not wish.session.startswith("run-"):
            return wish
        earlier = self.store.info(wish.session)
        if not earlier.session:
            raise RunProblem("runs.no_session", run=wish.session)
        return replace(
            wish,
            session=earlier.session,
            folder=wish.folder or earlier.folder,
            agent=wish.agent or earlier.agent,
        )

    def _folder(self, named: str, agent: AgentDefinition | None) -> Path:
        """The launch folder of a run: it lies where the front may be (C6.06). Raises `RunProblem`."""
        launch = self.ground.folders.launch
        if not named:
            return launch
        try:
            folder = named_folder(named, launch)
        except UsageProblem:
            raise RunProblem("runs.no_folder", folder=named) from None
        more = tuple(named_folder(each, launch) for each in agent.folders) if agent else ()
        if not any(folder.is_relative_to(root) for root in (launch, *self.ground.add_dirs, *more)):
            raise RunProblem("runs.folder", folder=str(folder), launch=str(launch))
        return folder
