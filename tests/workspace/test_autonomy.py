import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.endings import Failure
from maia.core.errors import MaiaError
from maia.core.events import (
    ApprovalRequested,
    Notice,
    ToolCallFinished,
    TurnEnded,
    TurnStarted,
    WireAnswer,
    WireEvent,
    WireFailed,
)
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart, UserMessage
from maia.core.permission import Decision, Need, Verdict
from maia.core.reason import Reason
from maia.core.requests import ChosenBy, ModelRequest
from maia.core.submission import Submission
from maia.database import approvals
from maia.database.providers import ModelRow, ProviderRow
from maia.database.users import User
from maia.workspace.approvals import PART_KNOWN
from maia.workspace.autonomy.categories import CATEGORIES, LEVELLED, Kind, kind_of, kind_of_call
from maia.workspace.autonomy.check import Checked, read_verdict
from maia.workspace.autonomy.lockout import LOCKED_MS, Lockouts, locked_until
from maia.workspace.autonomy.refusals import refused_by
from maia.workspace.autonomy.ruling import course
from maia.workspace.autonomy.watch import BACKGROUND, Watched
from maia.workspace.calls.background import candidates
from maia.workspace.delegating.runs import How
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.problems import NotAllowed, NotThere, Unfit
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on
from tests.workspace.test_approvals import POKE, Poke, events_of, person, turn, with_poke

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# The table -----------------------------------------------------------------------------------------------------------

FREE = [("files", 3, "allow", False)]
REFUSED = [(category, level, "deny", False) for category in CATEGORIES for level in (1, 2, 3)]


EVERY = list(itertools.product(CATEGORIES, (1, 2, 3), ("allow", "deny", "escalate"), (True, False)))


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_what_becomes_of_a_call_by_level_verdict_and_whether_somebody_is_there(case: tuple[Any, ...]) -> None:
    category, level, verdict, attended = case
    expected = "run" if case in FREE else "refuse" if case in REFUSED else "queue"
    assert course(category, level, verdict, attended=attended) == expected


@pytest.mark.parametrize(
    ("needs", "kind"),
    [
        pytest.param([Need("Read", "path", "a")], Kind("looking", "green"), id="looking"),
        pytest.param([Need("Write", "path", "a")], Kind("files", "yellow"), id="writing"),
        pytest.param([Need("Edit", "path", "a"), Need("Bash", "command", "ls")], Kind("commands", "red"), id="worst"),
        pytest.param([Need("WebFetch", "host", "x.org")], Kind("web", "red"), id="fetching"),
        pytest.param([Need("Edit", "path", "a"), Need("Delete", "name", "a")], Kind("other", "red"), id="deleting"),
        pytest.param([Need("mcp__srv__do", "text", "")], Kind("other", "red"), id="of a server"),
        pytest.param([Need("mcp__srv__do", "none")], Kind("other", "green"), id="that needs nothing"),
        pytest.param([], Kind("looking", "green"), id="nothing"),
    ],
)
def test_a_call_is_as_bad_as_the_worst_that_it_needs(needs: list[Need], kind: Kind) -> None:
    assert kind_of_call(needs) == kind
    assert kind_of("Bash").asks
    assert not kind_of("Grep").asks
    assert [category for category, reversible in LEVELLED.items() if reversible] == ["files"]


