"""What piles up by itself stays within bounds."""

import asyncio
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, select

from maia.database import autonomy, settings
from maia.database.autonomy import Denied
from maia.database.pruning import KEPT_DAYS, prune_refusals
from maia.database.tables.conversations import DENIALS
from maia.database.tables.people import AUDIT
from maia.database.users import User
from maia.privacy.message import REFUSED
from maia.workspace.folders import Room
from maia.workspace.terminals import MOST_TICKETS, Ticket, still_good
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on
from tests.workspace.test_approvals import database_of

DAY = 86_400_000
NOW = 1_000 * DAY


def test_refusals_go_after_their_time_and_beyond_so_many_and_what_people_did_stays(
    database_url: str, tmp_path: Path
) -> None:
    def fill(connection: Connection, conversation: str) -> None:
        for at in (NOW - KEPT_DAYS * DAY - 1, *(NOW - n * DAY for n in (5, 4, 3))):
            row = Denied(conversation, "Bash", "deterministic", "rule", counts=True, at=at)
            autonomy.add_denial(connection, row)
        for action in (REFUSED, REFUSED, "users.archived"):
            settings.note_act(connection, action, by=None, details={})
        connection.execute(AUDIT.update().values(at=NOW - KEPT_DAYS * DAY - 1))

    def left(connection: Connection) -> tuple[list[int], list[str]]:
        denied = connection.execute(select(DENIALS.c.at).order_by(DENIALS.c.at)).scalars()
        return [(NOW - at) // DAY for at in denied], [*connection.execute(select(AUDIT.c.action)).scalars()]

    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            row, database = await workspace.create(user, "", "en"), database_of(workspace)
            await database.write(lambda c: fill(c, row.id))
            assert await database.write(lambda c: prune_refusals(c, NOW, REFUSED)) == 3
            assert await database.read(left) == ([5, 4, 3], ["users.archived"])
            assert await database.write(lambda c: prune_refusals(c, NOW, REFUSED, most=2)) == 1
            assert await database.read(left) == ([4, 3], ["users.archived"])

    asyncio.run(story())


def test_the_server_drops_old_refusals_by_itself(tmp_path: Path) -> None:
    async def story() -> None:
        url, models = f"sqlite:///{tmp_path}/maia.db", PlayedModels(PlayedWire([]))
        async with workspace_on(url, tmp_path, models) as (workspace, user):
            row = await workspace.create(user, "", "en")
            old = Denied(row.id, "Bash", "deterministic", "rule", counts=True, at=1)
            await database_of(workspace).write(lambda c: autonomy.add_denial(c, old))
        async with workspace_on(url, tmp_path, models) as (workspace, user):
            for _ in range(500):
                if not await workspace.security.denials(user):
                    return
                await asyncio.sleep(0.02)
            raise AssertionError("it is there still")

    asyncio.run(story())


def test_one_person_has_so_many_tickets_for_terminals_and_takes_nobody_elses() -> None:
    lea, noor = User("lea", "", "", "owner"), User("noor", "", "", "admin")
    room = Room((), frozenset())

    def ticket(user: User, until: float) -> Ticket:
        return Ticket("", user, "", cast(Any, None), room, (), is_open=False, until=until)

    kept = {"over": ticket(lea, 1), "hers": ticket(noor, 9)}
    for n in range(MOST_TICKETS + 3):
        kept = {**still_good(kept, lea, 2), f"n{n}": ticket(lea, 9)}
    assert [*kept] == ["hers", *(f"n{n + 3}" for n in range(MOST_TICKETS))]
