"""What happens while something else does: nobody who goes away, and nobody who is faster, loses anything."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from maia.core.screens import Size
from maia.core.secret import Secret
from maia.core.submission import Submission
from maia.database import approvals, messages
from maia.database.database import Database
from maia.database.folders import FolderRow, folders_of, set_folders
from maia.folders.lists import Folder
from maia.workspace.approvals import digest_of
from maia.workspace.delegating.late import LateResults
from maia.workspace.models.catalogue import Pair
from maia.workspace.people.oidc import Oidc, Provider
from maia.workspace.problems import NotYours, Unusable
from maia.workspace.terminals import Terminals
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on


def inside(workspace: Workspace) -> tuple[Database, Any]:
    """The database and the turns."""
    return workspace._database, workspace._turns  # pyright: ignore[reportPrivateUsage] - no door shows a race


class Held:
    """The writer, held up by somebody else's write until `let_go`."""

    def __init__(self, database: Database) -> None:
        self._go_on, self._jobs = threading.Event(), database._jobs  # pyright: ignore[reportPrivateUsage]
        holding = threading.Event()
        database.write_soon(lambda _c: holding.set() or self._go_on.wait(10.0))
        assert holding.wait(10.0)

    async def until_somebody_waits(self) -> None:
        await seen(lambda: self._jobs.qsize() > 0)

    def let_go(self) -> None:
        self._go_on.set()


