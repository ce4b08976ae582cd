import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from maia.core.events import Notice, TurnEnded, UserSaid, WireAnswer, WireEvent
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart, UserMessage
from maia.core.requests import ModelRequest
from maia.core.submission import Submission
from maia.database.database import Database
from maia.database.tables.people import AUDIT
from maia.privacy.destination import HERE, PROGRAM, Destination
from maia.privacy.policy import Policy
from maia.workspace.choosing import Change
from maia.workspace.models.catalogue import Pair
from maia.workspace.problems import NotAllowed, PolicyRefused, PrivacyBlocked
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on
from tests.workspace.test_turns import until

FAR = Destination("endpoint", "https://api.example.com")
IBAN = "FR76 3000 6000 0112 3456 7890 189"
MAIL = "jean@exemple.fr"


async def acts(workspace: Workspace) -> list[tuple[str, Any, Any]]:
    """What the audit holds: act, who, details."""
    database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - no door shows the audit yet
    rows = await database.read(
        lambda c: c.execute(select(AUDIT.c.action, AUDIT.c.user_id, AUDIT.c.details).order_by(AUDIT.c.at)).all()
    )
    return [(row.action, row.user_id, row.details) for row in rows if row.action.startswith("privacy.")]


def test_a_protected_value_for_a_model_elsewhere_is_refused_and_nothing_is_stored(
    database_url: str, tmp_path: Path
) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire), FAR) as (workspace, user):
            row = await workspace.create(user, "", "en")
            with pytest.raises(PrivacyBlocked) as caught:
                await workspace.submit(user, row, Submission(f"pay {IBAN} for {MAIL}"))
            assert (caught.value.types, caught.value.masked) == (("iban",), f"pay [IBAN] for {MAIL}")
            assert caught.value.values == {"types": "IBAN"}
            now = await workspace.conversation(user, row.id)
            assert (now.title, now.last_turn, now.last_seq, now.model_id, now.status) == ("", 0, 0, None, "idle")
            assert await workspace.messages(row, 10) == []
            assert wire.requests == []
            assert await acts(workspace) == [("privacy.inbound_refused", user.id, {"types": ["iban"]})]
            await workspace.submit(user, row, Submission("hello"))  # nothing stands in the way of the next one
            await until(workspace, row, 0, TurnEnded)

    asyncio.run(story())


def test_sent_again_masked_the_masked_text_is_what_is_stored_shown_and_sent(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire), FAR) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission(f"pay {IBAN} for {MAIL}"), masked=True)
            seen = [each.event for each in await until(workspace, row, 0, TurnEnded)]
            kept = f"pay [IBAN] for {MAIL}"
            assert [event.text for event in seen if isinstance(event, UserSaid)] == [kept]
            assert (await workspace.messages(row, 10))[0].text == kept
            assert (await workspace.conversation(user, row.id)).title == kept
            (asked,) = wire.requests[0].messages
            assert isinstance(asked, UserMessage)
            assert asked.parts[1:] == (TextPart("pay [IBAN] for [EMAIL]"),), "behind the clock"
            told = [event for event in seen if isinstance(event, Notice) and event.key == "privacy.masked"]
            assert [notice.values for notice in told] == [{"n": 1, "types": "Email address"}]
            noted = {act: details for act, _, details in await acts(workspace)}
            assert noted["privacy.inbound_masked"] == {"types": ["iban"]}
            assert noted["privacy.egress"] == {
                "provider": "played",
                "policy": "regex@1/policy@1",
                "counts": {"email": 1},
                "sections": ["user"],
            }
            assert IBAN not in str(noted)
            assert MAIL not in str(noted)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("destination", "policy"),
    [
        pytest.param(HERE, {}, id="a model here"),
        pytest.param(Destination("endpoint", "http://gpu.lan/v1"), {"localHosts": ["gpu.lan"]}, id="a local host"),
        pytest.param(FAR, {"enabled": False}, id="policy not enabled"),
    ],
)
def test_nothing_is_refused_or_masked_where_nothing_leaves_or_nobody_wants_it(
    database_url: str, tmp_path: Path, destination: Destination, policy: Any
) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire), destination) as (workspace, user):
            await workspace.privacy.save(user, policy)
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission(IBAN))
            await until(workspace, row, 0, TurnEnded)
            (asked,) = wire.requests[0].messages
            assert isinstance(asked, UserMessage)
            assert asked.parts[1:] == (TextPart(IBAN),)

    asyncio.run(story())


def test_agent_programs_are_elsewhere_and_the_history_is_masked_not_refused(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire), PROGRAM) as (workspace, user):
            await workspace.privacy.save(user, {"actions": {"iban": "off"}})
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission(IBAN))
            await until(workspace, row, 0, TurnEnded)
            await workspace.privacy.save(user, {})
            row = await workspace.conversation(user, row.id)
            with pytest.raises(PrivacyBlocked):
                await workspace.submit(user, row, Submission(IBAN))
            await workspace.submit(user, row, Submission("and now?"))
            await until(workspace, row, row.last_seq, TurnEnded)
            assert wire.requests[-1].messages[0] == UserMessage((TextPart("[IBAN]"),))

    asyncio.run(story())


