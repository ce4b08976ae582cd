import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure, Outcome
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    CallDecided,
    CallQueued,
    ContextMeasured,
    Event,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    StepStarted,
    SubConversationChanged,
    SubConversationStarted,
    TextDelta,
    ToolCallDrafted,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.permission import Answer, Decision, Verdict
from maia.core.reason import Reason
from maia.core.results import DiffBlock, ToolStatus
from maia.core.told import inner
from maia.engine.schedule import INTERRUPTED
from maia.folders.searches import WORDS
from maia.i18n.catalogue import Catalogue
from maia.web.drawing.diff import MOST_LINES, file_diff
from maia.web.drawing.folding import LONGEST_OUTPUT, SEARCHES, TurnFold, fold
from maia.web.drawing.markdown import Splitter, blocks_of, html_of
from maia.web.drawing.names import COMMON
from maia.web.drawing.progress import Progress, progress_of
from maia.web.drawing.render import Reader, blocks
from maia.web.drawing.view import Trace, TurnView, Words, Working
from maia.web.drawing.words import CALLS, FAILED, OUTCOMES, STATUSES, Speaker, near, state_of
from maia.workspace.records import Logged
from maia.workspace.recovery import endings


def logged(*events: Event) -> list[Logged]:
    return [Logged(n, n * 1000, 1, event) for n, event in enumerate(events, 1)]


def seen(*events: Event) -> TurnView:
    return fold(logged(TurnStarted(1, "m", "p"), UserSaid("Hello"), *events))[0].view()


def call(call_id: str = "c1", name: str = "Bash") -> ToolCallPart:
    return ToolCallPart(call_id, name, {"command": "make"})


def answered(*parts: Any) -> Answered:
    return Answered(AssistantMessage(parts, "m", "p"), "end", "", None, Cost())


ENDED = TurnEnded("finished", "end", "stop", None, Cost(), "m", "p", 1, 0, 0)


@pytest.mark.parametrize("status", ["succeeded", "failed", "refused", "skipped", "unknown"])
def test_a_row_has_the_state_that_the_tool_reported(status: ToolStatus) -> None:
    view = seen(
        answered(call()), ToolCallStarted("c1", "Bash", {}, "make"), ToolCallFinished("c1", "Bash", status, "x")
    )
    (trace,) = view.items
    assert isinstance(trace, Trace)
    assert trace.calls[0].state == status
    assert (CALLS[trace.calls[0].state].tone == "success") is (status == "succeeded"), "R-2.188"


RULE = Reason("turn.refused_by_rule", {"tool": "Bash", "reason": inner(Reason("perm.neutral"))})


@pytest.mark.parametrize(
    ("done", "key", "printed"),
    [
        pytest.param(ToolCallFinished("c1", "Bash", "refused", "x", words=RULE), "", "", id="a rule"),
        pytest.param(
            ToolCallFinished("c1", "Bash", "unknown", "made\n[interrompu]", words=INTERRUPTED),
            INTERRUPTED.key,
            "made",
            id="stopped",
        ),
    ],
)
def test_why_a_call_has_no_result_is_told_in_the_language_of_who_reads(
    done: ToolCallFinished, key: str, printed: str, say: Catalogue
) -> None:
    trace = seen(answered(call()), done).items[0]
    assert isinstance(trace, Trace)
    row = trace.calls[0]
    assert row.told is not None
    words = say(key) if key else say("turn.refused_by_rule", tool="Bash", reason=say("perm.neutral"))
    assert (Speaker(say, say.lang).reason(row.told), row.output) == (words, printed)


