import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from maia.core.agent import AgentDefinition
from maia.core.events import (
    Notice,
    SubConversationStarted,
    ToolCallFinished,
    TurnEnded,
    TurnStarted,
    UserSaid,
    WireAnswer,
    WireEvent,
)
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart, UserMessage
from maia.core.ports import Hands
from maia.core.reason import Reason
from maia.core.requests import BoundWhy, ModelRequest
from maia.core.submission import Submission
from maia.core.tool import AnyTool
from maia.database.providers import ModelRow
from maia.database.spending import Spent, add_spent, today
from maia.engine.setup import Config
from maia.engine.toolset import Toolset
from maia.folders.lists import Folder
from maia.i18n.catalogue import Catalogue
from maia.tools.ask_user import AskUserTool
from maia.workspace.changing import Asked
from maia.workspace.choosing import Change
from maia.workspace.colleagues import Colleague, Role
from maia.workspace.models.catalogue import Pair
from maia.workspace.problems import NotYours, Unusable
from maia.workspace.records import Child, ConversationRow, User
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedSupply, PlayedWire, bench_of, workspace_on
from tests.workspace.test_approvals import POKE, Poke, events_of, person, turn

SAY = Catalogue("en", strict=True)
Played = str | list[tuple[str, dict[str, Any]]]
"""An answer: words, or calls by name and arguments."""


def agent(name: str, group: Any = "specialist", model: str = "", **fields: Any) -> Colleague:
    made = AgentDefinition(name, name.capitalize(), f"{name} knows.", "Be careful.", group=group, **fields)
    return Colleague(made, model=model)


MOLE, OWL = agent("mole"), agent("owl", max_turns=3)
IRIS = agent("iris", "main")
AWAY = (agent("bat", is_enabled=False), agent("ann", "team", is_enabled=False))


def ask(name: str, task: str, **more: str) -> tuple[str, dict[str, Any]]:
    return "run_specialist", {"agent": name, "task": task, **more}


class Theatre(PlayedWire):
    """Each conversation plays the part of its first message; `held` ones wait until they are let go on.

    The one that `lingers` does not end at once when it is stopped.
    """

    def __init__(self, **parts: Sequence[Played]) -> None:
        super().__init__([])
        self.parts = {name: list(played) for name, played in parts.items()}
        self.held: dict[str, asyncio.Event] = {}
        self.reached: dict[str, asyncio.Event] = {}
        self.lingers = ""
        self.seen: list[tuple[str, ModelRequest]] = []

    def hold(self, name: str) -> asyncio.Event:
        self.reached[name], self.held[name] = asyncio.Event(), asyncio.Event()
        return self.held[name]

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        name = self.name(request)
        self.seen.append((name, request))
        if name in self.held:
            self.reached[name].set()
            try:
                await self.held[name].wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0.5 if name == self.lingers else 0)
                raise
        played = self.parts[name].pop(0)
        if isinstance(played, str):
            yield WireAnswer(AssistantMessage((TextPart(played),), request.model, "played"), "end", "stop")
            return
        calls = tuple(ToolCallPart(f"c{len(self.seen)}-{n}", tool, given) for n, (tool, given) in enumerate(played))
        yield WireAnswer(AssistantMessage(calls, request.model, "played"), "tool_calls", "tool_calls")

    def name(self, request: ModelRequest) -> str:
        first = next(each for each in request.messages if isinstance(each, UserMessage))
        words = [part.text for part in first.parts if isinstance(part, TextPart)]
        return next(name for name in self.parts if name in words)

    def offered(self, name: str) -> set[str]:
        return {spec.name for who, request in self.seen for spec in request.tools if who == name}


class TwoModels(PlayedSupply):
    """The models `m`, the default one, and `n`."""

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        return [ModelRow(provider_id, name, name, efforts=("low", "high")) for name in ("m", "n")]


