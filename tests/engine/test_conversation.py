"""A session from its first event to its last: kept, resumed, renamed, cleared, stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from maia.core.costs import Cost, Usage
from maia.core.errors import NotConfigured, SessionProblem
from maia.core.events import (
    ContextMeasured,
    Event,
    ModelChanged,
    Notice,
    PendingAdded,
    SessionRenamed,
    SessionStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    UserSaid,
)
from maia.core.messages import TextPart, ToolMessage, UserMessage
from maia.core.requests import Section
from maia.core.results import ToolResult
from maia.core.submission import Attachment, Submission
from maia.engine.attached import attachment_text
from maia.engine.context import Assembler, Window, view_context
from maia.engine.transcript import INTERRUPTED, Transcript
from maia.engine.views import ModelCost
from maia.store.journal import read_records
from maia.store.sessions import Sessions
from tests.engine.doubles import (
    FakeModels,
    FakeTool,
    FakeWire,
    call,
    call_answer,
    conversation,
    counting,
    play,
    text_answer,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def read(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def files(folder: Path) -> list[str]:
    return [info.name for info in Sessions(folder / ".maia" / ".sessions").list()]


async def test_a_session_without_a_request_leaves_no_file(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire())
    await read(talk.open())
    await talk.close()
    assert files(tmp_path) == []


async def test_every_event_is_in_the_file_before_it_is_shown(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(text_answer("Hello.")))
    opening = await read(talk.open())
    path = tmp_path / ".maia" / ".sessions" / f"{talk.name}.jsonl"
    kept: list[Event] = []
    async for event in talk.turn(Submission("hi")):
        kept.append(event)
        if not isinstance(event, TextDelta):
            assert event in [record.event for record in read_records(path).records]
    await talk.close()
    assert [record.event for record in read_records(path).records] == [*opening, *kept]
    assert isinstance(opening[0], SessionStarted)


async def test_a_resumed_session_shows_its_events_and_sends_the_same_history(tmp_path: Path) -> None:
    first = conversation(tmp_path, FakeWire(call_answer(call("T")), text_answer("done")), FakeTool("T"))
    await read(first.open())
    await play(first, "go")
    name, messages = first.name, first.transcript.messages()
    await first.close()
    wire = FakeWire(text_answer("more"))
    models = FakeModels(wire)
    again = conversation(tmp_path, wire, FakeTool("T"), resume=name, models=models)
    shown = await read(again.open())
    assert models.resumed == "fake/m1"
    assert UserSaid("go") in shown
    assert again.transcript.messages() == messages
    await play(again, "and?")
    assert wire.requests[0].messages == (*messages, UserMessage((TextPart("and?"),)))
    assert files(tmp_path) == [name]
    await again.close()


async def test_a_resumed_session_still_knows_the_files_that_were_read_written_or_joined(tmp_path: Path) -> None:
    reading = FakeTool("Read", lambda *_: ToolResult("1\talpha", data={"path": "/p/read.txt", "digest": "d1"}))
    wire = FakeWire(call_answer(call("Read"), call("Fails", "c2")), text_answer("ok"))
    failing = FakeTool("Fails", lambda *_: ToolResult("no", True, data={"path": "/p/no.txt", "digest": "d3"}))
    talk = conversation(tmp_path, wire, reading, failing)
    await read(talk.open())
    name = talk.name
    await read(talk.turn(Submission("go", (Attachment("file", "a", "text", path="/p/joined.txt", digest="d2"),))))
    await talk.close()
    known: list[tuple[str, str, str]] = []
    again = conversation(tmp_path, FakeWire(), resume=name, seen=lambda *values: known.append(values))
    await read(again.open())
    assert known == [(name, "/p/joined.txt", "d2"), (name, "/p/read.txt", "d1")]
    await again.close()


async def test_a_turn_that_a_crash_cut_resumes_with_whole_history(tmp_path: Path) -> None:
    async def work(_args, _hands):
        await asyncio.sleep(5)

    talk = conversation(tmp_path, FakeWire(call_answer(call("T"), text="Let me see.")), FakeTool("T", work))
    await read(talk.open())
    path = tmp_path / ".maia" / ".sessions" / f"{talk.name}.jsonl"
    copied = b""
    async for event in talk.turn(Submission("go")):
        if isinstance(event, ToolCallStarted):
            copied = path.read_bytes()  # what a kill -9 at this moment leaves
            talk.stop()
    await talk.close()
    (path.parent / "crashed.jsonl").write_bytes(copied + b'{"v":1,"n":9,"at":"x","ev')
    wire = FakeWire(text_answer("I see."))
    again = conversation(tmp_path, wire, FakeTool("T"), resume="crashed")
    shown = await read(again.open())
    assert Notice("warn", "session.skipped", {"n": 1}) in shown
    await play(again, "go on")
    kinds = [type(message).__name__ for message in wire.requests[0].messages]
    assert kinds == ["UserMessage", "AssistantMessage", "ToolMessage", "UserMessage"]
    result = wire.requests[0].messages[2]
    assert isinstance(result, ToolMessage)
    assert result.results[0].text == INTERRUPTED
    await again.close()


async def test_text_that_was_streaming_at_a_crash_is_kept(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire([TextDelta("half "), 0.3, TextDelta("more"), 5.0]))
    await read(talk.open())
    path = tmp_path / ".maia" / ".sessions" / f"{talk.name}.jsonl"
    seen = 0
    copied = b""
    async for event in talk.turn(Submission("go")):
        seen += isinstance(event, TextDelta)
        if seen == 2:
            copied = path.read_bytes()
            talk.stop()
            seen += 1
    await talk.close()
    (path.parent / "crashed.jsonl").write_bytes(copied)
    again = Transcript.of(record.event for record in read_records(path.parent / "crashed.jsonl").records)
    assert again.messages()[-1].parts == (TextPart("half "),)


async def test_clear_forgets_the_messages_but_not_the_file(tmp_path: Path) -> None:
    wire = FakeWire(text_answer("one"), text_answer("two"))
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    await play(talk, "first")
    await read(talk.clear())
    await play(talk, "second")
    assert wire.requests[1].messages == (UserMessage((TextPart("second"),)),)
    events = [record.event for record in Sessions(tmp_path / ".maia" / ".sessions").load(talk.name).records]
    assert [event.text for event in events if isinstance(event, UserSaid)] == ["first", "second"]
    await talk.close()


async def test_new_begins_another_session_and_says_where_the_old_one_is(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(text_answer("one"), text_answer("two")))
    await read(talk.open())
    await play(talk, "first")
    left = talk.name
    events = await read(talk.new())
    assert Notice("info", "session.left", {"name": left}) in events
    await play(talk, "second")
    assert talk.name != left
    assert sorted(files(tmp_path)) == sorted([left, talk.name])
    await talk.close()


async def test_load_goes_on_in_the_loaded_session(tmp_path: Path) -> None:
    wire = FakeWire(text_answer("one"), text_answer("two"), text_answer("three"))
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    await play(talk, "first")
    left = talk.name
    await read(talk.new())
    await play(talk, "second")
    shown = await read(talk.load(left))
    assert UserSaid("first") in shown
    assert talk.name == left
    await play(talk, "third")
    assert [part.text for m in wire.requests[2].messages if isinstance(m, UserMessage) for part in m.parts] == [
        "first",
        "third",
    ]
    await talk.close()


async def test_an_unknown_session_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(text_answer("one"), text_answer("two")))
    await read(talk.open())
    await play(talk, "first")
    name = talk.name
    with pytest.raises(SessionProblem):
        await read(talk.load("nowhere"))
    assert talk.name == name
    await play(talk, "second")
    await talk.close()


async def test_a_rename_holds_before_and_after_the_first_request(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(text_answer("one"), text_answer("two")))
    await read(talk.open())
    assert talk.rename("early") == SessionRenamed("early")
    await play(talk, "first")
    assert files(tmp_path) == ["early"]
    talk.rename("late")
    await play(talk, "second")
    assert files(tmp_path) == ["late"]
    assert (
        len([r for r in Sessions(tmp_path / ".maia/.sessions").load("late").records if isinstance(r.event, UserSaid)])
        == 2
    )
    await talk.close()


async def test_a_name_that_is_taken_is_refused_before_the_first_request_too(tmp_path: Path) -> None:
    Sessions(tmp_path / ".maia/.sessions").create_named("taken").close()
    talk = conversation(tmp_path, FakeWire(text_answer("one")))
    await read(talk.open())
    with pytest.raises(SessionProblem) as problem:
        talk.rename("taken")
    assert problem.value.key == "session.exists"
    await play(talk, "first")
    assert files(tmp_path) == sorted([talk.name, "taken"])
    await talk.close()


async def test_a_command_of_the_person_goes_with_the_next_request_once(tmp_path: Path) -> None:
    wire = FakeWire(text_answer("one"), text_answer("two"))
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    events = await read(talk.shell("echo hi"))
    assert [type(event).__name__ for event in events] == [
        "ToolCallStarted",
        "ToolOutput",
        "ToolCallFinished",
        "PendingAdded",
    ]
    assert PendingAdded(Attachment("command", "echo hi", "hi\n")) in events
    await play(talk, "what did it say?")
    first = wire.requests[0].messages[0]
    assert isinstance(first, UserMessage)
    assert "echo hi" in first.parts[0].text
    assert "hi\n" in first.parts[0].text
    await play(talk, "again")
    assert len(wire.requests[1].messages[2].parts) == 1
    await talk.close()


async def test_clear_drops_the_result_of_a_command(tmp_path: Path) -> None:
    wire = FakeWire(text_answer("one"))
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    await read(talk.shell("echo hi"))
    await read(talk.clear())
    await play(talk, "so?")
    assert wire.requests[0].messages == (UserMessage((TextPart("so?"),)),)
    await talk.close()


async def test_another_model_answers_after_the_change(tmp_path: Path) -> None:
    wire = FakeWire(text_answer("one"))
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    assert ModelChanged("m2", "fake", "command") in await read(talk.set_model("m2"))
    await play(talk, "hi")
    assert wire.requests[0].model == "m2"
    await talk.close()


async def test_the_model_that_answers_is_marked_in_the_list(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire())
    assert not any(choice.current for choice in await talk.models())
    await read(talk.open())
    assert [choice.current for choice in await talk.models()] == [True, False, False]
    await read(talk.set_model("m2"))
    assert [choice.current for choice in await talk.models()] == [False, False, True]
    await talk.close()


async def test_a_request_without_a_model_is_a_clear_error(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(text_answer("ok")))
    models = talk._setup.models
    assert isinstance(models, FakeModels)
    models.there = False
    await read(talk.open())
    with pytest.raises(NotConfigured):
        await read(talk.turn(Submission("hi")))
    models.there = True
    events = await read(talk.turn(Submission("hi again")))
    assert isinstance(last := events[-1], TurnEnded)
    assert last.outcome == "finished", "its server may be there by now"
    await talk.close()


async def test_the_window_comes_as_news_with_the_count(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(), tally=counting())
    await read(talk.open())
    news = talk.news()
    assert await anext(news) == Notice("info", "models.window", {})
    assert await anext(news) == ContextMeasured(0, 200_000)
    await talk.close()
    assert [event async for event in news] == []


async def test_a_window_is_asked_for_and_told_once_a_model_and_run(tmp_path: Path) -> None:
    models = FakeModels(FakeWire())
    talk = conversation(tmp_path, FakeWire(), tally=counting(), models=models)
    await read(talk.open())
    news = talk.news()
    told: list[str] = []
    for name in ("m1", "m2", "m1", "m2"):
        if name != talk.model:
            await read(talk.set_model(name))
        event = await anext(news)
        if isinstance(event, Notice):
            told.append(name)
            event = await anext(news)
        assert isinstance(event, ContextMeasured)
        assert event.window == 200_000
    assert (models.windows_asked, told) == (["m1", "m2"], ["m1", "m2"])
    await talk.close()


async def test_a_stop_when_nothing_runs_gives_up_the_search_for_the_window(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(text_answer("still here")), tally=counting(), window_after=60)
    await read(talk.open())
    await asyncio.sleep(0)
    talk.stop()
    assert await anext(talk.news()) == Notice("warn", "turn.window_given_up", {"model": "m1"})
    await play(talk, "hi")
    await talk.close()


async def test_what_waits_and_what_is_typed_count_too(tmp_path: Path) -> None:
    talk = conversation(tmp_path, FakeWire(), tally=counting())
    await read(talk.open())
    empty = await talk.measure()
    await read(talk.shell("echo hi"))
    waiting = await talk.measure()
    draft = await talk.measure(Submission("some words"))
    assert empty.tokens < waiting.tokens < draft.tokens
    parts = {part.key: part.count for part in (await talk.context()).parts}
    assert parts == {"system": 0, "tools": 0, "messages": 0, "pending": 1}
    await talk.close()


async def test_the_context_is_the_sum_of_its_parts() -> None:
    tool, section = FakeTool("T"), Section("maia", "who you are", "maia")
    messages = (UserMessage((TextPart("hi"),)),)
    pending = Attachment("file", "a.txt", "alpha\n")
    assembler = Assembler((section,), {"T": tool})
    view = view_context(assembler, messages, [pending], Submission("draft"), Window(1_000, "setting"), counting())
    counted = {part.key: part.tokens for part in view.parts}
    waiting = UserMessage((TextPart(attachment_text(pending)), TextPart("draft")))
    assert counted == {
        "system": len(section.text),
        "tools": len(tool.spec.description),
        "messages": len(repr(messages[0])),
        "pending": len(repr(waiting)),
    }
    assert view.tokens == sum(counted.values())


async def test_costs_are_kept_by_model(tmp_path: Path) -> None:
    wire = FakeWire(text_answer("a", cost_usd=0.25), text_answer("b", usage=None))
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    await play(talk, "1")
    await play(talk, "2")
    assert talk.cost() == [ModelCost("m1", Usage(10, 2), Cost(0.25, "estimated"))]
    await talk.close()


async def test_a_session_that_cannot_be_written_goes_on_in_memory(tmp_path: Path) -> None:
    (tmp_path / ".maia").write_text("in the way")
    talk = conversation(tmp_path, FakeWire(text_answer("one"), text_answer("two")))
    await read(talk.open())
    events = await play(talk, "first")
    assert [event.key for event in events if isinstance(event, Notice)] == ["session.unwritable"]
    await play(talk, "second")
    assert len(talk.transcript.messages()) == 4
    await talk.close()


async def test_an_iterator_closed_early_stops_the_turn(tmp_path: Path) -> None:
    wire = FakeWire([TextDelta("a"), 5.0])
    talk = conversation(tmp_path, wire)
    await read(talk.open())
    events = talk.turn(Submission("go"))
    async for event in events:
        if isinstance(event, TextDelta):
            break
    await events.aclose()
    assert wire.closed == 1
    assert talk.transcript.messages()[-1].parts == (TextPart("a"),)
    await talk.close()


async def test_export_writes_markdown_and_never_over_a_file(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T")), text_answer("Here:\n```\ncode\n```"))
    talk = conversation(tmp_path, wire, FakeTool("T", lambda *_: "```\nfenced\n```"))
    await read(talk.open())
    await play(talk, "go")
    path = talk.export("")
    text = path.read_text("utf-8")
    assert "## User\n\ngo" in text
    assert "````\n```\nfenced\n```\n````" in text
    assert talk.export("").name != path.name
    for refused in (path.name, "~no-such-user/talk.md", "a\0b", "a\ud800", str(tmp_path)):
        with pytest.raises(SessionProblem):
            talk.export(refused)
    await talk.close()


async def test_live_and_loaded_transcripts_are_the_same(tmp_path: Path) -> None:
    calls = [call("T", f"c{n}") for n in range(3)]
    wire = FakeWire(call_answer(*calls, text="Look."), text_answer("ok"), [TextDelta("cut"), 5.0], text_answer("end"))
    talk = conversation(tmp_path, wire, FakeTool("T"))
    await read(talk.open())
    await play(talk, "one")
    await play(talk, "two", stop_at=lambda event: isinstance(event, TextDelta))
    await read(talk.shell("x"))
    await play(talk, "three")
    loaded = Transcript.of(r.event for r in Sessions(tmp_path / ".maia/.sessions").load(talk.name).records)
    assert loaded.messages() == talk.transcript.messages()
    assert (loaded.turn, loaded.model, loaded.pending, loaded.spent) == (
        talk.transcript.turn,
        talk.transcript.model,
        talk.transcript.pending,
        talk.transcript.spent,
    )
    assert any(
        isinstance(r.event, ToolCallFinished) for r in Sessions(tmp_path / ".maia/.sessions").load(talk.name).records
    )
    await talk.close()
