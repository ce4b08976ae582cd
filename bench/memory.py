"""Measures the search of a memory with 100,000 entries, by words and by meaning, as a tool call asks it."""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

from harness import Row, at_most

from maia.core.memories import MemoryEntry
from maia.memory.meaning import Meaning
from maia.memory.private import PrivateMemory
from maia.memory.sqlite import SqliteStore
from maia.memory.vectors import vector_of

ENTRIES, DIMENSIONS = 100_000, 384
ROUNDS = 15
BATCH = 5_000
EMPTY = "de la le et les des en un du une que est the of to and in is it that for"


class Vocabulary:
    """30,000 made-up words whose frequencies fall as those of a language do, the empty words in front."""

    def __init__(self, chance: random.Random) -> None:
        letters = "abcdefghijlmnoprstuvé"
        made = ("".join(chance.choices(letters, k=chance.randint(4, 11))) for _ in range(30_000))
        self.words = [*EMPTY.split(), *made]
        self._weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self.words))))
        self._chance = chance

    def text(self, count: int) -> str:
        return " ".join(self._chance.choices(self.words, cum_weights=self._weights, k=count))


class Somewhere:
    """A model that puts every text somewhere at once: only our own time is measured."""

    name = "bench/model"

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [self.numbers() for _ in texts]

    def numbers(self) -> Sequence[float]:
        return array("b", self._chance.randbytes(DIMENSIONS))

    async def aclose(self) -> None:
        return


def store_at(folder: Path) -> SqliteStore:
    return SqliteStore(folder, "bench")


def plant(folder: Path, words: Vocabulary, model: Somewhere) -> None:
    chance = random.Random(3)
    store = store_at(folder)
    for start in range(0, ENTRIES, BATCH):
        numbers = range(start, start + BATCH)
        store.put([MemoryEntry(f"e{n}", words.text(chance.randint(10, 60)), n * 60.0) for n in numbers])
        vectors = {f"e{n}": [found] for n in numbers if (found := vector_of(model.numbers()))}
        store.put_vectors(f"{model.name}#{DIMENSIONS}", vectors)
    store.close()


async def seconds(memory: PrivateMemory, queries: Sequence[str]) -> float:
    """The median CPU time of one search, its thread included, after one of each to warm up: disks play no part then."""
    took: list[float] = []
    for turn in range(ROUNDS + 1):
        for query in queries:
            start = time.process_time()
            hits = await memory.search(query)
            if turn:
                took.append(time.process_time() - start)
            assert hits, query
    return statistics.median(took)


async def measured(folder: Path) -> list[Row]:
    chance = random.Random(1)
    words, model = Vocabulary(chance), Somewhere(chance)
    plant(folder, words, model)
    by_rank = words.words[len(EMPTY.split()) :]
    questions = {
        "three words": [f"{by_rank[n]} {by_rank[5 * n]} {by_rank[50 * n]}" for n in range(20, 30)],
        "a sentence": [f"what is the {by_rank[n]} of {words.text(8)} and {by_rank[9 * n]}" for n in range(30, 40)],
        "the most frequent word": [by_rank[0]],
    }
    rows: list[Row] = []
    plain = PrivateMemory(store_at(folder), str)
    for name, queries in questions.items():
        took = await seconds(plain, queries) * 1000
        rows.append(at_most(f"memory of 100,000 entries, {name}", took, "ms", 30))
    both = PrivateMemory(store_at(folder), str, Meaning(model))
    took = await seconds(both, questions["three words"]) * 1000
    rows.append(at_most(f"the same by words and meaning ({DIMENSIONS} dimensions)", took, "ms", 30))
    await both.aclose()
    fresh = PrivateMemory(store_at(folder), str, Meaning(model))
    start = time.process_time()
    await fresh.search(questions["three words"][0])
    rows.append(at_most("the first search of a process, by both", (time.process_time() - start) * 1000, "ms", None))
    await fresh.aclose()
    await plain.aclose()
    return rows


def main() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as name:
        return asyncio.run(measured(Path(name)))
