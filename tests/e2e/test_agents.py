"""Agents as people and scripts meet them: `maia --agent`, `maia agents`, nicknames of models, agents in runs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.agents.place import written
from tests.credentials.made import ANTHROPIC
from tests.e2e.program import Place, Ran
from tests.e2e.test_interactive import answer, send
from tests.e2e.test_interactive import maia as terminal
from tests.fakes import FakeLlm, fake_llm
from tests.runtimes.doubles import AGENT as PROGRAM
from tests.terminal.live.tmux import needs_tmux

CHAOS = """---
nickname: 🔥 The Chaos Prophet
description: Finds what breaks.
tools: [Read, Grep]
model: sonnet
effort: low
permissions:
  deny: ["Read(.env)"]
---
# Instructions system
You look for what FAILS.
# Missions
Review.
# Output
A list.
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def put(place: Place, name: str, text: str, *, in_project: bool = False) -> Path:
    file = (place.folder if in_project else place.home) / ".maia" / "agents" / name / "AGENT.md"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return file


def ask(place: Place, llm: FakeLlm, *words: str, settings: Any = None) -> Ran:
    place.settings(LiteLLM_URL=llm.url, **(settings or {}))
    return place.run(*words, "-p", "go", "--output-format", "json", "--lang", "en")


def test_maia_acts_as_an_agent_and_the_result_tells_nickname_and_real_model(place: Place) -> None:
    put(place, "chaos", CHAOS)
    with fake_llm(models="tiny,big-sonnet-4,small-sonnet-4") as llm:
        ran = ask(place, llm, "--agent", "the chaos prophet")
        (body,) = llm.chats()
    result = {name: ran.json[name] for name in ("agent", "nickname", "model", "provider")}
    nickname = "🔥 The Chaos Prophet"
    assert result == {"agent": "chaos", "nickname": nickname, "model": "big-sonnet-4", "provider": "litellm"}, ran.err
    assert [tool["function"]["name"] for tool in body["tools"]] == ["Read", "Grep", "MemoryStore", "MemorySearch"]
    told = str(body["messages"][0])
    assert "You look for what FAILS." in told
    assert "at most 10 steps" in told
    assert body["reasoning_effort"] == "low"


def test_without_an_agent_nothing_of_it_is_there(place: Place) -> None:
    put(place, "chaos", CHAOS)
    with fake_llm() as llm:
        ran = ask(place, llm)
        assert "FAILS" not in json.dumps(llm.chats())
    assert "agent" not in ran.json


def test_a_model_that_is_not_there_gives_way_with_a_warning_and_an_option_wins(place: Place) -> None:
    put(place, "chaos", CHAOS)
    with fake_llm(models="tiny,other") as llm:
        ran = ask(place, llm, "--agent", "chaos")
        assert (ran.code, ran.json["model"]) == (0, "tiny")
        assert '"sonnet", which is not there; litellm/tiny answers' in ran.err
        ran = ask(place, llm, "--agent", "chaos", "--model", "other")
        assert (ran.json["model"], "sonnet" in ran.err) == ("other", False)


def test_a_nickname_of_a_model_is_the_real_one_everywhere_and_an_unknown_one_is_an_error(place: Place) -> None:
    put(place, "chaos", CHAOS.replace("model: sonnet", "model: the ORACLE"))
    table = {"ModelNicknames": {"The Oracle": "litellm/small-sonnet-4"}}
    with fake_llm(models="tiny,big-sonnet-4,small-sonnet-4") as llm:
        for words in (("--model", "the oracle"), ("--agent", "chaos")):
            ran = ask(place, llm, *words, settings=table)
            assert (ran.code, ran.json["model"]) == (0, "small-sonnet-4"), ran.err
        ran = ask(place, llm, settings={**table, "model": "The Oracle"})
        assert ran.json["model"] == "small-sonnet-4"
        ran = ask(place, llm, "--model", "the orakle", settings=table)
        assert (ran.code, "The Oracle" in ran.err) == (2, True), ran.err
    ran = place.run("agents", "nicknames", "--json")
    assert json.loads(ran.out) == [{"nickname": "The Oracle", "runner": "maia", "model": "litellm/small-sonnet-4"}]


def test_a_table_of_nicknames_that_is_wrong_is_told_entry_by_entry(place: Place) -> None:
    place.settings(ModelNicknames={"A": "x/y", "B": 3, "C": {"modell": "x"}})
    ran = place.run("agents", "nicknames", "--json")
    assert [row["nickname"] for row in json.loads(ran.out)] == ["A"]
    ran = place.run("models", "--lang", "en")
    assert '"ModelNicknames.B, ModelNicknames.C" is ignored' in ran.err


