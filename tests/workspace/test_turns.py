import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from maia.core.costs import Cost
from maia.core.endings import Failure
from maia.core.events import Answered, ContextCleared, TextDelta, ToolCallFinished, TurnEnded, TurnStarted, UserSaid
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart, UserMessage
from maia.core.submission import Submission
from maia.database.events import Stamped
from maia.workspace.models.catalogue import Pair
from maia.workspace.people.tries import BY_ADDRESS, BY_EMAIL, WINDOW, Source, Tries
from maia.workspace.problems import Busy, ModelUnavailable, Unusable
from maia.workspace.recovery import SERVER_STOPPED, endings
from maia.workspace.titles import excerpt
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on


async def until(workspace: Workspace, row: Any, seq: int, kind: type) -> list[Any]:
    """The events after that number, up to the first of that kind; behind the end of a turn all is put away."""
    seen: list[Any] = []
    async for batch in workspace.follow(row, seq, 5):
        for logged in batch:
            seen.append(logged)
            if isinstance(logged.event, kind):
                if kind is TurnEnded:
                    await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage]
                return seen
    return seen


def test_a_turn_is_written_and_told_in_the_order_of_its_numbers(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["One ", "two."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            begun = await workspace.submit(user, row, Submission("Hello\x00 there"))
            seen = await until(workspace, row, 0, TurnEnded)
            numbers = [each.seq for each in seen]
            assert numbers == sorted(set(numbers))
            assert {each.turn for each in seen} == {begun.turn} == {1}
            messages = await workspace.messages(row, 10)
            assert [(m.role, m.text) for m in messages] == [("user", "Hello\ufffd there"), ("assistant", "One two.")]
            assert messages[1].id == begun.answer
            again = await until(workspace, row, 0, TurnEnded)
            whole = [each for each in seen if not isinstance(each.event, TextDelta)]
            assert [each for each in again if not isinstance(each.event, TextDelta)] == whole
            now = await workspace.conversation(user, row.id)
            assert (now.status, now.model_id, now.provider_id) == ("idle", "m", "played")

    asyncio.run(story())


def test_the_whole_conversation_goes_to_the_model_each_time(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            for text in ("one", "two", "three"):
                row = await workspace.conversation(user, row.id)
                await workspace.submit(user, row, Submission(text))
                await until(workspace, row, row.last_seq, TurnEnded)
            said = [m.parts[-1].text for m in wire.requests[-1].messages if isinstance(m, UserMessage)]  # type: ignore[union-attr]
            assert said == ["one", "two", "three"]

    asyncio.run(story())


def test_a_message_that_cannot_be_stored_leaves_nothing_that_prepares_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire([]))
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            row = await workspace.create(user, "", "en")
            turns = workspace._turns  # pyright: ignore[reportPrivateUsage] - what prepares and stores is inside
            prepares = asyncio.Event()

            async def for_ever(*_: Any, **__: Any) -> None:
                prepares.set()
                await asyncio.Event().wait()

            async def refuses(_work: Any) -> None:
                await prepares.wait()
                raise OSError("full")

            with monkeypatch.context() as patched:
                patched.setattr(turns._briefer, "brief", for_ever)  # pyright: ignore[reportPrivateUsage]
                patched.setattr(turns._database, "write_at_once", refuses)  # pyright: ignore[reportPrivateUsage]
                with pytest.raises(OSError, match="full"):
                    await workspace.submit(user, row, Submission("Go"))
            left = [each for each in asyncio.all_tasks() if each.get_name().startswith("preparing")]
            assert not left or not (await asyncio.wait(left, timeout=60))[1]
            assert [each.text for each in await workspace.messages(row, 10)] == []
            await workspace.submit(user, row, Submission("Again"))

    asyncio.run(story())


def test_one_answer_at_a_time_and_a_stop_keeps_what_was_written(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Half ", "and half"], wait_after=1)
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("Go"))
            with pytest.raises(Busy):
                await workspace.submit(user, row, Submission("Go"))
            await until(workspace, row, 0, TextDelta)
            assert workspace.stop(row) is True
            ended = (await until(workspace, row, 0, TurnEnded))[-1].event
            assert (ended.outcome, ended.failure) == ("stopped", None)
            assert (await workspace.messages(row, 10))[1].text == "Half "
            assert workspace.stop(row) is False

    asyncio.run(story())


def test_a_server_that_stops_says_so_and_not_that_a_person_did(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Half ", "and half"], wait_after=1)
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("Go"))
            await until(workspace, row, 0, TextDelta)
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            answer = (await workspace.messages(row, 10))[1]
            assert answer.text == "Half "
            assert answer.turn_meta is not None
            assert (answer.turn_meta["outcome"], answer.turn_meta["error"]["code"]) == ("failed", "server_stopped")

    asyncio.run(story())


def test_a_message_to_a_model_that_is_gone_is_refused_and_not_stored(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        async with workspace_on(database_url, tmp_path, models) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("one"))
            await until(workspace, row, 0, TurnEnded)
            await workspace.models.switch_model(user, Pair("played", "m"), enabled=False)
            row = await workspace.conversation(user, row.id)
            with pytest.raises(ModelUnavailable) as caught:
                await workspace.submit(user, row, Submission("two"))
            assert caught.value.code == "model_binding_unavailable"
            assert len(await workspace.messages(row, 10)) == 2
            await workspace.models.switch_model(user, Pair("played", "m"), enabled=True)
            await workspace.submit(user, row, Submission("three"))
            await until(workspace, row, row.last_seq, TurnEnded)

    asyncio.run(story())


def test_while_the_database_refuses_nothing_is_lost(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maia.workspace import log

    refusals = iter([True, True, False, True])
    write = log.append_events

    def sometimes(connection: Any, conversation: str, turn: int, events: list[Stamped]) -> Any:
        if next(refusals, False):
            raise OperationalError("INSERT", {}, Exception("database is locked"))
        return write(connection, conversation, turn, events)

    monkeypatch.setattr(log, "append_events", sometimes)

    async def story() -> None:
        wire = PlayedWire([f"{n} " for n in range(50)])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("Count"))
            seen = await until(workspace, row, 0, TurnEnded)
            answered = next(each.event for each in seen if isinstance(each.event, Answered))
            assert answered.message.parts == (TextPart("".join(wire.pieces)),)

    asyncio.run(story())


def test_a_database_that_refuses_for_good_ends_the_turn(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maia.workspace import log

    monkeypatch.setattr(log, "_LONGEST_DELAY", 0.01)
    write, refused = log.append_events, [0]

    def full(connection: Any, conversation: str, turn: int, events: list[Stamped]) -> Any:
        if turn and refused[0] < 20:
            refused[0] += 1
            raise OperationalError("INSERT", {}, Exception("disk is full"))
        return write(connection, conversation, turn, events)

    monkeypatch.setattr(log, "append_events", full)

    async def story() -> None:
        wire = PlayedWire(["One ", "two"], wait_after=1)
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission("Go"))
            ended = (await until(workspace, row, 0, TurnEnded))[-1].event
            assert (ended.outcome, ended.failure) == ("failed", Failure("other", code="storage"))

    asyncio.run(story())


@pytest.mark.parametrize("text", ["", "  \n", "x" * 400_001])
def test_a_message_that_cannot_be_used_is_refused(database_url: str, tmp_path: Path, text: str) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            row = await workspace.create(user, "", "en")
            with pytest.raises(Unusable):
                await workspace.submit(user, row, Submission(text))
            assert await workspace.messages(row, 10) == []

    asyncio.run(story())


# The ending of what nobody ended -------------------------------------------------------------------------------------

CALL = ToolCallPart("c1", "Bash", {"command": "make"})
ASKED = Answered(AssistantMessage((CALL,), "m", "p"), "tool_calls", "", None, Cost())


def test_a_turn_of_which_nothing_was_written_gets_a_beginning_and_an_end() -> None:
    missing, ended = endings(3, UserSaid("Hello"), "m", "p", [])
    assert missing == [TurnStarted(3, "m", "p"), UserSaid("Hello")]
    assert (ended.outcome, ended.failure, ended.model, ended.steps) == ("failed", SERVER_STOPPED, "m", 0)


def test_open_text_and_open_calls_are_closed() -> None:
    happened = [TurnStarted(1, "m", "p"), UserSaid("Hello"), ASKED, TextDelta("and "), TextDelta("then")]
    missing, ended = endings(1, UserSaid("Hello"), "x", "y", happened)
    assert [type(event) for event in missing] == [Answered, ToolCallFinished]
    assert missing[0] == Answered(
        AssistantMessage((TextPart("and then"),), "m", "p"), "unknown", "", None, Cost(), partial=True
    )
    assert isinstance(missing[1], ToolCallFinished)
    assert (missing[1].call_id, missing[1].status) == ("c1", "unknown")
    assert ended.tool_calls == 1


# Small parts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "title"),
    [
        pytest.param("Bonjour", "Bonjour", id="short"),
        pytest.param("  two\n\nlines ", "two lines", id="one line of it"),
        pytest.param("word " * 30, ("word " * 19).strip() + "…", id="between words"),
        pytest.param("x" * 101, "x" * 99 + "…", id="one endless word"),
        pytest.param("a\x1b[31mb", "a␛[31mb", id="nothing acts"),
    ],
)
def test_the_first_words_are_the_title(message: str, title: str) -> None:
    assert excerpt(message) == title


def test_tries_are_counted_by_address_and_by_place_and_forgotten_in_time() -> None:
    now = [0.0]
    tries = Tries(lambda: now[0])
    for _ in range(BY_EMAIL):
        assert tries.wait(Source("a@b", "here")) == 0
        tries.failed(Source("a@b", "here"))
    assert tries.wait(Source("a@b", "elsewhere")) == WINDOW
    assert tries.wait(Source("c@d", "here")) == 0
    for n in range(BY_ADDRESS - BY_EMAIL):
        tries.failed(Source(f"{n}@x", "here"))
    assert tries.wait(Source("c@d", "here")) == WINDOW
    now[0] = WINDOW + 1
    assert tries.wait(Source("a@b", "here")) == 0
    tries.failed(Source("a@b", "here"))
    tries.succeeded(Source("a@b", "here"))
    assert tries.left(Source("a@b", "here")) == BY_EMAIL
    for _ in range(2 * BY_ADDRESS):
        assert tries.wait(Source("a@b", "here")) == 0, "who signs in often is no guesser"
        tries.failed(Source("a@b", "here"))
        tries.succeeded(Source("a@b", "here"))


def test_a_browser_that_somebody_used_before_has_tries_of_its_own() -> None:
    tries = Tries(lambda: 0.0)
    mine = Source("a@b", "here", "a browser")
    for n in range(BY_ADDRESS):
        tries.failed(Source("a@b" if n < BY_EMAIL else f"{n}@x", "here"))
    assert tries.wait(Source("a@b", "here")) == WINDOW
    assert tries.wait(mine) == 0
    for _ in range(BY_EMAIL):
        tries.failed(mine)
    assert tries.wait(mine) == WINDOW, "it may be a thief's"


def test_the_log_is_read_once_and_then_only_what_is_new(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            workspace.warm(row)
            for text in ("one", "two"):
                begun = await workspace.conversation(user, row.id)
                await workspace.submit(user, begun, Submission(text))
                await until(workspace, row, begun.last_seq, TurnEnded)
            cleared = [Stamped(1, ContextCleared())]
            await asyncio.wrap_future(workspace._log.write(row.id, 2, cleared))  # pyright: ignore[reportPrivateUsage] - what another door would add
            await workspace.submit(user, await workspace.conversation(user, row.id), Submission("three"))
            await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - the end of all that is behind
            said = [[m.parts[-1].text for m in r.messages if isinstance(m, UserMessage)] for r in wire.requests]  # type: ignore[union-attr]
            assert said == [["one"], ["one", "two"], ["three"]]

    asyncio.run(story())
