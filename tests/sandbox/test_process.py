import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.core.errors import ToolProblem
from maia.core.ports import ProcessEnd
from maia.core.reason import Reason
from maia.sandbox import child, environment, process, tree
from maia.sandbox.child import Child
from maia.sandbox.process import LocalProcesses
from maia.sandbox.start import Begun
from maia.sandbox.wall import WallFound
from tests.sandbox.running import has_printed, in_brief, living, no_wall, processes, shell, stopped_in_time


def test_stdout_and_stderr_come_in_the_order_of_arrival(tmp_path: Path) -> None:
    command = "for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3"
    assert in_brief(shell(tmp_path, command)) == ("exited", 3, "out1\nerr1\nout2\nerr2\nout3\nerr3\n")


def test_what_python_prints_keeps_its_order_too(tmp_path: Path) -> None:
    script = "import sys; print('a'); print('b', file=sys.stderr); print('c')"
    assert shell(tmp_path, f'{sys.executable} -c "{script}"').output == "a\nb\nc\n"


def test_a_command_runs_where_it_was_told(tmp_path: Path) -> None:
    assert shell(tmp_path, 'pwd; echo "$PWD"').output == f"{tmp_path}\n{tmp_path}\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 7", 7), ("kill -9 $$", 137), ("kill -SEGV $$", 139), ("no_such_program_here", 127), ("true", 0)],
)
def test_the_exit_code_is_the_one_a_shell_shows(tmp_path: Path, command: str, code: int) -> None:
    end = shell(tmp_path, command)
    assert (end.state, end.exit_code) == ("exited", code)


def test_a_program_runs_without_a_shell(tmp_path: Path) -> None:
    async def go() -> Any:
        return await processes(tmp_path).program(
            ["printf", "%s", "$HOME; a b"], cwd=tmp_path, timeout=30, max_chars=100, env={"X": "y"}, sandboxed=False
        )

    assert in_brief(asyncio.run(go())) == ("exited", 0, "$HOME; a b")


# Stopping -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("sleep {0} & sleep {0}; echo no", id="a child in the background"),
        pytest.param("bash -c 'sleep {0} & sleep {0}'", id="a grandchild"),
        pytest.param("setsid sleep {0} & sleep {0}", id="one that left the session"),
        pytest.param("(setsid sleep {0} >/dev/null 2>&1 &); sleep 0.2; sleep {0}", id="an orphan in its own session"),
        pytest.param("setsid bash -c 'setsid sleep {0} & exec sleep {0}' & sleep {0}", id="two sessions deep"),
        pytest.param("(env -i setsid sleep {0} &); sleep {0}", id="an orphan without our environment"),
        pytest.param("trap 'echo later; sleep {0}' TERM; sleep {0}", id="a trap that goes on"),
    ],
)
def test_a_timeout_ends_the_whole_tree(tmp_path: Path, command: str) -> None:
    word = f"98{os.getpid()}"
    command = "echo begun; " + command.format(word)
    end = stopped_in_time(lambda seconds: shell(tmp_path, command, timeout=seconds), has_printed)
    assert (end.state, end.exit_code, end.output.split()[0]) == ("timed_out", None, "begun")
    assert living(f"sleep {word}") == []


def test_who_ignores_sigterm_is_killed_after_two_seconds(tmp_path: Path) -> None:
    command = "trap '' TERM; echo deaf; sleep 31.7 & wait; sleep 31.7"
    end = stopped_in_time(lambda seconds: shell(tmp_path, command, timeout=seconds), has_printed)
    assert in_brief(end) == ("timed_out", None, "deaf\n")
    assert 2.4 < end.duration < 20
    assert living("sleep 31.7") == []


def test_who_heeds_sigterm_has_time_to_end_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "TERM_GRACE", 60)
    command = "trap 'sleep 0.3; echo tidy; exit' TERM; echo up; while :; do sleep 0.05; done"
    end = stopped_in_time(lambda seconds: shell(tmp_path, command, timeout=seconds), has_printed)
    assert (end.state, end.output.splitlines()[-1]) == ("timed_out", "tidy")
    assert end.duration < 50, "it is not waited for longer than it takes"


