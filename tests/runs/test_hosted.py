import asyncio

from maia.core.events import TurnEnded
from maia.core.runs import RunInfo, RunWish
from maia.core.types import Usage
from tests.fakes import fake_llm
from tests.runs.hosted import Place, to_the_end, wait_for


def test_a_run_is_begun_followed_and_told_and_its_host_ends_by_itself(place: Place) -> None:
    async def work() -> None:
        async with place.front() as runs:
            began = await runs.start(RunWish("Say hello.", identity="me"))
            info, notes = await to_the_end(runs, began.run_id)
        assert (began.state, info.state, info.outcome) == ("queued", "ended", "finished")
        assert info == RunInfo(
            run_id=began.run_id,
            task="Say hello.",
            state="ended",
            started=info.started,
            ended=info.ended,
            runner="maia",
            model="fake-model",
            provider="litellm",
            folder=str(place.work),
            session=info.session,
            identity="me",
            outcome="finished",
            text="Hello from the fake model.",
            steps=1,
            usage=Usage(12, 3),
        )
        assert [note.seq for note in notes] == list(range(1, len(notes) + 1))
        assert isinstance(notes[-1].event, TurnEnded)
        assert (place.work / ".maia" / ".sessions" / f"{info.session}.jsonl").is_file()

    with fake_llm() as server:
        place.settings(server)
        asyncio.run(work())
        wait_for(lambda: not place.hosts())
    assert list(place.runs_folder.glob(".hosts/*")) == []
