import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.core.agent import AgentDefinition
from maia.core.events import ToolCallFinished, TurnEnded, TurnStarted
from maia.core.requests import BoundWhy
from maia.core.submission import Submission
from maia.database.providers import ModelRow, ProviderRow, TierRow
from maia.workspace.changing import Asked
from maia.workspace.choosing import Change, answering
from maia.workspace.colleagues import Assigned, Colleague, Role, talked_to
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.problems import ModelUnavailable, NotThere, Unfit, Unusable
from maia.workspace.records import ConversationRow, User
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedSupply, PlayedWire, workspace_on
from tests.workspace.test_approvals import POKE, CallingWire, Poke, events_of, turn, with_poke


def agent(name: str, **fields: Any) -> AgentDefinition:
    return AgentDefinition(name, name.capitalize(), f"{name}.", "Be careful.", **fields)


IRIS = Colleague(agent("iris", tools=("Read",), effort="high", max_turns=40), model="m")
BASILE = Colleague(agent("basile", group="team"))
MOLE = Colleague(agent("mole", group="specialist"))
PAIR = Pair("played", "m")


class Desk:
    """The colleagues as they are at that moment, and the roles that turns acted in."""

    def __init__(self) -> None:
        self.here: Sequence[Colleague] = (MOLE, BASILE, IRIS)
        self.roles: list[Role] = []

    def __call__(self, _folder: str | None) -> Sequence[Colleague]:
        return self.here


@asynccontextmanager
async def opened(url: str, folder: Path, desk: Desk) -> AsyncGenerator[tuple[Workspace, User]]:
    models = PlayedModels(PlayedWire(["Yes."]))
    async with workspace_on(url, folder, models, colleagues=desk, roles=desk.roles) as (workspace, user):
        yield workspace, user


def story(url: str, folder: Path, tell: Callable[[Workspace, User, Desk], Awaitable[None]]) -> None:
    async def run() -> None:
        desk = Desk()
        async with opened(url, folder, desk) as (workspace, user):
            await tell(workspace, user, desk)

    asyncio.run(run())


async def answered(workspace: Workspace, user: User, row: ConversationRow) -> BoundWhy:
    """Why who answered did, in a turn from beginning to end."""
    row = await workspace.conversation(user, row.id)
    await workspace.submit(user, row, Submission("Hello"))
    found: list[BoundWhy] = []
    async for batch in workspace.follow(row, row.last_seq, 5):
        found += [e.event.why for e in batch if isinstance(e.event, TurnStarted) and e.event.why]
        if any(isinstance(each.event, TurnEnded) for each in batch):
            await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
            break
    return found[0]


# Who answers ---------------------------------------------------------------------------------------------------------