def test_a_call_that_a_killed_server_left_open_has_no_duration_and_a_reason_that_is_read(
    say: Catalogue,
) -> None:
    begun = [TurnStarted(1, "m", "p"), UserSaid("Hello"), answered(call()), ToolCallStarted("c1", "Bash", {}, "make")]
    missing, ended = endings(1, UserSaid("Hello"), "m", "p", begun)
    trace = fold(logged(*begun, *missing, ended))[0].view().items[0]
    assert isinstance(trace, Trace)
    row = trace.calls[0]
    assert (row.state, row.seconds, row.output, row.told) == ("unknown", None, "", Reason("turn.call_lost"))
    html = Reader(say, say.lang).pieces("rows.html").call_row(row, row.id)
    assert "<time>—</time>" in html
    assert escape(say("turn.call_lost")) in html


def test_a_row_is_open_until_its_tool_reports_and_unknown_when_the_turn_ends_before() -> None:
    events = (answered(call("a"), call("b")), ToolCallStarted("a", "Bash", {}))
    trace = seen(*events).items[0]
    assert isinstance(trace, Trace)
    assert [each.state for each in trace.calls] == ["running", "running"]
    after = seen(*events, ToolCallFinished("a", "Bash", "succeeded", "ok"), ENDED).items[0]
    assert isinstance(after, Trace)
    assert [each.state for each in after.calls] == ["succeeded", "unknown"]


def test_a_call_that_waits_for_a_person_says_so() -> None:
    asked = ApprovalRequested("a1", "c1", "Bash", {}, (), Decision(Verdict.ASK, Reason("x")), None, "make")
    trace = seen(answered(call()), asked).items[0]
    assert isinstance(trace, Trace)
    assert (trace.calls[0].state, trace.calls[0].preview) == ("approval", "make")
    over = seen(
        answered(call()),
        asked,
        ApprovalAnswered("a1", Answer("no"), "headless"),
        ToolCallFinished("c1", "Bash", "refused", "why"),
    ).items[0]
    assert isinstance(over, Trace)
    assert (over.calls[0].state, over.calls[0].output) == ("refused", "why")


def test_a_search_that_was_too_broad_says_why_in_its_row() -> None:
    done = ToolCallFinished("c1", "Bash", "refused", "why", data={"search": "other-workspace"})
    trace = seen(answered(call()), done).items[0]
    assert isinstance(trace, Trace)
    assert (trace.calls[0].state, trace.calls[0].why) == ("refused", "web.search.other_workspace")
    strange = seen(answered(call()), replace(done, data={"search": "<b>"})).items[0]
    assert isinstance(strange, Trace)
    assert strange.calls[0].why == ""
    assert {key.rpartition(".")[2] for key in SEARCHES.values()} == {"unknown"} | {
        key.rpartition(".")[2] for key in WORDS.values()
    }


def test_a_very_long_output_is_cut_and_marked() -> None:
    trace = seen(answered(call()), ToolCallFinished("c1", "Bash", "succeeded", "x" * 100_000)).items[0]
    assert isinstance(trace, Trace)
    row = trace.calls[0]
    assert LONGEST_OUTPUT - 10 < len(row.output) <= LONGEST_OUTPUT
    assert row.cut_chars > 0


def test_words_and_calls_keep_their_order_and_their_ids() -> None:
    view = seen(
        TextDelta("One"),
        answered(TextPart("One"), call("a"), call("b")),
        ToolCallFinished("a", "Bash", "succeeded", ""),
        ToolCallFinished("b", "Bash", "succeeded", ""),
        answered(call("c")),
        ToolCallFinished("c", "Bash", "succeeded", ""),
        TextDelta("Two"),
    )
    assert [item.id for item in view.items] == ["t1-i1", "t1-i2", "t1-i3"]
    words, trace, last = view.items
    assert words == Words("t1-i1", "One", is_open=False)
    assert isinstance(trace, Trace)
    assert [each.id for each in trace.calls] == ["t1-c1", "t1-c2", "t1-c3"]
    assert last == Words("t1-i3", "Two", is_open=True)


