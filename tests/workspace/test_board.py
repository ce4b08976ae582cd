import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from maia.core.submission import Submission
from maia.database import board, conversations, messages, users
from maia.database.address import database_url as address_of
from maia.database.database import Database
from maia.database.tables.conversations import CONVERSATIONS
from maia.workspace.changing import Asked as Changed
from maia.workspace.news import EVERYTHING, News
from maia.workspace.problems import Unusable
from maia.workspace.record.board import MOST_PRESSING, Asked, Filter, words_in
from maia.workspace.record.cards import Place
from maia.workspace.records import User
from maia.workspace.workspace import Workspace
from tests.workspace.test_cards import answered, story

ALL = Asked()


async def columns(workspace: Workspace, user: User, asked: Asked = ALL) -> dict[str, str]:
    """Titles of each lane, lanes by the name of their stage, priority or agent."""
    found = await workspace.boards.board(user, asked)
    names = {stage.id: stage.name for stage in found.stages}
    return {names.get(lane.key, lane.key): "".join(card.title for card in lane.cards) for lane in found.lanes}


def test_a_card_moves_to_where_it_was_put(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        _, _, (todo, doing, _) = await workspace.planning.all()
        a, b, c = [await workspace.create(user, name, "en") for name in "abc"]
        move = workspace.cards.move
        for row in (a, b, c):
            await move(user, row, {"stageId": doing.id}, Place())
        assert await columns(workspace, user) == {"Doing": "abc"}
        await move(user, c, {}, Place(a.id))
        assert await columns(workspace, user) == {"Doing": "cab"}
        await move(user, c, {}, Place(a.id, is_after=True))
        assert await columns(workspace, user) == {"Doing": "acb"}
        await move(user, a, {"stageId": todo.id}, Place(c.id))
        await move(user, b, {"stageId": todo.id}, Place(is_after=True))
        assert await columns(workspace, user) == {"To do": "ba", "Doing": "c"}, "a stranger in the stage is nobody"
        await workspace.changing.change(user, a, Changed({"pinned": True}))
        assert await columns(workspace, user) == {"To do": "ab", "Doing": "c"}, "what is pinned stands first"

    story(database_url, tmp_path, tell)


def test_of_two_moves_at_once_one_is_the_last_and_both_are_whole(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        _, _, (todo, doing, done) = await workspace.planning.all()
        a, b, c = [await workspace.create(user, name, "en", fields={"stageId": todo.id}) for name in "abc"]
        moves: list[tuple[dict[str, str], Place]]
        moves = [({"stageId": doing.id}, Place()), ({"stageId": done.id}, Place()), ({}, Place(c.id))] * 4
        await asyncio.gather(*(workspace.cards.move(user, a, asked, place) for asked, place in moves))
        shown = await columns(workspace, user)
        assert "".join(sorted("".join(shown.values()))) == "abc"
        assert (await workspace.cards.card(user, b)).stage_id == todo.id

    story(database_url, tmp_path, tell)


def test_a_move_that_is_refused_moves_nothing(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        _, _, (todo, doing, _) = await workspace.planning.all()
        a, b = [await workspace.create(user, name, "en", fields={"stageId": todo.id}) for name in "ab"]
        await workspace.planning.remove("stages", doing.id)
        with pytest.raises(Unusable, match=r"card\.no_stage"):
            await workspace.cards.move(user, a, {"priority": "high", "stageId": doing.id}, Place(b.id))
        found = await workspace.cards.card(user, a)
        assert (found.stage_id, found.priority) == (todo.id, "normal")
        await workspace.planning.remove("stages", todo.id)
        assert await columns(workspace, user) == {"": "ba"}, "cards of a stage that was deleted have none"
        await workspace.cards.move(user, a, {}, Place(b.id))
        assert await columns(workspace, user) == {"": "ab"}

    story(database_url, tmp_path, tell)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 4), st.booleans()), max_size=30))
def test_places_are_those_of_a_list_whatever_was_moved(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, int | None, bool]]
) -> None:
    database = Database(address_of(None, tmp_path_factory.mktemp("places")))

    def play(connection: Connection) -> None:
        user = users.add_user(connection, "l@example.org", "L", "owner", "x", None)
        rows = [conversations.add_conversation(connection, user.id, str(n), "en") for n in range(5)]
        query = select(CONVERSATIONS.c.id).order_by(
            CONVERSATIONS.c.rank, CONVERSATIONS.c.updated_at.desc(), CONVERSATIONS.c.id
        )
        order = list(connection.execute(query).scalars())
        for card, beside, is_after in [*moves, *[(0, 1, True), (2, 1, True)] * 12]:
            if card == beside:
                continue
            board.put(connection, user.id, rows[card], None if beside is None else rows[beside], is_after=is_after)
            order.remove(rows[card])
            at = order.index(rows[beside]) if beside is not None else -1 if is_after else len(order)
            order.insert(at + is_after, rows[card])
            assert list(connection.execute(query).scalars()) == order

    try:
        database.write_soon(play).result()
    finally:
        database.close()


