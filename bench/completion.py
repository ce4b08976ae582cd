"""Completion of `@` paths in a tree of 150,000 files: one keystroke, making the list, and the names that begin with it.

    python bench/harness.py completion

copilot-cli#3469 reports 5 s a keystroke in a tree of that size, kimi-cli#1588 files that were not found.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from pathlib import Path

from harness import Row, at_most, cpu_of

FILES = 150_000
FOLDERS = 6_000
WORDS = ("src", "lib", "core", "test", "util", "engine", "model", "view", "data", "main", "index", "parser", "event")
QUERIES = ("", "a", "engine", "engine_149", "src1/lib", "srceng", "hndlr9", "zzzzzz", "main_1499")


def grow(root: Path) -> None:
    """A tree of empty files, some of them ignored by git."""
    dice = random.Random(7)
    folders = [
        "/".join(f"{dice.choice(WORDS)}{dice.randrange(30)}" for _ in range(dice.randrange(1, 7)))
        for _ in range(FOLDERS)
    ]
    for folder in set(folders):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for n in range(FILES):
        (root / f"{dice.choice(folders)}/{dice.choice(WORDS)}_{n}.py").touch()
    (root / ".gitignore").write_text("*.log\n")
    (root / "hidden.log").touch()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)


def main() -> list[Row]:
    from maia.terminal.fileindex import FileIndex, PathTable, list_paths

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="maia-bench-tree-", dir=memory if memory.is_dir() else None) as name:
        root = Path(name)
        grow(root)
        start = time.perf_counter()
        paths, _ = list_paths(root)
        listed = time.perf_counter() - start
        start = time.process_time()
        table = PathTable(paths)
        built = time.process_time() - start
        slowest, query = max((cpu_of(lambda text=text: table.search(text)), text) for text in QUERIES)
        index = FileIndex(root, root)
        start = time.perf_counter()
        index.search("main")
        first = time.perf_counter() - start
        index.wait()
        found = index.search(paths[-1])
        return [
            at_most("completion: slowest keystroke", slowest * 1_000, "ms", 60, f"query {query!r}, {FILES:,} files"),
            at_most("completion: first keystroke, nothing listed yet", first * 1_000, "ms", 20),
            at_most(
                "completion: making the list, in the background", listed, "s", 10, "wall, git with untracked files"
            ),
            at_most("completion: ordering the list", built, "s", 1.0, "CPU"),
            Row("completion: all files are found", len(paths), "files", FILES, len(paths) == FILES + 1),
            Row("completion: the last file is found", len(found.paths), "path", None, found.paths[:1] == (paths[-1],)),
        ]