WORKING = [
    pytest.param((), Working("asking"), id="nothing yet"),
    pytest.param((ReasoningDelta("abc"), ReasoningDelta("de")), Working("thinking", n=5), id="thinking, with a count"),
    pytest.param((TextDelta("a"),), Working("writing"), id="writing"),
    pytest.param((ToolCallDrafted(0, "Write", 120),), Working("drafting", 120, 0, "Write"), id="a call is written"),
    pytest.param((answered(call()),), Working("tools", 0, 1, "Bash"), id="tools run"),
    pytest.param((RetryScheduled(2, 3.6, Failure("overloaded")),), Working("retry", 4, 2), id="tried again"),
    pytest.param((TextDelta("a"), answered(TextPart("a")), StepStarted(2)), Working("asking"), id="the next step"),
    pytest.param((ENDED,), None, id="over"),
]


@pytest.mark.parametrize(("events", "working"), WORKING)
def test_what_a_turn_does_is_said(events: tuple[Event, ...], working: Working | None, say: Catalogue) -> None:
    view = seen(*events)
    assert view.working == working
    if working is not None:
        assert Speaker(say, say.lang).working(working, "p")


PIECES = st.lists(
    st.sampled_from(
        [
            TextDelta("some *words*\n\n"),
            ReasoningDelta("hm"),
            StepStarted(1),
            answered(TextPart("whole"), call("a")),
            answered(call("b", "Read")),
            ToolCallStarted("a", "Bash", {}),
            ToolOutput("a", "line\n"),
            ToolCallFinished("a", "Bash", "succeeded", "ok"),
            ToolCallFinished("zzz", "Bash", "failed", "of nobody"),
            Notice("info", "turn.circles"),
            ENDED,
        ]
    ),
    max_size=30,
)


@given(PIECES, st.integers(0, 30))
def test_reading_along_and_reading_later_give_the_same(events: list[Event], cut: int) -> None:
    whole = logged(TurnStarted(1, "m", "p"), UserSaid("Hello"), *events)
    along = TurnFold(1)
    for n, each in enumerate(whole):
        along.take(each)
        if n == cut:
            along.view()
    assert along.view() == fold(whole)[0].view()


def test_pieces_that_are_forgotten_when_a_turn_is_over_change_nothing_that_is_seen() -> None:
    events = (
        StepStarted(1),
        ReasoningDelta("hm"),
        TextDelta("On "),
        TextDelta("it."),
        ToolCallDrafted(0, "Bash", 10),
        answered(TextPart("On it."), call("a")),
        ToolCallStarted("a", "Bash", {}),
        ToolOutput("a", "line\n"),
        ToolCallFinished("a", "Bash", "succeeded", "line\n[exit 0]"),
        TextDelta("Done."),
        answered(TextPart("Done.")),
        ENDED,
    )
    pieces = (ReasoningDelta, TextDelta, ToolCallDrafted, ToolOutput)
    assert seen(*(event for event in events if not isinstance(event, pieces))) == seen(*events)


# Words ---------------------------------------------------------------------------------------------------------------


ASKS = Notice("warn", "delegate.asks", {"name": "Mole", "conversation": "below"})
HANDED = [
    pytest.param([], "pending", ASKS, id="it waits"),
    pytest.param(["running"], "running", "delegate.met", id="it goes on"),
    pytest.param(["running", "pending"], "pending", ASKS, id="it waits again"),
    pytest.param(["running", "succeeded"], "succeeded", "delegate.met", id="it is done"),
    pytest.param(["failed"], "failed", "delegate.met", id="it was refused what it needed"),
    pytest.param(["unknown"], "unknown", "delegate.met", id="it was deleted"),
]


