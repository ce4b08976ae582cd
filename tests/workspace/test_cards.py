import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from maia.core.agent import AgentDefinition
from maia.core.events import TurnEnded
from maia.core.submission import Submission
from maia.database import history, users
from maia.database.database import Database
from maia.database.search import words_of
from maia.workspace.changing import Asked
from maia.workspace.colleagues import Colleague
from maia.workspace.problems import NotThere, NotYours, Unusable
from maia.workspace.record import board
from maia.workspace.record.cards import excerpt_of
from maia.workspace.record.fields import checked_due
from maia.workspace.records import ConversationRow, User
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on

IRIS, BASILE = (Colleague(AgentDefinition(name.lower(), name, "", "")) for name in ("Iris", "Basile"))


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncGenerator[tuple[Workspace, User]]:
    models = PlayedModels(PlayedWire(["Été à Zürich."]))
    async with workspace_on(url, folder, models, colleagues=lambda _folder: (IRIS, BASILE)) as (workspace, user):
        await workspace.planning.begin(["To do", "Doing", "Done"])
        yield workspace, user


def story(url: str, folder: Path, tell: Callable[[Workspace, User], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened(url, folder) as (workspace, user):
            await tell(workspace, user)

    asyncio.run(run())


async def answered(workspace: Workspace, user: User, row: ConversationRow, text: str) -> ConversationRow:
    """A turn from beginning to end."""
    await workspace.submit(user, row, Submission(text))
    async for batch in workspace.follow(row, row.last_seq, 5):
        if any(isinstance(each.event, TurnEnded) for each in batch):
            await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
            break
    return await workspace.conversation(user, row.id)


async def told(workspace: Workspace, row: ConversationRow, kind: history.EntryKind | None = None) -> list[Any]:
    """The history from its beginning, without times."""
    found = await workspace.cards.history(row, kind, 100)
    return [(e.kind, e.note) if e.kind == "note" else (e.field, e.old, e.new) for e in reversed(found)]


# Fields and history --------------------------------------------------------------------------------------------------


def test_each_change_of_a_tracked_field_is_kept_with_its_words(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        project = await workspace.planning.add("projects", {"name": "Invoicing"})
        _, _, stages = await workspace.planning.all()
        row = await workspace.create(user, "A card", "en")
        assert row.stage_id == stages[0].id, "a new card stands in the first stage"
        for asked in (
            {"stageId": stages[1].id},
            {"projectId": project, "priority": "high"},
            {"dueOn": "2026-12-04"},
            {"dueOn": "2026-12-04"},
            {"dueOn": None, "projectId": None},
        ):
            await workspace.changing.change(user, row, Asked(asked))
        await workspace.changing.change(user, row, Asked(archived=True))
        assert await told(workspace, row) == [
            ("stage", "To do", "Doing"),
            ("priority", "normal", "high"),
            ("project", None, "Invoicing"),
            ("due", None, "2026-12-04"),
            ("due", "2026-12-04", None),
            ("project", "Invoicing", None),
            ("status", "idle", "archived"),
        ]
        assert {each.by for each in await workspace.cards.history(row, None, 100)} == {"Léa"}

    story(database_url, tmp_path, tell)


def test_a_turn_changes_the_status_twice_and_a_note_is_no_part_of_it(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        row = await workspace.create(user, "", "en")
        await workspace.cards.note(user, row, " The accountant agrees.\n")
        row = await answered(workspace, user, row, "Hello")
        assert await told(workspace, row) == [
            ("note", "The accountant agrees."),
            ("status", "idle", "running"),
            ("status", "running", "idle"),
        ]
        assert await told(workspace, row, "note") == [("note", "The accountant agrees.")]
        assert len(await told(workspace, row, "change")) == 2
        said = [message.text for message in await workspace.messages(row, 10)]
        assert said == ["Hello", "Été à Zürich."]

    story(database_url, tmp_path, tell)


def test_history_is_read_page_by_page(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        row = await workspace.create(user, "", "en")
        made = [await workspace.cards.note(user, row, str(n)) for n in range(7)]
        seen: list[str] = []
        before = None
        while page := await workspace.cards.history(row, None, 3, before):
            seen += [each.id for each in page]
            before = seen[-1]
        assert sorted(seen) == sorted(made)
        assert len(seen) == len(made)

    story(database_url, tmp_path, tell)


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        pytest.param({"dueOn": "tomorrow"}, "card.bad_due", id="a word as a day"),
        pytest.param({"dueOn": "2026-02-30"}, "card.bad_due", id="a day that is not"),
        pytest.param({"priority": "huge"}, "card.bad_priority", id="a priority that is not"),
        pytest.param({"stageId": "nowhere"}, "card.no_stage", id="a stage that is not"),
        pytest.param({"projectId": "nowhere"}, "card.no_project", id="a project that is not"),
        pytest.param({"agent": "nobody"}, "card.no_agent", id="a colleague that is not"),
        pytest.param({"labels": ["x" * 41]}, "card.bad_labels", id="a long label"),
        pytest.param({"labels": [str(n) for n in range(21)]}, "card.bad_labels", id="many labels"),
    ],
)
def test_of_a_bad_change_nothing_is_kept(database_url: str, tmp_path: Path, asked: Any, key: str) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        row = await workspace.create(user, "", "en")
        with pytest.raises(Unusable) as caught:
            await workspace.changing.change(user, row, Asked({"priority": "urgent", "pinned": True, **asked}))
        assert caught.value.key == key
        assert await workspace.conversation(user, row.id) == row
        assert await told(workspace, row) == []
        with pytest.raises(Unusable):
            await workspace.create(user, "Never there", "en", fields=asked)
        assert [each.id for each in await workspace.conversations(user, 10)] == [row.id]

    story(database_url, tmp_path, tell)


def test_the_agent_is_locked_after_the_first_message(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        row = await workspace.create(user, "", "en", fields={"agent": "iris"})
        assert row.agent == "iris"
        await workspace.changing.change(user, row, Asked({"agent": "basile"}))
        row = await answered(workspace, user, row, "Hello")
        for asked in ("iris", None):
            with pytest.raises(Unusable) as caught:
                await workspace.changing.change(user, row, Asked({"agent": asked}))
            assert caught.value.key == "card.agent_locked"
        await workspace.changing.change(user, row, Asked({"agent": "basile", "priority": "low"}))
        now = await workspace.conversation(user, row.id)
        assert (now.agent, now.priority) == ("basile", "low")

    story(database_url, tmp_path, tell)


def test_a_project_brings_its_agent_and_its_types_priority(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        urgent = await workspace.planning.add("types", {"name": "Incident", "priority": "urgent"})
        project = await workspace.planning.add("projects", {"name": "Outage", "type_id": urgent, "agent": "iris"})
        row = await workspace.create(user, "", "en", fields={"projectId": project})
        assert (row.agent, row.priority, row.project_id) == ("iris", "urgent", project)
        assert await told(workspace, row) == [], "what it began with is no change"
        own = await workspace.create(
            user, "", "en", fields={"projectId": project, "agent": "basile", "priority": "low"}
        )
        assert (own.agent, own.priority) == ("basile", "low")
        late = await workspace.create(user, "", "en")
        late = await answered(workspace, user, late, "Hello")
        await workspace.changing.change(user, late, Asked({"projectId": project}))
        assert (await workspace.conversation(user, late.id)).agent is None, "locked by then"

    story(database_url, tmp_path, tell)


def test_a_stage_hands_its_cards_to_its_agent(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        _, _, stages = await workspace.planning.all()
        await workspace.planning.change("stages", stages[1].id, {"agent": "basile"})
        row = await workspace.create(user, "", "en")
        await workspace.cards.move(user, row, {"stageId": stages[1].id})
        assert (await workspace.conversation(user, row.id)).agent == "basile"

    story(database_url, tmp_path, tell)


# The board -----------------------------------------------------------------------------------------------------------


def test_a_card_tells_what_its_answers_came_to(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        row = await workspace.create(user, "", "en")
        fresh = await workspace.cards.card(user, row)
        assert (fresh.cost_usd, fresh.has_unknown_cost, fresh.outcome, fresh.turns) == (None, False, None, 0)
        row = await answered(workspace, user, row, "Hello")
        await workspace.changing.change(
            user, row, Asked({"labels": ["b", " a ", "a", ""], "owners": [user.id, "nobody"]})
        )
        card = await workspace.cards.card(user, row)
        assert (card.cost_usd, card.has_unknown_cost, card.outcome, card.turns) == (None, True, "finished", 1)
        assert (card.labels, card.owners) == (("a", "b"), ((user.id, "Léa"),))
        assert list((await workspace.boards.board(user, board.Asked())).labels) == ["a", "b"]

    story(database_url, tmp_path, tell)


def test_what_was_deleted_is_nowhere_and_comes_back(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        row = await workspace.create(user, "Gone", "en")
        await workspace.cards.delete(user, row)
        with pytest.raises(NotYours):
            await workspace.conversation(user, row.id)
        assert (await workspace.boards.board(user, board.Asked())).lanes == []
        assert await workspace.cards.search(user, "gone") == []
        assert await workspace.conversations(user, 10) == []
        database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - no door makes people yet
        other = await database.write(lambda c: users.add_user(c, "b@example.org", "B", "user", "hash", None))
        with pytest.raises(NotYours):
            await workspace.cards.restore(other, row.id)
        back = await workspace.cards.restore(user, row.id)
        assert back == row

    story(database_url, tmp_path, tell)


# Projects and stages -------------------------------------------------------------------------------------------------


def test_stages_are_made_once_and_kept_as_people_want_them(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        planning = workspace.planning
        _, _, stages = await planning.all()
        assert [(each.name, each.is_closed) for each in stages] == [("To do", False), ("Doing", False), ("Done", True)]
        row = await workspace.create(user, "", "en")
        await planning.order("stages", [stages[2].id])
        await planning.change("stages", stages[1].id, {"name": " In  progress ", "wip_limit": 3, "is_folded": True})
        await planning.remove("stages", stages[0].id)
        assert (await workspace.conversation(user, row.id)).stage_id is None, "the card stays"
        await planning.begin(["Again"])
        _, _, now = await planning.all()
        assert [(each.name, each.wip_limit, each.is_folded) for each in now] == [
            ("Done", None, False),
            ("In progress", 3, True),
        ]
        for change in (planning.change("stages", "nowhere", {"name": "x"}), planning.remove("stages", "nowhere")):
            with pytest.raises(NotThere):
                await change

    story(database_url, tmp_path, tell)


def test_an_archived_project_keeps_its_conversations_and_gets_no_more(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        project = await workspace.planning.add("projects", {"name": "Old"})
        row = await workspace.create(user, "", "en", fields={"projectId": project})
        await workspace.planning.remove("projects", project)
        assert (await workspace.planning.all())[0] == []
        assert (await workspace.cards.card(user, row)).project == "Old"
        with pytest.raises(Unusable):
            await workspace.create(user, "", "en", fields={"projectId": project})
        for bad in ({"name": " "}, {"name": "x" * 101}, {"name": "x", "type_id": "nowhere"}):
            with pytest.raises(Unusable):
                await workspace.planning.add("projects", bad)

    story(database_url, tmp_path, tell)


# Search --------------------------------------------------------------------------------------------------------------


def test_a_conversation_is_found_by_its_title_and_by_what_was_said(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User) -> None:
        titled = await workspace.create(user, "Arrondi de la TVA", "fr")
        talked = await answered(workspace, user, await workspace.create(user, "", "fr"), "Où est le naïf français ?")

        async def found(query: str) -> list[tuple[str, str]]:
            return [(each.row.id, each.excerpt) for each in await workspace.cards.search(user, query)]

        assert await found("tva arrondi") == [(titled.id, "")]
        assert await found("arron") == [(titled.id, "")], "the last word may be a beginning"
        assert await found("arron tva") == []
        assert await found("ZURICH") == [(talked.id, "Été à Zürich.")], "without accents, in any case"
        assert (await found("naif"))[0][0] == talked.id
        await workspace.changing.change(user, titled, Asked(title="Other words"))
        assert await found("tva") == []
        assert await found("other") == [(titled.id, "")]
        for odd in ("", "  ", "'", '"', "-*:()&|!", "a' OR 1", "NEAR(", "%", "\x00", "💥"):
            await found(odd)

    story(database_url, tmp_path, tell)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("L'Été, ça-va_bien?", ["l", "ete", "ca", "va", "bien"], id="accents and signs"),
        pytest.param("straße ﬁn", ["strasse", "fin"], id="case and ligatures"),
        pytest.param("東京 tower", ["東", "京", "tower"], id="ideographs one by one"),
        pytest.param("x" * 100, ["x" * 60], id="an endless word"),
        pytest.param("\x00 - '", [], id="no word"),
    ],
)
def test_words_are_cut_the_same_for_both_databases(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "words", "excerpt"),
    [
        pytest.param("short one", ["one"], "short one", id="whole"),
        pytest.param("a " * 200 + "needle " + "b " * 200, ["needle"], "needle", id="around the word"),
        pytest.param("", ["x"], "", id="nothing"),
    ],
)
def test_an_excerpt_shows_the_word(text: str, words: list[str], excerpt: str) -> None:
    shown = excerpt_of(text, words)
    assert excerpt in shown
    assert len(shown) <= 162


@pytest.mark.parametrize(("given", "day"), [("2026-12-04", "2026-12-04"), ("", None), (None, None)])
def test_a_deadline_is_a_day_or_none(given: str | None, day: str | None) -> None:
    assert checked_due(given) == day
