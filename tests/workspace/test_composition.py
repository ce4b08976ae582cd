import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.events import ContextMeasured, WireAnswer, WireEvent
from maia.core.messages import AssistantMessage, TextPart, UserMessage
from maia.core.requests import ModelRequest
from maia.core.runtime import ProgramTask
from maia.core.submission import Attachment
from maia.database import compositions
from maia.database.compositions import MemoryDelivery
from maia.database.ids import now_ms
from maia.database.providers import ModelRow
from maia.database.tables.memory import CONTEXT_DAYS
from maia.engine.setup import Bound
from maia.privacy.destination import Destination
from maia.privacy.sent import Sent
from maia.workspace.changing import Asked
from maia.workspace.choosing import Change
from maia.workspace.composition import Tape, is_measured, tokens_of, window_of
from maia.workspace.models.catalogue import Pair
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedSupply, PlayedWire, workspace_on
from tests.workspace.test_approvals import POKE, CallingWire, Poke, Program, database_of, turn, with_poke

ELSEWHERE = Destination("endpoint", "https://api.example.org")


class MeasuringWire(PlayedWire):
    """Reports how large the prompt was."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        message = AssistantMessage((TextPart("Yes."),), "m", "played")
        yield WireAnswer(message, "end", "stop", usage=Usage(input=900, output=20, cache_read=100))


async def measured_of(workspace: Workspace, row: Any) -> list[ContextMeasured]:
    page = await workspace.page(row, 50)
    return [each.event for each in page.logged if isinstance(each.event, ContextMeasured)]


def test_a_turn_keeps_what_its_last_call_received_and_no_more(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(CallingWire(POKE))
        bench = with_poke(models, Poke())
        async with workspace_on(database_url, tmp_path, models, bench=bench) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row, "First \x00 question")
            await turn(workspace, user, row, "Second question")
            found = await workspace.composition(row, 2)
            assert found is not None
            assert [(each.zone, each.name) for each in found.sections] == [
                ("system", "tools"),
                ("conversation", "history"),
                ("turn", "turn-time"),
                ("turn", "message"),
            ]
            _, history, clock, message = found.sections
            assert clock.text.startswith("Current date and time: ")
            assert "First \ufffd question" in history.text
            assert (history.privacy, message.privacy) == ("local", None)
            assert "Second question" not in history.text
            assert message.text.startswith("user:\nSecond question"), "per turn, never cumulative"
            assert "tool Poke:" in message.text, "the last call, after its tool"
            assert (found.tokens, found.tokens_source) == (sum(each.tokens for each in found.sections), "estimated")
            assert await workspace.composed(row) == [2, 1]

    asyncio.run(story())


def test_what_the_provider_reports_wins_and_what_it_does_not_is_estimated(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(MeasuringWire([]))
        async with workspace_on(database_url, tmp_path, models) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            assert await measured_of(workspace, row) == [ContextMeasured(1000, None, "measured")]
            models.wire = PlayedWire(["Yes."])
            await turn(workspace, user, row)
            (_, estimate) = await measured_of(workspace, row)
            assert estimate.source == "estimated"
            found = await workspace.composition(row, 2)
            assert found is not None
            assert found.tokens == estimate.tokens

    asyncio.run(story())


@pytest.mark.parametrize(
    ("provider", "is_program", "measured"),
    [
        pytest.param("ollama", False, False, id="Ollama leaves out its cache"),
        pytest.param("kimi", False, True, id="Kimi by its interface"),
        pytest.param("kimi", True, False, id="Kimi Code sums its steps"),
        pytest.param("grok", True, False, id="Grok sums its steps"),
        pytest.param("claude-code", True, True, id="Claude Code"),
    ],
)
def test_some_providers_are_always_estimated(provider: str, is_program: bool, measured: bool) -> None:
    wire, program = (None, Program()) if is_program else (PlayedWire([]), None)
    assert is_measured(Bound("m", provider, wire, "default", runtime=program)) is measured


def test_what_was_masked_stands_as_it_was_sent_with_its_types(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Noted."]))
        async with workspace_on(database_url, tmp_path, models, ELSEWHERE) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row, "Write to lea@example.org")
            await turn(workspace, user, row, "And now?")
            found = await workspace.composition(row, 2)
            assert found is not None
            _, history, _, message = found.sections
            assert "lea@example.org" in history.text
            assert history.sent is not None
            assert "[EMAIL]" in history.sent
            assert "lea@example.org" not in history.sent
            assert (history.privacy, history.masked, history.masked_types) == ("masked", 1, {"email": 1})
            assert (message.privacy, message.sent) == (None, None)
            assert found.policy.startswith("regex@")
            sent = "".join(part.text for part in models.wire.requests[-1].messages[0].parts)  # type: ignore[union-attr]
            assert sent in history.sent, "exactly what the wire got"

    asyncio.run(story())


def test_what_is_older_than_it_is_kept_is_forgotten(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire(["Yes."]))) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            write = database_of(workspace).write
            assert await write(lambda c: compositions.purge_compositions(c, now_ms() - 60_000)) == 0
            assert await write(lambda c: compositions.purge_compositions(c, now_ms() + 1)) == 1
            assert await workspace.composition(row, 1) is None
            left = await database_of(workspace).read(
                lambda c: [tuple(each) for each in c.execute(CONTEXT_DAYS.select())]
            )
            day = datetime.now(UTC).date().isoformat()
            assert left == [(day, "played", 1, 0, 0, 0, 0, 0, 0)], "only sums of the day remain (N-18.04)"
            sums = {"turns": 2, "with_memory": 1, "memory_tokens": 90}
            await write(lambda c: compositions.add_to_day(c, day, "played", sums))
            left = await database_of(workspace).read(
                lambda c: [tuple(each) for each in c.execute(CONTEXT_DAYS.select())]
            )
            assert left == [(day, "played", 3, 1, 0, 0, 90, 0, 0)]
            assert (await workspace.messages(row, 5))[1].text == "Yes.", "the conversation stays"

    asyncio.run(story())


def test_what_reached_each_provider_is_told_of_whole_turns_and_of_sums(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire(["Yes."]))) as (workspace, user):
            assert await workspace.memory_delivery(90) == []
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            await workspace.memories.add(user.id, "Dates are ISO 8601", is_standing=True)
            row = await workspace.conversation(user, row.id)
            await turn(workspace, user, row)
            kept = await workspace.composition(row, 2)
            assert kept is not None
            tokens = kept.memory["recall"]["tokens"]
            only = MemoryDelivery("played", 2, 1, 1.0, float(tokens), 0.0)
            assert await workspace.memory_delivery(1) == [only]
            write, now = database_of(workspace).write, datetime.now(UTC).date()
            for age, turns in ((0, 1), (6, 2), (29, 4), (89, 8), (90, 100)):
                day = (now - timedelta(days=age)).isoformat()
                sums = {"turns": turns, "lookups": 3 * turns}
                await write(lambda c, day=day, sums=sums: compositions.add_to_day(c, day, "other", sums))
            found = {days: list(await workspace.memory_delivery(days)) for days in (1, 7, 30, 90)}
            assert found == {
                1: [only, MemoryDelivery("other", 1, 0, None, None, 3.0)],
                7: [MemoryDelivery("other", 3, 0, None, None, 3.0), only],
                30: [MemoryDelivery("other", 7, 0, None, None, 3.0), only],
                90: [MemoryDelivery("other", 15, 0, None, None, 3.0), only],
            }
            await write(lambda c: compositions.purge_compositions(c, now_ms() + 1))
            assert (await workspace.memory_delivery(7))[1] == only, "forgetting the turns changes no sum"

    asyncio.run(story())


def test_after_a_change_of_model_its_own_window_counts_at_once(database_url: str, tmp_path: Path) -> None:
    class Two(PlayedSupply):
        async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
            return [ModelRow(provider_id, "m", "m", window=8_000), ModelRow(provider_id, "n", "n", window=64_000)]

    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        async with workspace_on(database_url, tmp_path, models, supply=Two(models)) as (workspace, user):
            await workspace.models.known()
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            before = await workspace.cards.card(user, await workspace.conversation(user, row.id))
            assert (before.context_window, before.context_source) == (8_000, "estimated")
            change = Asked(choice=Change(pair=Pair("played", "n")))
            await workspace.changing.change(user, await workspace.conversation(user, row.id), change)
            after = await workspace.cards.card(user, await workspace.conversation(user, row.id))
            assert (after.context_window, after.context_source) == (64_000, "estimated"), (
                "an estimate until the next turn"
            )
            assert after.context_tokens == before.context_tokens
            found = await workspace.composition(row, 1)
            assert found is not None
            assert found.window == 8_000, "what was is not rewritten"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("provider", "is_program"),
    [
        pytest.param(name, is_program, id=name)
        for is_program, named in (
            (False, ("anthropic", "zai-anthropic", "openai", "openrouter", "kimi", "lmstudio", "gemini")),
            (True, ("claude-code",)),
        )
        for name in named
    ],
)
def test_these_providers_give_a_measured_value(provider: str, is_program: bool) -> None:
    wire, program = (None, Program()) if is_program else (PlayedWire([]), None)
    assert is_measured(Bound("m", provider, wire, "default", runtime=program))


def test_masked_results_are_told_of_memory_tools_alone() -> None:
    tape = Tape()
    tape.outside(ModelRequest("m", (), (UserMessage((TextPart("Go"),)),)))
    tape.mask(Sent("p", "regex@2/policy@1", False, tools=(("Bash", 4), ("MemorySearch", 2), ("search_memory", 1))))
    made = tape.composition("c", 1, "p", "m")
    assert made is not None
    assert made.memory["maskedResults"] == {"MemorySearch": 2, "search_memory": 1}


def test_files_stand_apart_also_where_a_reminder_joined_the_message() -> None:
    tape = Tape(files=(Attachment("file", "a.txt", "content"),))
    asked = (TextPart("the file"), TextPart("Go"))
    tape.outside(ModelRequest("m", (), (UserMessage(asked),)))
    reminded = UserMessage((*asked, TextPart("Your call was cut"), TextPart("And again")))
    tape.outside(ModelRequest("m", (), (reminded,)))
    made = tape.composition("c", 1, "p", "m")
    assert made is not None
    assert [(each.name, each.text) for each in made.sections] == [
        ("attachment", "the file"),
        ("message", "user:\nGo\nYour call was cut\nAnd again"),
    ]


def test_a_program_receives_its_instructions_the_history_and_the_message() -> None:
    tape = Tape()
    task = ProgramTask("Go", Path("/"), 0, (UserMessage((TextPart("Before"),)),), "Be brief")
    tape.outside(task)
    made = tape.composition("c", 1, "claude", "sonnet")
    assert made is not None
    assert [(each.name, each.text) for each in made.sections] == [
        ("instructions", "Be brief"),
        ("history", "user:\nBefore"),
        ("message", "Go"),
    ]
    assert tokens_of("Be brief") == 2


def test_a_turn_that_asked_nobody_has_none() -> None:
    assert (Tape().composition("c", 1, "p", "m"), Tape().context()) == (None, None)


@pytest.mark.parametrize(
    ("listed", "provider", "window"),
    [
        pytest.param(1_000_000, "claude-code", 1_000_000, id="what is listed wins"),
        pytest.param(None, "claude-code", 200_000, id="a program's usual one"),
        pytest.param(None, "mine", None, id="nobody knows"),
    ],
)
def test_the_window_is_the_listed_one(listed: int | None, provider: str, window: int | None) -> None:
    assert window_of(ModelRow("p", "m", "m", window=listed), provider) == window
    assert window_of(None, provider) == (window if listed is None else 200_000)
