"""Measures programs from outside: CPU seconds, peak memory, loaded modules. Byte-code is on and compiled beforehand.

A bench file has `def main() -> list[Row]`. `python bench/run_all.py` runs them all, each in its own process.
"""

from __future__ import annotations

import compileall
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAIA = (sys.executable, "-P", "-m", "maia")
"""The program under test. `-P` keeps the current folder off the import path, as `./run` does."""


@dataclass(frozen=True)
class Row:
    """One measured value. `limit` None means that the value is only shown."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    ok: bool = True
    note: str = ""


def at_most(name: str, value: float, unit: str, limit: float | None, note: str = "") -> Row:
    """A row that holds when the value does not exceed its limit."""
    return Row(name, value, unit, limit, limit is None or value <= limit, note)


@dataclass(frozen=True)
class Run:
    """One run of a program: CPU and wall seconds, peak memory in MB (10^6 bytes), exit code, output."""

    cpu: float
    wall: float
    peak_mb: float
    code: int
    out: str
    err: str


# The peak memory of a child counts that of the process that forked it, so a small one stands between
# (Linux: exec takes over the high-water mark of the memory it replaces).
_LAUNCHER = """
import os, sys, json
pid = os.fork()
if pid == 0:
    os.set_inheritable(int(sys.argv[1]), False)
    try:
        os.execvpe(sys.argv[2], sys.argv[2:], os.environ)
    finally:
        os._exit(127)
_, status, used = os.wait4(pid, 0)
with open(int(sys.argv[1]), "w") as report:
    json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, os.waitstatus_to_exitcode(status)], report)
"""


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    stdin: str = "",
    timeout: float = 120,
) -> Run:
    """Run a program once and measure it."""
    read_fd, write_fd = os.pipe()
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(write_fd), *argv],
            env=dict(env) if env is not None else clean_env(),
            cwd=cwd,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            pass_fds=(write_fd,),
        )
    finally:
        os.close(write_fd)
    wall = time.perf_counter() - start
    with open(read_fd) as report:
        cpu, peak_kb, code = json.load(report)
    return Run(cpu, wall, peak_kb * 1024 / 1000, code, done.stdout, done.stderr)


@dataclass(frozen=True)
class Measured:
    """Several runs of one program. CPU is the median, memory the largest; `last` is one of the runs."""

    cpu: float
    cpu_best: float
    wall: float
    peak_mb: float
    last: Run


def measure(argv: Sequence[str], *, runs: int = 7, **options: object) -> Measured:
    """Run a program several times after one warm-up. Raises `RuntimeError` when it fails."""
    all_runs = [run(argv, **options) for _ in range(runs + 1)][1:]  # type: ignore[arg-type] - passed on as they are
    failed = next((each for each in all_runs if each.code != 0), None)
    if failed is not None:
        raise RuntimeError(f"{' '.join(argv)} ended with {failed.code}:\n{failed.err[-2000:] or failed.out[-2000:]}")
    cpus = [each.cpu for each in all_runs]
    return Measured(
        statistics.median(cpus),
        min(cpus),
        statistics.median(each.wall for each in all_runs),
        max(each.peak_mb for each in all_runs),
        all_runs[-1],
    )


def cpu_of(work: Callable[[], object], *, runs: int = 5) -> float:
    """Median CPU seconds of one call in this process, after one warm-up."""
    work()
    used: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        work()
        used.append(time.process_time() - start)
    return statistics.median(used)


@cache
def compiled() -> None:
    """Byte-code of maia, as an installed program has it."""
    compileall.compile_dir(ROOT / "src", quiet=1)


def clean_env(home: Path | None = None, **more: str) -> dict[str, str]:
    """An environment with no key, no setting of maia, and byte-code on. `home` defaults to a new empty folder."""
    compiled()
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home or tempfile.mkdtemp(prefix="maia-bench-home-")),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "PYTHONPATH": str(ROOT / "src"),
        **more,
    }


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a statement (`import maia.terminal.firstpaint`)."""
    program = f"{statement}\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", program], env=clean_env(), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return set(done.stdout.split())


def python_baseline() -> Measured:
    """`python -c pass` in the same run, to tell a slow machine from a slow program."""
    return measure((sys.executable, "-I", "-c", "pass"))


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text with a verdict."""
    cells = [
        (
            row.name,
            f"{row.value:,.4g} {row.unit}",
            "" if row.limit is None else f"≤ {row.limit:g}",
            "ok" if row.ok else "MISSED",
            row.note,
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)] if cells else []
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells)


def main() -> None:
    """`python bench/harness.py NAME`: the rows of one bench file as JSON, for `run_all.py`."""
    sys.path.insert(0, str(ROOT / "src"))
    sys.path.insert(0, str(ROOT))
    # The bench file imports this module by its name; both must share one `Row`.
    sys.modules["harness"] = sys.modules["__main__"]
    rows = importlib.import_module(sys.argv[1]).main()
    print(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    main()
