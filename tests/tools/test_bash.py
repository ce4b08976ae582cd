import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from maia.core.permission import Need
from maia.core.ports import Hands, ProcessEnd
from maia.core.reason import Reason
from maia.core.results import ToolResult
from maia.sandbox.process import LocalProcesses
from maia.sandbox.wall import WallFound
from maia.tools.bash import BashArgs, BashTool
from tests.tools.doubles import ENGLISH, FRENCH, call, hands_at, refusal, words

TOOL = BashTool()
WELL = ProcessEnd("exited", 0, "out\n", 4, None, 0.1)


@dataclass
class FakeProcesses:
    """Every command ends as told; remembers how it was asked to run."""

    end: ProcessEnd
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def shell(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float,
        max_chars: int,
        on_output: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        sandboxed: bool = True,
    ) -> ProcessEnd:
        assert on_output is not None
        on_output("live")
        self.asked.append(
            {"command": command, "cwd": cwd, "timeout": timeout, "max": max_chars, "env": env, "sandboxed": sandboxed}
        )
        return self.end

    async def program(self, argv: Sequence[str], **options: Any) -> ProcessEnd:
        raise NotImplementedError


def ended(folder: Path, end: ProcessEnd, say: Any = ENGLISH) -> ToolResult:
    return call(TOOL, hands_at(folder, processes=FakeProcesses(end), say=say), command="x")


def test_a_command_runs_in_the_launch_folder_and_the_sandbox_and_is_shown_live(tmp_path: Path) -> None:
    runner, live = FakeProcesses(WELL), list[str]()
    result = call(TOOL, hands_at(tmp_path, processes=runner, emit=live.append), command="make")
    assert runner.asked == [
        {"command": "make", "cwd": tmp_path, "timeout": 120, "max": 30_000, "env": None, "sandboxed": True}
    ]
    assert live == ["live"]
    assert result == ToolResult(
        "out\n[exit code: 0]", data={"state": "exited", "exitCode": 0, "totalChars": 4, "saved": None}
    )


@pytest.mark.parametrize(
    ("end", "french", "english"),
    [
        (replace(WELL, exit_code=1), "out\n[code de sortie : 1]", "out\n[exit code: 1]"),
        (replace(WELL, exit_code=139), "out\n[code de sortie : 139, SIGSEGV]", "out\n[exit code: 139, SIGSEGV]"),
        (replace(WELL, exit_code=None), "out\n[code de sortie : inconnu]", "out\n[exit code: unknown]"),
        (replace(WELL, exit_code=255), "out\n[code de sortie : 255]", "out\n[exit code: 255]"),
        (
            replace(WELL, state="timed_out", exit_code=None),
            "out\n[délai dépassé après 120 s]",
            "out\n[timed out after 120 s]",
        ),
        (replace(WELL, state="interrupted", exit_code=None), "out\n[interrompu]", "out\n[interrupted]"),
        (
            ProcessEnd("not_started", None, "", 0, None, 0, "No such file or directory: /x"),
            "\n[non démarré : No such file or directory: /x]",
            "\n[not started: No such file or directory: /x]",
        ),
        (
            replace(WELL, exit_code=2, output=" \n"),
            "(aucune sortie)\n[code de sortie : 2]",
            "(no output)\n[exit code: 2]",
        ),
    ],
    ids=[
        "failed",
        "signal",
        "taken",
        "255 is no signal",
        "timed out",
        "interrupted",
        "not started",
        "no output",
    ],
)
def test_the_last_line_says_how_it_ended(tmp_path: Path, end: ProcessEnd, french: str, english: str) -> None:
    result = ended(tmp_path, end)
    assert (result.text, result.is_error) == (english, True)
    assert ended(tmp_path, end, FRENCH).text.replace("\u202f", " ") == french
    assert result.text.endswith(f"[{result.summary}]")


def test_the_row_of_a_command_that_ended_well_needs_no_words(tmp_path: Path) -> None:
    result = ended(tmp_path, WELL)
    assert (result.summary, result.is_error) == ("", False)


def test_a_cut_output_names_the_file_with_the_whole(tmp_path: Path) -> None:
    end = replace(WELL, total_chars=1_000_000, saved=Path("/saved/output.txt"))
    assert ended(tmp_path, end).text == "out\nWhole output (1,000,000 characters): /saved/output.txt\n[exit code: 0]"