def cancelled(tmp_path: Path, command: str, times: int = 1) -> tuple[float, list[str]]:
    """Cancel a running command; returns how long that took, and what was shown."""
    shown: list[str] = []

    async def go() -> float:
        began_to_print = asyncio.Event()

        def show(text: str) -> None:
            shown.append(text)
            began_to_print.set()

        running = asyncio.ensure_future(
            processes(tmp_path).shell(command, cwd=tmp_path, timeout=60, max_chars=100, on_output=show)
        )
        await began_to_print.wait()
        began = time.monotonic()
        for _ in range(times):
            running.cancel()
            await asyncio.sleep(0.1)
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - began

    return asyncio.run(go()), shown


def test_a_cancel_ends_the_tree_before_it_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "TERM_GRACE", 60)
    took, shown = cancelled(tmp_path, "setsid sleep 62.7 & echo on; sleep 62.7")
    assert (took < 50, shown) == (True, ["on\n"])
    assert living("sleep 62.7") == []


def test_a_second_cancel_does_not_wait_for_the_deaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "TERM_GRACE", 60)
    took, _ = cancelled(tmp_path, "trap '' TERM; echo on; sleep 63.7 & wait; sleep 63.7", times=2)
    assert took < 50
    assert living("sleep 63.7") == []


def test_a_stop_keeps_what_was_printed(tmp_path: Path) -> None:
    async def go() -> Any:
        stop = asyncio.Event()
        words = process.shell_words("echo kept; sleep 34.7")
        job = process.Job(words, tmp_path, 60, 100, on_output=lambda _: stop.set())
        return await processes(tmp_path).run(replace(job, stop=stop))

    assert in_brief(asyncio.run(go())) == ("interrupted", None, "kept\n")
    assert living("sleep 34.7") == []


def test_the_group_of_maia_and_maia_itself_are_never_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    monkeypatch.setattr(os, "kill", lambda *a: sent.append(a))
    monkeypatch.setattr(os, "killpg", lambda *a: sent.append(a))
    tree.send(os.getpid(), signal.SIGTERM)
    tree.send(1, signal.SIGTERM)
    tree.send(0, signal.SIGTERM)
    tree.send(-1, signal.SIGTERM)
    tree.send_group(os.getpgrp(), signal.SIGTERM)
    tree.send_group(0, signal.SIGTERM)
    tree.send_group(1, signal.SIGTERM)
    assert sent == []


def test_a_number_that_another_process_got_meanwhile_is_passed_by() -> None:
    with subprocess.Popen(["sleep", "5"]) as other:
        row = tree.table()[other.pid]
        tree.signal_all([tree.Process(row.pid, row.parent, row.group, row.session, row.started - 1)], signal.SIGKILL)
        assert other.poll() is None
        tree.signal_all([row], signal.SIGKILL)


def test_one_command_stopped_leaves_the_others_alone(tmp_path: Path) -> None:
    async def go() -> list[Any]:
        runner = processes(tmp_path)
        return await asyncio.gather(
            runner.shell("sleep 60", cwd=tmp_path, timeout=0.8, max_chars=100),
            runner.shell("setsid sleep 0.8; echo well", cwd=tmp_path, timeout=30, max_chars=100),
        )

    assert [in_brief(end) for end in asyncio.run(go())] == [("timed_out", None, ""), ("exited", 0, "well\n")]


# Left behind ----------------------------------------------------------------------------------------------------------


def test_an_orphan_that_holds_the_pipe_does_not_hang_the_command(tmp_path: Path) -> None:
    end = shell(tmp_path, "sleep 35.7 & echo done")
    assert (in_brief(end), end.leftovers) == (("exited", 0, "done\n"), 1)
    assert end.duration < 30
    assert living("sleep 35.7") == []


@pytest.mark.parametrize(
    "how", ["nohup {} >/dev/null 2>&1 &", "setsid {} >/dev/null 2>&1 &", "(setsid {} &) >/dev/null;"]
)
def test_what_was_left_in_the_background_ends_with_the_command(tmp_path: Path, how: str) -> None:
    end = shell(tmp_path, how.format("sleep 36.7") + " sleep 0.1; echo up")
    assert (in_brief(end), end.leftovers) == (("exited", 0, "up\n"), 1)
    assert living("sleep 36.7") == []


def test_a_writer_that_ends_a_moment_later_is_heard_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PIPE_GRACE", 30)
    end = shell(tmp_path, "exec > >(sleep 0.1; cat); echo through; echo a cat")
    assert (in_brief(end), end.leftovers) == (("exited", 0, "through\na cat\n"), 0)


