"""No input raises, and giant ones end quickly with a question."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.permission import Need, NeedKind, Rule, Verdict
from maia.permissions.decide import decide
from maia.permissions.propose import propose
from maia.permissions.rules import parse_rule
from maia.permissions.shell_syntax import MAX_CHARS
from tests.permissions.made import NOWHERE, SOURCE, rules, shell

IN_FORCE = rules(
    allow=["Bash(*)", "Read(**)", "Edit(**)", "WebFetch(domain:*.x)"],
    ask=["Bash(a *)", "Mcp(x,y)"],
    deny=["Bash(touch *)", "Read(.env)", "Redirect(a/*)", "Grep([a-z]{b,c}?)"],
)
SECONDS = 2.0

GIANTS = (
    ("echo " + "a" * 1_000_000 + "; touch x", "one long command"),
    ("echo " + "a " * 500_000 + "; touch x", "many words"),
    ("true; " * 200_000 + "touch x", "many commands"),
    ("true; " * 15_000 + "touch x", "many commands below the limit of characters"),
    ("true && " * 12_000 + "touch x", "a deep list"),
    ("true | " * 12_000 + "touch x", "a long pipeline"),
    ("(" * 10_000 + "touch x" + ")" * 10_000, "deep brackets"),
    ("( " * 400 + "touch x" + " )" * 400, "brackets"),
    ("$(" * 10_000 + "touch x" + ")" * 10_000, "deep substitutions"),
    ("$(" * 300 + "touch x" + ")" * 300, "substitutions"),
    ("{ " * 10_000 + "touch x;" + " }" * 10_000, "deep groups"),
    ("`" * 10_000 + "touch x", "many backticks"),
    ("if true; then " * 3_000 + "touch x" + "; fi" * 3_000, "deep branches"),
    ("bash -c '" * 1_000 + "touch x", "many quotes"),
    ("env " * 20_000 + "touch x", "many wrappers"),
    ("sudo env nice " * 200 + "touch x", "wrappers"),
    ("<<A " * 3_000 + "\ntouch x", "many here-documents"),
    ("case a in a) " * 3_000 + "touch x", "many cases"),
    ("x=1 " * 20_000 + "touch x", "many assignments"),
    ("[[ " * 5_000 + "touch x", "many tests"),
    ("'" * 9_999 + "touch x", "many single quotes"),
    ('"' * 9_999 + "touch x", "many double quotes"),
    ("\\\n" * 20_000 + "touch x", "many continuations"),
    ("a\\\n" * 20_000 + "; touch x", "many continuations in a word"),
    ("{a,b}" * 30 + " ; touch x", "braces that multiply"),
    ("echo {1..99999999}; touch x", "a long range"),
    ("${" * 3_000 + "touch x", "many expansions"),
    ("$((" * 3_000 + "touch x", "many sums"),
    ("touch x\0", "a NUL"),
    ("touch x \ue000\ue001", "private characters"),
    ("touch x \ud800", "a lone surrogate"),
)


@pytest.mark.parametrize(("command", "why"), GIANTS, ids=[row[1] for row in GIANTS])
def test_a_giant_command_ends_quickly_and_is_never_allowed(command: str, why: str) -> None:
    start = time.process_time()
    assert shell(command, IN_FORCE) != "allow", why
    assert time.process_time() - start < SECONDS


def test_a_long_here_document_below_the_limit_is_read() -> None:
    text = "cat <<'EOF'\n" + "line with $(nothing)\n" * 3_000 + "EOF"
    assert len(text) < MAX_CHARS
    assert shell(text, rules(allow=["Bash(cat *)"])) == "allow"


def test_a_pattern_full_of_stars_takes_no_time() -> None:
    start = time.process_time()
    shell("echo " + "a" * 20_000, rules(allow=["Bash(" + "*a" * 200 + "*b)"], deny=["Bash(" + "*a" * 100 + "b)"]))
    assert time.process_time() - start < SECONDS


SHELLISH = st.text(st.sampled_from("abt $`'\"\\|&;<>(){}[]=*?~#!\n\t-./:@%,\r\u00a0\u2028é"), max_size=60)
KINDS: list[NeedKind] = ["command", "path", "host", "name", "text", "none"]
TOOLS = [
    "Bash",
    "Read",
    "Edit",
    "Write",
    "Grep",
    "Glob",
    "Redirect",
    "WebFetch",
    "Skill",
    "Agent",
    "Mcp",
    "mcp__x__y",
    "T",
]


@given(SHELLISH | st.text(max_size=40), st.sampled_from(TOOLS), st.sampled_from(KINDS))
def test_no_value_raises(value: str, tool: str, kind: NeedKind) -> None:
    need = Need(tool, kind, value)
    decide([need], IN_FORCE, NOWHERE)
    propose(need, IN_FORCE, NOWHERE)


@given(st.text(max_size=30) | SHELLISH.map(lambda text: f"Bash({text})") | SHELLISH.map(lambda text: f"Edit({text})"))
def test_no_rule_raises(text: str) -> None:
    read = parse_rule(text, Verdict.DENY, SOURCE)
    if isinstance(read, Rule):
        in_force = rules(allow=["Bash", "Edit"]) + type(rules())((read,))
        for need in (Need("Bash", "command", "git $x *.py > f"), Need("Edit", "path", "src/a.py")):
            decide([need], in_force, NOWHERE)
