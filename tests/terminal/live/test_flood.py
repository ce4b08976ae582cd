"""Much output never freezes the keys, and nothing moves while nothing happens."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.terminal.live.tmux import Term, needs_tmux, terminal

pytestmark = needs_tmux
_LIVE = 1.5
"""Seconds of its CPU within which the prompt shows a typed key: a machine that is busy with other things counts not."""


def types_live(term: Term, until: str) -> list[str]:
    """Type letters until `until` is on the screen; each must be seen soon."""
    typed, pid = "", term.pid()
    while True:
        typed += "abcdefghij"[len(typed) % 10]
        term.type(typed[-1])
        began = cpu(pid)
        rows = term.until(lambda rows, typed=typed: any(typed[-20:] in row for row in rows[-10:-1]), 60)
        assert cpu(pid) - began < _LIVE
        if any(until in row for row in rows):
            return rows
        if len(typed) % 40 == 0:
            term.keys("C-u")
            typed = ""


def test_keys_are_live_during_an_answer_of_ten_thousand_lines_that_arrives_whole(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("bigans")
        term.keys("Enter")
        term.until("the line")
        types_live(term, "46.3k")
        term.until("46.3k")
        past = "\n".join(term.past())
        for place in (0, 1, 499, 5_000, 9_999):
            assert f"{place}. the line {place} of" in past
        assert sum(set(row) == {"┈"} for row in past.split("\n")) == 2


def test_keys_are_live_during_an_output_of_two_hundred_thousand_characters(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("bigout")
        term.keys("Enter")
        term.until("Bash  big")
        types_live(term, "46.3k")
        assert any(row.startswith("✓ Bash  big") for row in term.past())
        term.keys("C-u", "C-o")
        term.until("row 2999")
        assert any(row.startswith("row 1 ") for row in term.past())


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_idle_prompt_and_a_waiting_question_use_no_cpu(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        pid = term.pid()
        at_rest(pid)
        before, wakes = cpu(pid), _switches(pid)
        time.sleep(3)
        assert cpu(pid) - before <= 0.01
        assert _switches(pid) - wakes <= 3
        term.type("ask")
        term.keys("Enter")
        term.until("› Oui, une fois")
        at_rest(pid)
        before = cpu(pid)
        time.sleep(3)
        assert cpu(pid) - before <= 0.02


def at_rest(pid: int) -> None:
    """Wait until it has done nothing for half a second."""
    for _ in range(60):
        before = _switches(pid)
        time.sleep(0.5)
        if _switches(pid) == before:
            return
    raise AssertionError("it is never at rest")


def _switches(pid: int) -> int:
    """How often the process was woken up, all threads together."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        total += sum(int(row.split()[1]) for row in status.read_text().splitlines() if "voluntary_ctxt" in row)
    return total