@pytest.mark.parametrize(("became", "state", "notice"), HANDED)
@pytest.mark.parametrize("ends", [True, False], ids=["after the turn", "while the turn goes on"])
def test_a_call_whose_specialist_waits_for_a_person_is_no_success_until_it_is_done(
    became: list[Any], state: str, notice: Notice | str, *, ends: bool
) -> None:
    other = replace(ASKS, values={"name": "Owl", "conversation": "elsewhere"})
    view = seen(
        answered(call(name="run_specialist")),
        ToolCallStarted("c1", "run_specialist", {}),
        SubConversationStarted("c1", "below"),
        ASKS,
        other,
        ToolCallFinished("c1", "run_specialist", "pending", "It waits.", data={"delegated": {"outcome": "finished"}}),
        *([ENDED] if ends else []),
        *(SubConversationChanged("c1", "below", each) for each in became),
        *([] if ends else [ENDED]),
    )
    (row,) = [each for item in view.items if isinstance(item, Trace) for each in item.calls]
    assert (row.state, row.child) == (state, "below")
    assert view.notices == (Notice("info", notice, ASKS.values) if isinstance(notice, str) else notice, other)
    assert progress_of(view).waits == (state == "pending"), "no run has finished whose specialist waits"


def test_every_state_has_its_own_shape_and_words(say: Catalogue) -> None:
    for table in (CALLS, STATUSES):
        signs = list(table.values())
        assert len({sign.icon for sign in signs}) == len(signs)
        assert len({say(sign.key) for sign in signs}) == len(signs)
    assert [name for name, sign in OUTCOMES.items() if sign is None] == ["finished"]


COSTS = [
    pytest.param(Cost(0.2184, "reported"), "$0.2184", id="reported"),
    pytest.param(Cost(0.0612, "estimated"), "~$0.0612", id="estimated"),
    pytest.param(Cost(0.0000312, "estimated"), "~$0.000031", id="a tiny sum is no nought"),
    pytest.param(Cost(1234.5, "reported"), "$1,234.5000", id="a large one"),
    pytest.param(Cost(), "", id="unknown is never 0"),
]


@pytest.mark.parametrize(("cost", "shown"), COSTS)
def test_money_carries_its_source(cost: Cost, shown: str, say: Catalogue) -> None:
    assert Speaker(say, say.lang).cost(replace(ENDED, cost=cost)) == shown
    assert Speaker(say, say.lang).cost(replace(ENDED, cost=Cost(0.0, "reported"))) == say("budget.free")


def test_tokens_are_the_whole_prompt_or_words(say: Catalogue) -> None:
    speak = Speaker(say, say.lang)
    usage = Usage(input=100, output=30, cache_read=900, cache_write=200)
    assert speak.tokens(replace(ENDED, usage=usage)).startswith({"fr": "1\u202f200 ", "en": "1,200 "}[say.lang])
    assert speak.tokens(ENDED) == say("web.usage.unknown")


