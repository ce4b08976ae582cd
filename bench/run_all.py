"""Runs every bench file, each in its own process, and prints one table; exit code 1 when a limit is missed.

`python bench/run_all.py [NAME …]`, on an otherwise idle machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from harness import ROOT, Row, clean_env, table

_OWN = {"harness", "run_all"}


def names() -> list[str]:
    """The bench files there are."""
    found = sorted(path.stem for path in (ROOT / "bench").glob("*.py"))
    return [name for name in found if name not in _OWN and not name.startswith("_")]


def rows_of(name: str) -> list[Row]:
    """Run one bench file. One that fails is a missed row with the end of its error."""
    env = clean_env()
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "harness.py"), name], env=env, cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return [Row(name, float("nan"), "", None, False, f"failed: {last}")]
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(names())
    if unknown:
        print(f"no such bench: {', '.join(sorted(unknown))}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for name in wanted or names():
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += rows_of(name)
    print(table(rows))
    load = Path("/proc/loadavg")
    if load.exists():
        print(f"load average {load.read_text().split()[0]}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