def test_what_the_sandbox_and_the_end_did_is_said_before_the_last_line(tmp_path: Path) -> None:
    end = replace(WELL, exit_code=1, leftovers=2, hint=Reason("sandbox.hint_write"))
    lines = ended(tmp_path, end).text.splitlines()
    assert lines[:2] == ["out", "2 processes left in the background were stopped."]
    assert lines[2].startswith("The sandbox allows writing only")
    assert lines[3:] == ["[exit code: 1]"]


def test_control_characters_of_an_output_cannot_act(tmp_path: Path) -> None:
    printed = "a\x07 b\u202e c" + "x" * 100
    assert ended(tmp_path, replace(WELL, output=printed)).text.startswith("a␇ b<U+202E> c")


def test_binary_output_is_named_not_shown(tmp_path: Path) -> None:
    end = replace(WELL, output="\x00\x01ELF\ufffd\ufffd", total_chars=7)
    assert ended(tmp_path, end).text == "(binary output of 7 characters, not shown)\n[exit code: 0]"


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ({"command": "ls"}, BashArgs("ls", 120, "")),
        ({"cmd": "ls", "timeout": 5, "description": "list"}, BashArgs("ls", 5, "list")),
        ({"command": "ls", "timeout": "30"}, BashArgs("ls", 30, "")),
        ({"command": "ls", "timeout": 120_000}, BashArgs("ls", 120, "")),
        ({"command": "ls", "timeout": 9_999_999}, BashArgs("ls", 600, "")),
        ({"command": "ls", "timeout": 700}, BashArgs("ls", 600, "")),
        ({"command": "ls", "timeout": 0}, BashArgs("ls", 1, "")),
    ],
)
def test_arguments_are_read_as_meant(arguments: dict[str, Any], args: BashArgs) -> None:
    assert TOOL.parse(arguments) == args


@pytest.mark.parametrize("arguments", [{}, {"command": "  \n"}, {"path": "x"}, {"command": ["ls"]}])
def test_wrong_arguments_are_listed(tmp_path: Path, arguments: dict[str, Any]) -> None:
    problem = refusal(TOOL, hands_at(tmp_path), **arguments)
    assert all(name in words(problem) for name in arguments)


def test_the_need_is_the_command_as_it_is_and_the_preview_one_line() -> None:
    args = TOOL.parse({"command": "echo a\necho \x1bb\n"})
    assert TOOL.needs(args, Path("/")) == (Need("Bash", "command", "echo a\necho \x1bb\n"),)
    assert TOOL.preview(args) == "echo a ⏎ echo ␛b"
    assert TOOL.lock_key(args, Path("/")) is None


def real(folder: Path) -> Hands:
    return hands_at(folder, processes=LocalProcesses(folder / "saved", lambda: WallFound(None)))


def test_a_long_output_loses_its_middle_and_is_whole_in_its_file(tmp_path: Path) -> None:
    result = call(TOOL, real(tmp_path), command="seq 100000")
    saved = Path(result.data["saved"])
    assert len(result.text) < 30_300
    assert result.text.startswith("1\n2\n3\n")
    assert f"{saved}\n[exit code: 0]" in result.text
    assert saved.read_text() == "".join(f"{n}\n" for n in range(1, 100_001))


def test_a_folder_change_does_not_last(tmp_path: Path) -> None:
    hands = real(tmp_path)
    assert call(TOOL, hands, command="cd / && pwd").text == "/\n[exit code: 0]"
    assert call(TOOL, hands, command="pwd").text == f"{tmp_path}\n[exit code: 0]"


def test_a_cancelled_call_is_stopped_and_raises(tmp_path: Path) -> None:
    async def go() -> None:
        running = asyncio.ensure_future(TOOL.run(TOOL.parse({"command": "sleep 60"}), real(tmp_path)))
        await asyncio.sleep(0.1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(go(), 30))


def test_the_prompt_says_what_a_model_must_know() -> None:
    said = TOOL.spec.description
    assert [word for word in ("cd", "background", "file named", "Grep", "&&", "/tmp") if word not in said] in (
        [],
        ["background"],
    )
    assert TOOL.spec.parameters["required"] == ["command"]
