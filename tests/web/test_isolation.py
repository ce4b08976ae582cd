"""The isolation of agent programs over HTTP: a real server, a scripted program, the wall of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.runtimes.doubles import AGENT
from tests.web.serving import ROOT, Serving, Visitor, serving

CHECKS = ["home", "data", "keys", "writes", "network"]
PROVIDERS = "/api/v1/model/providers"


def installed(folder: Path, *commands: str, scenario: str = "text") -> str:
    """The scripted program under the names of real ones; the PATH that has them."""
    folder.mkdir(parents=True)
    for command in commands:
        program = folder / command
        program.write_text(f"#!/bin/sh\nexec {Path(sys.executable).resolve()} {AGENT} acp {scenario}\n")
        program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    top = tmp_path_factory.mktemp("isolation")
    if find_wall("auto", Places(top, top)).wall is None:
        pytest.skip("no wall works here")
    path = installed(top / "bin", "qwen", "kimi", "claude")
    store = top / "data/home/.claude"
    store.mkdir(parents=True)
    (store / "memory.md").write_text("private")
    with serving(top / "data", PATH=path, OPENAI_API_KEY="sk-not-a-real-one") as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield server


@pytest.fixture
def owner(server: Serving) -> Iterator[Visitor]:
    with Visitor(server.url) as visitor:
        visitor.sign_in()
        yield visitor


def test_a_program_is_tried_on_demand_and_no_model_is_called(owner: Visitor) -> None:
    before = owner.ask("GET", f"{PROVIDERS}/qwen-cli/isolation").json()
    assert before == {"status": "unverified", "checks": [], "checkedAt": None, "signedIn": True, "canVerify": True}
    tried = owner.ask("POST", f"{PROVIDERS}/qwen-cli/isolation/verify")
    assert (tried.status_code, tried.json()["status"]) == (200, "verified"), tried.json()
    assert [(each["id"], each["passed"], each["found"]) for each in tried.json()["checks"]] == [
        (name, True, []) for name in CHECKS
    ]
    after = owner.ask("GET", f"{PROVIDERS}/qwen-cli/isolation").json()
    assert after["checkedAt"]
    assert after == tried.json()


def test_a_program_that_nobody_signed_in_says_so_and_can_be_tried(owner: Visitor) -> None:
    found = owner.ask("GET", f"{PROVIDERS}/kimi-cli/isolation").json()
    assert (found["status"], found["signedIn"], found["canVerify"]) == ("auth-required", False, True)


@pytest.mark.parametrize(
    ("name", "read", "verified"),
    [
        ("claude-code-cli", (200, None), (409, "verifyUnavailable")),
        ("offline", (404, "no_program"), (404, "no_program")),
        ("nothing", (404, "unknown"), (404, "unknown")),
    ],
)
def test_what_cannot_be_tried_says_which_way(owner: Visitor, name: str, read: object, verified: object) -> None:
    asked = owner.ask("GET", f"{PROVIDERS}/{name}/isolation")
    assert (asked.status_code, asked.json().get("code")) == read
    tried = owner.ask("POST", f"{PROVIDERS}/{name}/isolation/verify")
    assert (tried.status_code, tried.json().get("code")) == verified


def test_a_provider_that_is_off_is_not_tried(owner: Visitor) -> None:
    owner.ask("PATCH", f"{PROVIDERS}/qwen-cli", {"enabled": False})
    try:
        assert owner.ask("GET", f"{PROVIDERS}/qwen-cli/isolation").json()["canVerify"] is False
        tried = owner.ask("POST", f"{PROVIDERS}/qwen-cli/isolation/verify")
        assert (tried.status_code, tried.json()["code"]) == (409, "verifyUnavailable")
    finally:
        owner.ask("PATCH", f"{PROVIDERS}/qwen-cli", {"enabled": True})


def test_a_provider_tells_what_the_kernel_offers_and_a_model_server_nothing(owner: Visitor) -> None:
    found = {each["id"]: each["fileSandbox"] for each in owner.ask("GET", PROVIDERS).json()["providers"]}
    assert (found["qwen-cli"]["status"], found["qwen-cli"]["mode"]) == ("active", "required")
    assert found["offline"] is None
    assert owner.ask("GET", f"{PROVIDERS}/qwen-cli").json()["fileSandbox"] == found["qwen-cli"]


def test_a_turn_of_a_program_is_confirmed_by_itself(owner: Visitor) -> None:
    conversation = owner.conversation()
    chosen = {"providerId": "qwen-cli", "modelId": "default"}
    assert owner.ask("PATCH", f"/api/v1/conversations/{conversation}", chosen).status_code == 200
    owner.say(conversation, "Hello")
    done = owner.until_done(conversation)[-1].json
    assert done["turnMeta"]["outcome"] == "finished", done
    assert owner.ask("GET", f"{PROVIDERS}/qwen-cli/isolation").json()["status"] == "verified"


def test_the_panel_of_a_program_shows_its_checks(owner: Visitor) -> None:
    owner.ask("POST", f"{PROVIDERS}/qwen-cli/isolation/verify")
    page = owner.ask("GET", "/providers", accept="text/html", accept_language="en").text
    panel = page.partition('id="isolation-qwen-cli"')[2].partition("</dd>")[0]
    assert panel.count("<li") == len(CHECKS)
    assert "/isolation/verify" in page
    assert 'id="isolation-offline"' not in page


def test_another_word_for_the_sandbox_of_programs_is_an_error_of_the_start(tmp_path: Path) -> None:
    home = tmp_path / ".maia"
    home.mkdir()
    (home / "settings.json").write_text(json.dumps({"security": {"cliSandbox": "off"}}))
    argv = (sys.executable, "-P", "-m", "maia", "serve", "--port", "0", "--lang", "en")
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "security.cliSandbox" in ran.stderr