# What it prints -------------------------------------------------------------------------------------------------------


def test_a_command_that_prints_for_ever_stays_small(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end = stopped_in_time(
        lambda seconds: shell(tmp_path, "yes abcdefghijklmno", timeout=seconds, max_chars=1000),
        lambda end: end.total_chars > 1_000_000,
    )
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (end.state, len(end.output) <= 1000) == ("timed_out", True)
    assert end.total_chars > 1_000_000
    assert end.saved is not None
    assert end.saved.stat().st_size <= 50_000_000
    assert grown < 20_000, "kilobytes"


def test_others_get_their_turn_while_a_command_prints_for_ever(tmp_path: Path) -> None:
    async def go() -> float:
        runner = asyncio.ensure_future(processes(tmp_path).shell("yes", cwd=tmp_path, timeout=1, max_chars=100))
        longest = 0.0
        while not runner.done():
            began = time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.thread_time() - began)
        return longest

    assert asyncio.run(go()) < 0.2, "seconds of CPU that one thread works without letting others in"


def test_output_is_shown_promptly_and_not_too_often(tmp_path: Path) -> None:
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(text)
        (tmp_path / "seen").touch()

    command = (
        "echo first; until [ -e seen ]; do sleep 0.02; done; for i in $(seq 400); do echo line $i; sleep 0.002; done"
    )
    end = shell(tmp_path, command, max_chars=100_000, on_output=show)
    assert (end.state, shown[0]) == ("exited", "first\n")
    assert len(shown) <= 2 + 20 * end.duration
    assert "".join(shown) == end.output


def test_five_thousand_lines_a_second_lose_nothing(tmp_path: Path) -> None:
    end = shell(tmp_path, "seq 5000", max_chars=100_000, on_output=[].append)
    assert end.output == "".join(f"{n}\n" for n in range(1, 5001))


def test_a_great_deal_is_shown_in_small_amounts(tmp_path: Path) -> None:
    shown: list[str] = []

    def run(seconds: float) -> ProcessEnd:
        shown.clear()
        return shell(tmp_path, "yes", timeout=seconds, on_output=shown.append)

    end = stopped_in_time(run, lambda end: end.total_chars > 300_000)
    assert max(map(len, shown)) <= child.Live.CHUNK
    assert sum(map(len, shown)) < 300_000 < end.total_chars


def test_progress_lines_are_shown_folded(tmp_path: Path) -> None:
    shown: list[str] = []
    end = shell(tmp_path, "printf '1%%\\r2%%\\r3%%\\n\\033[31mred\\033[0m'", on_output=shown.append)
    assert ("".join(shown), end.output) == ("3%\nred", "3%\nred")


def test_binary_output_passes(tmp_path: Path) -> None:
    end = shell(tmp_path, "head -c 3000 /dev/urandom; printf '\\303'; sleep 0.1; printf '\\251'", max_chars=9000)
    assert (end.state, end.exit_code) == ("exited", 0)
    assert end.output.endswith("é")


# What it gets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("read x; echo $?", id="standard input is empty"),
        pytest.param("{ read x </dev/tty; } 2>/dev/null; echo $?", id="no terminal to open"),
        pytest.param("{ : > /dev/tty; } 2>/dev/null; echo $?", id="no terminal to write to"),
    ],
)
def test_nothing_can_ask(tmp_path: Path, command: str) -> None:
    end = shell(tmp_path, command, timeout=30)
    assert (end.state, end.output) == ("exited", "1\n")


