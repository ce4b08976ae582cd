import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.events import SessionRenamed, TextDelta, TurnEnded, WireAnswer, WireEvent, WireFailed
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.requests import ChosenBy, ModelRequest
from maia.core.submission import Submission
from maia.database.providers import ModelRow, ProviderRow, TierRow
from maia.database.spending import Sum
from maia.database.users import User
from maia.engine.setup import Bound
from maia.privacy.destination import Destination
from maia.workspace.bench import WorkBench
from maia.workspace.calls.background import Candidate, Group, candidates
from maia.workspace.calls.naming import SYSTEM as NAMING
from maia.workspace.calls.triage import SYSTEM as TRIAGE
from maia.workspace.calls.triage import Guess, by_words
from maia.workspace.changing import Asked
from maia.workspace.choosing import Change
from maia.workspace.models.budget import Budget, Period, Standing, changed, first_day, read_budget, standing
from maia.workspace.models.budgets import BUDGET_STOP
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.problems import BudgetStopped, Unfit
from maia.workspace.titles import from_model
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedSupply, PlayedWire, bench_of, workspace_on

A, B, L, P = Pair("a", "big"), Pair("b", "small"), Pair("l", "here"), Pair("p", "sonnet")
FULL = Catalogue(
    (
        ProviderRow("a", "Alpha", "api"),
        ProviderRow("b", "Beta", "api"),
        ProviderRow("l", "Local", "local"),
        ProviderRow("p", "A program", "cli"),
    ),
    (ModelRow(*A, "big"), ModelRow(*B, "small"), ModelRow(*L, "here"), ModelRow(*P, "sonnet")),
    auto_allowed=True,
)


def tiers(**named: Pair | tuple[Pair, Pair]) -> list[TierRow]:
    rows: list[TierRow] = []
    for name, models in named.items():
        pairs = [models] if isinstance(models, Pair) else models
        rows += [TierRow(name, position, *pair) for position, pair in enumerate(pairs)]
    return rows


# A message and its tier ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("Merci !", Guess("quick", is_sure=False), id="short"),
        pytest.param("Fix the bug in the parser", Guess("code", is_sure=True), id="code"),
        pytest.param("```\nx = 1\n```", Guess("code", is_sure=True), id="a block"),
        pytest.param("Compare these two contracts for me", Guess("complex", is_sure=True), id="long reasoning"),
        pytest.param("word " * 400, Guess("complex", is_sure=True), id="a long text"),
        pytest.param(
            "Please write a letter to the neighbours about our summer party. " * 2,
            Guess("standard", is_sure=False),
            id="the rest",
        ),
    ],
)
def test_a_message_finds_its_tier_by_its_words(message: str, expected: Guess) -> None:
    several = replace(FULL, tiers=tiers(standard=A, quick=B))
    assert by_words(message, several) == expected
    one = replace(FULL, tiers=tiers(quick=A, code=A))
    assert by_words(message, one) == Guess("standard", is_sure=True), "all name one model: there is no choice (N-04.04)"


# Who does small calls ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "catalogue", "expected"),
    [
        pytest.param("titles", FULL, [], id="titles on the Heartbeat tier alone (R-2.129)"),
        pytest.param(
            "titles", replace(FULL, tiers=tiers(heartbeat=(L, B))), [(L, "heartbeat"), (B, "heartbeat")], id="a tier"
        ),
        pytest.param("titles", replace(FULL, tiers=tiers(heartbeat=P)), [], id="no program (N-04.07)"),
        pytest.param("triage", replace(FULL, tiers=tiers(quick=B, heartbeat=B)), [], id="triage on its own tier"),
        pytest.param(
            "memory", FULL, [(A, "default"), (B, "other"), (L, "other")], id="memory: the default, then any by name"
        ),
        pytest.param(
            "judge",
            replace(FULL, tiers=tiers(quick=B, standard=L)),
            [(B, "quick"), (L, "default"), (A, "other")],
            id="judge: Heartbeat, Quick, default",
        ),
        pytest.param(
            "team", replace(FULL, tiers=tiers(standard=B)), [(B, "standard"), (A, "other"), (L, "other")], id="team"
        ),
    ],
)
def test_small_calls_have_their_order(group: Group, catalogue: Catalogue, expected: list[tuple[Pair, Any]]) -> None:
    assert candidates(group, catalogue) == [Candidate(*each) for each in expected]


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("VAT rounding in credit notes", "VAT rounding in credit notes"),
        ('  "Arrondi de TVA."  \nand more talk', "Arrondi de TVA"),
        ("**Title: A plan for Monday**", "A plan for Monday"),
        ("Titre : « Le plan »", "Le plan"),
        ("", None),
        ("\n \n", None),
        ("x" * 91, None),
        ("Pay [IBAN] now", None),
        ("<think>hm</think>", None),
        ("two\x1b[31m words", "two␛[31m words"),
    ],
)
def test_a_models_title_is_one_short_line_or_none(answer: str, title: str | None) -> None:
    assert from_model(answer) == title