KINDS = [
    *("auth", "rate_limit", "overloaded", "timeout", "network", "cancelled", "rejected", "incomplete", "too_long"),
    *("not_llm", "not_configured", "other"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_failure_has_one_message_and_the_providers_words_are_details(kind: Any, say: Catalogue) -> None:
    outcome: Outcome = "failed"
    failure = Failure(kind, "host", 500, "E42", "their \x1b[31mwords")
    trouble = Speaker(say, say.lang).trouble(replace(ENDED, outcome=outcome, failure=failure), has_text=True)
    assert trouble is not None
    assert trouble.title
    assert "their" not in trouble.title + trouble.remedy
    assert trouble.details == "HTTP 500 · E42 · host · their ␛[31mwords"


SPECIFIC = [
    pytest.param(Failure("auth"), "auth", "/providers", id="a refused key"),
    pytest.param(Failure("not_configured"), "not_configured", "/providers", id="no model (R-2.223)"),
    pytest.param(
        Failure("auth", why=Reason("runtime.not_signed_in", {"program": "P", "keys": "K", "home": "/h"})),
        "not_signed_in",
        "/providers",
        id="a program that is not signed in (R-2.220)",
    ),
    pytest.param(Failure("not_configured", code="runtime.no_wall"), "no_wall", "/providers", id="no sandbox (R-2.221)"),
    pytest.param(Failure("not_configured", code="runtime.absent"), "absent", "/providers", id="not installed"),
    pytest.param(Failure("other", code="budget_stop"), "budget_stop", "/providers?tab=budget", id="the hard stop"),
    pytest.param(Failure("rate_limit"), "rate_limit", "", id="nothing to set"),
    pytest.param(Failure("incomplete", code="endless"), "endless", "", id="a flood"),
]


@pytest.mark.parametrize(("failure", "word", "settings"), SPECIFIC)
def test_a_failure_with_a_remedy_in_the_settings_leads_there(
    failure: Failure, word: str, settings: str, say: Catalogue
) -> None:
    trouble = Speaker(say, say.lang).trouble(replace(ENDED, outcome="failed", failure=failure), has_text=False)
    assert trouble is not None
    values: dict[str, Any] = {"provider": ENDED.provider, "model": ENDED.model}
    assert (trouble.title, trouble.settings) == (say(f"web.error.{word}", **values), settings)
    assert trouble.remedy == say(f"web.error.{word}.fix", **values)


def test_a_program_that_was_not_confirmed_lists_every_failed_check(say: Catalogue) -> None:
    why = Reason("isolation.failed", {"program": "Grok CLI", "checks": ["home", "keys"]})
    failure = Failure("isolation", "Grok CLI", why=why)
    trouble = Speaker(say, say.lang).trouble(replace(ENDED, outcome="failed", failure=failure), has_text=False)
    assert trouble is not None
    checks = f"{say('isolation.check.home')}, {say('isolation.check.keys')}"
    assert trouble.why == say("isolation.failed", program="Grok CLI", checks=checks)
    assert (trouble.settings, checks in trouble.why) == ("/providers", True)


@pytest.mark.parametrize(
    ("data", "own"),
    [
        ({}, ""),
        ({"ownName": "mcp__maia__memory_search"}, "mcp__maia__memory_search"),
        ({"ownName": "\x1b[31m" + "x" * 500}, "␛[31m" + "x" * 195),
    ],
)
def test_a_row_keeps_the_name_that_the_provider_has_for_the_tool(data: dict[str, Any], own: str) -> None:
    view = seen(answered(call(name="MemorySearch")), ToolCallFinished("c1", "MemorySearch", "succeeded", "", data=data))
    (trace,) = [item for item in view.items if isinstance(item, Trace)]
    assert [(each.name, each.own) for each in trace.calls] == [("MemorySearch", own)]


def test_the_common_names_are_those_of_the_table() -> None:
    assert {"read_file", "edit_file", "write_file", "run_command", "grep", "glob", "web_fetch"} <= set(COMMON.values())
    assert len(set(COMMON.values())) == len(COMMON)


# Markdown ------------------------------------------------------------------------------------------------------------

MARKS = [
    *("# T\n", "word ", "\n", "\n\n", "- a\n", "  - b\n", "1. x\n", "```py\n", "```\n", "> q\n", "    code\n", "---\n"),
    *("|a|b|\n|-|-|\n|1|2|\n", "<b>", "*em*", "`c`", "![i](http://x/y)", "[l](javascript:x)", "\r\n", "\x1b", "é"),
]
TEXTS = st.lists(st.sampled_from(MARKS), max_size=25).map("".join)


@given(TEXTS)
def test_blocks_joined_are_the_text(text: str) -> None:
    assert "".join(blocks_of(text)) == text.replace("\r\n", "\n").replace("\r", "\n")


@given(TEXTS, st.data())
def test_a_text_that_grows_ends_in_the_same_blocks(text: str, data: st.DataObject) -> None:
    splitter = Splitter()
    for end in sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6))):
        splitter.split(text[:end])
    grown = splitter.split(text)
    assert "".join(grown) == "".join(blocks_of(text))