class Rules:
    """A judge with one answer."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    def decide(self, needs: Sequence[Need]) -> Decision:
        return self.decision

    def propose(self, need: Need) -> str | None:
        return None

    def allow_for_session(self, needs: Sequence[Need]) -> None: ...

    def allow_always(self, needs: Sequence[Need]) -> str:
        return ""


def rule(text: str) -> Any:
    from maia.core.permission import Rule, RuleSource

    return Rule(Verdict.ALLOW, text.partition("(")[0], None, text, RuleSource("--allow"))


WHY = Reason("perm.rule", {"verdict": "allow", "rule": "x", "source": "y"})
ALLOWED = Decision(Verdict.ALLOW, WHY, rule("Write"))
GREEN = Decision(Verdict.ALLOW, WHY, rule("Bash(git status)"))


@pytest.mark.parametrize(
    ("need", "decision", "attended", "verdict"),
    [
        pytest.param(Need("Write", "path", "a"), ALLOWED, True, Verdict.ALLOW, id="attended: the rules"),
        pytest.param(
            Need("Write", "path", "a"), ALLOWED, False, Verdict.ASK, id="nobody there: also what a rule allows"
        ),
        pytest.param(
            Need("Bash", "command", "git status"), GREEN, False, Verdict.ALLOW, id="a command that only looks"
        ),
        pytest.param(Need("Bash", "command", "git push"), ALLOWED, False, Verdict.ASK, id="any other command"),
        pytest.param(Need("Read", "path", "a"), ALLOWED, False, Verdict.ALLOW, id="looking"),
        pytest.param(Need("Read", "path", "a"), Decision(Verdict.DENY, WHY), False, Verdict.DENY, id="a denial stays"),
    ],
)
def test_where_nobody_looks_on_the_rules_are_never_more_lenient(
    need: Need, decision: Decision, attended: bool, verdict: Verdict
) -> None:
    watched = Watched(Rules(decision), lambda: 0, attended)
    found = watched.decide([need])
    assert found.verdict is verdict
    assert (found.reason == BACKGROUND) == (verdict is Verdict.ASK)
    assert Watched(Rules(decision), lambda: 1, attended).decide([need]).reason.key == "autonomy.tools_locked"


# The check -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "checked"),
    [
        ("ALLOW", Checked("allow")),
        ("ALLOW\nIt writes the file that was asked for.", Checked("allow", "It writes the file that was asked for.")),
        ("**DENY**: it deletes work", Checked("deny", "it deletes work")),
        ("ASK - not sure", Checked("escalate", "not sure")),
        ("<think>ALLOW or not?</think>\nDENY", Checked("deny")),
        ("ALLOWED", Checked("deny")),
        ("allow", Checked("deny")),
        ("I would ALLOW this", Checked("deny")),
        ("", Checked("deny")),
        ("DENY\nALLOW", Checked("deny", "ALLOW")),
        ("ALLOW it? No: DENY", Checked("escalate", "it? No: DENY")),
        ("ALLOW\nnothing to ask or deny", Checked("allow", "nothing to ask or deny")),
    ],
)
def test_an_answer_that_cannot_be_read_denies(said: str, checked: Checked) -> None:
    assert read_verdict(said) == checked


@given(st.text())
def test_nothing_but_the_word_itself_allows(said: str) -> None:
    if read_verdict(said).verdict == "allow":
        assert said.strip(" \n\t\r\x0b\x0c*_`\"'\x1c\x1d\x1e\x1f\x85\xa0").startswith("ALLOW")


def test_the_check_asks_the_models_of_its_tiers_and_never_the_assistant_without_a_model() -> None:
    rows = (ProviderRow("offline", "Offline", "local"), ProviderRow("a", "Alpha", "api"))
    known = Catalogue(rows, (ModelRow("offline", "offline", "offline"), ModelRow("a", "big", "big")))
    assert [each.pair for each in candidates("judge", known)] == [Pair("a", "big")]
    assert Pair("offline", "offline") in [each.pair for each in candidates("memory", known)]


# The lock ------------------------------------------------------------------------------------------------------------

MINUTE = 60_000


@pytest.mark.parametrize(
    ("denied", "until"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([1, 2], 0, id="two"),
        pytest.param([1, 2, 3], 3 + LOCKED_MS, id="three"),
        pytest.param([1, 2, 3, 4, 5, 6], 3 + LOCKED_MS, id="what is denied while locked adds nothing"),
        pytest.param([1, 6 * MINUTE, 12 * MINUTE], 0, id="far apart"),
        pytest.param([1, 2, 3, *(3 + LOCKED_MS + n for n in range(3))], 5 + 2 * LOCKED_MS, id="again after the lock"),
    ],
)
def test_three_denials_lock_the_tools_for_ten_minutes(denied: list[int], until: int) -> None:
    assert locked_until(denied) == until
    lockouts = Lockouts()
    told = [at for at in denied if lockouts.note("c", at)]
    assert bool(told) == bool(until)
    assert lockouts.until("c", until - 1) == until
    assert lockouts.until("c", until) == lockouts.until("other", 3) == 0


# Runs ----------------------------------------------------------------------------------------------------------------


class Writing(Poke):
    """A tool that changes a file."""

    def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
        return (Need("Write", "name", "it"),)


class SupervisedWire(PlayedWire):
    """Makes the calls of its list in each turn and then says that it is done; as the check it says `verdict`."""

    def __init__(self, *calls: JsonObject, verdict: str | None = "ALLOW") -> None:
        super().__init__([])
        self.calls: Sequence[JsonObject] = calls
        self.verdict = verdict
        self.checked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        if request.system and request.system[0].name == "background":
            self.checked.append(request)
            if self.verdict is None:
                yield WireFailed(Failure("network"), AssistantMessage((), "m", "played"))
            else:
                yield WireAnswer(AssistantMessage((TextPart(self.verdict),), "m", "played"), "end", "stop")
            return
        self.requests.append(request)
        if type(request.messages[-1]).__name__ == "UserMessage":
            parts = tuple(ToolCallPart(f"c{len(self.requests)}-{n}", "Poke", call) for n, call in enumerate(self.calls))
            yield WireAnswer(AssistantMessage(parts, "m", "played"), "tool_calls", "tool_calls")
        else:
            yield WireAnswer(AssistantMessage((TextPart("Done."),), "m", "played"), "end", "stop")


async def background(workspace: Workspace, user: User, row: Any, text: str = "Tidy up", turns: int = 1) -> TurnEnded:
    """One turn that nobody looks on, to the end of the run: `turns` of them come of it."""
    row = await workspace.conversation(user, row.id)
    before = row.last_turn
    own = workspace._turns  # pyright: ignore[reportPrivateUsage] - what begins background runs is inside
    await own.submit(row, user.id, Submission(text), how=How("background", attended=False))
    return await ended(workspace, user, row, before + turns)


async def ended(workspace: Workspace, user: User, row: Any, turn: int) -> TurnEnded:
    """The end of that turn, once it is behind its news."""
    async for batch in workspace.follow(await workspace.conversation(user, row.id), 0, 5):
        assert batch, "nothing goes on"
        for logged in batch:
            if isinstance(logged.event, TurnEnded) and logged.turn == turn:
                await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
                return logged.event
    raise AssertionError("no end")


async def test_a_background_run_waits_and_goes_on_by_the_approval(database_url: str, tmp_path: Path) -> None:
    wire, poke = SupervisedWire(POKE), Writing()
    models = PlayedModels(wire)
    async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        row = await workspace.create(user, "", "en")
        end = await background(workspace, user, row)
        assert (end.outcome, end.approvals, poke.ran, len(wire.requests)) == ("waiting_approval", 1, [], 1)
        assert (await workspace.conversation(user, row.id)).status == "waiting_approval"
        (waiting,) = await workspace.approvals.listed(user, decided=False)
        assert (waiting.category, waiting.is_background, waiting.reason["key"]) == (
            "files",
            True,
            "autonomy.waits_level",
        )
        await workspace.approvals.decide(user, waiting.id, "approved")
        end = await ended(workspace, user, row, 2)
        assert (end.outcome, poke.ran) == ("finished", [POKE])
        assert [each.resumes for each in await events_of(workspace, row, TurnStarted)] == [0, 1]
        assert (await workspace.conversation(user, row.id)).status == "idle"
        assert (await workspace.approvals.one(user, waiting.id)).status == "used"


async def test_a_refusal_leaves_the_run_stopped(tmp_path: Path) -> None:
    wire, poke = SupervisedWire(POKE, {"what": "that"}), Writing()
    models = PlayedModels(wire)
    async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=with_poke(models, poke)) as (
        workspace,
        user,
    ):
        row = await workspace.create(user, "", "en")
        assert (await background(workspace, user, row)).approvals == 2
        first, second = await workspace.approvals.listed(user, decided=False)
        await workspace.approvals.decide(user, first.id, "refused")
        await asyncio.sleep(0)
        assert (await workspace.conversation(user, row.id)).last_turn == 1, "one of them waits still"
        await workspace.approvals.decide(user, second.id, "refused")
        await workspace._turns.paused.close()  # pyright: ignore[reportPrivateUsage] - all that was begun is over
        assert (await workspace.conversation(user, row.id)).last_turn == 1
        assert (await workspace.conversation(user, row.id)).status == "idle"
        assert poke.ran == []


async def test_a_run_goes_on_once_nothing_of_it_waits_any_more(tmp_path: Path) -> None:
    other = {"what": "that"}
    poke, models = Writing(), PlayedModels(SupervisedWire(POKE, other))
    bench = with_poke(models, poke)
    async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row)
        waiting = {each.arguments["what"]: each.id for each in await workspace.approvals.listed(user, decided=False)}
        await workspace.approvals.decide(user, waiting["it"], "approved")
        await workspace._turns.paused.settled()  # pyright: ignore[reportPrivateUsage] - what was begun is over
        assert (await workspace.conversation(user, row.id)).last_turn == 1, "the other one waits still"
        await workspace.approvals.decide(user, waiting["that"], "refused")
        await ended(workspace, user, row, 2)
        assert poke.ran == [POKE]


@pytest.mark.parametrize(
    ("level", "verdict", "attended", "outcome", "ran", "status", "reason"),
    [
        pytest.param(3, "ALLOW", False, "finished", 1, "auto", "autonomy.acted", id="auto"),
        pytest.param(3, "ASK\nlook", False, "waiting_approval", 0, "open", "autonomy.check_said", id="auto-escalated"),
        pytest.param(3, None, False, "waiting_approval", 0, "open", "autonomy.nobody_checked", id="auto-no-answer"),
        pytest.param(3, "DENY\nbad", False, "finished", 0, None, None, id="auto-denied"),
        pytest.param(3, "Well, ALLOW", False, "finished", 0, None, None, id="auto-unreadable"),
        pytest.param(2, "ALLOW", False, "waiting_approval", 0, "open", "autonomy.waits_level", id="approve"),
        pytest.param(1, "DENY", False, "finished", 0, None, None, id="notice-denied"),
        pytest.param(3, "ALLOW", True, "waiting_approval", 0, "open", "perm.no_rule", id="attended"),
    ],
)
async def test_levels_rule_background_runs_and_never_a_chat(
    tmp_path: Path, level: int, verdict: str, attended: bool, outcome: str, ran: int, status: str | None, reason: str
) -> None:
    wire, poke = SupervisedWire(POKE, verdict=verdict), Writing()
    models = PlayedModels(wire)
    url = f"sqlite:///{tmp_path}/maia.db"
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        await workspace.levels.change(user, "files", level)
        row = await workspace.create(user, "", "en")
        end = await (turn(workspace, user, row) if attended else background(workspace, user, row))
        rows = [*await workspace.approvals.listed(user, decided=False)]
        rows += await workspace.approvals.listed(user, decided=True)
        assert (end.outcome, len(poke.ran)) == (outcome, ran)
        assert [(each.status, each.reason["key"]) for each in rows] == ([(status, reason)] if status else [])
        assert bool(wire.checked) == (not attended), "nobody but the rules is asked where somebody is there"
        notices = [each.key for each in await events_of(workspace, row, Notice)]
        assert ("autonomy.acted_told" in notices) == (status == "auto")
        if status is None:
            (finished,) = await events_of(workspace, row, ToolCallFinished)
            assert (finished.status, finished.reason) == ("refused", Reason("turn.check"))


@pytest.mark.parametrize(
    ("rules", "path", "what", "reason"),
    [
        pytest.param({"ask": ["Write(notes/**)"]}, "notes/a.md", "x", "perm.rule", id="a rule asks"),
        pytest.param({}, ".git/hooks/pre-commit", "x", "perm.why.protected", id="a protected place"),
        pytest.param(
            {"allow": ["Write(**)"]}, ".git/hooks/pre-commit", "x", "perm.why.protected", id="also if allowed"
        ),
        pytest.param({}, "a.md", "x" * 20_000, "autonomy.too_long_to_check", id="longer than the check sees"),
        pytest.param({"allow": ["Write(**)"]}, "a.md", "x", None, id="a rule allows"),
        pytest.param({}, "a.md", "x", None, id="no rule"),
    ],
)
async def test_no_model_is_talked_into_what_only_a_person_may_allow(
    tmp_path: Path, rules: dict[str, list[str]], path: str, what: str, reason: str | None
) -> None:
    class Into(Poke):
        def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
            return (Need("Write", "path", str(launch / path)),)

    poke, call = Into(), {"what": what}
    models = PlayedModels(SupervisedWire(call, verdict="ALLOW"))

    def bench(folder: Path) -> Any:
        (folder / ".maia").mkdir(exist_ok=True)
        (folder / ".maia" / "settings.json").write_text(json.dumps({"permissions": rules}))
        return with_poke(models, poke)(folder)

    async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
        await workspace.levels.change(user, "files", 3)
        await background(workspace, user, await workspace.create(user, "", "en"))
        waiting = await workspace.approvals.listed(user, decided=False)
        assert [each.reason["key"] for each in waiting] == ([reason] if reason else [])
        assert poke.ran == ([] if reason else [call])


async def test_a_stop_does_not_wait_for_the_check(tmp_path: Path) -> None:
    class Slow(SupervisedWire):
        async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
            if request.system and request.system[0].name == "background":
                self.checked.append(request)
                asyncio.get_running_loop().call_soon(stop)
                await asyncio.sleep(60)
            async for event in super().stream(request):
                yield event

    url, poke = f"sqlite:///{tmp_path}/maia.db", Writing()
    models = PlayedModels(Slow(POKE))
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        row = await workspace.create(user, "", "en")

        def stop() -> None:
            workspace.stop(row)

        async with asyncio.timeout(60):
            assert (await background(workspace, user, row)).outcome == "stopped"
        assert [*await workspace.approvals.listed(user, decided=False)] == []
        assert [*await workspace.approvals.listed(user, decided=True)] == []


async def test_a_check_is_shown_the_task_and_the_call_as_data(tmp_path: Path) -> None:
    wire = SupervisedWire(POKE, verdict="ASK")
    models = PlayedModels(wire)
    url = f"sqlite:///{tmp_path}/maia.db"
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, Writing())) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row, "Tidy the cellar")
        (request,) = wire.checked
        assert request.tools == ()
        (message,) = request.messages
        assert isinstance(message, UserMessage)
        (shown,) = message.parts
        assert isinstance(shown, TextPart)
        read = json.loads(shown.text)
        assert (read["task"], read["tool"], json.loads(read["arguments"])) == ("Tidy the cellar", "Poke", POKE)


async def test_a_check_is_told_that_a_task_is_another_agents_also_when_the_run_goes_on(tmp_path: Path) -> None:
    wire, other = SupervisedWire(POKE), {"what": "that"}
    models = PlayedModels(wire)
    bench = with_poke(models, Writing())
    async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
        row = await workspace.create(user, "", "en")
        own = workspace._turns  # pyright: ignore[reportPrivateUsage] - what begins background runs is inside
        how = How("background", by="Mole", attended=False)
        await own.submit(row, user.id, Submission("The owner wants all of it gone"), how=how)
        await ended(workspace, user, row, 1)
        wire.calls = (POKE, other)
        (waiting,) = await workspace.approvals.listed(user, decided=False)
        await workspace.approvals.decide(user, waiting.id, "approved")
        await ended(workspace, user, row, 2)
        shown = [json.loads(part.text) for each in wire.checked for part in text_parts(each)]
        assert [(each["task_by"], each["task"]) for each in shown] == [("Mole", "The owner wants all of it gone")] * 2


async def test_an_approval_that_came_while_no_server_was_there_is_taken_up(tmp_path: Path) -> None:
    url, poke = f"sqlite:///{tmp_path}/maia.db", Writing()
    models = PlayedModels(SupervisedWire(POKE))
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row)
        (waiting,) = await workspace.approvals.listed(user, decided=False)
        database = workspace._database  # pyright: ignore[reportPrivateUsage] - what a server leaves that dies here
        await database.write(lambda c: approvals.decide(c, waiting.id, "approved", user.id))
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        assert (await ended(workspace, user, row, 2)).outcome == "finished"
        assert poke.ran == [POKE]


async def test_a_run_that_cannot_go_on_says_why_with_the_request_and_in_the_conversation(tmp_path: Path) -> None:
    url, poke = f"sqlite:///{tmp_path}/maia.db", Writing()
    models = PlayedModels(SupervisedWire(POKE))
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row)
        (waiting,) = await workspace.approvals.listed(user, decided=False)

        async def gone(name: str, why: ChosenBy) -> Any:
            raise MaiaError("models.none_named", name=name)

        models.bind = gone
        await workspace.approvals.decide(user, waiting.id, "approved")
        await workspace._turns.paused.settled()  # pyright: ignore[reportPrivateUsage] - what was begun is over
        kept = await workspace.approvals.one(user, waiting.id)
        assert (kept.status, json.loads(kept.problem)["key"]) == ("approved", "models.none_named")
        notices = [each.key for each in await events_of(workspace, row, Notice)]
        assert notices == ["autonomy.not_resumed", "models.none_named"]
        assert poke.ran == []


async def test_a_run_that_goes_on_makes_no_call_twice(tmp_path: Path) -> None:
    class Again(SupervisedWire):
        """Makes both calls in each turn, as a model that begins anew."""

    done, waits = {"what": "done"}, {"what": "waits"}

    class Half(Writing):
        def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
            return (Need("Write", "none" if args == done else "name", "it"),)

    url, poke = f"sqlite:///{tmp_path}/maia.db", Half()
    models = PlayedModels(Again(done, waits))
    async with workspace_on(url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row)
        assert poke.ran == [done]
        (waiting,) = await workspace.approvals.listed(user, decided=False)
        await workspace.approvals.decide(user, waiting.id, "approved")
        assert (await ended(workspace, user, row, 2)).outcome == "finished"
        assert poke.ran == [done, waits]
        finished = await events_of(workspace, row, ToolCallFinished)
        assert [(each.call_id, each.status) for each in finished[-2:]] == [("c2-0", "skipped"), ("c2-1", "succeeded")]


def text_parts(request: ModelRequest) -> list[TextPart]:
    (message,) = request.messages
    return [part for part in message.parts if isinstance(part, TextPart)] if isinstance(message, UserMessage) else []


async def test_a_run_that_waits_twice_knows_what_it_did_before_the_first_time(tmp_path: Path) -> None:
    first, second, third = ({"what": each} for each in ("done", "waits", "waits, too"))

    class Half(Writing):
        def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
            return (Need("Write", "none" if args == first else "name", "it"),)

    poke, wire = Half(), SupervisedWire(first, second)
    models = PlayedModels(wire)
    bench = with_poke(models, poke)
    async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row, "Tidy the cellar")
        for number, calls in ((2, (first, second, third)), (3, (first, third))):
            wire.calls = calls
            (waiting,) = await workspace.approvals.listed(user, decided=False)
            await workspace.approvals.decide(user, waiting.id, "approved")
            await ended(workspace, user, row, number)
        assert poke.ran == [first, second, third]
        asked = [part.text for each in wire.checked for part in text_parts(each)]
        assert {json.loads(each)["task"] for each in asked} == {"Tidy the cellar"}


@pytest.mark.parametrize("known", ["in part", "whole"])
async def test_a_call_that_is_known_in_part_waits_for_nobody_who_could_not_say_later_that_it_is_the_same(
    tmp_path: Path, known: str
) -> None:
    models = PlayedModels(SupervisedWire(POKE))
    bench = with_poke(models, Writing())
    async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
        row = await workspace.create(user, "", "en")
        await background(workspace, user, row)  # a turn to which requests belong
        decision = Decision(Verdict.ASK, Reason(PART_KNOWN) if known == "in part" else BACKGROUND)
        question = ApprovalRequested("a", "c", "Bash", {"command": "ls"}, (), decision, None)
        queue = workspace.approvals
        settled = [
            await queue.settle(row.id, 1, tmp_path, question),
            await queue.wait(row.id, 1, tmp_path, question, BACKGROUND),
        ]
        assert [bool(each.ticket or each.used) for each in settled] == [known == "whole"] * 2


async def test_three_denials_lock_the_tools_of_the_conversation_also_over_a_restart(
    database_url: str, tmp_path: Path
) -> None:
    poke = Writing()
    wire = SupervisedWire(*({"what": str(n)} for n in range(4)), verdict="DENY\nno")
    models = PlayedModels(wire)
    async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        row, other = [await workspace.create(user, "", "en") for _ in range(2)]
        await background(workspace, user, row)
        finished = await events_of(workspace, row, ToolCallFinished)
        keys = [each.reason.key for each in finished if each.reason]
        assert keys == ["turn.check"] * 3 + ["autonomy.tools_locked"]
        assert [each.key for each in await events_of(workspace, row, Notice)] == ["autonomy.locked_out"]
        assert len(wire.checked) == 3
    async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
        await turn(workspace, user, row)
        assert [each.reason.key for each in (await events_of(workspace, row, ToolCallFinished))[4:] if each.reason] == [
            "autonomy.tools_locked"
        ] * 4, "in a chat as well"
        assert (await turn(workspace, user, other)).outcome == "waiting_approval"
        assert poke.ran == []


def test_refusals_of_protected_places_never_count_towards_the_lock() -> None:
    keys = ("folders.closed", "folders.closed_memory", "folders.search.unknown", "turn.not_offered", "anything.else")
    assert [refused_by(Reason(key)).counts for key in keys] == [False] * 5
    assert all(refused_by(Reason(key)).counts for key in ("perm.rule", "turn.check"))


# Levels --------------------------------------------------------------------------------------------------------------


async def test_a_level_is_set_by_who_may_and_only_where_it_can_rise(database_url: str, tmp_path: Path) -> None:
    models = PlayedModels(PlayedWire([]))
    async with workspace_on(database_url, tmp_path, models) as (workspace, user):
        assert {each.category: (each.level, each.is_locked) for each in await workspace.levels.all()} == {
            "files": (1, False),
            "commands": (1, True),
            "web": (1, True),
            "other": (1, True),
        }
        await workspace.levels.change(user, "files", 3)
        await workspace.levels.change(user, "files", 2)
        await workspace.levels.change(user, "files", 2)
        await workspace.levels.change(user, "web", 1)
        files = (await workspace.levels.all())[0]
        assert (files.level, files.changed_by) == (2, user.name)
        for category, level, error in (
            ("web", 2, Unfit),
            ("files", 4, Unfit),
            ("files", 0, Unfit),
            ("no", 1, NotThere),
        ):
            with pytest.raises(error):
                await workspace.levels.change(user, category, level)
        for role in ("user", "guest"):
            with pytest.raises(NotAllowed):
                await workspace.levels.change(await person(workspace, role), "files", 3)
        acts = await workspace.people.acts(user, None, "level")
        assert [each.details for each in acts] == [
            {"category": "files", "from": 3, "to": 2},
            {"category": "files", "from": 1, "to": 3},
        ]