# Budgets -------------------------------------------------------------------------------------------------------------

TEN = Budget({"daily": 10.0})


def sums(**usd: float) -> dict[Period, Sum]:
    return {period: Sum(usd.get(period, 0.0)) for period in ("daily", "weekly", "monthly")}


@pytest.mark.parametrize(
    ("budget", "spent", "more", "expected"),
    [
        pytest.param(Budget(), sums(daily=1e6), 0, Standing(), id="without a cap all is free"),
        pytest.param(TEN, sums(daily=7.9), 0, Standing("free", "daily", 7.9, 10), id="below"),
        pytest.param(TEN, sums(daily=8), 0, Standing("warn", "daily", 8, 10), id="warn at 0.8"),
        pytest.param(TEN, sums(daily=10), 0, Standing("downgrade", "daily", 10, 10), id="downgrade at 1.0"),
        pytest.param(TEN, sums(daily=11.5), 0.5, Standing("stop", "daily", 12, 10), id="stop at 1.2, with what flies"),
        pytest.param(
            Budget({"daily": 10.0, "monthly": 20.0}),
            sums(daily=8, monthly=24),
            0,
            Standing("stop", "monthly", 24, 20),
            id="the strictest counts",
        ),
    ],
)
def test_how_near_a_cap_is(budget: Budget, spent: Mapping[Period, Sum], more: float, expected: Standing) -> None:
    assert standing(budget, spent, more) == expected


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(0.01, 1e4))
def test_spending_more_never_frees(one: float, other: float, cap: float) -> None:
    budget, levels = Budget({"weekly": cap}), ("free", "warn", "downgrade", "stop")
    low, high = (standing(budget, sums(weekly=usd)).level for usd in sorted((one, other)))
    assert levels.index(low) <= levels.index(high)


@pytest.mark.parametrize(
    ("period", "expected"), [("daily", "2026-11-29"), ("weekly", "2026-11-23"), ("monthly", "2026-11-01")]
)
def test_a_week_begins_on_monday(period: Period, expected: str) -> None:
    assert first_day(period, date(2026, 11, 29)).isoformat() == expected


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"daily": 0}, "budget.out_of_range"),
        ({"daily": -1}, "budget.out_of_range"),
        ({"weekly": 1e7}, "budget.out_of_range"),
        ({"monthly": "ten"}, "budget.no_number"),
        ({"monthly": True}, "budget.no_number"),
        ({"monthly": float("nan")}, "budget.no_number"),
        ({"warnAt": 1.1}, "budget.out_of_order"),
        ({"hardStopAt": 0.5}, "budget.out_of_order"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(change: dict[str, Any], key: str) -> None:
    with pytest.raises(Unfit) as refused:
        changed(TEN, change)
    assert (refused.value.code, refused.value.key) == ("invalid_budget", key)


def test_a_budget_is_kept_as_it_was_set() -> None:
    budget = changed(TEN, {"daily": None, "weekly": 3, "warnAt": 0.5})
    assert budget == Budget({"weekly": 3.0}, {"warn": 0.5, "downgrade": 1.0, "stop": 1.2})
    assert read_budget(budget.to_json()) == budget
    assert read_budget({"daily": "much"}) == read_budget(None) == Budget()


# Stories: three providers, one wire each -----------------------------------------------------------------------------

USAGE = Usage(input=100, output=10)
AWAY = Destination("endpoint", "https://models.example.com")


class Paid(PlayedWire):
    """Reports what it used. `failure` comes in the place of an answer."""

    def __init__(self, says: str, failure: Failure | None = None) -> None:
        super().__init__([says])
        self.failure = failure
        self.is_slow = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        if self.is_slow:
            await self.go_on.wait()
        if self.failure is not None:
            yield WireFailed(self.failure, AssistantMessage(()))
            return
        yield TextDelta(self.pieces[0])
        message = AssistantMessage((TextPart(self.pieces[0]),), request.model, "played")
        yield WireAnswer(message, "end", "stop", USAGE)


class Several(PlayedModels):
    def __init__(self, **wires: Paid) -> None:
        super().__init__(next(iter(wires.values())))
        self.wires = wires

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, "played", self.wires[name], why)


