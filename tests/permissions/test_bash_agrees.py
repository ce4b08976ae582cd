"""What bash really runs: a script that runs a denied program when bash reads it is never one that was allowed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from maia.permissions.paths import Place
from tests.permissions.made import rules, shell

BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")

PIECES = (
    "hit", "hit x", "echo a", "true", "cat", "x=1", "x=hit", "$x", "$(hit)", "`hit`", "'hit'", '"hit"', "h''it",
    "\\hit", "$'hit'", '$"hit"', "hi\\\nt",
    "env", "timeout 5", "xargs", "bash -c", "eval", "'hit x'", "\\;", "+", "{}", "-c", "--", "A=1", "nice",
    "command", "exec", "time", "!", "if", "then",
    "fi", "else", "while", "do", "done", "for i in a", "case a in a)", "esac", ";;", "f()", "f", "{", "}", "(", ")",
    "((", "))", "[[", "]]", "[", "]", "&&",
    "||", "|", "&", ";", "\n", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<<-EOF\n", "<<<", ">", "f1", "2>&1", ">&", "<>",
    "<", "<(", "$((", "${x:-", "# c", "'", '"',
    "\\", "\\\n", " ", "\t", "\r", "\u00a0", "$", "`", "*", "~", "=", "{hit,x}", "trap", "EXIT", "coproc", "a", "-",
    "$'\\x68it'", "${x@P}", "$@", "set --",
    "alias e=hit", "a[", "'$(hit)'", "\v", "\u2028", ">|", "&>", ";&", "$[",
)  # fmt: skip
PROGRAMS = ("echo", "cat", "true", "env", "timeout", "xargs", "sort", "nice", "bash", "sh")
COUNT = 1_500

KNOWN = (
    "f=()-c hit",
    "ls\n\\hit x",
    ">& '$(hit)' true",
    "<<<$\nhit",
    "<$\nhit",
    "{hit,x}\ntrue\n}",
    "hi\\\nt=t hit",
    "cat <<EOF\n`hit`\nEOF",
    "true 2>&1 hit\nhit",
    "x='a[$(hit)]'; echo $((x))",
    "true\\\r\n hit",
    "cat <<EOF\n\n`hit`",
)
"""Texts that the grammar alone reads differently from bash."""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for name in ("bin", "work"):
        (tmp_path / name).mkdir()
    for program in PROGRAMS:
        found = shutil.which(program)
        if found:
            os.symlink(found, tmp_path / "bin" / program)
    hit = tmp_path / "bin" / "hit"
    hit.write_text(f"#!{shutil.which('sh')}\necho hit > {tmp_path}/marker\n")
    hit.chmod(0o755)
    return tmp_path


def runs_hit(script: str, world: Path) -> bool:
    """Run a script where nothing but a few harmless programs can be found."""
    assert BASH is not None
    subprocess.run(
        [BASH, "--norc", "-c", script],
        cwd=world / "work",
        env={"PATH": str(world / "bin"), "HOME": str(world / "work")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    marker = world / "marker"
    if marker.exists():
        marker.unlink()
        return True
    return False


def made_up(dice: random.Random) -> str:
    pieces = [
        dice.choice(PIECES) + (dice.choice((" ", " ", "\n", ";")) if dice.random() < 0.65 else "")
        for _ in range(dice.randint(1, 9))
    ]
    script = "".join(pieces)
    if "hit" in script:
        return script
    at = dice.randint(0, len(script))
    return f"{script[:at]}hit{script[at:]}"


def test_what_is_allowed_does_not_run_the_denied_program(world: Path) -> None:
    dice = random.Random(20)
    place = Place(world / "work", world, fold_case=False)
    bare = rules(allow=["Bash", "Redirect(**)"], deny=["Bash(hit *)"])
    narrow = rules(allow=["Bash(echo *)", "Bash(cat *)", "Bash(true *)", "Bash(env *)", "Redirect(**)"])
    scripts = [made_up(dice) for _ in range(COUNT)]
    allowed = [
        script
        for script in scripts
        if "/" not in script and "allow" in (shell(script, bare, place), shell(script, narrow, place))
    ]
    assert [script for script in allowed[:150] if runs_hit(script, world)] == []
    assert len(allowed) > 50


@pytest.mark.parametrize("script", KNOWN)
def test_a_known_difference_asks(script: str, world: Path) -> None:
    place = Place(world / "work", world, fold_case=False)
    in_force = rules(allow=["Bash", "Redirect(**)"], deny=["Bash(hit *)"])
    assert shell(script, in_force, place) != "allow"
