"""`maia -p` with the setting `privacy`: what a server elsewhere gets, what is refused, what a tool may not write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Place
from tests.fakes import FakeLlm, fake_llm

MAIL = "jean.dupont@exemple.fr"
IBAN = "FR76 3000 6000 0112 3456 7890 189"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def far(place: Place, fake: FakeLlm, privacy: Any) -> None:
    """Point the program at the fake server by an address that does not say that it is this machine."""
    place.settings(LiteLLM_URL=fake.url.replace("127.0.0.1", "0.0.0.0"), model="fake-model", privacy=privacy)


def sent(fake: FakeLlm) -> str:
    return json.dumps(fake.chats(), ensure_ascii=False)


def test_a_server_elsewhere_gets_placeholders_and_the_person_is_told(place: Place) -> None:
    (place.folder / "MAIA.md").write_text(f"Ask {MAIL}", "utf-8")
    (place.folder / "who.txt").write_text(f"IBAN {IBAN}\n", "utf-8")
    with fake_llm("tool", tool_name="Read", tool_args=json.dumps({"file_path": "who.txt"})) as fake:
        far(place, fake, "mask")
        ran = place.run("-p", f"write to {MAIL}", "--allow", "Read(**)", "--output-format", "stream-json")
        left = sent(fake)
    assert ran.code == 0, ran.err
    assert MAIL not in left
    assert IBAN not in left
    assert "Ask [EMAIL]" in left
    assert "write to [EMAIL]" in left
    assert "IBAN [IBAN]" in left, "what a tool read is masked on its way out"
    told = [event["values"]["n"] for event in ran.of("Notice") if event["key"] == "privacy.masked"]
    assert told == [2, 3], "told once a change, not with each request"
    assert [event["text"] for event in ran.of("UserSaid")] == [f"write to {MAIL}"], "what is kept stays as it was"


def test_a_key_is_masked_by_its_shape(place: Place) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    with fake_llm("text") as fake:
        far(place, fake, "mask")
        assert place.run("-p", f"is {key} a key?").code == 0
        assert key not in sent(fake)
        assert "is [SECRET] a key?" in sent(fake)


@pytest.mark.parametrize("mode", ["block", {"mode": "block"}, {}])
def test_a_message_with_a_blocked_value_is_refused_and_nothing_is_sent_or_kept(place: Place, mode: Any) -> None:
    with fake_llm("text") as fake:
        far(place, fake, mode)
        ran = place.run("-p", f"pay {IBAN}", "--lang", "en")
        assert fake.chats() == []
    assert ran.code == 2
    assert "Message not sent — privacy: IBAN." in ran.err
    assert "MAIA_PRIVACY=mask" in ran.err
    assert IBAN not in ran.err + ran.out
    sessions = (place.folder / ".maia" / ".sessions").rglob("*")
    assert all(IBAN not in path.read_text("utf-8", "replace") for path in sessions if path.is_file())


def test_the_same_message_goes_out_masked_when_the_person_says_so(place: Place) -> None:
    with fake_llm("text") as fake:
        far(place, fake, "block")
        ran = place.run("-p", f"pay {IBAN}", MAIA_PRIVACY="mask")
        assert ran.code == 0
        assert "pay [IBAN]" in sent(fake)


@pytest.mark.parametrize(
    ("privacy", "host"),
    [
        pytest.param("block", "127.0.0.1", id="this machine"),
        pytest.param({"mode": "block", "localHosts": ["0.0.0.0"]}, "0.0.0.0", id="a host that counts as this machine"),
        pytest.param("off", "0.0.0.0", id="off"),
        pytest.param(None, "0.0.0.0", id="not set"),
        pytest.param({"enabled": False}, "0.0.0.0", id="policy not enabled"),
    ],
)
def test_everything_goes_as_it_is_to_this_machine_or_where_nobody_asked(place: Place, privacy: Any, host: str) -> None:
    with fake_llm("text") as fake:
        set_ = {} if privacy is None else {"privacy": privacy}
        place.settings(LiteLLM_URL=fake.url.replace("127.0.0.1", host), model="fake-model", **set_)
        assert place.run("-p", f"pay {IBAN}").code == 0
        assert f"pay {IBAN}" in sent(fake)


def test_a_placeholder_is_never_written_over_what_it_stands_for(place: Place) -> None:
    (place.folder / "who.txt").write_text(f"{MAIL}\n", "utf-8")
    call = json.dumps({"file_path": "who.txt", "content": "to: [EMAIL]\n"})
    with fake_llm("tool", tool_name="Write", tool_args=call) as fake:
        far(place, fake, "mask")
        ran = place.run("-p", f"write {MAIL}", "--allow", "Write(**)", "--output-format", "stream-json", "--lang", "en")
    (finished,) = ran.of("ToolCallFinished")
    assert finished["status"] == "failed"
    assert "[EMAIL] stands for personal data" in finished["text"]
    assert (place.folder / "who.txt").read_text("utf-8") == f"{MAIL}\n"


def test_a_policy_that_cannot_be_used_stops_everything_instead_of_letting_all_out(place: Place) -> None:
    with fake_llm("text") as fake:
        far(place, fake, {"mode": "mask", "actions": {"emial": "mask"}})
        ran = place.run("-p", f"write to {MAIL}", "--lang", "en")
        assert fake.chats() == []
    assert (ran.code, "actions.emial" in ran.err) == (2, True)


@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_mode_that_is_misspelt_masks_all_the_same(place: Place, where: str) -> None:
    with fake_llm("text") as fake:
        far(place, fake, "mazk" if where == "file" else "off")
        env = {"MAIA_PRIVACY": "mazk"} if where == "environment" else {}
        ran = place.run("-p", f"write to {MAIL}", "--lang", "en", **env)
        assert "write to [EMAIL]" in sent(fake)
    assert "to be safe personal data are masked" in ran.err


def test_own_patterns_and_actions_of_the_settings_count(place: Place) -> None:
    pattern = {"name": "Dossier", "pattern": r"D-\d{4}", "type": "dossier"}
    with fake_llm("text") as fake:
        far(place, fake, {"mode": "mask", "actions": {"email": "off"}, "customPatterns": [pattern]})
        place.run("-p", f"D-1234 of {MAIL}")
        assert f"[DOSSIER] of {MAIL}" in sent(fake)