class Stage:
    def __init__(self, workspace: Workspace, user: User, wire: Theatre, roles: list[Role]) -> None:
        self.workspace, self.user, self.wire, self.roles = workspace, user, wire, roles

    async def new(self, **more: Any) -> ConversationRow:
        return await self.workspace.create(self.user, "", "en", **more)

    async def children(self, row: ConversationRow) -> Sequence[Child]:
        return await self.workspace.children(row)

    async def row(self, conversation: str) -> ConversationRow:
        return await self.workspace.conversation(self.user, conversation)

    async def told(self, row: ConversationRow) -> list[ToolCallFinished]:
        return await events_of(self.workspace, row, ToolCallFinished)

    async def ended(self, conversation: str) -> TurnEnded:
        """The end of the turn that runs there."""
        row = await self.row(conversation)
        async with asyncio.timeout(60):
            async for batch in self.workspace.follow(row, 0, 5):
                for logged in batch:
                    if isinstance(logged.event, TurnEnded):
                        turns = self.workspace._turns  # pyright: ignore[reportPrivateUsage] - its end is behind its news
                        await turns.ended(conversation)
                        return logged.event
        raise AssertionError("no end")


def play(
    url: str,
    folder: Path,
    wire: Theatre,
    tell: Callable[[Stage], Awaitable[None]],
    known: Iterable[Colleague] = (MOLE, OWL, IRIS, *AWAY),
) -> Poke:
    """A workspace with two models, the tool `Poke`, that no rule allows, and `AskUser`, in which that is told."""
    poke, models, roles = Poke(), PlayedModels(wire), list[Role]()
    tools: dict[str, AnyTool] = {"Poke": poke, "AskUser": AskUserTool()}
    supply = TwoModels(models)

    def bench(launch: Path) -> Any:
        made = bench_of(models, launch)
        config = made.configure()

        def hands(_config: object, context: Any) -> Hands:
            return cast(Hands, SimpleNamespace(launch=launch, call_id=context.call_id, say=SAY))

        return replace(made, hands=hands, configure=lambda: Config(config.judge, tools, (), (), (), 50))

    async def run() -> None:
        async with workspace_on(
            url, folder, models, bench=bench, roles=roles, colleagues=lambda _: tuple(known), supply=supply
        ) as (workspace, user):
            await tell(Stage(workspace, user, wire, roles))

    asyncio.run(run())
    return poke


# One specialist ------------------------------------------------------------------------------------------------------


def test_a_specialist_works_in_a_sub_conversation_and_its_last_words_are_the_result(
    database_url: str, tmp_path: Path
) -> None:
    wire = Theatre(Go=[[ask("Mole", "dig")], "So."], dig=["Found gold."])

    async def tell(stage: Stage) -> None:
        row = await stage.new(start=Change(pair=Pair("played", "n")))
        assert (await turn(stage.workspace, stage.user, row)).outcome == "finished"
        (child,) = await stage.children(row)
        (call,) = await stage.told(row)
        assert (call.status, call.summary, call.data["conversation"]) == ("succeeded", "Mole", child.id)
        assert call.text.endswith("Found gold.")
        assert child.id in call.text
        assert (child.title, child.agent, child.kind, child.turn) == ("dig", "mole", "specialist", 1)
        below = await stage.row(child.id)
        assert (below.parent_id, below.is_sub, below.owner_id) == (row.id, True, row.owner_id)
        (said,) = await events_of(stage.workspace, below, UserSaid)
        assert (said.text, said.by) == ("dig", "maia")
        (started,) = await events_of(stage.workspace, row, SubConversationStarted)
        assert (started.call_id, started.conversation, started.agent) == (call.call_id, child.id, "Mole")
        assert [each.id for each in await stage.workspace.conversations(stage.user, 10)] == [row.id]
        assert stage.roles[-1] == Role(MOLE.definition, None, 10)
        assert wire.offered("Go") >= {"run_specialist", "assign_task", "create_sub_conversation"}

    play(database_url, tmp_path, wire, tell)


