import asyncio

import pytest

from maia.core.events import Notice
from maia.engine.context import Window
from maia.engine.setup import Bound
from maia.engine.window import WindowSearch
from tests.engine.doubles import FakeModels, FakeWire

pytestmark = pytest.mark.anyio

FOUND = Notice("info", "models.window", {})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Slow(FakeModels):
    """Models of which one never says how large its window is."""

    def __init__(self) -> None:
        super().__init__(FakeWire())
        self.ended: list[str] = []

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        try:
            if bound.model == "slow":
                await asyncio.sleep(60)
            return await super().window(bound)
        finally:
            self.ended.append(bound.model)


def searching(models: FakeModels) -> tuple[WindowSearch, list[Notice], asyncio.Queue[Window]]:
    told: list[Notice] = []
    windows: asyncio.Queue[Window] = asyncio.Queue()

    async def found() -> None:
        windows.put_nowait(search.window)

    search = WindowSearch(models, told.append, found)
    return search, told, windows


def bound(model: str) -> Bound:
    return Bound(model, "fake", FakeWire(), "command")


async def test_the_search_for_a_model_ends_when_another_one_answers() -> None:
    models = Slow()
    search, told, windows = searching(models)
    await search.follow(bound("slow"))
    await asyncio.sleep(0)
    await search.follow(bound("quick"))
    assert models.ended == ["slow"]
    assert await windows.get() == search.window == Window(200_000, "setting")
    assert told == [FOUND]
    await search.close()


async def test_until_the_window_of_a_new_model_is_found_nobody_knows_it() -> None:
    search, _, windows = searching(Slow())
    await search.follow(bound("quick"))
    await windows.get()
    await search.follow(bound("slow"))
    assert search.window == Window()
    await search.close()


async def test_a_search_is_given_up_once_and_tried_again_when_the_model_comes_back() -> None:
    models = Slow()
    search, told, _ = searching(models)
    search.give_up()
    await search.follow(bound("slow"))
    await asyncio.sleep(0)
    search.give_up()
    await asyncio.sleep(0)
    search.give_up()
    assert told == [Notice("warn", "turn.window_given_up", {"model": "slow"})]
    await search.follow(bound("slow"))
    await asyncio.sleep(0)
    await search.close()
    await search.close()
    assert models.ended == ["slow", "slow"]
    assert len(told) == 1