class Shelved(PlayedSupply):
    """The providers of `FULL`, without the program."""

    async def providers(self) -> Sequence[ProviderRow]:
        return list(FULL.providers[:3])

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        return FULL.models_of(provider_id)


Price = Callable[[str], float | None]


def on(
    url: str, folder: Path, models: Several, usd: float | None = 1.0, destination: Destination = AWAY
) -> AbstractAsyncContextManager[tuple[Workspace, User]]:
    """A workspace in which each call costs that much."""

    def price(_model: str, _provider: str, usage: Usage | None, _reported: float | None) -> Cost:
        return Cost() if usd is None or usage is None else Cost(usd, "estimated")

    def bench(launch: Path) -> WorkBench:
        return replace(bench_of(models, launch, destination), price=price)

    return workspace_on(url, folder, models, bench=bench, supply=Shelved(models))


async def told(workspace: Workspace, row: Any, kind: type, seq: int = 0, nth: int = 1) -> Any:
    """The first event of that kind, or the nth."""
    async for batch in workspace.follow(row, seq, 10):
        for logged in batch:
            nth -= isinstance(logged.event, kind)
            if not nth:
                return logged.event
    raise AssertionError("it never came")


async def put_away(workspace: Workspace, row: Any) -> None:
    """Wait for what is behind the end of a turn: its cost, and the look for a title."""
    await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage]
    await asyncio.gather(*workspace.routing._naming._tasks)  # pyright: ignore[reportPrivateUsage]


def test_the_heartbeat_tier_finds_a_title_in_a_call_of_its_own(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=Paid('"A better title."'))
        async with on(database_url, tmp_path, models) as (workspace, user):
            await workspace.models.known()
            await workspace.models.set_tier(user, "heartbeat", B, None, None)
            row = await workspace.create(user, "", "en", start=Change(pair=A))
            await workspace.submit(user, row, Submission("What is the rate for lea@example.org?"))
            assert await told(workspace, row, SessionRenamed, nth=2) == SessionRenamed("A better title")
            ended = await told(workspace, row, TurnEnded)
            now = await workspace.conversation(user, row.id)
            assert (now.title, now.title_by) == ("A better title", "model")
            assert ended.cost == Cost(1.0, "estimated"), "the title is not the conversation's (R-2.129)"
            (asked,) = models.wires["small"].requests
            assert (asked.tools, len(asked.messages), [each.text for each in asked.system]) == ((), 1, [NAMING])
            assert "lea@example.org" not in str(asked.messages), "what leaves is masked"
            await put_away(workspace, row)
            assert (await workspace.budgets.spending()).spent["daily"] == Sum(2.0)

    asyncio.run(story())


def test_without_a_heartbeat_model_or_with_a_persons_title_nothing_changes(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=Paid("Theirs"))
        async with on(database_url, tmp_path, models) as (workspace, user):
            await workspace.models.known()
            first = await workspace.create(user, "", "en", start=Change(pair=A))
            await workspace.submit(user, first, Submission("First words"))
            await told(workspace, first, TurnEnded)
            await put_away(workspace, first)
            assert models.wires["small"].requests == []
            await workspace.models.set_tier(user, "heartbeat", B, None, None)
            second = await workspace.create(user, "Mine", "en", start=Change(pair=A))
            await workspace.submit(user, second, Submission("First words"))
            await told(workspace, second, TurnEnded)
            await put_away(workspace, second)
            titles = [(await workspace.conversation(user, each.id)).title for each in (first, second)]
            assert (titles, models.wires["small"].requests) == (["First words", "Mine"], [])

    asyncio.run(story())


