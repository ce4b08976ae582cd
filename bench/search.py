"""Measures Glob and Grep over 100,000 files against `rg` doing the same job, and the worker that needs no `rg`."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

from harness import Row, at_most

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Decision, Need, Verdict
from maia.core.ports import Fetcher, Hands, Processes, ToolMemory
from maia.core.reason import Reason
from maia.core.tool import AnyTool
from maia.i18n.catalogue import Catalogue
from maia.tools import glob, grep
from maia.tools.readlog import SessionReads
from maia.tools.search.engine import find_rg

FOLDERS, FILES = 2000, 50
ROUNDS = 7


class _NoChanges:
    def record(self, *_change: object) -> None:
        raise AssertionError("a search writes nothing")


def plant(folder: Path) -> None:
    """100,000 small files in 2,000 folders, one in fifty ignored, one in a thousand with the needle."""
    (folder / ".gitignore").write_text("*.log\nbuild/\n")
    body = "def compute(x):\n    return x + 1\n\n" * 12
    for n in range(FOLDERS):
        below = folder / f"package_{n % 40}" / f"module_{n}"
        below.mkdir(parents=True)
        for k in range(FILES):
            ending = "log" if k == 0 else "py" if k % 2 else "ts"
            needle = "needle_in_the_haystack = 1\n" if (n * FILES + k) % 1000 == 1 else ""
            (below / f"file_{k}.{ending}").write_text(body + needle)


def hands_at(folder: Path) -> Hands:
    allowed = Decision(Verdict.ALLOW, Reason("bench"))

    def allow(_need: Need) -> Decision:
        return allowed

    return Hands(
        launch=folder,
        call_id="bench",
        say=Catalogue("en"),
        processes=cast(Processes, None),
        fetcher=cast(Fetcher, None),
        reads=SessionReads(),
        changes=_NoChanges(),
        memory=ToolMemory(),
        current_model=str,
        emit=lambda _text: None,
        allowed=allow,
        saved_outputs=folder,
    )


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def tool_job(tool: AnyTool, arguments: JsonObject, hands: Hands) -> Callable[[], object]:
    """A call as the engine makes it, in a loop that is already running."""
    args = tool.parse(arguments)
    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(tool.run(args, hands))


def rg_job(rg: str, folder: Path, *arguments: str) -> Callable[[], object]:
    command = [rg, "--no-config", "--hidden", "--no-require-git", "--glob=!.git", *arguments, "./"]
    return lambda: subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False)


def compare(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """The best of alternating rounds after one of each to warm the disk cache."""
    ours()
    theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    return min(ours for ours, _ in pairs), min(theirs for _, theirs in pairs)


# A name is given to rg as a type: as `--glob` it would bring ignored files back, which is another result.
NEEDLE = "needle_in_the_haystack"
JOBS: tuple[tuple[str, AnyTool, JsonObject, tuple[str, ...]], ...] = (
    (
        "Glob of one name in 100,000 files",
        glob.GlobTool(),
        {"pattern": "**/file_7.py"},
        ("--files", "--type-add=maia:file_7.py", "-tmaia"),
    ),
    (
        "Glob of 49,000 files, newest first",
        glob.GlobTool(),
        {"pattern": "**/*.py"},
        ("--files", "--sortr=modified", "-tpy"),
    ),
    ("Grep of a rare word", grep.GrepTool(), {"pattern": NEEDLE}, ("-n", "-e", NEEDLE)),
    (
        "Grep of an expression",
        grep.GrepTool(),
        {"pattern": r"needle_\w+ = \d", "glob": "*.py"},
        ("-n", "-tpy", "-e", r"needle_\w+ = \d"),
    ),
    (
        "Grep for the files",
        grep.GrepTool(),
        {"pattern": "haystack", "output_mode": "files"},
        ("-l", "-e", "haystack"),
    ),
)


def main() -> list[Row]:
    rows: list[Row] = []
    rg = find_rg(Path("/nonexistent"))
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as name:
        folder = Path(name).resolve()
        plant(folder)
        hands = hands_at(folder)
        if rg is None:
            rows.append(Row("search against rg", float("nan"), "", note="no rg on PATH: only the worker is measured"))
        for title, tool, arguments, flags in JOBS if rg else ():
            ours, theirs = compare(tool_job(tool, arguments, hands), rg_job(str(rg), folder, *flags))
            note = f"{ours * 1000:.0f} ms, rg {theirs * 1000:.0f} ms"
            rows.append(at_most(f"{title}, against rg", ours / theirs, "×", 1.5, note))
        for module in (glob, grep):
            module.find_rg = lambda _launch: None
        for title, tool, arguments, _ in JOBS:
            job = tool_job(tool, arguments, hands)
            rows.append(at_most(f"{title}, without rg", min(seconds(job) for _ in range(3)), "s", None))
    return rows
