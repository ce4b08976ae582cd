import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from maia.core.errors import SettingsProblem
from maia.core.events import TurnEnded
from maia.core.submission import Submission
from maia.database.conversations import ConversationRow
from maia.database.users import User
from maia.engine.setup import Config
from maia.folders.lists import Folder
from maia.folders.workspaces import Workspaces
from maia.workspace.ahead import Ahead
from maia.workspace.bench import WorkBench
from maia.workspace.colleagues import Colleague
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, bench_of, workspace_on
from tests.workspace.test_turns import until


class _Looked:
    """Opens benches, and keeps where their folders were looked into: whether on the thread of the loop."""

    def __init__(self, models: PlayedModels) -> None:
        self._models = models
        self._loop = threading.get_ident()
        self.on_loop = dict[str, bool]()

    def bench(self, launch: Path) -> WorkBench:
        bench = bench_of(self._models, launch)

        def configure() -> Config:
            self.on_loop[launch.name] = threading.get_ident() == self._loop
            return bench.configure()

        return replace(bench, configure=configure)


def _nothing(_own: Path) -> None:
    """The workspace stays empty."""


def _file(own: Path) -> None:
    (own / "notes.txt").write_text("n")


def _agents(own: Path) -> None:
    (own / ".maia" / "agents").mkdir(parents=True)


def _leads_away(own: Path) -> None:
    (own / "AGENTS.md").symlink_to("/a/mount/that/hangs")


@pytest.mark.parametrize(
    ("lay", "on_loop"),
    [(_nothing, True), (_file, True), (_agents, False), (_leads_away, False)],
    ids=["nothing", "a file", "a configuration of any size", "instructions that lead anywhere"],
)
def test_what_a_model_laid_into_its_workspace_is_never_read_on_the_loop(
    tmp_path: Path, lay: Callable[[Path], None], on_loop: bool
) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        looked = _Looked(models)
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=looked.bench) as (own, user):
            row = await own.create(user, "", "en")
            await _turn(own, user, row)
            lay(tmp_path / "workspaces" / row.id)
            await _turn(own, user, row)
            assert looked.on_loop == {row.id: on_loop}

    asyncio.run(story())


def test_the_folder_of_the_turn_before_is_not_read_on_the_loop(tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        looked = _Looked(models)
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=looked.bench) as (own, user):
            (away := tmp_path / "far away").mkdir()
            row = await own.create(user, "", "en", [Folder("away", str(away))])
            await _turn(own, user, row)
            database = own._database  # pyright: ignore[reportPrivateUsage] - no door takes the last folder away
            await database.write(own.work_folders.to_keep(row.id, []))
            await _turn(own, user, row)
            assert looked.on_loop == {away.name: False, row.id: False}
            await _turn(own, user, row)
            assert looked.on_loop == {away.name: False, row.id: True}

    asyncio.run(story())


def test_a_workspace_on_another_disk_is_not_read_on_the_loop(tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        looked = _Looked(models)
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=looked.bench) as (own, user):
            own.work_folders._workspaces.is_near = False  # pyright: ignore[reportPrivateUsage] - there is one disk here
            row = await own.create(user, "", "en")
            await _turn(own, user, row)
            await _turn(own, user, row)
            assert looked.on_loop == {row.id: False}

    asyncio.run(story())


def test_workspaces_are_near_on_the_disk_of_the_data_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    places = (tmp_path / "not" / "yet", Path("/proc/workspaces"), None)
    assert [Workspaces(place, data).is_near for place in places] == [True, False, False]


async def _turn(own: Workspace, user: User, row: ConversationRow) -> None:
    now = await own.conversation(user, row.id)
    await own.submit(user, now, Submission("Go on"))
    await until(own, now, now.last_seq, TurnEnded)


def test_what_could_not_be_read_ahead_fails_the_turn_that_needs_it(tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        bench = bench_of(models, tmp_path)

        def broken(_folder: str | None) -> Sequence[Colleague]:
            raise SettingsProblem("settings.broken")

        ahead = Ahead(None, broken)
        ahead.look(None)
        with pytest.raises(SettingsProblem):
            await ahead.config(bench)

    asyncio.run(story())
