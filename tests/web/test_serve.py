import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import ROOT, Visitor, serving


def run(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`maia serve` that cannot begin."""
    env = {**os.environ, "MAIA_DATA_DIR": str(data), "PYTHONPATH": str(ROOT / "src"), "MAIA_LANG": "en"}
    argv = [sys.executable, "-P", "-m", "maia", "serve", *options]
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("port", ["65536", "-1", "x", "٣"])
def test_a_port_that_is_none_is_told(data: Path, port: str) -> None:
    done = run(data, f"--port={port}")
    assert done.returncode == 2
    assert f"{port} is no port" in done.stderr
    assert not data.exists()


def test_a_port_that_is_taken_is_told_before_anything_is_made(data: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run(data, "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "Cannot listen" in done.stderr
    assert not data.exists()


def test_an_address_of_no_database_is_told_without_its_password(data: Path) -> None:
    done = run(data, "--port", "0", "--database", "mysql://u:hidden@h/d")
    assert done.returncode == 2
    assert "hidden" not in done.stderr + done.stdout


def test_a_second_server_on_the_same_data_is_told(data: Path) -> None:
    with serving(data, from_nothing=True):
        done = run(data, "--port", "0")
    assert done.returncode == 1
    assert "Another maia server" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order_with_a_stream_open_and_an_answer_going_on(data: Path, number: int) -> None:
    with serving(data, script=[{"text": "Half", "wait": 60}]) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "Go")
        frames = visitor.frames(conversation)
        while next(frames).kind != "TextDelta":
            pass
        rest: list[str] = []
        reader = threading.Thread(target=lambda: rest.extend(frame.kind for frame in frames))
        reader.start()
        assert server.stop(number) == 0
        reader.join(10)
        assert not reader.is_alive()
    with serving(data, from_nothing=True) as server, Visitor(server.url) as visitor:
        visitor.sign_in()
        answer = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"][1]
        assert (answer["content"], answer["turnMeta"]["error"]["code"]) == ("Half", "server_stopped")


HASTY = "---\ndescription: Hurries.\nmax_turns: 28\n---\n# Instructions system\nGo.\n# Missions\nGo.\n# Output\nDone.\n"


def test_a_chat_turn_does_25_round_trips_or_those_of_its_colleague_and_says_so(data: Path) -> None:
    agent = data / "home" / ".maia" / "agents" / "hasty" / "AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text(HASTY, "utf-8")
    call = {"call": {"name": "Glob", "arguments": {"pattern": "*"}}, "usage": {"input": 10, "output": 1}}
    script = [{**call, "call": {"name": "Glob", "arguments": {"pattern": f"{n}*"}}} for n in range(60)]
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "Go")
        meta = visitor.until_done(conversation)[-1].json["turnMeta"]
        page = visitor.client.get(f"/conversations/{conversation}").text
        hers = visitor.ask("POST", "/api/v1/conversations", {"agent": "hasty"}).json()["id"]
        visitor.say(hers, "Go")
        her_meta = visitor.until_done(hers)[-1].json["turnMeta"]
    assert (meta["outcome"], meta["steps"], meta["toolCalls"]) == ("turn_limit", 25, 25)
    assert (her_meta["outcome"], her_meta["steps"]) == ("turn_limit", 28)
    assert "275" in page, "tokens of all model calls"


def test_no_character_is_lost_over_readers_that_come_back_and_a_kill(data: Path) -> None:
    words = [f"word{n} " for n in range(2_000)]
    whole = "".join(words)
    script = [[step for word in words for step in ({"text": word}, {"wait": 0.02})]]
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation()
        visitor.say(conversation, "Go")
        seen, cursor = "", 0
        for _ in range(15):
            for frame in visitor.frames(conversation, cursor):
                if frame.id:
                    cursor = int(frame.id)
                if frame.kind == "TextDelta":
                    seen += frame.json["event"]["text"]
                    break
            assert whole.startswith(seen), "a reader that comes back finds neither a hole nor anything twice"
        server.stop(signal.SIGKILL)
    assert len(seen) > 50
    with serving(data) as server, Visitor(server.url) as visitor:
        visitor.sign_in()
        kept = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"][1]["content"]
    assert kept.startswith(seen), "what was shown was written before"
    assert whole.startswith(kept)


def test_a_command_that_only_looks_needs_no_click(data: Path) -> None:
    free = ("git status", "git diff")
    asking = ("git push", "git diff --output=a.txt", "git -C / status", "git diff --no-index a b", "git add a", "ls")
    commands = (*free, *asking)
    script: list[Any] = []
    for command in commands:
        script += [{"call": {"name": "Bash", "arguments": {"command": command}}}, {"text": "Told."}]
    with serving(data, script=script) as server, Visitor(server.url) as owner:
        owner.become_owner(server.token)
        conversation, cursor, asked = owner.conversation(), 0, list[int]()
        for _ in commands:
            owner.say(conversation, "Go on")
            frames = owner.until_done(conversation, cursor)
            cursor = int([each for each in frames if each.id][-1].id)
            asked.append(frames[-1].json["turnMeta"]["approvals"])
    assert dict(zip(commands, asked, strict=True)) == {**dict.fromkeys(free, 0), **dict.fromkeys(asking, 1)}