@given(st.one_of(TEXTS, st.text(max_size=200)), st.booleans())
def test_no_text_becomes_anything_that_acts(text: str, is_open: bool) -> None:
    html = html_of(text, is_open).lower()
    for word in ("<script", "<img", "<iframe", "<svg", "<style", "<object", 'href="javascript', " onerror=", " style="):
        assert word not in html


def test_a_picture_from_elsewhere_is_a_link() -> None:
    html = html_of("![secret](https://evil.example/x.png?d=1)", False)
    assert 'href="https://evil.example/x.png?d=1"' in html
    assert "<img" not in html


LINKED = [
    pytest.param("See [it][1].\n\nMore.\n\n[1]: https://a.example/x", "See <a>it</a>.", id="defined at the end"),
    pytest.param("[1]: https://a.example/x\n\nText\n\n[It] [1]", "[It] <a>1</a>", id="defined before"),
    pytest.param(
        "Sources\n\n[Paper]: https://a.example/x", "[Paper]: <a>https://a.example/x</a>", id="nobody names it"
    ),
    pytest.param("See [it][1].\n\n[1]: javascript:alert(1)", "[1]: javascript:alert(1)", id="no address at all"),
    pytest.param("```\n[a][1]\n```\n\n[1]: https://a.example/x", "[a][1]", id="code stays as it is"),
]


@pytest.mark.parametrize(("text", "shown"), LINKED)
def test_an_address_is_found_from_every_block_and_none_vanishes(text: str, shown: str) -> None:
    html = "".join(part for _, part in blocks(Words("w", text, is_open=False)))
    plain = re.sub(r'<a href="https://a.example/x"[^>]*>', "<a>", html)
    assert shown in plain
    assert 'href="javascript' not in html


def test_code_is_coloured_when_it_is_whole() -> None:
    assert '<span class="k">def</span>' in html_of("```python\ndef f(): pass\n```\n", False)
    assert "<span" not in html_of("```python\ndef f(): pass\n", True)
    assert "&lt;b&gt;" in html_of("```nosuchlanguage\n<b>\n```\n", False)


# Diffs ---------------------------------------------------------------------------------------------------------------


def test_a_change_is_shown_with_its_numbers_and_changed_words() -> None:
    shown = file_diff(DiffBlock("a.py", "one\ntwo\nthree\n", "one\n2 two\nthree\nfour\n", first_line=10))
    assert (shown.added, shown.removed) == (2, 1)
    rows = [(row.kind, row.old, row.new, "".join(span.text for span in row.spans)) for row in shown.rows[1:]]
    assert rows == [
        ("same", 10, 10, "one"),
        ("del", 11, None, "two"),
        ("add", None, 11, "2 two"),
        ("same", 12, 12, "three"),
        ("add", None, 13, "four"),
    ]
    assert [span.text for span in shown.rows[3].spans if span.changed] == ["2 "]


@given(st.text("ab\n", max_size=40), st.text("ab\n", max_size=40))
def test_a_diff_holds_all_of_both_sides(before: str, after: str) -> None:
    shown = file_diff(DiffBlock("x", before, after))
    removed = ["".join(s.text for s in row.spans) for row in shown.rows if row.kind == "del"]
    assert set(removed) <= set(before.split("\n"))
    assert shown.removed == len(removed)


ALIKE: list[Any] = [
    pytest.param(["x", "-"] * 3_000, ["-", "y"] * 3_000, 6_000, id="two kinds of lines"),
    pytest.param([f"{n % 101}" for n in range(6_000)], [f"{n * 7 % 101}" for n in range(6_000)], 6_000, id="a hundred"),
    pytest.param(["a " * 240] * 2_000, ["a b" * 160] * 2_000, 2_000, id="long lines of few letters"),
]


@pytest.mark.parametrize(("before", "after", "lines"), ALIKE)
def test_a_change_of_very_many_alike_is_shown_as_a_whole_and_keeps_nobody_waiting(
    before: list[str], after: list[str], lines: int
) -> None:
    shown = file_diff(DiffBlock("x", "\n".join(before), "\n".join(after)))
    assert (shown.removed, shown.added, len(shown.rows)) == (lines, lines, MOST_LINES)
    assert shown.left_out == 2 * lines + 1 - MOST_LINES, "and the head of the hunk"