def test_a_deny_of_the_agent_holds_and_its_allow_lifts_no_deny_of_the_person(place: Place) -> None:
    put(place, "chaos", CHAOS.replace("tools: [Read, Grep]\n", "").replace("deny:", 'allow: ["Bash(*)"]\n  deny:'))
    (place.folder / ".env").write_text("SECRET", "utf-8")
    for tool, arguments in (("Read", {"file_path": ".env"}), ("Bash", {"command": "touch made"})):
        with fake_llm("tool", tool_name=tool, tool_args=json.dumps(arguments)) as llm:
            settings = {"permissions": {"allow": ["Read(**)"], "deny": ["Bash(touch *)"]}}
            ask(place, llm, "--agent", "chaos", settings=settings)
            assert "SECRET" not in json.dumps(llm.chats())
    assert not (place.folder / "made").exists()


# Trust --------------------------------------------------------------------------------------------------------------


def test_an_agent_of_a_folder_that_is_not_trusted_is_named_and_not_run(place: Place) -> None:
    put(place, "evil", CHAOS, in_project=True)
    ran = place.run("--agent", "evil", "-p", "go", "--lang", "en")
    assert (ran.code, "not trusted" in ran.err) == (2, True)
    ran = place.run("agents", "list", "--json", "--lang", "en")
    assert (json.loads(ran.out), "evil waits for trust" in ran.err) == ([], True)


def test_an_invalid_agent_is_told_with_file_and_line_and_the_others_load(place: Place) -> None:
    put(place, "good", CHAOS)
    put(place, "bad", CHAOS.replace("effort: low", "effort: huge"))
    ran = place.run("agents", "list", "--json", "--lang", "en")
    assert [row["name"] for row in json.loads(ran.out)] == ["good"]
    assert "~/.maia/agents/bad/AGENT.md, line 6" in ran.err
    ran = place.run("--agent", "bad", "-p", "go", "--lang", "en")
    assert (ran.code, "line 6" in ran.err) == (2, True)


@pytest.mark.parametrize(("lang", "said"), [("fr", "Peut-être"), ("en", "Perhaps")])
def test_an_unknown_agent_is_an_error_with_the_nearest_names(place: Place, lang: str, said: str) -> None:
    put(place, "chaos", CHAOS)
    ran = place.run("--agent", "chaso", "-p", "go", "--lang", lang)
    assert (ran.code, said in ran.err, "chaos" in ran.err) == (2, True, True)


# maia agents --------------------------------------------------------------------------------------------------------


def test_agents_are_made_listed_shown_changed_and_deleted_from_the_command_line(place: Place) -> None:
    fields = ("nickname=Zed", "description=Reads.", "instructions=Be careful.", "tools=Read, Grep", "memory=false")
    made = place.run("agents", "create", "critic", *(word for each in fields for word in ("--set", each)), "--json")
    assert (made.json["nickname"], made.json["tools"], made.json["memory"]) == ("Zed", ["Read", "Grep"], False)
    assert made.json["file"] == "./.maia/agents/critic/AGENT.md"
    assert place.run("agents", "create", "critic").code == 2
    made = place.run("agents", "create", "other", "--global", "--json")
    assert made.json["file"] == "~/.maia/agents/other/AGENT.md"
    rows: Any = place.run("agents", "list", "--json").json
    assert [(row["name"], row["level"]) for row in rows] == [("critic", "project"), ("other", "home")]
    changed = place.run(
        "agents", "edit", "zed", "--set", 'permissions={"deny": ["Read(.env)"]}', "--set", "tools=", "--json"
    )
    assert (changed.json["tools"], changed.json["permissions"]["deny"]) == (None, ["Read(.env)"])
    shown = place.run("agents", "show", "ZED")
    assert "nickname: Zed" in shown.out
    prompts = place.folder / ".maia" / "agents" / "critic" / "prompts"
    prompts.mkdir()
    (prompts / "review.md").write_text("Review $ARGUMENTS", "utf-8")
    trash = place.run("agents", "list").err
    assert "critic waits for trust" in trash, "somebody else's change asks again"
    assert place.run("agents", "delete", "other", "--json").json["trash"].startswith("~/.maia/.trash/agents/other.")