async def seen(check: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if check():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came")


def on_file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/maia.db"


def test_who_goes_away_while_a_message_is_stored_leaves_a_turn_that_runs(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            database, turns = inside(workspace)
            row = await workspace.create(user, "", "en")
            await workspace.models.known()
            held, asked = Held(database), threading.Event()
            real = messages.open_turn

            def noted(*args: Any, **changed: Any) -> Any:
                asked.set()
                return real(*args, **changed)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(messages, "open_turn", noted)
                sending = asyncio.create_task(workspace.submit(user, row, Submission("Hello")))
                await held.until_somebody_waits()
                sending.cancel()
                await asyncio.sleep(0.02)
                held.let_go()
                await asyncio.gather(sending, return_exceptions=True)
                await seen(asked.is_set)
            async with asyncio.timeout(10.0):
                await turns.ended(row.id)
            assert [m.text for m in await workspace.messages(row, 10)] == ["Hello", "Yes."]
            assert (await workspace.conversation(user, row.id)).status == "idle"

    asyncio.run(story())


def test_who_goes_away_as_the_turn_begins_lets_no_second_one_in(tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."], wait_after=0)
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(wire)) as (workspace, user):
            _, turns = inside(workspace)
            row = await workspace.create(user, "", "en")
            sending = asyncio.create_task(workspace.submit(user, row, Submission("Hello")))
            running = turns._running
            await seen(lambda: (row.id in running and running[row.id].task is not None) or sending.done())
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            assert workspace.stop(row), "it runs, and can be stopped"
            await turns.ended(row.id)
            assert (await workspace.conversation(user, row.id)).status == "idle"

    asyncio.run(story())


def test_a_run_goes_on_by_a_decision_whoever_waits_for_its_answer(tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            database, turns = inside(workspace)
            row = await workspace.create(user, "", "en")
            digest = digest_of(tmp_path, "Write", {})
            asked = approvals.Asked(row.id, 0, "c1", "Write", {}, digest, "", {}, is_background=True)
            ticket = await database.write(lambda c: approvals.place(c, asked))
            went_on: list[tuple[str, int]] = []

            def went_on_with(conversation: str, turn: int) -> None:
                went_on.append((conversation, turn))

            turns.queue._go_on = went_on_with
            held = Held(database)
            deciding = asyncio.create_task(workspace.approvals.decide(user, ticket, "approved"))
            await held.until_somebody_waits()
            deciding.cancel()
            await asyncio.gather(deciding, return_exceptions=True)
            held.let_go()
            await database.write(lambda _c: None)
            await seen(lambda: bool(went_on))
            assert went_on == [(row.id, 0)]

    asyncio.run(story())


def test_folders_that_a_person_sets_as_a_turn_begins_stay(tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            database, _ = inside(workspace)
            row = await workspace.create(user, "", "en")
            mine = (FolderRow("Mine", str(tmp_path)),)

            def set_list(connection: Connection, rows: tuple[FolderRow, ...]) -> None:
                set_folders(connection, "conversation", row.id, rows)

            await database.write(lambda c: set_list(c, ()))
            held = Held(database)
            setting = asyncio.create_task(database.write(lambda c: set_list(c, mine)))
            await asyncio.sleep(0)
            settled = await asyncio.gather(workspace.work_folders.settle(row.id), setting, release(held))
            assert await database.read(lambda c: folders_of(c, "conversation", row.id)) == mine
            assert settled[0] == mine, "and the turn works there"

    async def release(held: Held) -> None:
        await asyncio.sleep(0.1)
        held.let_go()

    asyncio.run(story())


def test_a_conversation_that_begins_to_answer_meanwhile_is_not_deleted(tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."], wait_after=0)
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(wire)) as (workspace, user):
            _, turns = inside(workspace)
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("Hello"))
            with pytest.raises(Unusable):
                await workspace.cards.delete(user, row)
            wire.go_on.set()
            await turns.ended(row.id)
            await workspace.cards.delete(user, row)
            with pytest.raises(NotYours):
                await workspace.submit(user, row, Submission("Again"))
            assert len(wire.requests) == 1

    asyncio.run(story())


def test_two_who_change_the_budget_at_once_change_what_each_of_them_said(tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            budgets = workspace.budgets
            await asyncio.gather(budgets.change(user, {"daily": 5}), budgets.change(user, {"weekly": 20}))
            assert dict((await budgets.budget()).caps) == {"daily": 5.0, "weekly": 20.0}

    asyncio.run(story())


def test_what_is_kept_for_some_days_is_dropped_also_after_the_database_refused_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        monkeypatch.setattr("maia.workspace.workspace.FORGETS_EVERY", 0.01)
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, _):
            swept = 0

            async def refuses() -> None:
                nonlocal swept
                swept += 1
                if swept < 3:
                    raise OperationalError("x", None, Exception("locked"))

            monkeypatch.setattr(workspace.attachments, "sweep", refuses)
            await seen(lambda: swept > 3)

    asyncio.run(story())


def test_a_new_conversation_is_there_with_its_folders_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            folder = tmp_path / "project"
            folder.mkdir()

            def refused(*_: object) -> None:
                raise OperationalError("x", None, Exception("disk full"))

            monkeypatch.setattr("maia.workspace.folders.set_folders", refused)
            with pytest.raises(OperationalError):
                await workspace.create(user, "Mine", "en", [Folder("", str(folder))])
            assert not await workspace.conversations(user, 10)

    asyncio.run(story())


def test_a_result_that_comes_while_somebody_looks_for_others_is_expected_still() -> None:
    async def story() -> None:
        class Reads:
            """Finds nothing, and something comes right behind it."""

            async def read(self, _work: object) -> list[object]:
                late.came("parent")
                return []

        late = LateResults(cast(Any, Reads()), *cast(Any, (None, None, None, None)))
        await late.close()
        late.came("parent")
        for _ in range(2):
            await late.of(cast(Any, SimpleNamespace(id="parent")), cast(Any, None))
            assert "parent" in late._expecting  # pyright: ignore[reportPrivateUsage]

    asyncio.run(story())


def test_of_two_who_switch_models_at_once_nobody_sees_what_was_before_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            database, _ = inside(workspace)
            await workspace.models.known()
            real, reads, first = database.read, 0, asyncio.Event()

            async def slow_at_first(work: Callable[[Connection], Any]) -> Any:
                nonlocal reads
                reads += 1
                is_first, answer = reads == 1, await real(work)
                if is_first:
                    await first.wait()
                return answer

            monkeypatch.setattr(database, "read", slow_at_first)
            one = asyncio.create_task(workspace.models.allow_auto(user, allowed=True))
            await seen(lambda: reads == 1)
            other = asyncio.create_task(workspace.models.switch_model(user, Pair("played", "m"), enabled=False))
            await asyncio.wait({other}, timeout=0.3)
            first.set()
            await asyncio.gather(one, other)
            assert not workspace.models.model(Pair("played", "m")).enabled

    asyncio.run(story())


def test_a_terminal_that_opens_as_the_server_stops_is_told_so(tmp_path: Path) -> None:
    async def story() -> None:
        opening, go_on = asyncio.Event(), asyncio.Event()

        class Opening:
            def check(self) -> None: ...

            async def open(self, *_: object) -> Any:
                opening.set()
                await go_on.wait()
                return SimpleNamespace(stop=asyncio.Event().wait)

        async with workspace_on(on_file(tmp_path), tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            database, _ = inside(workspace)
            row = await workspace.create(user, "", "en")
            terminals = Terminals(database, workspace.accounts, workspace.work_folders, cast(Any, Opening()))
            ticket = await terminals.ticket(user, "t", row)
            told: list[str] = []

            async def looks_on() -> None:
                async with terminals.opened(ticket, Size()) as terminal:
                    await terminal.over.wait()
                    told.append(terminal.why)

            looking = asyncio.create_task(looks_on())
            await opening.wait()
            terminals.close()
            go_on.set()
            await seen(lambda: bool(told))
            assert told == ["stopping"]
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)

    asyncio.run(story())


def test_two_who_sign_in_at_once_wait_for_the_same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        provider = Provider("https://id.example.org", "maia", Secret("s"), "Example")
        oidc, asked = Oidc(provider), 0
        key = {"kty": "oct", "k": "AAAA", "alg": "HS256", "kid": "one"}

        async def answers(address: str) -> dict[str, Any]:
            nonlocal asked
            asked += 1
            await asyncio.sleep(0)
            return {
                "issuer": provider.issuer,
                **dict.fromkeys(("authorization_endpoint", "token_endpoint", "jwks_uri"), "https://id.example.org/x"),
                "keys": [key],
            }

        monkeypatch.setattr(oidc, "_get", answers)
        found = await asyncio.gather(*(oidc._key("one") for _ in range(3)))  # pyright: ignore[reportPrivateUsage]
        assert len(found) == 3
        assert asked == 2, "what it says of itself, and its keys, each once"

    asyncio.run(story())