def test_specialists_of_one_answer_run_side_by_side(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig"), ("delegate_to_agent", {"agent": "owl", "task": "fly"})], "So."])
    wire.parts |= {"dig": ["Gold."], "fly": ["Mice."]}
    holds = [wire.hold("dig"), wire.hold("fly")]

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        going = asyncio.create_task(turn(stage.workspace, stage.user, row))
        async with asyncio.timeout(60):
            await asyncio.gather(*(wire.reached[name].wait() for name in ("dig", "fly")))
        assert [each.status for each in await stage.children(row)] == ["running", "running"]
        for each in holds:
            each.set()
        await going
        assert {each.text.rpartition("\n")[2] for each in await stage.told(row)} == {"Gold.", "Mice."}
        assert [role.turns for role in stage.roles[1:]] in ([10, 3], [3, 10]), "an agent's own number wins"

    play(database_url, tmp_path, wire, tell)


def test_a_specialist_that_fails_is_a_failed_call_with_what_it_had_written(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "So."], dig=[])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        assert (await turn(stage.workspace, stage.user, row)).outcome == "finished"
        (call,) = await stage.told(row)
        (child,) = await stage.children(row)
        assert (call.status, child.outcome) == ("failed", "failed")
        assert call.text.startswith("Mole failed")
        assert (await stage.workspace.cards.card(stage.user, await stage.row(row.id))).subtasks == (0, 1)

    play(database_url, tmp_path, wire, tell)


def test_a_specialist_without_tokens_left_is_refused_and_its_conversation_says_so(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("rat", "dig")], "So."])

    async def tell(stage: Stage) -> None:
        spent = Spent("turn:rat", "played", "m", 9, 1)
        database = stage.workspace._database  # pyright: ignore[reportPrivateUsage] - it worked before
        await database.write(lambda c: add_spent(c, today(), spent))
        row = await stage.new()
        assert (await turn(stage.workspace, stage.user, row)).outcome == "finished"
        (call,) = await stage.told(row)
        (child,) = await stage.children(row)
        assert (call.status, child.outcome) == ("failed", "failed")
        assert "has used its 10 tokens of this month" in call.text
        (ended,) = await events_of(stage.workspace, await stage.row(child.id), TurnEnded)
        assert ended.failure is not None
        assert ended.failure.code == "agent_quota"

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell, [agent("rat", monthly_tokens=10)])


