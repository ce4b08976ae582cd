"""Finds every process that a command started, also those that left its group, and signals them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MARK: Final = "MAIA_RUN"
"""The environment variable by which a process that left its session is still known as ours."""


@dataclass(frozen=True, slots=True)
class Process:
    """One row of the process table. `started` is in clock ticks since boot: with it a reused number is told apart."""

    pid: int
    parent: int
    group: int
    session: int
    started: int


def table() -> dict[int, Process]:
    """All living processes by number; empty where there is no `/proc`. Zombies are left out."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    rows = (_row(name) for name in names if name.isdigit())
    return {row.pid: row for row in rows if row is not None}


def _row(pid: str) -> Process | None:
    """proc(5): the name stands in parentheses and may itself hold some, so fields count from the last one."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(4096)
    except OSError:
        return None
    fields = line[line.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Process(int(pid), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def started_by(leader: int, since: int, mark: str, pipe: str = "") -> list[Process]:
    """Every living process of the command whose group leader is, or was, `leader`; the leader first if it lives.

    A process belongs to it when it is in its group or session, descends from one that does, carries `mark` in its
    environment, or writes to its `pipe` (`pipe:[NUMBER]`). `since` is the leader's `started`: older processes do
    neither. maia itself is never among them.
    """
    rows = table()
    ours = {row.pid for row in rows.values() if leader in (row.pid, row.group, row.session)}
    others = [row for row in rows.values() if row.started >= since and row.pid not in ours]
    ours |= {row.pid for row in others if _carries(row, mark) or _writes_to(row, pipe)}
    children: dict[int, list[int]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row.pid)
    waiting = list(ours)
    while waiting:
        new = [pid for pid in children.get(waiting.pop(), ()) if pid not in ours]
        ours.update(new)
        waiting.extend(new)
    ours -= {os.getpid(), 0, 1}
    return sorted((rows[pid] for pid in ours), key=lambda row: (row.pid != leader, row.pid))


def start_of(pid: int) -> int:
    """When a process started, in ticks; 0 when it cannot be known."""
    row = _row(str(pid))
    return row.started if row else 0


def _carries(row: Process, mark: str) -> bool:
    try:
        with open(f"/proc/{row.pid}/environ", "rb", buffering=0) as file:
            environ = file.read(1 << 21)
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environ.split(b"\0")


def _writes_to(row: Process, pipe: str) -> bool:
    """Also who cleared the environment and left the session still has the command's output."""
    for handle in (1, 2):
        try:
            if os.readlink(f"/proc/{row.pid}/fd/{handle}") == pipe:
                return True
        except OSError:
            continue
    return False


def signal_all(processes: Iterable[Process], what: signal.Signals) -> None:
    """Signal each process that is still the one it was. One that may not be signalled (another user's) is passed by."""
    for process in processes:
        if start_of(process.pid) == process.started:
            send(process.pid, what)


def send(pid: int, what: signal.Signals) -> None:
    """Signal one process; never maia, never everybody."""
    if pid > 1 and pid != os.getpid():
        try:
            os.kill(pid, what)
        except (ProcessLookupError, PermissionError):
            return


def send_group(leader: int, what: signal.Signals) -> None:
    """Signal a command's group; never the group that maia is in (claude-code#45717)."""
    if leader > 1 and leader != os.getpgrp():
        try:
            os.killpg(leader, what)
        except (ProcessLookupError, PermissionError):
            return
