"""The command line becomes a value, or an error that says what to write instead."""

from __future__ import annotations

import pytest

from maia.app.cli import help_text
from maia.core.errors import UsageProblem
from maia.core.ports import Say
from maia.terminal.options import Options, parse


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], Options()),
        (["-p", "hi"], Options(prompt="hi")),
        (["-p=hi"], Options(prompt="hi")),
        (["--print", "hi there"], Options(prompt="hi there")),
        (["-p"], Options(prompt="")),
        (["-p", "-"], Options(prompt="", stdin=True)),
        (["-p", "hi", "-"], Options(prompt="hi", stdin=True)),
        (["-p", "- a list"], Options(prompt="- a list")),
        (["-p", "-5 + 3?"], Options(prompt="-5 + 3?")),
        (["-p", "--model", "m", "hi"], Options(prompt="hi", model="m")),
        (["--model=m", "-p", "hi"], Options(prompt="hi", model="m")),
        (["-p", "--", "--model is an option"], Options(prompt="--model is an option")),
        (["-p", "hi", "--output-format", "json"], Options(prompt="hi", output_format="json")),
        (["-p", "hi", "--max-iterations", "3"], Options(prompt="hi", max_iterations=3)),
        (
            ["--allow", "Bash(ls *)", "--allow=Read", "--deny", "Write"],
            Options(allow=("Bash(ls *)", "Read"), deny=("Write",)),
        ),
        (["--add-dir", "a", "--add-dir", "b"], Options(add_dirs=("a", "b"))),
        (["-c"], Options(continue_last=True)),
        (["--resume", "x y"], Options(resume="x y")),
        (
            ["permissions", "check", "Bash", "ls -la", "--json"],
            Options(command=("permissions", "check", "Bash", "ls -la"), as_json=True),
        ),
        (
            ["permissions", "check", "Bash", "-", "--cwd", "/x"],
            Options(command=("permissions", "check", "Bash", "-"), cwd="/x"),
        ),
        (
            ["permissions", "check", "Bash", "--json", "--", "--version"],
            Options(command=("permissions", "check", "Bash", "--version"), as_json=True),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words_become_options(argv: list[str], expected: Options) -> None:
    assert parse(argv) == expected


@pytest.mark.parametrize(
    ("argv", "key", "values"),
    [
        (["--modle", "m"], "cli.option_near", {"given": "--modle", "near": "--model"}),
        (["--frobnicate"], "cli.unknown_option", {"given": "--frobnicate"}),
        (["--model"], "cli.missing_value", {"option": "--model", "value": "MODEL"}),
        (["--json=1"], "cli.flag_value", {"option": "--json"}),
        (["--max-iterations", "0"], "cli.not_a_count", {"option": "--max-iterations", "given": "0"}),
        (["--max-iterations", "-3"], "cli.not_a_count", {"option": "--max-iterations", "given": "-3"}),
        (["--max-iterations", "9" * 5_000], "cli.not_a_count", {"option": "--max-iterations", "given": "9" * 5_000}),
        (["--max-iterations", "many"], "cli.not_a_count", {"option": "--max-iterations", "given": "many"}),
        (["--output-format", "xml"], "cli.unknown_format", {"given": "xml", "known": "text, json, stream-json"}),
        (["-p", "hi", "there"], "cli.stray_words", {"words": "there"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_line_says_what_is_wrong(argv: list[str], key: str, values: dict[str, str]) -> None:
    with pytest.raises(UsageProblem) as problem:
        parse(argv)
    assert (problem.value.key, problem.value.values) == (key, values)


def test_each_option_and_command_of_the_help_has_its_words(say: Say) -> None:
    assert "cli." not in help_text(say)
