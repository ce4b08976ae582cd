"""Results of specialists that waited for a person reach whoever gave them the task."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from maia.core.events import Notice, RecordChanged, SubConversationChanged, TurnStarted, UserSaid
from maia.core.messages import TextPart, UserMessage
from maia.core.submission import Submission
from maia.database.messages import open_turn
from maia.workspace.delegating.late import LateResults
from maia.workspace.delegating.upward import Upward
from maia.workspace.log import TurnLog
from maia.workspace.records import Child, ConversationRow
from tests.workspace.test_approvals import POKE, database_of, events_of, turn
from tests.workspace.test_delegation import MOLE, Stage, Theatre, agent, ask, play
from tests.workspace.test_held import POKED, run, url_of

QUESTION: list[tuple[str, dict[str, Any]]] = [("AskUser", {"question": "Which one?"})]


async def decided(stage: Stage, verdict: Any, n: int = 0) -> None:
    """Somebody decides on the call that waits longest."""
    waiting = await stage.workspace.approvals.listed(stage.user, decided=False)
    await stage.workspace.approvals.decide(stage.user, waiting[n].id, verdict)


async def settled(stage: Stage, rows: Sequence[ConversationRow | Child]) -> None:
    """All that comes of a decision or an answer is over."""
    own = stage.workspace._turns  # pyright: ignore[reportPrivateUsage] - what begins background runs is inside
    async with asyncio.timeout(10):
        for _ in range(3):
            await own.paused.settled()
            for row in rows:
                await own.ended(row.id)
            await own.late.settled()
    for row in rows:
        await own.ended(row.id)


async def rows_of(stage: Stage, row: ConversationRow) -> list[tuple[str, str]]:
    """What the rows of its calls became that were over: (conversation, state), each state once."""
    told = [(each.conversation, each.status) for each in await events_of(stage.workspace, row, SubConversationChanged)]
    return [each for before, each in pairwise([None, *told]) if each is not None and each != before]


def read(wire: Theatre, name: str) -> str:
    """The last message that was read there."""
    request = [request for who, request in wire.seen if who == name][-1]
    said = [each for each in request.messages if isinstance(each, UserMessage)][-1]
    return "\n".join(part.text for part in said.parts if isinstance(part, TextPart))


def test_a_run_goes_on_with_the_result_of_its_specialist_once_the_call_was_approved(
    database_url: str, tmp_path: Path
) -> None:
    wire = Theatre(
        Go=[[ask("mole", "dig")], "It waits.", [ask("mole", "dig")], "All done."], dig=[POKED, POKED, "Found gold."]
    )

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row, system="In verse.")
        (child,) = await stage.children(row)
        (call,) = await stage.told(row)
        assert call.text.startswith("Mole waits for an approval, which only a person can give. The result comes")
        assert (await stage.row(row.id)).status == "waiting_approval"
        await decided(stage, "approved")
        await settled(stage, [child, row])
        after = await stage.row(row.id)
        assert (after.last_turn, after.status) == (2, "idle")
        assert (await rows_of(stage, row))[-2:] == [(child.id, "running"), (child.id, "succeeded")]
        said = (await events_of(stage.workspace, row, UserSaid))[-1]
        assert (said.by, [(each.kind, each.source, each.id) for each in said.attachments]) == (
            "Mole",
            [("result", "Mole · dig", child.id)],
        )
        assert "Mole has finished" in read(wire, "Go")
        assert "Found gold." in read(wire, "Go")
        begun = await events_of(stage.workspace, row, TurnStarted)
        assert [(each.resumes, each.system) for each in begun] == [(0, "In verse."), (1, "In verse.")]
        assert [each.status for each in await stage.told(row)] == ["pending", "skipped"], "it is not run twice"
        turns = {role.turns for role in stage.roles if role.agent == MOLE.definition}
        assert turns == {10}, "a specialist that goes on is one still"

    assert play(database_url, tmp_path, wire, tell).ran == [POKE]


def test_a_run_waits_for_all_its_specialists_and_those_above_wait_for_it(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(
        Go=[[ask("mole", "dig")], "It waits.", "All done."],
        dig=[[ask("owl", "fly"), ask("ant", "run")], "They wait.", "Both are here."],
        fly=[POKED, POKED, "Mice."],
        run=[[("Poke", {"what": "other"})], [("Poke", {"what": "other"})], "Crumbs."],
    )

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        (middle,) = await stage.children(row)
        below = await stage.children(await stage.row(middle.id))
        await decided(stage, "approved")
        await settled(stage, [*below, middle, row])
        assert [(await stage.row(each)).last_turn for each in (middle.id, row.id)] == [1, 1], "one waits still"
        await decided(stage, "approved")
        await settled(stage, [*below, middle, row])
        assert [(await stage.row(each)).last_turn for each in (middle.id, row.id)] == [2, 2]
        assert all(words in read(wire, "dig") for words in ("Mice.", "Crumbs."))
        assert "Both are here." in read(wire, "Go")

    play(database_url, tmp_path, wire, tell, [agent(each) for each in ("mole", "owl", "ant")])


def test_after_a_refusal_nothing_goes_on_and_people_are_told_once(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It waits.", "So."], dig=[POKED])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        (child,) = await stage.children(row)
        await decided(stage, "refused")
        await settled(stage, [child, row])
        assert [(await stage.row(each)).last_turn for each in (child.id, row.id)] == [1, 1]
        assert (await rows_of(stage, row))[-1] == (child.id, "failed")
        notices = await events_of(stage.workspace, row, Notice)
        assert [(each.key, each.values) for each in notices] == [
            ("delegate.approval", {"name": "Mole", "conversation": child.id}),
            ("delegate.late", {"title": "dig"}),
        ]
        await turn(stage.workspace, stage.user, row, "And?")
        assert "Mole was refused what it needed, and stays stopped." in read(wire, "Go")
        own = stage.workspace._turns  # pyright: ignore[reportPrivateUsage] - what it knows is inside
        own.late.came(row.id)
        await settled(stage, [row])
        assert len(await events_of(stage.workspace, row, Notice)) == len(notices)
        assert (await stage.row(row.id)).last_turn == 2

    play(url_of(tmp_path), tmp_path, wire, tell)


@pytest.mark.parametrize("attended", [True, False], ids=["a chat", "a run"])
def test_a_question_of_a_specialist_waits_above_and_its_answer_brings_the_result(
    database_url: str, tmp_path: Path, attended: bool
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It asks.", "Good.", "Fine."], dig=[QUESTION, "Which?", "The left one."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await (turn(stage.workspace, stage.user, row) if attended else run(stage, row))
        (child,) = await stage.children(row)
        (call,) = await stage.told(row)
        assert call.text.startswith("Mole has put a question that only a person can answer")
        assert child.id in call.text
        assert [(await stage.row(each)).status for each in (child.id, row.id)] == ["waiting", "waiting"]
        assert [each.key for each in await events_of(stage.workspace, row, Notice)] == ["delegate.asks"]
        await turn(stage.workspace, stage.user, await stage.row(child.id), "Left")
        await settled(stage, [child, row])
        assert [(await stage.row(each)).status for each in (child.id, row.id)] == ["idle", "idle"]
        assert call.status == "pending", "neither a success nor a failure"
        assert await rows_of(stage, row) == [(child.id, "running"), (child.id, "succeeded")]
        assert (await stage.row(row.id)).last_turn == (1 if attended else 2)
        told = [each.key for each in await events_of(stage.workspace, row, Notice)]
        assert told == ["delegate.asks", *(["delegate.late"] if attended else [])]
        if attended:
            await turn(stage.workspace, stage.user, row, "And now?")
        assert "The left one." in read(wire, "Go")
        await turn(stage.workspace, stage.user, row, "Again")
        assert "The left one." not in read(wire, "Go"), "it is told once"

    play(database_url, tmp_path, wire, tell)


def test_a_conversation_that_asks_itself_waits_on_whatever_happens_below(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig"), *QUESTION], "Which?"], dig=[QUESTION, "Which?", "Left."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        await turn(stage.workspace, stage.user, await stage.row(child.id), "Left")
        await settled(stage, [child, row])
        assert [(await stage.row(each)).status for each in (child.id, row.id)] == ["idle", "waiting"]

    play(url_of(tmp_path), tmp_path, wire, tell)


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_result_that_came_while_no_server_was_there_is_passed_on_by_the_next_one(
    database_url: str, tmp_path: Path, end: str
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It waits.", "All done."], dig=[POKED])
    made: list[str] = []

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        (child,) = await stage.children(row)
        made.extend([row.id, child.id])
        if end == "killed":  # in the middle of a turn of it, of which nothing more was written
            await database_of(stage.workspace).write(lambda c: open_turn(c, child.id, None, "Go on"))
            return
        wire.parts["dig"] = [POKED]
        wire.hold("dig")
        await decided(stage, "approved")
        async with asyncio.timeout(10):
            await wire.reached["dig"].wait()

    async def later(stage: Stage) -> None:
        row, child = [await stage.row(each) for each in made]
        await settled(stage, [child, row])
        assert (await stage.row(row.id)).last_turn == 2
        assert "Mole failed (the server was stopped)." in read(wire, "Go")
        assert (await rows_of(stage, row))[-1] == (child.id, "failed")

    play(database_url, tmp_path, wire, tell)
    play(database_url, tmp_path, wire, later)


def test_a_row_follows_its_specialist_where_the_server_went_before_it_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It asks."], dig=[QUESTION, "Which?", "Gold."])
    made: list[str] = []

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        made.extend([row.id, child.id])
        monkeypatch.setattr(Upward, "tell", Mock())  # as a kill would, right after the end was written
        monkeypatch.setattr(LateResults, "came", Mock())
        await turn(stage.workspace, stage.user, await stage.row(child.id), "Left")
        assert await rows_of(stage, row) == []

    async def later(stage: Stage) -> None:
        row, child = [await stage.row(each) for each in made]
        await settled(stage, [child, row])
        assert await rows_of(stage, row) == [(child.id, "succeeded")]

    play(url_of(tmp_path), tmp_path, wire, tell)
    monkeypatch.undo()
    play(url_of(tmp_path), tmp_path, wire, later)


def test_a_person_who_writes_first_gets_the_result_and_the_run_does_not_go_on(tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It waits.", "Hm.", "Good."], dig=[POKED, POKED, "Gold."])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        (child,) = await stage.children(row)
        await stage.workspace.submit(stage.user, await stage.row(row.id), Submission("Wait"))
        await stage.workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
        await decided(stage, "approved")
        await settled(stage, [child, row])
        assert (await stage.row(row.id)).last_turn == 2
        told = [each.key for each in await events_of(stage.workspace, row, Notice)]
        assert told == ["delegate.approval", "delegate.late"]
        await turn(stage.workspace, stage.user, row, "And?")
        assert "Gold." in read(wire, "Go")

    play(url_of(tmp_path), tmp_path, wire, tell)


def test_a_result_is_owed_until_the_message_that_brings_it_is_in_the_log(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It waits.", "Hm.", *["Good."] * 3], dig=[POKED, POKED, "Gold."])
    made: list[str] = []

    def nothing(*_: object) -> None:
        pass

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        (child,) = await stage.children(row)
        made.append(row.id)
        await turn(stage.workspace, stage.user, row, "Wait")
        await decided(stage, "approved")
        await settled(stage, [child, row])
        with monkeypatch.context() as killed:  # once the message is stored, nothing more is written
            killed.setattr(TurnLog, "take", nothing)
            killed.setattr(TurnLog, "written", AsyncMock())
            await stage.workspace.submit(stage.user, await stage.row(row.id), Submission("And?"))
            await stage.workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - no door waits for it

    async def later(stage: Stage) -> None:
        row = await stage.row(made[0])
        await turn(stage.workspace, stage.user, row, "And now?")
        assert "Gold." in read(wire, "Go")
        await turn(stage.workspace, stage.user, row, "Again")
        assert "Gold." not in read(wire, "Go"), "it is told once"

    play(database_url, tmp_path, wire, tell)
    play(database_url, tmp_path, wire, later)


def test_nobody_waits_for_a_question_that_was_deleted_until_it_is_back(database_url: str, tmp_path: Path) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It asks."], dig=[QUESTION, "Which?"])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        await stage.workspace.cards.delete(stage.user, await stage.row(child.id))
        assert (await stage.row(row.id)).status == "idle"
        await stage.workspace.cards.restore(stage.user, child.id)
        assert (await stage.row(row.id)).status == "waiting"
        assert (await events_of(stage.workspace, row, RecordChanged))[-2:] == [
            RecordChanged(("children", "fields", "history"))
        ] * 2, "open pages of the one above hear of both"

    play(database_url, tmp_path, wire, tell)


def test_a_run_goes_on_with_what_is_there_once_the_last_that_waits_is_deleted(tmp_path: Path) -> None:
    wire = Theatre(
        Go=[[ask("mole", "dig"), ask("owl", "fly")], "They ask.", "Good."],
        dig=[QUESTION, "Which?", "Gold."],
        fly=[QUESTION, "Where?"],
    )

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await run(stage, row)
        below = {each.title: each for each in await stage.children(row)}
        await turn(stage.workspace, stage.user, await stage.row(below["dig"].id), "Left")
        await settled(stage, [*below.values(), row])
        assert (await stage.row(row.id)).last_turn == 1
        await stage.workspace.cards.delete(stage.user, await stage.row(below["fly"].id))
        await settled(stage, [row])
        assert (await stage.row(row.id)).last_turn == 2
        assert "Gold." in read(wire, "Go")

    play(url_of(tmp_path), tmp_path, wire, tell, [agent(each) for each in ("mole", "owl")])


@pytest.mark.parametrize(("second", "end"), [("Found gold.", "succeeded"), (QUESTION, "unknown")], ids=["done", "asks"])
def test_the_row_of_a_call_whose_work_a_later_one_takes_over_waits_no_more(
    tmp_path: Path, second: Any, end: str
) -> None:
    wire = Theatre(Go=[[ask("mole", "dig")], "It asks."], dig=[QUESTION, "Which?", second, "Which?"])

    async def tell(stage: Stage) -> None:
        row = await stage.new()
        await turn(stage.workspace, stage.user, row)
        (child,) = await stage.children(row)
        wire.parts["Go"] += [[ask("mole", "The left one", conversation=child.id)], "Good."]
        await turn(stage.workspace, stage.user, row, "And?")
        first, later = await stage.told(row)
        changed = await events_of(stage.workspace, row, SubConversationChanged)
        assert [(each.call_id, each.status) for each in changed] == [
            (first.call_id, status) for status in dict.fromkeys(["unknown", end])
        ]
        assert later.status == ("pending" if end == "unknown" else "succeeded")

    play(url_of(tmp_path), tmp_path, wire, tell)
