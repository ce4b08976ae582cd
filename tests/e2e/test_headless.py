"""`maia -p` as a script sees it: output formats, exit codes, permissions, signals, bad surroundings."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Place, Ran
from tests.fakes import FakeLlm, fake_llm

WIRES = ("openai", "anthropic")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def use(place: Place, fake: FakeLlm, wire: str = "openai", **settings: Any) -> None:
    """Point the program at the fake server, in one of the two wire formats."""
    if wire == "openai":
        place.settings(LiteLLM_URL=fake.url, model="fake-model", **settings)
    else:
        key = "x" * 8
        place.settings(model="fake-model", **settings)
        place.env |= {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": fake.url}


# Every scenario of the fake server, on both wires -------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("scenario", ["text", "bytes", "slow"])
def test_an_answer_arrives_whole_however_it_is_sent(place: Place, wire: str, scenario: str) -> None:
    with fake_llm(scenario, text="Voilà « été » — 日本.", delay=0.2) as fake:
        use(place, fake, wire)
        ran = place.run("-p", "hi")
    assert (ran.code, ran.out) == (0, "Voilà « été » — 日本.\n")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("scenario", "calls"), [("tool", 1), ("tool2", 2), ("frag", 1)])
def test_a_tool_runs_and_its_result_goes_back(place: Place, wire: str, scenario: str, calls: int) -> None:
    with fake_llm(scenario, text="It printed hi.") as fake:
        use(place, fake, wire)
        ran = place.run("-p", "run it", "--allow", "Bash(echo *)", "--output-format", "json")
        second = json.dumps(fake.chats()[1])
    assert ran.code == 0
    assert (ran.json["text"], ran.json["toolCalls"], ran.json["steps"]) == ("It printed hi.", calls, 2)
    assert second.count("hi\\n[exit code: 0]") == calls


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("scenario", ["truncated", "lying"])
def test_a_cut_call_is_never_executed(place: Place, wire: str, scenario: str) -> None:
    arguments = json.dumps({"command": "touch made-by-a-cut-call"})
    with fake_llm(scenario, tool_args=arguments) as fake:
        use(place, fake, wire)
        ran = place.run("-p", "go", "--allow", "Bash", "--output-format", "stream-json")
        chats = fake.chats()
    assert not (place.folder / "made-by-a-cut-call").exists()
    assert ran.code == 4
    assert ran.events[-1]["outcome"] == "output_limit"
    assert [event["key"] for event in ran.of("Notice") if event["key"] == "turn.call_cut"]
    assert "several pieces" in json.dumps(chats[1])
    assert "made-by-a-cut" not in json.dumps(chats[1]["messages"][1:2])


def test_a_price_of_the_settings_makes_the_cost_of_a_call(place: Place) -> None:
    own: dict[str, Any] = {"model.pricing": {"litellm/fake-model": {"input": 1_000, "output": 50_000}}}
    with fake_llm("text") as fake:
        use(place, fake, **own)
        ran = place.run("-p", "hi", "--output-format", "json")
    tokens = ran.json["usage"]
    assert ran.json["cost"] == {
        "usd": pytest.approx((tokens["input"] * 1_000 + tokens["output"] * 50_000) / 1e6),
        "source": "estimated",
    }


@pytest.mark.parametrize("wire", WIRES)
def test_a_prompt_that_is_too_long_is_named(place: Place, wire: str) -> None:
    with fake_llm("overflow") as fake:
        use(place, fake, wire)
        ran = place.run("-p", "hi", "--output-format", "json")
    assert ran.code == 1
    assert ran.json["failure"]["kind"] == "too_long"
    assert "210000 tokens > 200000" in ran.json["failure"]["providerText"]
    assert ran.json["usage"] is None
    assert ran.json["cost"] == {"usd": None, "source": "unknown"}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("scenario", ["rate", "busy"])
def test_a_server_that_says_later_is_asked_again(place: Place, wire: str, scenario: str) -> None:
    with fake_llm(scenario, fail_times=1) as fake:
        use(place, fake, wire)
        ran = place.run("-p", "hi", "--output-format", "stream-json")
    assert ran.code == 0
    retries = ran.of("RetryScheduled")
    assert [event["failure"]["kind"] for event in retries] == ["rate_limit" if scenario == "rate" else "overloaded"]
    assert retries[0]["delay"] >= 1


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_breaks_off_keeps_its_text_and_fails(place: Place, wire: str) -> None:
    with fake_llm("cut", text="Half of the answer is here and half is not.") as fake:
        use(place, fake, wire)
        ran = place.run("-p", "hi", "--output-format", "json")
    assert ran.code == 1
    assert ran.json["outcome"] == "failed"
    assert ran.json["failure"]["kind"] in ("incomplete", "network")
    assert ran.json["text"] == "Half of the answer is"


@pytest.mark.parametrize("wire", WIRES)
def test_a_huge_answer_arrives_whole(place: Place, wire: str) -> None:
    with fake_llm("big", big_chars=200_000) as fake:
        use(place, fake, wire)
        ran = place.run("-p", "hi")
    assert (ran.code, ran.out) == (0, "x" * 200_000 + "\n")


def test_calls_named_in_the_prompt_run_in_order(place: Place) -> None:
    (place.folder / "a.txt").write_text("alpha\n")
    calls = [
        {"name": "Read", "arguments": {"path": "a.txt"}},
        {"name": "Write", "arguments": {"path": "b.txt", "content": "beta\n"}},
        {"name": "Nothing", "arguments": {}},
    ]
    prompt = "\n".join(f"CALL {json.dumps(call)}" for call in calls)
    with fake_llm("prompt") as fake:
        use(place, fake)
        ran = place.run("-p", prompt, "--allow", "Read", "--allow", "Write", "--output-format", "stream-json")
        results = [m for m in fake.chats()[1]["messages"] if m["role"] == "tool"]
    assert (place.folder / "b.txt").read_text() == "beta\n"
    assert ["alpha" in results[0]["content"], "There is no tool Nothing" in results[2]["content"]] == [True, True]
    status = {event["name"]: event["status"] for event in ran.of("ToolCallFinished")}
    assert status == {"Read": "succeeded", "Write": "succeeded", "Nothing": "refused"}


# Permissions --------------------------------------------------------------------------------------------------------


def test_what_no_rule_allows_is_refused_with_the_reason_for_the_model(place: Place) -> None:
    with fake_llm("tool", tool_args=json.dumps({"command": "touch made"})) as fake:
        use(place, fake)
        ran = place.run("-p", "go", "--output-format", "stream-json")
        result = fake.chats()[1]["messages"][-1]["content"]
    assert not (place.folder / "made").exists()
    assert ran.code == 0
    assert [event["by"] for event in ran.of("ApprovalAnswered")] == ["headless"]
    assert [event["status"] for event in ran.of("ToolCallFinished")] == ["refused"]
    assert "Bash(touch made)" in result
    assert "nobody is there" in result


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ({"name": "Write", "arguments": {"path": "new.txt"}}, "write it in several pieces"),
        ({"name": "Write", "arguments": {"path": "notes.txt", "content": "x"}}, "Read it first"),
    ],
    ids=["arguments", "not read"],
)
def test_a_failed_call_tells_the_model_what_to_do(place: Place, call: dict[str, Any], advice: str) -> None:
    (place.folder / "notes.txt").write_text("alpha\n")
    with fake_llm("prompt") as fake:
        use(place, fake)
        place.run("-p", f"CALL {json.dumps(call)}", "--allow", "Write")
        result = fake.chats()[1]["messages"][-1]["content"]
    assert advice in result


def test_a_deny_option_wins_over_an_allow_rule(place: Place) -> None:
    with fake_llm("tool") as fake:
        use(place, fake, permissions={"allow": ["Bash"]})
        ran = place.run("-p", "go", "--deny", "Bash(echo *)", "--output-format", "stream-json")
    assert [event["status"] for event in ran.of("ToolCallFinished")] == ["refused"]
    assert ran.of("ApprovalRequested") == []


def test_a_french_result_ends_with_the_french_state(place: Place) -> None:
    with fake_llm("tool", tool_args=json.dumps({"command": "echo oui; exit 3"})) as fake:
        use(place, fake)
        place.run("-p", "go", "--allow", "Bash", "--lang", "fr")
        result = fake.chats()[1]["messages"][-1]["content"]
    assert result == "oui\n[code de sortie : 3]"


# Output and exit codes ----------------------------------------------------------------------------------------------


def test_the_json_object_has_the_fields_that_scripts_rely_on(place: Place) -> None:
    with fake_llm(text="Hello.") as fake:
        use(place, fake)
        ran = place.run("-p", "hi", "--output-format", "json")
    session = ran.json.pop("session")
    assert re.fullmatch(r"session_\d{4}(-\d\d){2}(_\d\d){3}", session)
    assert (place.folder / ".maia" / ".sessions" / f"{session}.jsonl").is_file()
    assert ran.json | {"session": ""} == {
        "text": "Hello.",
        "outcome": "finished",
        "stopReason": "stop",
        "usage": {"input": 12, "output": 3, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0},
        "cost": {"usd": None, "source": "unknown"},
        "model": "fake-model",
        "provider": "litellm",
        "steps": 1,
        "toolCalls": 0,
        "session": "",
        "failure": None,
        "message": None,
    }


def test_the_last_line_of_the_stream_is_the_end_with_the_same_fields(place: Place) -> None:
    with fake_llm(text="Hello.") as fake:
        use(place, fake)
        ran = place.run("-p", "hi", "--output-format", "stream-json")
    kinds = [event["type"] for event in ran.events]
    assert kinds[kinds.index("TurnStarted") :] == [
        "TurnStarted",
        "UserSaid",
        "StepStarted",
        "TextDelta",
        "TextDelta",
        "Answered",
        "TurnEnded",
    ]
    assert ran.events[-1].items() >= {"text": "Hello.", "outcome": "finished", "toolCalls": 0, "steps": 1}.items()
    assert "".join(event["text"] for event in ran.of("TextDelta")) == "Hello."


def test_the_turn_limit_ends_with_its_own_code(place: Place) -> None:
    with fake_llm("prompt") as fake:
        use(place, fake)
        calls = 'CALL {"name": "CurrentModel", "arguments": {}}'
        ran = place.run("-p", calls, "--max-iterations", "1", "--output-format", "json")
    assert (ran.code, ran.json["outcome"], ran.json["steps"]) == (4, "turn_limit", 1)


def test_a_warning_comes_with_what_to_do_about_it(place: Place) -> None:
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-modle")
        ran = place.run("-p", "hi")
    told = " ".join(ran.err.split())
    assert 'The model of the settings, "fake-modle", does not exist' in told
    assert "→ Correct model in ~/.maia/settings.json, or choose with --model. The closest: fake-model" in told


def test_a_key_of_openrouter_is_not_for_models_until_its_setting_says_so(place: Place) -> None:
    place.env["OPENROUTER_API_KEY"] = "sk-or-v1-" + "FAKE" * 16
    ran = place.run("-p", "hi", "--lang", "en")
    assert ran.code == 3
    assert "MAIA_ALLOW_OPENROUTER=1" in ran.err
    assert "FAKE" not in ran.err
    # Allowed, it goes out: to a proxy that nobody listens on, so that nothing leaves this machine.
    ran = place.run("-p", "hi", "--lang", "en", HTTPS_PROXY="http://127.0.0.1:9", MAIA_ALLOW_OPENROUTER="1")
    assert ran.code == 1
    assert "MAIA_ALLOW_OPENROUTER" not in ran.err


def test_nothing_configured_has_its_own_code_and_says_what_to_do(place: Place) -> None:
    ran = place.run("-p", "hi")
    assert (ran.code, ran.out) == (3, "")
    assert "LiteLLM_URL" in ran.err
    assert "--model offline" in ran.err
    ran = place.run("-p", "hi", "--lang", "fr")
    assert ran.code == 3
    assert "Aucun modèle n'est configuré" in ran.err


def test_the_offline_model_needs_nothing(place: Place) -> None:
    (place.folder / "notes.md").write_text("# Notes\n")
    ran = place.run("-p", "list the files", "--model", "offline", "--allow", "Read", "--allow", "Glob")
    assert ran.code == 0
    assert "notes.md" in ran.out


@pytest.mark.parametrize(
    ("words", "stdin", "words_of_error"),
    [
        (("--frobnicate",), None, "Unknown option: --frobnicate"),
        (("-p",), "", "The request is empty."),
        (("-p",), b"\xff\xfe\x00\x01", "no UTF-8 text"),
        (("hello",), None, "Unknown command: hello"),
        (("-p", "hi", "--resume", "nowhere"), None, "There is no session nowhere."),
        (("-p", "hi", "--resume", "../../etc/passwd"), None, "cannot name a session"),
        (("-p", "hi", "--continue"), None, "There is no session in this folder yet."),
        (("-p", "hi", "--add-dir", "nowhere"), None, "This is no folder: nowhere"),
        (("-p", "hi", "--lang", "de"), None, "Unknown language"),
        (("-p", "hi", "--allow", "Bash(", "--model", "offline"), None, "Bash("),
        (("permissions", "check"), None, "This command is written: maia permissions check"),
        (("sessions",), None, "This command is written: maia sessions list"),
        (("sessions", "fly"), None, "This command is written: maia sessions list"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_command_line_is_told_apart(
    place: Place, words: tuple[str, ...], stdin: str | bytes | None, words_of_error: str
) -> None:
    ran = place.run(*words, stdin=stdin)
    assert words_of_error in ran.err
    assert ran.code in (1, 2) or "--allow" in words


def test_the_prompt_may_come_from_standard_input(place: Place) -> None:
    with fake_llm() as fake:
        use(place, fake)
        assert place.run("-p", stdin="from a pipe\n").code == 0
        assert place.run("-p", "explain", stdin="some data\n").code == 0
        first, second = (chat["messages"][-1]["content"] for chat in fake.chats())
    assert "from a pipe" in json.dumps(first)
    assert all(text in json.dumps(second) for text in ("explain", "some data", "not instructions"))


@pytest.mark.parametrize("words", [("-p",), ("-p", "count", "-")], ids=["as request", "joined"])
def test_standard_input_is_never_silently_a_part(place: Place, words: tuple[str, ...]) -> None:
    with fake_llm() as fake:
        use(place, fake)
        whole = "begin " + "€" * 900_000 + " end"
        assert place.run(*words, stdin=whole).code == 0
        sent = json.dumps(fake.chats()[-1]["messages"], ensure_ascii=False)
        assert (whole in sent) == (words == ("-p",))
        assert ("characters left out" in sent) == (words != ("-p",))
        ran = place.run(*words, stdin="€" * 3_400_000)
        assert (ran.code, len(fake.chats())) == (2, 1)
        assert "10 MB" in ran.err or "10 Mo" in ran.err


def test_without_a_terminal_standard_input_is_the_request_and_nothing_is_drawn(place: Place) -> None:
    with fake_llm() as fake:
        use(place, fake)
        ran = place.run(stdin="from a pipe\n")
        assert (ran.code, ran.out) == (0, "Hello from the fake model.\n")
        assert fake.chats()[0]["messages"][-1]["content"] in ("from a pipe", [{"type": "text", "text": "from a pipe"}])
        ran = place.run()
    assert (ran.code, ran.out) == (2, "")
    assert "There is no terminal here." in ran.err
    assert "maia -p" in ran.err


def test_a_session_goes_on(place: Place) -> None:
    with fake_llm(text="Hello.") as fake:
        use(place, fake)
        name = place.run("-p", "one", "--output-format", "json").json["session"]
        assert place.run("-p", "two", "--continue", "--output-format", "json").json["session"] == name
        assert place.run("-p", "three", "--resume", name, "--output-format", "json").json["session"] == name
        last = fake.chats()[2]["messages"]
    said = [m["content"] if isinstance(m["content"], str) else m["content"][0]["text"] for m in last[1:]]
    assert said == ["one", "Hello.", "two", "Hello.", "three"]
    assert place.run("sessions", "list").out.startswith(name)
    assert "## User\n\none" in place.run("sessions", "show", name).out


def test_a_resumed_session_still_knows_the_file_that_it_read(place: Place) -> None:
    notes = place.folder / "notes.txt"
    notes.write_text("alpha\n")
    edit = {"name": "Edit", "arguments": {"path": "notes.txt", "old_string": "alpha", "new_string": "beta"}}
    allowed = ("--allow", "Read", "--allow", "Edit", "--output-format", "stream-json")
    with fake_llm("prompt") as fake:
        use(place, fake)
        place.run("-p", 'CALL {"name": "Read", "arguments": {"path": "notes.txt"}}', *allowed)
        ran = place.run("-p", f"CALL {json.dumps(edit)}", "--continue", *allowed)
        assert [event["status"] for event in ran.of("ToolCallFinished")] == ["succeeded"]
        assert notes.read_text() == "beta\n"
        notes.write_text("alpha, changed by somebody\n")
        ran = place.run("-p", f"CALL {json.dumps(edit)}", "--continue", *allowed)
        assert [event["status"] for event in ran.of("ToolCallFinished")] == ["failed"]
    assert notes.read_text() == "alpha, changed by somebody\n"


def test_the_stream_of_a_resumed_session_does_not_repeat_the_old_turns(place: Place) -> None:
    with fake_llm() as fake:
        use(place, fake)
        place.run("-p", "one")
        ran = place.run("-p", "two", "--continue", "--output-format", "stream-json")
    assert [event["text"] for event in ran.of("UserSaid")] == ["two"]


# Signals and bad surroundings ---------------------------------------------------------------------------------------


def wait_for(done: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130)])
def test_a_signal_stops_the_turn_and_keeps_the_session(place: Place, number: int, code: int) -> None:
    with fake_llm("slow", delay=20) as fake:
        use(place, fake)
        child = place.start("-p", "hi", "--output-format", "json")
        wait_for(lambda: len(fake.chats()) == 1)
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    assert child.returncode == code
    assert json.loads(out)["outcome"] == "stopped"
    assert "Traceback" not in err


@pytest.mark.parametrize("sandbox", ["off", "auto"])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_second_signal_of_any_kind_does_not_wait_and_leaves_nothing_running(
    place: Place, sandbox: str, second: signal.Signals
) -> None:
    mark = place.folder / "pid"
    command = f"trap '' TERM INT HUP; echo $$ > {mark}; for i in 1 2 3; do sleep 30.0625; done"
    with fake_llm("tool", tool_name="Bash", tool_args=json.dumps({"command": command})) as fake:
        use(place, fake, permissions={"allow": ["Bash", "Redirect(**)"]}, sandbox=sandbox)
        child = place.start("-p", "hi")
        wait_for(mark.exists)
        child.send_signal(signal.SIGTERM)
        wait_for(lambda: signalled(child.pid, signal.SIGTERM))
        child.send_signal(second)
        child.communicate(timeout=60)
    assert child.returncode == 130
    assert [pid for pid in Path("/proc").glob("[0-9]*") if b"30.0625" in words_of(pid)] == []
    (session,) = (place.folder / ".maia" / ".sessions").glob("*.jsonl")
    assert '"outcome":"stopped"' in session.read_text("utf-8").splitlines()[-1]


def signalled(pid: int, number: int) -> bool:
    """Whether the process has taken the signal out of its queue."""
    status = Path(f"/proc/{pid}/status").read_text()
    pending = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
    return not any(mask >> (number - 1) & 1 for mask in pending)


def words_of(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT], ids=["nohup", "background job"])
def test_a_signal_that_the_caller_ignores_stays_ignored(place: Place, number: signal.Signals) -> None:
    with fake_llm("slow", delay=1) as fake:
        use(place, fake)
        script = f"trap '' {number.name[3:]}; exec \"$@\""
        child = subprocess.Popen(
            ["/bin/sh", "-c", script, "sh", sys.executable, "-m", "maia", "-p", "hi"],
            cwd=place.folder,
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: len(fake.chats()) == 1)
        child.send_signal(number)
        out, _ = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, "Hello from the fake model.\n")


def test_exit_codes_are_known_although_the_caller_ignores_that_children_end(place: Place) -> None:
    with fake_llm("tool", tool_name="Bash", tool_args=json.dumps({"command": "exit 3"})) as fake:
        use(place, fake)
        ignore = (
            "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        )
        words = [sys.executable, "-m", "maia", "-p", "go", "--allow", "Bash", "--output-format", "stream-json"]
        done = subprocess.run(
            [sys.executable, "-c", ignore, *words],
            cwd=place.folder,
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
    ran = Ran(done.returncode, done.stdout, "")
    assert [event["data"]["exitCode"] for event in ran.of("ToolCallFinished")] == [3]


@pytest.mark.parametrize("model", ["m", None], ids=["in the turn", "while looking for models"])
def test_a_name_server_that_never_answers_does_not_hold_up_a_stop(place: Place, model: str | None) -> None:
    (place.base / "sitecustomize.py").write_text(
        "import socket, time, pathlib\n"
        "def never(*_args, **_more):\n"
        f"    pathlib.Path({str(place.base)!r}, 'asked').touch()\n"
        "    time.sleep(600)\n"
        "socket.getaddrinfo = never\n"
    )
    place.settings(LiteLLM_URL="https://llm.example", **({"model": model} if model else {}))
    path = f"{place.base}{os.pathsep}{place.environment()['PYTHONPATH']}"
    child = place.start("-p", "hi", PYTHONPATH=path)
    wait_for((place.base / "asked").exists)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130


def test_a_killed_run_leaves_a_session_that_resumes(place: Place) -> None:
    with fake_llm("slow", delay=20) as fake:
        use(place, fake)
        child = place.start("-p", "remember me")
        wait_for(lambda: len(fake.chats()) == 1)
        child.kill()
        child.communicate(timeout=60)
    with fake_llm() as fake:
        use(place, fake)
        assert place.run("-p", "go on", "--continue").code == 0
        assert "remember me" in json.dumps(fake.chats()[0]["messages"])


def test_a_reader_that_goes_away_ends_the_run_quietly(place: Place) -> None:
    with fake_llm("big", big_chars=400_000) as fake:
        use(place, fake)
        child = place.start("-p", "hi", "--output-format", "stream-json")
        assert child.stdout is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr is not None
        err = child.stderr.read()
        child.wait(20)
        child.stderr.close()
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


class NoModel(BaseHTTPRequestHandler):
    """A web server that is no model server."""

    def answer(self) -> None:
        body = b"<html><title>Welcome</title><body>It works!</body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815 - the names that the standard library calls

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def web_server() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), NoModel)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_server_that_is_no_model_server_is_named(place: Place, web_server: str) -> None:
    place.settings(LiteLLM_URL=web_server, model="m")
    ran = place.run("-p", "hi")
    assert ran.code == 1
    assert web_server.removeprefix("http://") in ran.err
    assert "<html>" not in ran.out


def test_a_server_that_is_not_there_is_named(place: Place) -> None:
    port = free_port()
    place.settings(LiteLLM_URL=f"http://127.0.0.1:{port}", model="m")
    ran = place.run("-p", "hi", timeout=90)
    assert ran.code == 1
    assert f"127.0.0.1:{port}" in ran.err


@pytest.mark.parametrize(
    "url", ["not a url", "ftp://x", "localhost:4000", 5, "", "http://", "http://[::1", "http://h:99999999"], ids=repr
)
def test_a_wrong_address_is_told_and_nothing_is_sent(place: Place, url: object) -> None:
    place.settings(LiteLLM_URL=url)
    ran = place.run("-p", "hi")
    assert ran.code == 3
    (warning,) = [line for line in ran.err.splitlines() if line.startswith("[WARN]") and "LiteLLM_URL" in line]
    assert str(url) in warning or "settings.json, " in warning


@pytest.mark.parametrize("text", ['{"a": ', "[]", "null", '"x"', "\xff", "{}" * 2, ""], ids=repr)
def test_broken_settings_are_told_and_the_rest_goes_on(place: Place, text: str) -> None:
    (place.home / ".maia").mkdir()
    (place.home / ".maia" / "settings.json").write_text(text, "latin-1")
    ran = place.run("-p", "help", "--model", "offline")
    assert ran.code == 0
    assert ("settings.json" in ran.err) == bool(text)


def test_without_a_home_it_still_answers(place: Place) -> None:
    ran = place.run("-p", "help", "--model", "offline", HOME="/nonexistent")
    assert ran.code == 0


def test_a_launch_folder_that_is_not_there_is_a_clear_error(place: Place) -> None:
    ran = place.run("-p", "help", "--model", "offline", MAIA_CWD="/nowhere/at/all")
    assert ran.code == 2
    assert "/nowhere/at/all" in ran.err


def test_maia_cwd_wins_over_init_cwd_and_the_current_folder(place: Place, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with fake_llm("tool", tool_args=json.dumps({"command": "pwd"})) as fake:
        use(place, fake)
        env = {"MAIA_CWD": str(tmp_path / "a"), "INIT_CWD": str(tmp_path / "b")}
        place.run("-p", "go", "--allow", "Bash", **env)
        assert fake.chats()[1]["messages"][-1]["content"].startswith(f"{tmp_path / 'a'}\n")
    assert (tmp_path / "a" / ".maia" / ".sessions").is_dir()


def test_a_read_only_folder_loses_nothing(place: Place) -> None:
    if os.geteuid() == 0:
        (place.folder / ".maia").write_text("in the way")
    else:
        place.folder.chmod(0o500)
    with fake_llm() as fake:
        use(place, fake)
        ran = place.run("-p", "hi", "--output-format", "json")
    assert ran.code == 0
    assert "WARN" in ran.err


def test_the_key_never_shows(place: Place) -> None:
    key = "sk-" + "secret" * 5
    with fake_llm("overflow", overflow_text=f"Incorrect key {key} given") as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model", LiteLLM_API_Key=key)
        log = place.base / "debug.log"
        ran = place.run("-p", "hi", "--output-format", "stream-json", MAIA_DEBUG_LLM=str(log))
    kept = "".join(path.read_text("utf-8") for path in (place.folder / ".maia").rglob("*.jsonl"))
    assert key not in ran.out + ran.err + kept + log.read_text("utf-8")
    assert log.stat().st_mode & 0o777 == 0o600


def test_the_environment_of_a_command_has_no_key(place: Place) -> None:
    with fake_llm("tool", tool_args=json.dumps({"command": "env"})) as fake:
        use(place, fake)
        place.run("-p", "go", "--allow", "Bash", LITELLM_API_KEY="a-secret-value", OPENAI_API_KEY="another-secret")
        result = fake.chats()[1]["messages"][-1]["content"]
    assert "PATH=" in result
    assert "secret" not in result


def test_max_output_tokens_goes_out_on_every_request(place: Place) -> None:
    with fake_llm("tool") as fake:
        use(place, fake, MaxOutputTokens=1234)
        place.run("-p", "go", "--allow", "Bash")
        assert [chat.get("max_tokens") for chat in fake.chats()] == [1234, 1234]


def test_the_suffixes_of_the_settings_make_the_addresses(place: Place) -> None:
    with fake_llm() as fake:
        place.settings(
            LiteLLM_URL=fake.url + "/gateway/", OpenAI_EndPoint="/x/chat/completions", LiteLLM_Models="/y/models"
        )
        place.run("-p", "hi")
        paths = {(request["method"], request["path"]) for request in fake.requests()}
    assert ("POST", "/gateway/x/chat/completions") in paths
    assert ("GET", "/gateway/y/models") in paths


def test_the_first_request_is_small(place: Place) -> None:
    with fake_llm() as fake:
        use(place, fake)
        place.run("-p", "hi")
        posts = [request for request in fake.requests() if request["method"] == "POST"]
    assert posts[0]["bytes"] <= 12_000
    assert posts[0]["tools"] == 9


def test_the_prefix_of_the_second_request_is_the_first(place: Place) -> None:
    with fake_llm("tool") as fake:
        use(place, fake)
        place.run("-p", "go", "--allow", "Bash")
        first, second = fake.chats()
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert second["tools"] == first["tools"]
