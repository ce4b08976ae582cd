from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any, cast

import pytest

from maia.core.errors import NotConfigured, UsageProblem
from maia.core.runtime import ProgramTask
from maia.runtimes.claude_code import ClaudeCodeRuntime
from maia.runtimes.environment import start_of
from maia.runtimes.programs import BY_NAME, PROGRAMS, find, installed, named, speaking

ENV = {
    "PATH": "/usr/bin",
    "LANG": "fr_FR.UTF-8",
    "LC_ALL": "C",
    "HOME": "/home/me",
    "ANTHROPIC_API_KEY": "sk-ant-1",
    "OPENAI_API_KEY": "sk-2",
    "OPENAI_BASE_URL": "https://example.org/v1",
    "GITHUB_TOKEN": "ghp_3",
    "AWS_SECRET_ACCESS_KEY": "4",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "NODE_OPTIONS": "--require /tmp/evil.js",
    "LD_PRELOAD": "/tmp/evil.so",
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_gets_its_own_home_and_no_key_but_its_own(tmp_path: Path, program: object) -> None:
    row = BY_NAME[getattr(program, "name", "")]
    home = tmp_path / "home"
    start = start_of(row, Path("/usr/bin/x"), ("-p",), folder=tmp_path, home=home, env=ENV)
    keys = {name for name in ENV if name.endswith(("KEY", "TOKEN")) and name in start.env}
    assert keys == set(start.secrets) == {name for name in row.key_vars if name in ENV}
    assert not {"GITHUB_TOKEN", "SSH_AUTH_SOCK", "NODE_OPTIONS", "LD_PRELOAD"} & set(start.env)
    assert (start.env["HOME"], start.env["TMPDIR"], start.env["LC_ALL"]) == (str(home), str(home / "tmp"), "C")
    assert all(value.startswith(str(home)) for name, value in start.env.items() if name in row.home_vars)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert "sk-" not in repr(start)


@pytest.mark.parametrize(
    ("env", "arguments"),
    [
        ({}, ("--acp",)),
        ({"OPENAI_API_KEY": ""}, ("--acp",)),
        ({"OPENAI_API_KEY": "sk-2"}, ("--auth-type", "openai", "--acp")),
    ],
)
def test_qwen_is_told_the_kind_of_its_key_only_where_it_gets_one(env: dict[str, str], arguments: object) -> None:
    assert speaking(BY_NAME["qwen"], env) == arguments


def test_the_prompt_and_the_key_are_never_arguments(tmp_path: Path) -> None:
    start = start_of(BY_NAME["codex"], Path("/x"), ("exec", "-"), folder=tmp_path, home=tmp_path / "h", env=ENV)
    assert start.argv == ("/x", "exec", "-")


def test_an_unknown_program_is_a_usage_problem_with_the_nearest_names() -> None:
    with pytest.raises(UsageProblem) as caught:
        named("claude")
    assert caught.value.values["known"].startswith("claude-")


def test_an_absent_program_is_told_with_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured) as caught:
        installed(BY_NAME["gemini"], {"PATH": str(tmp_path)})
    assert "npm install" in caught.value.values["install"]


def test_a_program_is_found_on_the_path(tmp_path: Path) -> None:
    program = tmp_path / "qwen"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find(BY_NAME["qwen"], {"PATH": str(tmp_path)}) == program


def test_names_and_commands_are_unique() -> None:
    assert (
        len({program.name for program in PROGRAMS}) == len({program.command for program in PROGRAMS}) == len(PROGRAMS)
    )


@pytest.mark.parametrize(("steps", "more"), [(None, ()), (25, ("--max-turns", "25"))])
def test_a_limit_that_nobody_extends_is_claude_codes_own_too(steps: int | None, more: tuple[str, ...]) -> None:
    given: list[tuple[str, ...]] = []

    class Started:
        program = BY_NAME["claude-code"]

        async def process(self, *arguments: str, server: None) -> Any:
            assert server is None
            given.append(arguments)
            raise NotConfigured("runtime.absent", program="Claude Code", install="")

    class Deaf:
        def tell(self, event: object) -> None: ...

    runtime = ClaudeCodeRuntime(cast(Any, Started()))
    task = ProgramTask("Do it", Path("/srv/demo"), 0, max_steps=steps)
    assert asyncio.run(runtime.turn(task, cast(Any, Deaf()))).outcome == "failed"
    assert given[0][given[0].index("--setting-sources") + 2 :] == more