def test_git_asks_for_no_password(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        "import http.server\n"
        "class Needs(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(401); self.send_header('WWW-Authenticate', 'Basic realm=\"x\"')\n"
        "        self.send_header('Content-Length', '0'); self.end_headers()\n"
        "    def log_message(self, *a): pass\n"
        "server = http.server.HTTPServer(('127.0.0.1', 0), Needs)\n"
        "print(server.server_port, flush=True)\n"
        "server.serve_forever()\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        try:
            end = shell(tmp_path, f"no_proxy=127.0.0.1 git clone http://127.0.0.1:{port}/x.git", timeout=30)
        finally:
            server.terminate()
    assert (end.state, end.exit_code) == ("exited", 128)
    assert "could not read Username" in end.output


def test_git_opens_no_editor_and_no_pager(tmp_path: Path) -> None:
    command = (
        "git init -q && git config user.email a@b.c && git config user.name n && git commit -q --allow-empty -m one && "
        "git commit -q --amend --allow-empty && git log --oneline | wc -l && git -p log --format=%s"
    )
    assert in_brief(shell(tmp_path, command)) == ("exited", 0, "1\none\n")


def test_the_environment_of_a_command_is_quiet(tmp_path: Path) -> None:
    end = shell(
        tmp_path, 'echo "$CI $TERM $PAGER $EDITOR $GIT_TERMINAL_PROMPT $NO_COLOR [$FORCE_COLOR]"', env={"X": "1"}
    )
    assert end.output == "1 dumb cat true 0 1 []\n"


def test_keys_of_providers_are_withheld_and_other_variables_are_not() -> None:
    base = {
        "ANTHROPIC_API_KEY": "s",
        "LiteLLM_API_Key": "s",
        "MAIA_VAULT_KEY": "s",
        "GITHUB_TOKEN": "g",
        "PATH": "/bin",
    }
    env = environment.command_environment(base, {"MINE": "m"}, mark="m", cwd="/")
    assert {name: env.get(name) for name in (*base, "MINE")} == {
        **dict.fromkeys(("ANTHROPIC_API_KEY", "LiteLLM_API_Key", "MAIA_VAULT_KEY")),
        "GITHUB_TOKEN": "g",
        "PATH": "/bin",
        "MINE": "m",
    }
    shown = environment.command_environment(base, None, mark="m", cwd="/", shown={"ANTHROPIC_API_KEY"})
    assert shown["ANTHROPIC_API_KEY"] == "s"


def test_a_command_cannot_print_a_withheld_key(tmp_path: Path) -> None:
    runner = processes(tmp_path, environment={**os.environ, "OPENAI_API_KEY": "sk-very-secret"})
    assert "sk-very-secret" not in shell(tmp_path, "env; set", runner=runner, max_chars=100_000).output


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_command_without_a_wall_cannot_read_the_keys_of_maia() -> None:
    script = (
        "import asyncio, ctypes, os, pathlib, encodings.idna, concurrent.futures.thread\n"
        "from maia.sandbox.process import LocalProcesses\n"
        "from maia.sandbox.wall import WallFound\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as in a program that was started by that user\n"
        "run = LocalProcesses(pathlib.Path('/nonexistent'), lambda: WallFound(None))\n"
        "cwd = pathlib.Path('/')\n"
        "end = asyncio.run(run.shell('cat /proc/$PPID/environ', cwd=cwd, timeout=30, max_chars=9999))\n"
        "print(end.exit_code, end.output)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENAI_API_KEY": "sk-very-secret"}
    said = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert (said.stdout[:2], said.stderr) == ("1 ", "")
    assert "sk-very-secret" not in said.stdout


# What cannot start ----------------------------------------------------------------------------------------------------


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    async def go() -> Any:
        return await processes(tmp_path).shell("true", cwd=gone, timeout=30, max_chars=100)

    end = asyncio.run(go())
    assert (end.state, end.exit_code, end.problem) == ("not_started", None, f"No such file or directory: {gone}")


def test_a_working_folder_deleted_on_the_way_is_survived(tmp_path: Path) -> None:
    folder = tmp_path / "short"
    folder.mkdir()
    assert in_brief(shell(folder, f"rm -r {folder}; echo still")) == ("exited", 0, "still\n")


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["/no/such/shell", "-c", "true"], "No such file or directory: /no/such/shell"),
        (["/etc/passwd"], "Permission denied: /etc/passwd"),
        (["/bin/echo", "a\0b"], "embedded null byte"),
        (["/bin/echo", *["x" * 100_000] * 40], "Argument list too long"),
    ],
    ids=["no such program", "no program", "null byte", "too long"],
)
def test_what_cannot_start_says_why(tmp_path: Path, argv: list[str], problem: str) -> None:
    async def go() -> Any:
        return await processes(tmp_path).program(argv, cwd=tmp_path, timeout=30, max_chars=100)

    end = asyncio.run(go())
    assert (end.state, end.problem[: len(problem)]) == ("not_started", problem)