def test_a_change_at_the_end_of_a_long_file_has_its_numbers() -> None:
    lines = [f"{n % 7}" for n in range(5_000)]
    shown = file_diff(DiffBlock("x", "\n".join(lines), "\n".join([*lines[:-1], "new"]), first_line=3))
    assert [(row.kind, row.old, row.new) for row in shown.rows[-2:]] == [("del", 5_002, None), ("add", None, 5_002)]


@pytest.mark.parametrize(
    ("tokens", "window", "tone", "words"),
    [
        pytest.param(49_000, 100_000, "success", "49.0k / 100k · 49% · measured", id="less than half"),
        pytest.param(50_000, 100_000, "warning", "50.0k / 100k · 50% · measured", id="half"),
        pytest.param(75_000, 100_000, "danger", "75.0k / 100k · 75% · measured", id="three quarters"),
        pytest.param(900, None, "muted", "900 · measured", id="nobody knows the window"),
    ],
)
def test_the_bar_has_the_colour_of_how_full_the_window_is(
    tokens: int, window: int | None, tone: str, words: str
) -> None:
    speak = Speaker(Catalogue("en", strict=True), "en")
    measured = ContextMeasured(tokens, window, "measured")
    assert (speak.fill(measured), speak.fullness(measured)) == (tone, words)


def test_what_waited_for_approvals_has_finished_once_each_of_them_is_decided() -> None:
    queued = [CallQueued(f"c{n}", "Bash", f"t{n}", Reason("gate.no_rule", {})) for n in (1, 2)]
    waits = (*queued, replace(ENDED, outcome="waiting_approval"))
    decided = (CallDecided("t1", "approved", "Léa"), CallDecided("t2", "refused", "Léa"))
    views = [seen(answered(call("c1"), call("c2")), *waits, *decided[:n]) for n in range(3)]
    assert [(each.status, each.outcome) for each in views] == [
        ("waiting_approval", "waiting_approval"),
        ("waiting_approval", "waiting_approval"),
        ("idle", "finished"),
    ]


def test_an_error_is_the_state_of_a_conversation_until_its_next_answer() -> None:
    assert state_of("idle", "failed") == FAILED
    assert (state_of("running", "failed"), state_of("idle", "finished")) == (STATUSES["running"], STATUSES["idle"])


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/w/api/src/a.py", "src/a.py"),
        ("/w/docs/b.md", "docs/b.md"),
        ("/w/apis/c.py", "/w/apis/c.py"),
        ("/w/api", "/w/api"),
        ("rm -r /w/api/src", "rm -r /w/api/src"),
        ("src/a.py", "src/a.py"),
    ],
)
def test_a_path_is_told_from_the_folders_of_the_conversation_and_a_command_as_it_is(path: str, shown: str) -> None:
    assert near(path, ("/w/api/", "/w/docs")) == shown


@pytest.mark.parametrize(("most", "words"), [(25, "Step 2 / 25"), (None, "Tool calls: 1")])
def test_the_strip_tells_steps_where_they_are_reported_else_calls(most: int | None, words: str) -> None:
    speak = Speaker(Catalogue("en", strict=True), "en")
    answered = Answered(AssistantMessage((call(),), "m", "p"), "tool_calls", "", Usage(1000, 20, 500), Cost())
    events = (TurnStarted(1, "m", "p", most_steps=most), UserSaid("Hello"), StepStarted(1), answered, StepStarted(2))
    progress = progress_of(fold(logged(*events))[0].view())
    assert progress == Progress(True, 2, most, 1, 1520, None)
    assert (speak.reached(progress), speak.billed(progress)) == (words, "1,520 billed tokens")