class CallingWire(PlayedWire):
    """Calls a tool first, once it is let go on; then answers."""

    def __init__(self, pieces: list[str]) -> None:
        super().__init__(pieces)
        self.asked = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        if self.asked.is_set():
            async for event in super().stream(request):
                yield event
            return
        self.requests.append(request)
        self.asked.set()
        await self.go_on.wait()
        yield WireAnswer(
            AssistantMessage((ToolCallPart("1", "Nothing", {}),), "m", "played"), "tool_calls", "tool_calls"
        )


def test_a_turn_that_runs_goes_on_with_the_policy_that_it_began_with(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = CallingWire(["Yes."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire), FAR) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await workspace.submit(user, row, Submission(f"write to {MAIL}"))
            await wire.asked.wait()
            await workspace.privacy.save(user, {"actions": {"email": "off"}})
            wire.go_on.set()
            await until(workspace, row, 0, TurnEnded)
            row = await workspace.conversation(user, row.id)
            await workspace.submit(user, row, Submission("and now?"))
            await until(workspace, row, row.last_seq, TurnEnded)
            sent = [str(request.messages[0]) for request in wire.requests]
            assert ["[EMAIL]" in each for each in sent] == [True, True, False]
            assert [MAIL in each for each in sent] == [False, False, True]

    asyncio.run(story())


def test_the_policy_is_the_saved_one_else_the_file_else_the_defaults(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            assert await workspace.privacy.policy() == (Policy(), "defaults")
            seed = tmp_path / "data" / "privacy.yaml"
            seed.parent.mkdir(exist_ok=True)
            seed.write_text("localHosts: [gpu.lan]\n", "utf-8")
            assert await workspace.privacy.policy() == (Policy(local_hosts=("gpu.lan",)), "yaml")
            for broken in ("localHosts: [", "localHosts: 3", "- a"):
                seed.write_text(broken, "utf-8")
                assert await workspace.privacy.policy() == (Policy(local_hosts=("gpu.lan",)), "yaml"), broken
            with pytest.raises(PolicyRefused):
                await workspace.privacy.save(user, {"enabled": "no"})
            assert (await workspace.privacy.policy())[1] == "yaml"
            saved = await workspace.privacy.save(user, {"actions": {"phone": "off"}})
            found, source = await workspace.privacy.policy()
            assert (source, found.number, found.action("phone"), found.local_hosts) == ("ui", 2, "off", ())
            assert found.version == saved.version == "regex@1/policy@2"
            details = {"version": "regex@1/policy@2", "enabled": True}
            assert await acts(workspace) == [("privacy.policy.updated", user.id, details)]

    asyncio.run(story())


def test_without_the_audit_no_call_is_noted_and_everything_else_is(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire(["Yes."])), FAR) as (workspace, user):
            await workspace.privacy.save(user, {"audit": False})
            row = await workspace.create(user, "", "en")
            with pytest.raises(PrivacyBlocked):
                await workspace.submit(user, row, Submission(f"pay {IBAN}"))
            await workspace.submit(user, row, Submission(f"pay {IBAN} for {MAIL}"), masked=True)
            await until(workspace, row, 0, TurnEnded)
            noted = [act for act, _, _ in await acts(workspace)]
            assert noted == ["privacy.policy.updated", "privacy.inbound_refused", "privacy.inbound_masked"]
            tally = workspace.privacy.counted(user)
            assert (tally.refused, tally.sent_masked, tally.by_type) == (1, 1, {"email": 1})

    asyncio.run(story())


def test_only_the_owner_changes_and_tries_the_policy_and_admins_read_it(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            admin, member = replace(user, role="admin"), replace(user, role="member")
            assert (await workspace.privacy.shown(admin))["source"] == "defaults"
            for person in (admin, member):
                with pytest.raises(NotAllowed):
                    await workspace.privacy.save(person, {})
                with pytest.raises(NotAllowed):
                    await workspace.privacy.tried(person, "x")
            with pytest.raises(NotAllowed):
                await workspace.privacy.shown(member)

    asyncio.run(story())


def test_a_message_that_is_routed_counts_as_going_elsewhere_until_routing_is_off(
    database_url: str, tmp_path: Path
) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        async with workspace_on(database_url, tmp_path, models, HERE) as (workspace, user):
            await workspace.models.known()
            await workspace.models.allow_auto(user, allowed=True)
            await workspace.models.set_tier(user, "standard", Pair("played", "m"), None, None)
            row = await workspace.create(user, "", "en", start=Change("auto"))
            with pytest.raises(PrivacyBlocked):
                await workspace.submit(user, row, Submission(f"pay {IBAN}"))
            await workspace.models.allow_auto(user, allowed=False)
            await workspace.submit(user, row, Submission(f"pay {IBAN}"))
            await until(workspace, row, 0, TurnEnded)

    asyncio.run(story())


def test_a_policy_that_is_saved_while_the_old_one_is_read_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        models = PlayedModels(PlayedWire([]))
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models) as (workspace, user):
            database = workspace._database  # pyright: ignore[reportPrivateUsage] - what is read slowly is inside
            look, slow, go_on = database.look, [True], asyncio.Event()

            async def late(work: Any) -> Any:
                found = await look(work)
                if slow.pop() if slow else False:
                    await go_on.wait()
                return found

            monkeypatch.setattr(database, "look", late)
            reading = asyncio.create_task(workspace.privacy.policy())
            await asyncio.sleep(0)
            await workspace.privacy.save(user, {"enabled": False})
            go_on.set()
            assert [(await each)[0].enabled for each in (reading, workspace.privacy.policy())] == [False, False]

    asyncio.run(run())
