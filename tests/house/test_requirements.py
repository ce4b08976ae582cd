"""`docs/requirements.md` names every line of the first release, and every test it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text("utf-8")
LINES = {
    *(f"T1.{n:02}" for n in range(1, 12)),
    *(f"T2.{n:02}" for n in range(1, 9)),
    *("T3.01", "T3.02", "T4.01", "T4.02", "T4.05", "T4.06", "T7.02", "T7.04", "T7.05", "T7.06", "T7.10", "T8.01"),
    *(f"T5.{n:02}" for n in range(1, 10)),
    *(f"T6.{n:02}" for n in range(1, 10)),
}
POINTS = {"§1", "§2", "§3", "§4", "§5", "§7", "§9", "§10", "§11", "§12"}
TRAPS = {
    "Paths and links",
    "`@file`",
    "Edit",
    "Outputs",
    "Processes",
    "Streams and calls",
    "A context that is too long",
}
ROWS = [row for row in re.findall(r"^\| (.+?) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE) if set(row[0]) != {"-"}]
NAMED = sorted({test for *_, tests in ROWS for test in re.findall(r"`([\w/]+\.py::\w+)`", tests)})

WORKSPACE = ((1, 131), (135, 156), (167, 281), (294, 304), (312, 354), (452, 459))
"""Lines R-2.… of the workspace's first half, both ends included."""
LATER = {25, 26, 39, 65, 138, 260, 261, 264, 296}
"""Of these, what belongs to pages that come later."""


@cache
def names_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_every_line_point_and_kind_of_trap_is_on_the_page() -> None:
    first = [row[0] for row in ROWS]
    lines = [name for name in first if re.fullmatch(r"T\d\.\d\d", name)]
    assert sorted(lines) == sorted(LINES)
    assert {name.partition(".")[0] for name in first if name.startswith("§")} == POINTS
    assert set(re.findall(r"^### (.+)$", PAGE, re.MULTILINE)) == TRAPS


def numbers_in(text: str) -> set[int]:
    """`R-2.003, R-2.005–R-2.007` names four lines."""
    spans = re.findall(r"R-2\.(\d+)(?:–R-2\.(\d+))?", text)
    return {number for first, last in spans for number in range(int(first), int(last or first) + 1)}


def test_every_line_of_the_workspace_is_met_or_waits_for_a_page_that_is_named() -> None:
    named = {number for first, _, tests in ROWS if "::" in tests for number in numbers_in(first)}
    waits = numbers_in(" ".join(re.findall(r"^\| [\w ]+ \| (R-2\.[^|]+) \|$", PAGE, re.MULTILINE)))
    wanted = {number for first, last in WORKSPACE for number in range(first, last + 1)}
    assert sorted(wanted - named) == sorted(LATER)
    assert waits >= LATER


def test_every_row_names_a_test() -> None:
    bare = [name for name, how, tests in ROWS if how != "How it is met" and "::" not in tests]
    assert bare == []


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_is_there(named: str) -> None:
    path, _, name = named.partition("::")
    assert (ROOT / "tests" / path).is_file()
    assert name in names_in(ROOT / "tests" / path)