@pytest.mark.parametrize(
    ("played", "words"),
    [
        pytest.param(ask("nobody", "dig"), "There are: mole, owl", id="an agent that there is not"),
        pytest.param(ask("iris", "dig"), "There are: mole, owl", id="a colleague is no specialist"),
        pytest.param(ask("bat", "dig"), "There are: mole, owl", id="one that is switched off"),
        pytest.param(
            ("assign_task", {"agent": "mole", "task": "dig"}), "There are: iris", id="a specialist gets no card"
        ),
        pytest.param(ask("mole", "  "), "say what is to be done", id="no task"),
        pytest.param(ask("mole", "dig", conversation="0" * 20), "has given no sub-conversation", id="not its own one"),
    ],
)
def test_what_cannot_be_delegated_is_told_and_makes_nothing(
    tmp_path: Path, played: tuple[str, dict[str, Any]], words: str
) -> None:
    wire = Theatre(Go=[[played], "So."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (call,) = await stage.told(row)
        assert call.status == "failed"
        assert words in call.text
        assert list(await stage.children(row)) == []

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


def test_only_a_conversation_that_this_one_gave_that_specialist_is_gone_on_with(tmp_path: Path) -> None:
    made = [ask("mole", "dig"), ("assign_task", {"agent": "iris", "task": "look", "title": "Look"})]
    wire = Theatre(Go=[made, "So."], dig=["Dug."], look=["Seen."], hi=[[ask("mole", "deep")], "Hi."], deep=["Deep."])

    async def tell(stage: Stage) -> None:
        row, other = await stage.new(), await stage.new()
        await turn(stage.workspace, stage.user, row)
        await turn(stage.workspace, stage.user, other, "hi")
        children = {each.kind: each.id for each in await stage.children(row)}
        await stage.ended(children["card"])
        (elsewhere,) = await stage.children(other)
        stranger = await person(stage.workspace, "user")
        foreign = await stage.workspace.create(stranger, "", "en")
        wrong = [("mole", other.id), ("mole", elsewhere.id), ("mole", children["card"]), ("mole", row.id)]
        wrong += [("owl", children["specialist"]), ("mole", foreign.id)]
        wire.parts["Go"] = [[ask(name, "on", conversation=each) for name, each in wrong], "So."]
        await turn(stage.workspace, stage.user, row, "More")
        told = (await stage.told(row))[-len(wrong) :]
        assert [each.status for each in told] == ["failed"] * len(wrong)
        assert all("has given no sub-conversation" in each.text for each in told)
        assert (await stage.row(elsewhere.id)).last_turn == 1

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


# Approvals, stopping, restart ----------------------------------------------------------------------------------------


def test_an_approval_of_the_child_is_seen_above_and_the_run_goes_on_after_it(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(
        Go=[[ask("mole", "dig")], "It waits."], dig=[[("Poke", POKE)], "I may not.", [("Poke", POKE)], "Done."]
    )

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        (call,) = await stage.told(row)
        assert call.text.startswith("Mole waits for an approval")
        assert (child.status, (await stage.row(row.id)).status) == ("waiting_approval", "waiting_approval")
        (waiting,) = await stage.workspace.approvals.listed(stage.user, decided=False)
        assert waiting.conversation_id == child.id
        await stage.workspace.approvals.decide(stage.user, waiting.id, "approved")
        assert ((await stage.row(child.id)).status, (await stage.row(row.id)).status) == ("idle", "idle")
        wire.parts["Go"] += [[ask("mole", "Once more", conversation=child.id)], "Good."]
        await turn(stage.workspace, stage.user, row, "It is approved")
        assert [each.id for each in await stage.children(row)] == [child.id], "the same one goes on"
        assert (await stage.told(row))[-1].text.endswith("Done.")

    assert play(database_url, tmp_path, wire, tell).ran == [POKE]


def test_who_stops_the_conversation_stops_all_below_it(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")]], dig=[[ask("owl", "fly")]], fly=["Never."])
    wire.hold("fly")

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        going = asyncio.create_task(turn(stage.workspace, stage.user, row))
        async with asyncio.timeout(60):
            await wire.reached["fly"].wait()
        assert stage.workspace.stop(await stage.row(row.id))
        async with asyncio.timeout(10):
            assert (await going).outcome == "stopped"
        (child,) = await stage.children(row)
        (last,) = await stage.children(await stage.row(child.id))
        assert [(each.status, each.outcome) for each in (child, last)] == [("idle", "stopped")] * 2
        assert [each.status for each in await stage.told(row)] == ["unknown"]

    play(database_url, tmp_path, wire, tell)


def test_what_is_stopped_has_ended_only_once_all_that_it_delegated_has(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig"), ask("owl", "fly")]], dig=["Never."], fly=["Never."])
    wire.hold("dig")
    wire.hold("fly")
    wire.lingers = "fly"

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        going = asyncio.create_task(turn(stage.workspace, stage.user, row))
        async with asyncio.timeout(10):
            await asyncio.gather(*(each.wait() for each in wire.reached.values()))
        assert stage.workspace.stop(await stage.row(row.id))
        assert (await going).outcome == "stopped"
        assert [each.outcome for each in await stage.children(row)] == ["stopped"] * 2

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


def test_a_child_that_a_person_stops_is_told_as_stopped(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "So."], dig=["Never."])
    wire.hold("dig")

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        going = asyncio.create_task(turn(stage.workspace, stage.user, row))
        async with asyncio.timeout(60):
            await wire.reached["dig"].wait()
        (child,) = await stage.children(row)
        assert stage.workspace.stop(await stage.row(child.id))
        assert (await going).outcome == "finished"
        (call,) = await stage.told(row)
        assert (call.status, call.text.startswith("Mole was stopped")) == ("failed", True)

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


def test_a_server_that_ends_in_the_middle_leaves_honest_ends(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "So."], dig=["Never."])
    wire.hold("dig")
    made: list[str] = []

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        made.append(row.id)
        asyncio.create_task(turn(stage.workspace, stage.user, row)).add_done_callback(lambda done: done.exception())
        async with asyncio.timeout(60):
            await wire.reached["dig"].wait()

    async def later(stage: Stage) -> None:
        row = await stage.row(made[0])
        (child,) = await stage.children(row)
        assert (row.status, child.status, child.outcome) == ("idle", "idle", "failed")
        assert [each.status for each in await stage.told(row)] == ["unknown"]
        assert (await stage.ended(row.id)).failure == (await stage.ended(child.id)).failure

    play(database_url, tmp_path, wire, tell)
    play(database_url, tmp_path, Theatre(), later)


# Limits --------------------------------------------------------------------------------------------------------------


def test_five_levels_are_the_most_and_nobody_delegates_to_who_works_above(database_url: str, tmp_path: Path) -> None:
    names = ("a", "b", "c", "d", "e", "f")
    wire = Theatre(Go=[[ask("a", "t-a")], "End."])
    for name, below in pairwise(names):
        wire.parts[f"t-{name}"] = [[ask(below, f"t-{below}")], f"End of {name}."]
    wire.parts["t-b"].insert(0, [ask("a", "round")])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        told: list[str] = []
        depth = 0
        while found := await stage.children(row):
            row, depth = await stage.row(found[0].id), depth + 1
            told += [each.text for each in await stage.told(row) if each.status == "failed"]
        assert depth == 5
        assert [text.split(",")[0] for text in told] == [
            "A works already in this conversation or in one of those that delegated it: refused",
            "Conversations already delegate on 5 levels",
        ]

    play(database_url, tmp_path, wire, tell, [agent(name) for name in names])


def test_one_message_starts_so_many_conversations_and_no_more(tmp_path: Path) -> None:
    calls = [("create_sub_conversation", {"title": f"n{n}"}) for n in range(26)]
    wire = Theatre(Go=[calls, "So.", calls[:1], "So."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        assert [each.status for each in await stage.told(row)].count("failed") == 2
        await turn(stage.workspace, stage.user, row, "More")
        assert len(await stage.children(row)) == 25

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


def test_to_go_on_with_a_specialist_again_and_again_counts_as_well(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "So."], dig=["Dug."] * 5)

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        threads = [("create_sub_conversation", {"title": f"n{n}"}) for n in range(23)]
        wire.parts["Go"] = [[*threads, *(ask("mole", f"on {n}", conversation=child.id) for n in range(3))], "So."]
        await turn(stage.workspace, stage.user, row, "More")
        assert [each.status for each in await stage.told(row)][-3:] == ["succeeded", "failed", "failed"]
        assert len(wire.parts["dig"]) == 3

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


@pytest.mark.parametrize(
    ("listed", "offered"),
    [
        pytest.param(("Read",), set[str](), id="a list without them"),
        pytest.param(("Read", "delegate_to_agent"), {"run_specialist"}, id="by its other name"),
        pytest.param(("assign_task",), {"assign_task"}, id="one of them"),
    ],
)
def test_an_agents_list_of_tools_holds_for_delegating_as_well(listed: tuple[str, ...], offered: set[str]) -> None:
    tools = dict.fromkeys(("run_specialist", "delegate_to_agent", "assign_task", "create_sub_conversation"))
    kept = Toolset(frozenset(listed)).bounded(cast(Any, tools))
    assert {*kept} - {"delegate_to_agent"} == offered


# Which model ---------------------------------------------------------------------------------------------------------


async def why(stage: Stage, row: ConversationRow) -> BoundWhy | None:
    return (await events_of(stage.workspace, row, TurnStarted))[-1].why


def test_a_specialist_runs_on_the_model_that_the_delegating_turn_really_ran_on(
    database_url: str, tmp_path: Path
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "So."], dig=["Gold.", "More gold."])

    async def tell(stage: Stage) -> None:
        row = await stage.new(start=Change(pair=Pair("played", "m")))
        override = Pair("played", "n")
        await stage.workspace.submit(stage.user, row, Submission("Go"), override)
        await stage.ended(row.id)
        (child,) = await stage.children(row)
        below = await stage.row(child.id)
        assert {request.model for name, request in wire.seen if name == "dig"} == {"n"}
        assert (await why(stage, below)) == BoundWhy("delegating", "", None, None, "")
        assert (await stage.workspace.answering(below)).found == (await stage.workspace.answering(below)).inherited
        await stage.workspace.models.switch_model(stage.user, override, enabled=False)
        await turn(stage.workspace, stage.user, below, "dig")
        noted = BoundWhy("default", "conversation-binding-unavailable", None, None, "")
        assert (await why(stage, below)) == noted, "what maia chose gives way with a note (R-2.058)"

    play(database_url, tmp_path, wire, tell)


@pytest.mark.parametrize(
    ("off", "expected"),
    [
        pytest.param("", BoundWhy("colleague", "", "low", "low", "colleague"), id="its own"),
        pytest.param("n", BoundWhy("delegating", "agent-binding-unavailable", "low", "low", "colleague"), id="off"),
    ],
)
def test_a_specialists_own_model_and_effort_win_while_they_are_there(
    tmp_path: Path, off: str, expected: BoundWhy
) -> None:
    wire = Theatre(Go=[[ask("ant", "dig")], "So."], dig=["Gold."])

    async def tell(stage: Stage) -> None:
        row = await stage.new(start=Change(effort="high", sets_effort=True))
        if off:
            await stage.workspace.models.switch_model(stage.user, Pair("played", off), enabled=False)
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        assert await why(stage, await stage.row(child.id)) == expected

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell, [agent("ant", model="played/n", effort="low")])


def test_without_a_level_of_its_own_a_specialist_has_that_of_the_nearest_delegating_conversation(
    database_url: str, tmp_path: Path
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "So."], dig=[[ask("owl", "fly")], "Gold."], fly=["Mice."])

    async def tell(stage: Stage) -> None:
        row = await stage.new(start=Change(effort="high", sets_effort=True))
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        (last,) = await stage.children(await stage.row(child.id))
        assert await why(stage, await stage.row(last.id)) == BoundWhy("delegating", "", "high", "high", "delegating")

    play(database_url, tmp_path, wire, tell)


# Cards and threads ---------------------------------------------------------------------------------------------------


def test_a_task_becomes_a_card_that_runs_by_itself_and_is_told_in_the_history(
    database_url: str, tmp_path: Path
) -> None:
    wire = Theatre(Go=[[("assign_task", {"agent": "Iris", "title": "Invoices", "task": "pay"})], "So."], pay=["Paid."])
    go_on = wire.hold("pay")

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        assert (await turn(stage.workspace, stage.user, row)).outcome == "finished"
        (child,) = await stage.children(row)
        assert (child.kind, child.title, child.agent, child.status) == ("card", "Invoices", "iris", "running")
        assert {each.id for each in await stage.workspace.conversations(stage.user, 10)} == {row.id, child.id}
        assert not stage.workspace.stop(await stage.row(row.id))
        go_on.set()
        await stage.ended(child.id)
        assert stage.roles[-1] == Role(IRIS.definition, None, 20)
        told = [each for each in await stage.workspace.cards.history(row, "change", 9) if each.field == "task"]
        assert [(each.old, each.new, each.by) for each in told] == [
            ("Invoices", "finished", None),
            ("Invoices", "running", None),
        ]
        assert (await stage.workspace.cards.card(stage.user, await stage.row(row.id))).subtasks == (1, 1)

    play(database_url, tmp_path, wire, tell)


def test_a_thread_stands_under_its_conversation_and_waits_or_is_answered(database_url: str, tmp_path: Path) -> None:
    calls = [
        ("create_sub_conversation", {"title": "Waits"}),
        ("create_sub_conversation", {"title": "Goes on", "message": "sing", "agent": "owl"}),
    ]
    wire = Theatre(Go=[calls, "So."], sing=["La."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        waits, goes = sorted(await stage.children(row), key=lambda each: each.title, reverse=True)
        assert (waits.kind, waits.status, waits.outcome) == ("sub", "idle", None)
        assert (await stage.ended(goes.id)).outcome == "finished"
        below = await stage.row(waits.id)
        assert (await stage.workspace.answering(below)).wanted.delegating == Pair("played", "m")
        assert [each.id for each in await stage.workspace.conversations(stage.user, 10)] == [row.id]

    play(database_url, tmp_path, wire, tell)


def test_a_card_that_enters_a_stage_with_an_agent_is_handed_to_it_and_runs(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(**{"Pay it": ["Paid."], "Mine": ["Yes."]})

    async def tell(stage: Stage) -> None:
        await stage.workspace.planning.add("stages", {"name": "To do"})
        paying = {"name": "Paying", "agent": "iris"}
        waiting = await stage.workspace.planning.add("stages", paying)
        row = await stage.workspace.create(stage.user, "Pay it", "en")
        await stage.workspace.cards.move(stage.user, row, {"stageId": waiting})
        await stage.ended(row.id)
        after = await stage.row(row.id)
        assert (after.agent, after.last_turn, after.status) == ("iris", 1, "idle")
        assert stage.roles[-1] == Role(IRIS.definition, None, 20)
        (said,) = await events_of(stage.workspace, after, UserSaid)
        assert (said.text, said.by) == ("Pay it", "Paying")
        await stage.workspace.changing.change(stage.user, after, Asked({"stageId": None}))
        await stage.workspace.changing.change(stage.user, await stage.row(row.id), Asked({"stageId": waiting}))
        untitled = await stage.new()
        await stage.workspace.cards.move(stage.user, untitled, {"stageId": waiting})
        await stage.workspace._handing.close()  # pyright: ignore[reportPrivateUsage] - nothing was begun to wait for
        assert [(await stage.row(each.id)).last_turn for each in (row, untitled)] == [1, 0]

    play(database_url, tmp_path, wire, tell)


def test_a_chosen_model_that_is_off_makes_a_background_run_fail_with_the_same_refusal(
    database_url: str, tmp_path: Path
) -> None:
    async def tell(stage: Stage) -> None:
        await stage.workspace.planning.add("stages", {"name": "To do"})
        paying = {"name": "Paying", "agent": "iris"}
        waiting = await stage.workspace.planning.add("stages", paying)
        pair = Pair("played", "n")
        row = await stage.workspace.create(stage.user, "Pay it", "en", start=Change(pair=pair))
        await stage.workspace.models.switch_model(stage.user, pair, enabled=False)
        await stage.workspace.cards.move(stage.user, row, {"stageId": waiting})
        ended = await stage.ended(row.id)
        assert (ended.outcome, ended.failure and ended.failure.code) == ("failed", "model_binding_unavailable")
        assert ended.failure is not None
        assert ended.failure.why == Reason("binding.unavailable", {"provider": "Played", "model": "n"})
        after = await stage.row(row.id)
        assert (after.status, after.last_turn) == ("idle", 1)
        assert (await stage.workspace.cards.card(stage.user, after)).outcome == "failed"

    play(database_url, tmp_path, Theatre(), tell)


def test_folders_left_out_of_a_background_run_are_told_in_the_log_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wire = Theatre(**{"Pay it": ["Paid.", "Yes."]})
    work = tmp_path / "work"
    work.mkdir()

    async def tell(stage: Stage) -> None:
        await stage.workspace.planning.add("stages", {"name": "To do"})
        paying = await stage.workspace.planning.add("stages", {"name": "Paying", "agent": "iris"})
        folders = [Folder("work", str(work))]
        row = await stage.workspace.create(stage.user, "Pay it", "en", folders)
        work.rmdir()
        (tmp_path / "data").mkdir(exist_ok=True)
        work.symlink_to(tmp_path / "data")
        await stage.workspace.cards.move(stage.user, row, {"stageId": paying})
        await stage.ended(row.id)
        assert await events_of(stage.workspace, row, Notice) == []
        assert str(work) in caplog.text
        await turn(stage.workspace, stage.user, row, "Pay it")
        assert str(work) in str(await events_of(stage.workspace, await stage.row(row.id), Notice))

    play(f"sqlite:///{tmp_path}/maia.db", tmp_path, wire, tell)


def test_what_is_deleted_takes_its_sub_conversations_along_and_brings_them_back(
    database_url: str, tmp_path: Path
) -> None:
    poke: list[tuple[str, dict[str, Any]]] = [("Poke", POKE)]
    opened = ("create_sub_conversation", {"title": "Sings", "message": "sing"})
    wire = Theatre(Go=[[ask("mole", "dig"), ask("owl", "fly"), opened], "So."], dig=[poke, "I may not."], fly=["Mice."])
    wire.parts["sing"] = ["La."]
    go_on = wire.hold("sing")

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        children = {each.title: each.id for each in await stage.children(row)}
        with pytest.raises(Unusable):
            await stage.workspace.cards.delete(stage.user, await stage.row(row.id))
        go_on.set()
        await stage.ended(children["Sings"])
        await stage.workspace.cards.delete(stage.user, await stage.row(children["fly"]))
        await stage.workspace.cards.delete(stage.user, await stage.row(row.id))
        assert list(await stage.workspace.approvals.listed(stage.user, decided=False)) == []
        with pytest.raises(NotYours):
            await stage.row(children["dig"])
        await stage.workspace.cards.restore(stage.user, row.id)
        assert {each.title for each in await stage.children(row)} == {"dig", "Sings"}

    play(database_url, tmp_path, wire, tell)