def test_a_title_that_comes_after_a_persons_is_dropped(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=Paid("Theirs"))
        async with on(database_url, tmp_path, models) as (workspace, user):
            await workspace.models.known()
            await workspace.models.set_tier(user, "heartbeat", B, None, None)
            models.wires["small"].is_slow = True
            row = await workspace.create(user, "", "en", start=Change(pair=A))
            await workspace.submit(user, row, Submission("First words"))
            await told(workspace, row, TurnEnded)
            row = await workspace.conversation(user, row.id)
            await workspace.changing.change(user, row, Asked(title="Mine"))
            models.wires["small"].go_on.set()
            await put_away(workspace, row)
            page = await workspace.page(row, 5)
            names = [each.event.name for each in page.logged if isinstance(each.event, SessionRenamed)]
            assert (names, page.row.title) == (["First words", "Mine"], "Mine")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("triage", "message", "expected", "asked"),
    [
        pytest.param(Paid("complex"), "Hello there", A, 1, id="as the model says"),
        pytest.param(Paid("**Quick.**"), "Hello there", L, 1, id="with decoration"),
        pytest.param(Paid("I think it is hard"), "Hello there", L, 1, id="an invalid answer: the words decide"),
        pytest.param(Paid("", Failure("auth")), "Hello there", L, 1, id="a failure: the words decide"),
        pytest.param(Paid("quick"), "Compare these contracts", A, 0, id="sure words need no call (N-04.05)"),
        pytest.param(Paid("quick"), "IBAN FR76 3000 6000 0112 3456 7890 189", None, 0, id="a blocked value: nobody"),
    ],
)
def test_a_message_without_telling_words_is_sorted_by_one_small_call(
    tmp_path: Path, triage: Paid, message: str, expected: Pair | None, asked: int
) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=triage, here=Paid("Answer"))
        async with on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            await workspace.models.known()
            await workspace.models.allow_auto(user, allowed=True)
            for tier, pair in {"triage": B, "complex": A, "quick": L}.items():
                await workspace.models.set_tier(user, tier, pair, None, None)
            row = await workspace.create(user, "", "en", start=Change("auto"))
            if expected is None:
                with pytest.raises(Exception, match="privacy"):
                    await workspace.submit(user, row, Submission(message))
            else:
                await workspace.submit(user, row, Submission(message))
                ended = await told(workspace, row, TurnEnded)
                assert ended.model == expected.model
            assert len(triage.requests) == asked
            for request in triage.requests:
                assert [each.text for each in request.system] == [TRIAGE]
                assert request.messages[0].parts[0].text == message[:500]  # type: ignore[union-attr]

    asyncio.run(story())


def test_caps_warn_then_downgrade_then_stop_what_costs_something(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=Paid("Answer"), here=Paid("Answer"))
        async with on(database_url, tmp_path, models) as (workspace, user):
            await workspace.models.known()
            await workspace.models.allow_auto(user, allowed=True)
            for tier, pair in {"complex": A, "quick": B}.items():
                await workspace.models.set_tier(user, tier, pair, None, None)
            await workspace.budgets.change(user, {"daily": 2.5, "hardStopAt": 1.4})
            row = await workspace.create(user, "T", "en", start=Change("auto"))
            ended: list[tuple[str, list[str]]] = []
            for _ in range(4):
                row = await workspace.conversation(user, row.id)
                await workspace.submit(user, row, Submission("Compare these contracts"))
                end = await told(workspace, row, TurnEnded, row.last_seq)
                await put_away(workspace, row)
                meta = (await workspace.messages(row, 1))[0].turn_meta or {}
                ended.append((end.model, [each["key"] for each in meta["notices"]]))
            near = "budget.near_daily"
            assert ended == [("big", []), ("big", []), ("big", [near]), ("small", [])]
            with pytest.raises(BudgetStopped) as refused:
                await workspace.submit(user, row, Submission("Once more"))
            assert (refused.value.code, refused.value.values) == ("budget_stop", {"spent": "$4.00", "cap": "$2.50"})
            free = await workspace.create(user, "T", "en", start=Change(pair=L))
            await workspace.submit(user, free, Submission("A model of this machine costs nothing"))
            assert (await told(workspace, free, TurnEnded)).outcome == "finished"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("pair", "price", "is_free"),
    [
        pytest.param(L, None, True, id="a model of this machine"),
        pytest.param(L, {"input": 0, "output": 0}, True, id="one that costs nothing"),
        pytest.param(L, {"input": 1, "output": 2}, False, id="a gateway on this machine that tells its prices"),
        pytest.param(A, None, False, id="a service of which no price is known"),
        pytest.param(P, None, False, id="a program"),
        pytest.param(Pair("gone", "big"), None, False, id="nobody"),
    ],
)
def test_only_what_runs_here_and_has_no_price_is_free(pair: Pair, price: JsonObject | None, is_free: bool) -> None:
    models = tuple(replace(each, price=price) for each in FULL.models)
    assert replace(FULL, models=models).is_free(pair) == is_free