def test_a_conversation_with_a_colleague_follows_the_colleagues_model_and_effort(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(workspace: Workspace, user: User, desk: Desk) -> None:
        row = await workspace.create(user, "", "en", fields={"agent": "iris"})
        assert (row.model_binding, row.provider_id) == ("inherit", None)
        assert await answered(workspace, user, row) == BoundWhy("colleague", "", None, "high", "colleague")
        assert (await workspace.conversation(user, row.id)).provider_id is None, "it goes on following"
        assert desk.roles[-1] == Role(IRIS.definition, ("Read",), 40)
        desk.here = [Colleague(replace(IRIS.definition, instructions="Be bold."), model="m")]
        await answered(workspace, user, row)
        assert desk.roles[-1].agent == desk.here[0].definition, "a definition that changed counts from the next turn on"

    story(database_url, tmp_path, tell)


def test_without_a_model_of_its_own_the_default_is_pinned_with_the_first_message(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(workspace: Workspace, user: User, _desk: Desk) -> None:
        row = await workspace.create(user, "", "en", fields={"agent": "basile"})
        assert (await answered(workspace, user, row)).reason == "default"
        now = await workspace.conversation(user, row.id)
        assert (now.model_binding, now.provider_id, now.model_id) == ("inherit", *PAIR)
        assert (await answered(workspace, user, row)).reason == "pinned"

    story(database_url, tmp_path, tell)


def test_what_a_person_chose_stays_and_taking_the_colleague_away_is_no_default_any_more(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(workspace: Workspace, user: User, _desk: Desk) -> None:
        own = await workspace.create(user, "", "en", start=Change(pair=PAIR), fields={"agent": "iris"})
        assert (own.model_binding, own.model_by_person) == ("pinned", True)
        auto = await workspace.create(user, "", "en", start=Change("auto"), fields={"agent": "iris"})
        assert auto.model_binding == "auto"
        asked = await workspace.create(user, "", "en", start=Change("inherit"), fields={"agent": "iris"})
        await workspace.changing.change(user, asked, Asked({"agent": None}))
        assert (await workspace.conversation(user, asked.id)).model_binding == "pinned"
        with pytest.raises(Unfit):
            await workspace.create(user, "", "en", start=Change("inherit"))

    story(database_url, tmp_path, tell)


def test_a_colleagues_model_that_is_not_there_gives_way_with_a_note(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User, desk: Desk) -> None:
        row = await workspace.create(user, "", "en", fields={"agent": "iris"})
        desk.here = [replace(IRIS, model="nobody/knows-it")]
        found = await workspace.answering(row)
        assert found.wanted.colleague == Pair("", "nobody/knows-it")
        assert await answered(workspace, user, row) == BoundWhy(
            "default", "agent-binding-unavailable", None, "high", "colleague"
        )
        assert (await workspace.conversation(user, row.id)).provider_id is None

    story(database_url, tmp_path, tell)


def test_in_place_of_a_colleague_that_is_gone_nobody_answers_and_nothing_is_stored(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(workspace: Workspace, user: User, desk: Desk) -> None:
        row = await workspace.create(user, "", "en", fields={"agent": "iris"})
        desk.here = [BASILE]
        with pytest.raises(ModelUnavailable) as caught:
            await workspace.submit(user, row, Submission("Hello"))
        assert (caught.value.code, caught.value.values) == ("agent_unavailable", {"name": "iris"})
        assert await workspace.messages(row, 10) == []
        assert desk.roles == []

    story(database_url, tmp_path, tell)


def test_without_a_colleague_the_projects_agent_gives_its_tools_turns_and_effort_only(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(workspace: Workspace, user: User, desk: Desk) -> None:
        project = await workspace.planning.add("projects", {"name": "Taxes", "agent": "iris"})
        row = await workspace.create(user, "", "en", fields={"projectId": project, "agent": None})
        await workspace.changing.change(user, row, Asked({"agent": None}))
        row = await workspace.conversation(user, row.id)
        assert (row.agent, row.project_id) == (None, project)
        assert await answered(workspace, user, row) == BoundWhy("default", "", None, "high", "colleague")
        assert desk.roles[-1] == Role(None, ("Read",), 40)
        plain = await workspace.create(user, "", "en")
        await answered(workspace, user, plain)
        assert desk.roles[-1] == Role()

    story(database_url, tmp_path, tell)


# Home threads and lists ----------------------------------------------------------------------------------------------


def test_each_colleague_has_one_home_thread_a_person_which_keeps_its_colleague(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(workspace: Workspace, user: User, _desk: Desk) -> None:
        home = await workspace.home_thread(user, "iris", "fr")
        assert (home.title, home.agent, home.home_of, home.model_binding, home.lang) == (
            "Iris",
            "iris",
            "iris",
            "inherit",
            "fr",
        )
        assert (await workspace.folders(home))[0].is_workspace
        assert (await workspace.home_thread(user, "iris", "fr")).id == home.id
        assert list(await workspace.staff.homes(user)) == [("iris", home.id, False)]
        with pytest.raises(Unusable):
            await workspace.changing.change(user, home, Asked({"agent": "basile"}))
        for stranger in ("mole", "nobody"):
            with pytest.raises(NotThere):
                await workspace.home_thread(user, stranger, "fr")
        await workspace.cards.delete(user, home)
        again = await workspace.home_thread(user, "iris", "fr")
        assert again.id != home.id
        assert (await workspace.cards.restore(user, home.id)).home_of is None

    story(database_url, tmp_path, tell)


def test_people_talk_to_main_and_team_in_this_order_and_never_to_specialists(database_url: str, tmp_path: Path) -> None:
    async def tell(workspace: Workspace, user: User, _desk: Desk) -> None:
        assert [each.name for each in await workspace.staff.colleagues()] == ["iris", "basile"]
        assert {each.name for each in await workspace.staff.everybody()} == {"iris", "basile", "mole"}
        row = await workspace.create(user, "", "en")
        with pytest.raises(Unusable):
            await workspace.changing.change(user, row, Asked({"agent": "mole"}))

    story(database_url, tmp_path, tell)
    assert talked_to([MOLE]) == []


# Pure ----------------------------------------------------------------------------------------------------------------

LISTED = Catalogue(
    (
        ProviderRow("alpha", "Alpha", "api"),
        ProviderRow("beta", "Beta", "api"),
        ProviderRow("claude-code-cli", "Claude Code", "cli"),
    ),
    (
        ModelRow("alpha", "claude-sonnet-4", "", enabled=False),
        ModelRow("alpha", "claude-sonnet-5", "", efforts=("low", "high")),
        ModelRow("beta", "vendor/tiny", "", efforts=("none", "max")),
        ModelRow("claude-code-cli", "sonnet", ""),
    ),
    tiers=(TierRow("quick", 0, "beta", "vendor/tiny"),),
)


@pytest.mark.parametrize(
    ("provider", "word", "expected"),
    [
        pytest.param("", "", None, id="none of its own"),
        pytest.param("", "alpha/claude-sonnet-4", Pair("alpha", "claude-sonnet-4"), id="whole, switched off"),
        pytest.param("", "claude-sonnet-4", Pair("alpha", "claude-sonnet-4"), id="an id, switched off"),
        pytest.param("", "sonnet", Pair("alpha", "claude-sonnet-5"), id="a part, never a program's name"),
        pytest.param("", "vendor/tiny", Pair("beta", "vendor/tiny"), id="an id with a slash"),
        pytest.param("", "Opus", Pair("", "Opus"), id="nobody's"),
        pytest.param("claude-code-cli", "sonnet", Pair("claude-code-cli", "sonnet"), id="a program's"),
        pytest.param("codex-cli", "", Pair("codex-cli", "default"), id="a program that chooses"),
    ],
)
def test_a_definition_names_its_model_in_every_way_that_it_may(provider: str, word: str, expected: Pair | None) -> None:
    assert Colleague(agent("iris"), provider, word).pair(LISTED) == expected


def a_row(**fields: Any) -> ConversationRow:
    given = ("c", "o", "", "message", "idle", "normal", None, None, "inherit", False, None, "iris", None, None, None)
    return replace(ConversationRow(*given, False, "en", 0, 0, 0, 0), **fields)


@pytest.mark.parametrize(
    ("colleague", "fields", "levels"),
    [
        pytest.param(Colleague(agent("iris"), model="sonnet"), {}, ("low", "high"), id="the one of the colleague"),
        pytest.param(
            Colleague(agent("iris")), {}, ("none", "low", "high", "max"), id="none fixed: those of all tiers, too"
        ),
        pytest.param(
            Colleague(agent("iris")),
            {"provider_id": "beta", "model_id": "vendor/tiny"},
            ("none", "max"),
            id="fixed with the first message",
        ),
    ],
)
def test_the_levels_are_those_of_the_models_that_may_answer(
    colleague: Colleague, fields: dict[str, Any], levels: tuple[str, ...]
) -> None:
    assert answering(a_row(**fields), LISTED, Assigned(colleague)).options.levels == levels


# A model without tools -----------------------------------------------------------------------------------------------


class Toolless(PlayedSupply):
    """The model is marked as one that takes no tools."""

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        return [replace(each, no_tools=True) for each in await super().models(provider_id)]


@pytest.mark.parametrize("marked", [True, False])
def test_a_model_without_tools_is_offered_none_and_its_text_ends_the_turn(
    database_url: str, tmp_path: Path, marked: bool
) -> None:
    async def run() -> None:
        wire, poke = CallingWire(POKE), Poke()
        models = PlayedModels(wire)
        supply = (Toolless if marked else PlayedSupply)(models)
        bench = with_poke(models, poke)
        async with workspace_on(database_url, tmp_path, models, bench=bench, supply=supply) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            rows = await events_of(workspace, row, ToolCallFinished)
            assert ([each.status for each in rows], poke.ran) == (["refused"], [])
            assert [bool(each.tools) for each in wire.requests] == ([False] if marked else [True, True])

    asyncio.run(run())