def test_every_filter_and_grouping_finds_its_cards(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        _, _, (_, doing, done) = await workspace.planning.all()
        project = await workspace.planning.add("projects", {"name": "Invoicing"})
        make = workspace.create
        a = await make(user, "a Été", "en", fields={"projectId": project, "priority": "high", "labels": ["tax"]})
        b = await make(user, "b", "en", fields={"stageId": doing.id, "agent": "iris"})
        await make(user, "c", "en", fields={"stageId": done.id})
        d = await make(user, "d", "en")
        await answered(workspace, user, b, "Hello")
        await workspace.cards.move(user, d, {}, Place())
        await workspace.changing.change(user, d, Changed(archived=True))
        table: list[tuple[Filter, str]] = [
            (Filter(), "a Étébcd"),
            (Filter(project_id=project), "a Été"),
            (Filter(stage_id=doing.id), "b"),
            (Filter(priority="high"), "a Été"),
            (Filter(label="tax"), "a Été"),
            (Filter(label="none"), ""),
            (Filter(state="active"), "a Étéb"),
            (Filter(state="done"), "cd"),
            (Filter(words=tuple(words_in("ete"))), "a Été"),
            (Filter(words=tuple(words_in("zurich"))), ""),
            (Filter(words=tuple(words_in("zurich")), in_messages=True), "b"),
        ]
        for wanted, titles in table:
            shown = await columns(workspace, user, Asked(wanted))
            assert "".join(sorted("".join(shown.values()))) == "".join(sorted(titles)), wanted
            listing = (await workspace.boards.listing(user, wanted, 10)).lanes[0]
            assert "".join(sorted("".join(c.title for c in listing.cards))) == "".join(sorted(titles)), wanted
            assert listing.count == len(listing.cards)
        assert await columns(workspace, user, Asked(group="priority")) == {"high": "a Été", "normal": "bcd"}
        assert await columns(workspace, user, Asked(group="agent")) == {"iris": "b", "": "ca Étéd"}
        few = await workspace.boards.board(user, Asked(group="priority", size=1, sizes={"normal": 2}))
        assert [(lane.key, lane.count, len(lane.cards)) for lane in few.lanes] == [("high", 1, 1), ("normal", 3, 2)]
        assert a.id

    story(database_url, tmp_path, tell)


def test_home_has_what_presses_and_what_was_spent(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        _, _, (todo, doing, done) = await workspace.planning.all()
        for title, fields in {
            "late": {"dueOn": "2026-11-29"},
            "today": {"dueOn": "2026-11-30"},
            "later": {"dueOn": "2026-12-01"},
            "over": {"dueOn": "2026-11-01", "stageId": done.id},
        }.items():
            await workspace.create(user, title, "en", fields=fields)
        failed = await workspace.create(user, "failed", "en", fields={"stageId": doing.id})
        database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - answers as they are kept

        def answer(connection: Connection) -> None:
            for outcome, usd, source in (("finished", 0.5, "reported"), ("x", 0.25, "estimated"), ("failed", None, "")):
                turn = messages.open_turn(connection, failed.id, user.id, "q")[0]
                ending = messages.Ending("a", outcome, "p", "m", 1, 1, usd, source or "unknown", {})
                messages.close_answer(connection, failed.id, turn, ending)
            conversations.set_status(connection, failed.id, "idle")

        await database.write(answer)
        today = await workspace.boards.today(user, "2026-11-30", 0)
        assert [card.title for card in today.pressing] == ["late", "today", "failed"]
        assert (today.running, today.lanes) == ([], {todo.id: 3, doing.id: 1})
        assert today.spent == board.Spent(0.5, 0.25, 1)
        assert (await workspace.boards.today(user, "2026-11-30", 10**15)).spent == board.Spent(0.0, 0.0, 0)

        for _ in range(MOST_PRESSING + 2):
            begun = await workspace.create(user, "runs", "en")
            await database.write(lambda c, run=begun.id: conversations.set_status(c, run, "running"))
        many = await workspace.boards.today(user, "2026-11-30", 0)
        assert (many.needs, len(many.running), many.works) == (3, MOST_PRESSING, MOST_PRESSING + 2)

    story(database_url, tmp_path, tell)


def test_a_change_is_told_to_its_owner_and_a_turn_tells_twice(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        boards = workspace.boards
        database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - no door makes people yet
        other = await database.write(lambda c: users.add_user(c, "n@example.org", "Noor", "user", "x", None))
        number = boards.number
        row = await workspace.create(user, "mine", "en")
        reached, is_mine = await boards.next(user, number, 5)
        assert is_mine
        assert (await boards.next(other, number, 5))[1] is False
        assert await boards.next(user, reached, 0.01) == (reached, False)
        await workspace.submit(user, row, Submission("Hello"))
        for _ in range(2):
            reached, is_mine = await boards.next(user, reached, 5)
            assert is_mine
        await workspace.planning.add("stages", {"name": "New"})
        assert (await boards.next(other, reached, 5))[1] is True

    story(database_url, tmp_path, tell)


def test_who_is_far_behind_looks_at_everything() -> None:
    async def run() -> None:
        news = News()
        for _ in range(1000):
            news.tell("x")
        assert await news.after(0, 1) == (1000, frozenset((EVERYTHING,)))
        assert await news.after(999, 1) == (1000, frozenset(("x",)))
        news.close()
        assert await news.after(1000, 60) == (1000, frozenset())

    asyncio.run(run())
