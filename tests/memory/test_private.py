import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from maia.core.endings import Failure, FailureKind
from maia.core.errors import ModelFailed
from maia.core.events import Notice
from maia.core.memories import Memory, MemoryEntry
from maia.memory.meaning import PAUSE, Meaning
from maia.memory.private import PrivateMemory
from maia.memory.problems import MemoryProblem
from maia.memory.sqlite import SqliteStore

DAY = 24 * 3600.0
SUBJECTS = (("owl", "hibou", "bird"), ("car", "voiture", "wheel"), ("bread", "pain", "flour"))


class Clock:
    def __init__(self) -> None:
        self.now = 1_796_000_000.0

    def __call__(self) -> float:
        return self.now


class Concepts:
    """An embeddings model that knows three subjects, in two languages."""

    def __init__(self, name: str = "host/concepts", extra: int = 0) -> None:
        self.name = name
        self.extra = extra
        self.problem: FailureKind | None = None
        self.asked: list[list[str]] = []
        self.refused = ""
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.append(list(texts))
        if self.problem:
            raise ModelFailed(Failure(self.problem, "host", 500))
        if self.refused and any(self.refused in text for text in texts):
            raise ModelFailed(Failure("too_long", "host", 400))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        return [float(sum(word in text for word in words)) for words in SUBJECTS] + [0.1] * (1 + self.extra)

    async def aclose(self) -> None:
        self.closed = True


@asynccontextmanager
async def memory_at(
    folder: Path, model: Concepts | None = None, clock: Clock | None = None, told: list[Notice] | None = None
) -> AsyncGenerator[PrivateMemory]:
    clock = clock or Clock()
    meaning = Meaning(model, (told if told is not None else []).append, clock) if model else None
    memory = PrivateMemory(SqliteStore(folder, "me"), lambda text: text.replace("SECRET", "…"), meaning, clock)
    try:
        yield memory
    finally:
        await memory.aclose()


async def texts(memory: Memory, query: str, limit: int = 10, tags: Sequence[str] = ()) -> list[str]:
    return [found.entry.text for found in await memory.search(query, limit, tags)]


def test_a_text_is_kept_masked_and_found(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path) as memory:
            entry = await memory.store("the key is SECRET", ["A  Tag"], "run-7")
            assert entry == MemoryEntry(entry.entry_id, "the key is …", 1_796_000_000.0, ("a tag",), "run-7")
            (found,) = await memory.search("key", tags=["a tag"])
            assert (found.entry, found.by) == (entry, "words")
            assert await memory.recent() == [entry]
            assert await memory.everything() == [entry]

    asyncio.run(work())


def test_what_cannot_be_kept_leaves_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path) as memory:
            for text, tags in ((" ", ()), ("x" * 100_001, ()), ("fine", ["a,b"])):
                with pytest.raises(MemoryProblem):
                    await memory.store(text, tags)
            good, bad = MemoryEntry("a", "good", 1.0), MemoryEntry("b", "", 1.0)
            with pytest.raises(MemoryProblem):
                await memory.take_in([good, bad])
            assert await memory.everything() == []

    asyncio.run(work())


def test_of_entries_that_fit_alike_the_fresh_ones_come_first(tmp_path: Path) -> None:
    async def work() -> None:
        clock = Clock()
        async with memory_at(tmp_path, clock=clock) as memory:
            for days in range(5):
                await memory.store(f"the owl of day {days}")
                clock.now += 30 * DAY
            await memory.take_in([MemoryEntry("old", "the owl of year 0", 0.0)])
            assert await texts(memory, "owl", 2) == ["the owl of day 4", "the owl of day 3"]
            assert (await texts(memory, "owl", 9))[-1] == "the owl of year 0"

    asyncio.run(work())


def test_limits_are_kept(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path) as memory:
            await memory.take_in([MemoryEntry(f"e{n}", f"owl {n}", float(n)) for n in range(150)])
            assert [len(await memory.search("owl", limit)) for limit in (-1, 0, 3, 1_000)] == [1, 1, 3, 100]
            assert len(await memory.recent(1_000)) == 100
            assert await memory.search("") == []
            assert await memory.search("!?") == []

    asyncio.run(work())


def test_what_is_taken_in_again_is_there_once_and_as_it_is_now(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path) as memory:
            before = [MemoryEntry("a", "one", 1.0, ("t",), "s"), MemoryEntry("b", "two", 2.0)]
            assert await memory.take_in([*before, MemoryEntry("b", "three SECRET", 3.0, ("T",))]) == 2
            assert await memory.take_in(before[:1]) == 0
            assert await memory.everything() == [before[0], MemoryEntry("b", "three …", 3.0, ("t",))]

    asyncio.run(work())


def test_many_calls_at_once_neither_fail_nor_hold_up_the_loop(tmp_path: Path) -> None:
    async def work() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with memory_at(tmp_path) as memory:
            ticking = asyncio.create_task(tick())
            await asyncio.gather(*(memory.store(f"owl {number}") for number in range(30)))
            found = await asyncio.gather(*(memory.search("owl", 100) for _ in range(10)))
            ticking.cancel()
            assert {len(each) for each in found} == {30}
            assert ticks > 30

    asyncio.run(work())


