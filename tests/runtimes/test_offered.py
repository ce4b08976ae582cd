from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from maia.app.supply import models_of_program
from maia.core.runtime import ProgramGone, ProgramStart
from maia.database.providers import ModelRow
from maia.runtimes.offered import MOST, OfferedModel, fitting, offered_models, told_at_greeting, told_with_session
from maia.runtimes.programs import BY_NAME
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.wall import WallFound
from tests.runtimes.doubles import OpenDoor

GREETED: dict[str, Any] = {
    "models": [
        {"value": "default", "resolvedModel": "claude-opus-5-5", "displayName": "Default (recommended)"},
        {"value": "opus", "resolvedModel": "claude-opus-5-5", "displayName": "Opus"},
        {"value": "opus[1m]", "resolvedModel": "claude-opus-5-5", "displayName": "Opus (1M context)"},
        {"value": "haiku", "displayName": "Haiku", "description": "$0.50 for prompts over 100k"},
        {"displayName": "nameless"},
        "odd",
    ]
}
CLAUDE = (
    OfferedModel("default", "Default (recommended)", "claude-opus-5-5"),
    OfferedModel("opus", "Opus", "claude-opus-5-5"),
    OfferedModel("opus[1m]", "Opus (1M context)", "claude-opus-5-5", 1_000_000),
    OfferedModel("haiku", "Haiku"),
)


def test_claude_code_tells_its_models_when_it_is_greeted() -> None:
    assert tuple(told_at_greeting(GREETED)) == CLAUDE
    assert tuple(told_at_greeting({"models": "none"})) == ()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            {"models": {"availableModels": [{"modelId": "q|x", "name": "X", "_meta": {"contextLimit": 200_000}}]}},
            [OfferedModel("q|x", "X", None, 200_000)],
            id="Qwen Code",
        ),
        pytest.param(
            {"models": {"availableModels": [{"modelId": "sonnet[1m]", "name": "Sonnet (1M context)"}]}},
            [OfferedModel("sonnet[1m]", "Sonnet (1M context)", None, 1_000_000)],
            id="the adapter of Claude Code",
        ),
        pytest.param(
            {"configOptions": [{"id": "mode"}, {"id": "model", "options": [{"value": "a/b", "name": "A B"}, {}]}]},
            [OfferedModel("a/b", "A B")],
            id="an option, as of OpenCode and Kimi",
        ),
        pytest.param({"configOptions": [{"id": "mode"}], "models": None}, [], id="one that says nothing"),
    ],
)
def test_an_agent_tells_its_models_with_a_new_session(made: Any, expected: list[OfferedModel]) -> None:
    assert list(told_with_session(made)) == expected


def test_of_a_program_that_lies_only_what_can_be_kept_and_shown_is_listed() -> None:
    good = OfferedModel("good", "Good", None, 200_000)
    odd = [OfferedModel(name, "x") for name in ("", "a\x00b", "a\u202eb", "a\nb", "x" * 201)]
    odd += [OfferedModel("a", "b\x1b[2J"), OfferedModel("a", "b", "\x00")]
    assert fitting([*odd, good, OfferedModel("vast", "Vast", None, 2**53)]) == (good, OfferedModel("vast", "Vast"))
    assert len(fitting(OfferedModel(str(n), "x") for n in range(MOST + 1))) == MOST


def test_only_an_entry_that_is_offered_as_the_long_variant_lists_a_million() -> None:
    listed = models_of_program(BY_NAME["claude-code"], "claude-code-cli", CLAUDE)
    assert [(each.id, each.name, each.real_id, each.window) for each in listed] == [
        ("default", "default", "claude-opus-5-5", 200_000),
        ("opus", "Opus", "claude-opus-5-5", 200_000),
        ("opus[1m]", "Opus (1M context)", "claude-opus-5-5", 1_000_000),
        ("haiku", "Haiku", None, 200_000),
    ]
    before = models_of_program(BY_NAME["claude-code"], "claude-code-cli")
    assert [each.id for each in before] == ["default", "opus", "fable", "sonnet", "haiku"]
    assert {each.window for each in before} == {200_000}
    assert models_of_program(BY_NAME["codex"], "c") == [ModelRow("c", "default", "default")]


def asked(folder: Path, name: str, script: str, seconds: float = 20.0) -> Any:
    """What a program that is played by a script in Python offers."""
    start = ProgramStart((sys.executable, "-c", script), folder, folder, {"PATH": "/usr/bin:/bin"})
    programs = PipedPrograms(lambda _home: WallFound(OpenDoor()))
    return asyncio.run(offered_models(BY_NAME[name], programs.start, start, seconds))


PLAYED = f"""
import json, sys
read = lambda: json.loads(sys.stdin.readline())
say = lambda message: print(json.dumps(message), flush=True)
print("a warning that is no message", flush=True)
first = read()
if first.get("type") == "control_request":
    assert first["request"]["subtype"] == "initialize", first
    say({{"type": "system", "subtype": "init"}})
    answer = {{"subtype": "success", "request_id": first["request_id"], "response": {json.dumps(GREETED)}}}
    say({{"type": "control_response", "response": answer}})
else:
    say({{"jsonrpc": "2.0", "id": first["id"], "result": {{"protocolVersion": 1}}}})
    asked = read()
    assert asked["method"] == "session/new", asked
    say({{"jsonrpc": "2.0", "method": "session/update", "params": {{}}}})
    models = {{"availableModels": [{{"modelId": "m", "name": "M"}}]}}
    say({{"jsonrpc": "2.0", "id": asked["id"], "result": {{"sessionId": "s", "models": models}}}})
assert not sys.stdin.readline(), "nothing more is asked: no model is called"
"""


def test_a_program_is_asked_for_its_models_and_for_nothing_else(tmp_path: Path) -> None:
    assert asked(tmp_path, "claude-code", PLAYED) == CLAUDE
    assert asked(tmp_path, "kimi", PLAYED) == (OfferedModel("m", "M"),)
    assert asked(tmp_path, "codex", "raise SystemExit") == (), "it cannot be asked"


def test_one_that_says_nothing_offers_nothing_and_one_that_ends_is_an_error(tmp_path: Path) -> None:
    assert asked(tmp_path, "kimi", "import time; time.sleep(60)", 0.3) == ()
    with pytest.raises(ProgramGone):
        asked(tmp_path, "claude-code", "pass")


@pytest.mark.real
def test_the_real_claude_code_tells_its_models_without_a_server(tmp_path: Path) -> None:
    import os
    import shutil

    from maia.runtimes.claude_code import ARGUMENTS

    path = shutil.which("claude")
    if path is None:
        pytest.skip("Claude Code is not installed")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1"}
    start = ProgramStart((path, *ARGUMENTS), tmp_path, tmp_path, env)
    programs = PipedPrograms(lambda _home: WallFound(OpenDoor()))
    found = asyncio.run(offered_models(BY_NAME["claude-code"], programs.start, start))
    assert {"default", "opus", "sonnet", "haiku"} <= {each.id for each in found}