class Calling(Paid):
    """Calls a tool for ever."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        call = ToolCallPart(f"c{len(self.requests)}", "Nothing", {})
        yield WireAnswer(AssistantMessage((call,), request.model, "played"), "tool_calls", "tool_calls", USAGE)


def test_a_turn_that_reaches_the_hard_stop_on_its_way_ends_there(tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Calling(""))
        async with on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            await workspace.models.known()
            await workspace.budgets.change(user, {"monthly": 1.5})
            row = await workspace.create(user, "T", "en", start=Change(pair=A))
            await workspace.submit(user, row, Submission("One"))
            ended = await told(workspace, row, TurnEnded)
            assert (ended.outcome, ended.failure, ended.cost.usd) == ("failed", BUDGET_STOP, 2.0)
            assert len(models.wires["big"].requests) == 2
            assert await workspace.routing.background.who("memory") == [Candidate(L, "other")], "what is free goes on"
            await workspace.models.switch(user, "l", enabled=False)
            assert await workspace.routing.background.who("memory") == "budget_stop"
            assert await workspace.routing.background.who("titles") == "tier_not_configured"

    asyncio.run(story())


def test_a_cost_that_nobody_knows_is_no_part_of_any_sum(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"))
        async with on(database_url, tmp_path, models, usd=None) as (workspace, user):
            await workspace.models.known()
            row = await workspace.create(user, "T", "en", start=Change(pair=A))
            await workspace.submit(user, row, Submission("One"))
            await told(workspace, row, TurnEnded)
            await put_away(workspace, row)
            assert (await workspace.budgets.spending()).spent["daily"] == Sum(0.0, unknown=1)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(Failure("overloaded"), "Second", id="overloaded"),
        pytest.param(Failure("rate_limit"), "Second", id="rate limit"),
        pytest.param(Failure("auth"), "First words", id="a refused key is no reason"),
        pytest.param(Failure("rejected"), "First words", id="nor a refused request"),
    ],
)
def test_the_second_model_is_asked_only_where_the_first_cannot_be_reached(
    tmp_path: Path, failure: Failure, expected: str
) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=Paid("", failure), here=Paid("Second"))
        async with on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            await workspace.models.known()
            await workspace.models.set_tier(user, "heartbeat", B, L, None)
            row = await workspace.create(user, "", "en", start=Change(pair=A))
            await workspace.submit(user, row, Submission("First words"))
            await put_away(workspace, row)
            assert (await workspace.conversation(user, row.id)).title == expected

    asyncio.run(story())


class Warm(Paid):
    """A model that refuses to be told a temperature."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        if request.temperature is None:
            async for event in super().stream(request):
                yield event
        else:
            self.requests.append(request)
            said = "Unsupported value: 'temperature' does not support 0 with this model."
            yield WireFailed(Failure("rejected", provider_text=said), AssistantMessage(()))


def test_small_calls_leave_nothing_to_chance_where_the_model_can_be_told_so(tmp_path: Path) -> None:
    async def story() -> None:
        models = Several(big=Paid("Answer"), small=Warm("Better"), here=Paid("Good"))
        async with on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            await workspace.models.known()
            for pair, title in ((B, "Better"), (B, "Better"), (L, "Good")):
                await workspace.models.set_tier(user, "heartbeat", pair, None, None)
                row = await workspace.create(user, "", "en", start=Change(pair=A))
                await workspace.submit(user, row, Submission("First words"))
                await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - a title is looked for then
                await asyncio.gather(*workspace.routing._naming._tasks)  # pyright: ignore[reportPrivateUsage]
                assert (await workspace.conversation(user, row.id)).title == title
            assert [each.temperature for each in models.wires["small"].requests] == [0, None, None], "learned once"
            assert [each.temperature for each in models.wires["here"].requests] == [0]

    asyncio.run(story())