def test_a_closed_memory_opens_again(tmp_path: Path) -> None:
    async def work() -> None:
        model = Concepts()
        async with memory_at(tmp_path, model) as memory:
            await memory.store("owl")
            await memory.aclose()
            assert model.closed
            assert await texts(memory, "owl") == ["owl"]

    asyncio.run(work())


def test_nothing_is_made_before_the_first_call(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path / "me"):
            pass
        assert not (tmp_path / "me").exists()

    asyncio.run(work())


# Meaning --------------------------------------------------------------------------------------------------------------


def test_an_entry_is_found_by_what_it_means(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path, Concepts()) as memory:
            for text in ("le hibou dort", "la voiture roule", "le pain cuit"):
                await memory.store(text)
            (first, *_) = await memory.search("a bird")
            assert (first.entry.text, first.by) == ("le hibou dort", "meaning")
            (first, *_) = await memory.search("hibou")
            assert (first.entry.text, first.by) == ("le hibou dort", "both")

    asyncio.run(work())


def test_while_the_server_is_down_words_find_and_nothing_is_lost(tmp_path: Path) -> None:
    async def work() -> None:
        model, clock, told = Concepts(), Clock(), list[Notice]()
        async with memory_at(tmp_path, model, clock, told) as memory:
            model.problem = "network"
            await memory.store("le hibou dort")
            await memory.store("la voiture roule")
            assert await texts(memory, "hibou") == ["le hibou dort"]
            assert await texts(memory, "bird") == []
            assert len(model.asked) == 1, "a server that failed is left alone for a while"
            assert [notice.key for notice in told] == ["memory.words_only.silent"]
            model.problem = None
            clock.now += PAUSE
            assert (await texts(memory, "bird"))[0] == "le hibou dort"
            assert (await texts(memory, "wheel"))[0] == "la voiture roule"

    asyncio.run(work())


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("auth", "memory.words_only.refused"),
        ("not_configured", "memory.words_only.setting"),
        ("rejected", "memory.words_only.answer"),
        ("not_llm", "memory.words_only.answer"),
        ("timeout", "memory.words_only.silent"),
    ],
)
def test_it_is_said_once_why_there_is_no_meaning(tmp_path: Path, kind: FailureKind, key: str) -> None:
    async def work() -> None:
        model, clock, told = Concepts(), Clock(), list[Notice]()
        model.problem = kind
        async with memory_at(tmp_path, model, clock, told) as memory:
            for _ in range(3):
                await memory.store("owl")
                assert len(await memory.search("owl")) > 0
                clock.now += PAUSE
        assert told == [Notice("warn", key, {"host": "host", "model": "host/concepts", "status": 500})]

    asyncio.run(work())


def test_another_model_makes_new_vectors_little_by_little_and_none_are_mixed(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path, Concepts()) as memory:
            for number in range(40):
                await memory.store(f"hibou {number}")
        other = Concepts("host/other", extra=5)
        async with memory_at(tmp_path, other) as memory:
            first = await memory.search("bird", 100)
            assert 0 < len(first) < 40
            assert await memory.embed_all() == 40 - len(first)
            assert len(await memory.search("bird", 100)) == 40
            assert await memory.embed_all() == 0
        asked = [text for texts in other.asked for text in texts if text != "bird"]
        assert len(asked) == len(set(asked)) == 40

    asyncio.run(work())


def test_a_text_that_the_model_refuses_keeps_no_other_from_its_vectors(tmp_path: Path) -> None:
    async def work() -> None:
        model, told = Concepts(), list[Notice]()
        model.refused = "too much"
        async with memory_at(tmp_path, model, told=told) as memory:
            await memory.take_in([MemoryEntry("a", "hibou", 1.0), MemoryEntry("b", "too much hibou", 2.0)])
            assert await memory.embed_all() == 2
            assert await texts(memory, "bird") == ["hibou"]
            asked = len(model.asked)
            await memory.store("pain")
            assert len(model.asked) == asked + 1, "the refused one is not tried again"
        assert told == []

    asyncio.run(work())


def test_a_long_text_is_found_by_each_of_its_parts(tmp_path: Path) -> None:
    async def work() -> None:
        async with memory_at(tmp_path, Concepts()) as memory:
            await memory.store("pain\n" * 400 + "hibou\n" * 400)
            await memory.store("voiture")
            assert (await texts(memory, "bird"))[0].startswith("pain")

    asyncio.run(work())


@pytest.mark.parametrize(
    "answer", [[[1.0, 2.0]], [[1.0], [1.0, 2.0]], [[0.0, 0.0], [1.0, 1.0]], [[float("nan")] * 2] * 2]
)
def test_an_answer_that_is_no_vectors_is_none(tmp_path: Path, answer: list[list[float]]) -> None:
    class Odd(Concepts):
        async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            self.asked.append(list(texts))
            return answer

    async def work() -> None:
        told: list[Notice] = []
        async with memory_at(tmp_path, Odd(), told=told) as memory:
            await memory.take_in([MemoryEntry("a", "one", 1.0), MemoryEntry("b", "two", 2.0)])
            assert await memory.embed_all() == 0
            assert await texts(memory, "one") == ["one"]
        assert [notice.key for notice in told] == ["memory.words_only.answer"]

    asyncio.run(work())