def test_prompts_are_listed_and_printed(place: Place) -> None:
    file = put(place, "chaos", CHAOS)
    (file.parent / "prompts").mkdir()
    (file.parent / "prompts" / "review.md").write_text("Review $ARGUMENTS", "utf-8")
    assert place.run("agents", "prompts", "chaos").out == "review\n"
    assert place.run("agents", "prompts", "chaos", "review").out == "Review $ARGUMENTS\n"
    assert place.run("agents", "prompts", "chaos", "revue").code == 2


@pytest.mark.parametrize(
    "words",
    [(), ("nothing",), ("show",), ("list", "x"), ("create", "a", "--set", "x"), ("create", "../a"), ("create", "maia")],
)
def test_words_that_make_no_command_are_an_error(place: Place, words: tuple[str, ...]) -> None:
    ran = place.run("agents", *words)
    assert (ran.code, ran.out, "Traceback" in ran.err) == (2, "", False)


def test_a_key_in_a_definition_is_never_shown(place: Place) -> None:
    text = written(f"nickname: {ANTHROPIC[:40]}\n").replace("Be careful.", f"Use {ANTHROPIC} there.")
    put(place, "leaky", text)
    put(place, "worse", written(f"key: {ANTHROPIC}\n"))
    for words in (("list",), ("list", "--json"), ("show", "leaky"), ("show", "leaky", "--json"), ("show", "worse")):
        ran = place.run("agents", *words)
        assert ANTHROPIC[:40] not in ran.out + ran.err


# Programs -----------------------------------------------------------------------------------------------------------


def test_an_agent_that_a_program_runs_gives_it_its_instructions_and_rules(place: Place) -> None:
    if find_wall("auto", Places(place.base, place.base)).wall is None:
        pytest.skip("no wall works here")
    folder = place.base / "bin"
    folder.mkdir()
    (folder / "qwen").write_text(f"#!/bin/sh\nexec {Path(sys.executable).resolve()} {PROGRAM} acp resumed\n", "utf-8")
    (folder / "qwen").chmod(0o755)
    place.env["PATH"] = f"{folder}:{os.environ['PATH']}"
    put(place, "chaos", CHAOS.replace("model: sonnet\n", "runner: qwen\n"))
    ran = place.run("--agent", "chaos", "-p", "go", "--output-format", "json")
    assert (ran.code, ran.json["provider"], ran.json["nickname"]) == (0, "qwen", "🔥 The Chaos Prophet"), ran.err
    assert "You look for what FAILS." in ran.json["text"]


# In the terminal ----------------------------------------------------------------------------------------------------

HINT = {"fr": "Écrivez une demande", "en": "Write a request"}


@needs_tmux
@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_person_makes_an_agent_in_the_terminal_and_sees_it_in_the_list(place: Place, lang: str) -> None:
    with terminal(place, "--model", "offline", MAIA_LANG=lang) as term:
        term.until(HINT[lang])
        send(term, "/createAgent")
        term.until({"fr": "Quel nom pour l'agent", "en": "What is the agent's name?"}[lang])
        answer(term)
        send(term, "critic")
        term.until("~/.maia/agents")
        answer(term, "p")
        term.until("./.maia/agents/critic/AGENT.md")
        file = place.folder / ".maia" / "agents" / "critic" / "AGENT.md"
        assert ("Tu es un agent" in file.read_text("utf-8")) == (lang == "fr")
        send(term, "/createAgent critic")
        term.until("~/.maia/agents")
        answer(term, "p")
        term.until({"fr": "existe déjà", "en": "exists already"}[lang])
        send(term, "/createAgent other")
        term.until("~/.maia/agents")
        answer(term, "Escape")
        term.until(HINT[lang])
        send(term, "/agents")
        term.until("maia · ./.maia/agents/critic/AGENT.md")
        send(term, "/exit")
        term.until("code 0")
    assert sorted(each.name for each in file.parent.parent.iterdir()) == ["critic"]


@needs_tmux
def test_the_terminal_acts_as_the_agent_that_was_named(place: Place) -> None:
    put(place, "chaos", CHAOS)
    put(place, "bad", CHAOS.replace("effort: low", "effort: huge"))
    with fake_llm(models="tiny,big-sonnet-4") as llm:
        place.settings(LiteLLM_URL=llm.url)
        with terminal(place, "--agent", "chaos") as term:
            term.until(HINT["en"])
            send(term, "/agents")
            text = "\n".join(term.until("line 6"))
            assert "acts here" in text
            send(term, "hello")
            term.until("Hello from the fake model.")
            send(term, "/exit")
            term.until("code 0")
        assert "You look for what FAILS." in json.dumps(llm.chats())
