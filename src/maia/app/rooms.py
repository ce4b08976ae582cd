"""The folders of the workspace's conversations, put together: what is protected here, and the ground of a turn."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from maia.app.acting import restrictions
from maia.app.build import lay_ground, work_bench
from maia.app.colleagues import KnownAgents, seated
from maia.app.ground import Ground
from maia.app.isolation import Trialist
from maia.app.paying import Purses
from maia.app.rules import FolderRules, saved_outputs
from maia.core.permission import Rule, RuleSource, Verdict
from maia.folders.fence import Fence
from maia.folders.instance import Instance, find_instance, foreign_paths
from maia.folders.safety import Safety
from maia.folders.workspaces import find_location
from maia.permissions import globs
from maia.permissions.judge import BUILT_IN
from maia.settings import Settings
from maia.terminal.options import Options

if TYPE_CHECKING:
    from sqlalchemy import URL

    from maia.app.models import EndpointModels
    from maia.core.events import Notice
    from maia.i18n.catalogue import Catalogue
    from maia.workspace.autonomy.security import Surroundings
    from maia.workspace.bench import WorkBench
    from maia.workspace.colleagues import Role
    from maia.workspace.folders import Room

LOOKING: Final = ("Read", "Glob", "Grep")
"""Tools that only look: in the conversation's folders they need no click (R-2.198, N-08.02); denials win over it."""


@dataclass(frozen=True, slots=True)
class Benches:
    """What all conversations of a server share."""

    models: EndpointModels
    purses: Purses
    agents: KnownAgents
    say: Catalogue


class Rooms:
    """All rooms of one server. `notices` are for its start: what of the settings cannot be used."""

    def __init__(self, env: Mapping[str, str], home: Path, settings: Settings) -> None:
        self._env = env
        self._home = home
        self.location = find_location(env, home)
        self._foreign, ignored = foreign_paths(settings.security.foreign_memory_paths, home)
        self.notices: tuple[Notice, ...] = (*self.location.notices, *ignored)
        self._database: Path | None = None
        self.trialist = Trialist(self.look, lambda: self._nowhere)

    def keep_in(self, url: URL) -> None:
        """Where the database is: its folder is protected, too (R-2.328)."""
        is_file = url.get_backend_name() == "sqlite" and url.database
        self._database = Path(str(url.database)).absolute() if is_file else None
        self.__dict__.pop("_instance", None)

    def look(self) -> Safety:
        """What is protected on this machine now."""
        return Safety(self._instance)

    @cached_property
    def _instance(self) -> Instance:
        data, workspaces = self.location.data, self.location.workspaces
        return find_instance(self._env, self._home, data, workspaces, self._database, self._foreign)

    def surroundings(self, settings: Settings) -> Surroundings:
        """What the page of security tells of this machine (N-09.10)."""
        from maia.workspace.autonomy.security import Surroundings

        written = settings.security.foreign_memory_paths
        understood = ((text, foreign_paths((text,), self._home)[0]) for text in written)
        return Surroundings(self._home, tuple((text, paths[0] if paths else None) for text, paths in understood))

    def bench(self, room: Room, lang: str, role: Role, options: Options, benches: Benches) -> WorkBench:
        """The parts of a conversation in its folders, acting in that role. Blocks. Raises `MaiaError`."""
        reals = [root.real for root in room.roots]
        launch = reals[0] if reals else self._nowhere
        asked = replace(options, lang=lang, add_dirs=tuple(reals[1:]))
        ground = seated(lay_ground(asked, {**self._env, "MAIA_CWD": launch}, benches.say), role)
        fenced = self._fenced(ground, room, reals, restrictions(role.held_by))
        return work_bench(fenced, benches.models, benches.purses, benches.agents.tell)

    def _fenced(self, ground: Ground, room: Room, reals: list[str], held: Sequence[Rule]) -> Ground:
        fence = Fence(self.look, reals, room.mine, (saved_outputs(ground.folders),))
        own = ground.acting.rules if ground.acting else ()
        rules = FolderRules(
            ground.folders,
            ground.env,
            ground.options,
            ground.say,
            ground.add_dirs,
            (*_looking(reals), *own, *held),
            fence,
        )
        hidden = tuple(Path(place.path) for place in self.look().places if place.kind != "sensitive")
        # here everybody has a memory of their own
        return replace(ground, rules=rules, hidden=hidden, memory=None, guard=self.trialist.guarding)

    @cached_property
    def _nowhere(self) -> str:
        """Where a turn without any folder begins: an empty one that file tools are kept out of (R-2.351, R-2.313)."""
        folder = str(Path(tempfile.mkdtemp(prefix="maia-nowhere-")).resolve())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder


def _looking(folders: list[str]) -> tuple[Rule, ...]:
    patterns = [f"{globs.escaped(folder)}/**" for folder in folders]
    source = RuleSource(BUILT_IN)
    return tuple(
        Rule(Verdict.ALLOW, tool, pattern, f"{tool}({pattern})", source) for pattern in patterns for tool in LOOKING
    )