def test_a_command_longer_than_an_argument_may_be_runs(tmp_path: Path) -> None:
    text = "é" * 100_000
    end = shell(tmp_path, f"cat <<'EOF' | wc -m\n{text}\nEOF\n", env={"LC_ALL": "C.UTF-8"})
    assert in_brief(end) == ("exited", 0, "100001\n")


def test_a_posix_shell_serves_where_there_is_no_bash(monkeypatch: pytest.MonkeyPatch) -> None:
    process.shell_program.cache_clear()
    monkeypatch.setattr(os, "access", lambda *a: False)
    assert process.shell_program() == "/bin/sh"
    process.shell_program.cache_clear()


def test_a_kernel_without_process_handles_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert in_brief(shell(tmp_path, "echo a; exit 2")) == ("exited", 2, "a\n")
    assert shell(tmp_path, "sleep 37.7", timeout=0.2).state == "timed_out"


@pytest.mark.parametrize("handles", [True, False], ids=["with a process handle", "without"])
@pytest.mark.parametrize("moment", ["before it is watched", "before it is waited for"])
def test_somebody_else_reaping_children_is_survived(
    tmp_path: Path, moment: str, handles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stolen: list[int] = []
    begin, settle = child.begin, Child.settle

    def steal_at_once(*words: Any, **options: Any) -> Begun:
        begun = begin(*words, **options)
        stolen.append(os.waitpid(begun.popen.pid, 0)[0])
        return begun

    def steal_after_its_end(self: Child, *, keep: bool) -> Coroutine[Any, Any, int]:
        stolen.append(os.waitpid(self.begun.popen.pid, 0)[0])
        return settle(self, keep=keep)

    if moment == "before it is watched":
        monkeypatch.setattr(child, "begin", steal_at_once)
    else:
        monkeypatch.setattr(Child, "settle", steal_after_its_end)
    if not handles:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    end = shell(tmp_path, "echo heard; exit 3")
    assert (in_brief(end), len(stolen)) == (("exited", None, "heard\n"), 1)


# The wall, as far as it is this file's business -----------------------------------------------------------------------


def test_a_required_wall_that_is_missing_stops_the_command(tmp_path: Path) -> None:
    notice = Reason("sandbox.none_broken", {"reason": "no user namespaces"})
    runner = LocalProcesses(tmp_path, lambda: WallFound(None, notice, required=True))
    with pytest.raises(ToolProblem) as caught:
        asyncio.run(runner.shell("touch mark", cwd=tmp_path, timeout=30, max_chars=100))
    assert (caught.value.key, caught.value.values) == ("sandbox.required", {"reason": "no user namespaces"})
    assert not (tmp_path / "mark").exists()


def test_the_wall_is_looked_for_once_and_its_notice_shown_once(tmp_path: Path) -> None:
    looked: list[int] = []
    notices: list[Reason] = []

    def find() -> WallFound:
        looked.append(1)
        return WallFound(None, Reason("sandbox.none_missing"))

    async def go() -> None:
        runner = LocalProcesses(tmp_path, find, on_notice=notices.append)
        await runner.shell("true", cwd=tmp_path, timeout=30, max_chars=9, sandboxed=False)
        assert looked == []
        await asyncio.gather(*(runner.shell("true", cwd=tmp_path, timeout=30, max_chars=9) for _ in range(3)))

    asyncio.run(go())
    assert (looked, notices) == ([1], [Reason("sandbox.none_missing")])


def test_nothing_stays_open(tmp_path: Path) -> None:
    def handles() -> int:
        return len(os.listdir("/proc/self/fd"))

    shell(tmp_path, "true")
    before = handles()
    for command in ("true", "yes | head -c 5000", "exit 3", "sleep 38.7 & true"):
        shell(tmp_path, command)
    shell(tmp_path, "sleep 5", timeout=0.05)
    gc.collect()
    assert handles() == before


def test_importing_this_room_is_cheap() -> None:
    heavy = "{'httpx2', 'rich', 'prompt_toolkit', 'html_to_markdown', 'urllib.request', 'maia.sandbox.fetch'}"
    script = (
        f"import sys, maia.sandbox.process, maia.tools.bash, maia.tools.webfetch; print({heavy} & set(sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert said.stdout == "set()\n"


def test_no_wall_is_the_default_of_these_tests() -> None:
    assert no_wall() == WallFound(None)
