"""What it costs that runs live in a host: ten at once against one, and CPU over the same turn in this process (C6.05).

CPU of a hosted run is that of the host and of the front together, from `start` until the end was followed; "the agent's
own" is the same turn as a conversation in this process. The model's server is another process and does not count.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import aclosing, contextmanager
from pathlib import Path

from harness import Row, at_most, compiled
from tests.fakes import fake_llm

from maia.app.build import Ground, build_conversation, lay_ground
from maia.app.runs import open_runs
from maia.core.runs import RunWish
from maia.core.submission import Submission
from maia.i18n.catalogue import Catalogue
from maia.runs.client import HostedRuns
from maia.terminal.options import Options

AT_ONCE = 10
IN_A_ROW = 40
DELAY = 2.0
_TICK = os.sysconf("SC_CLK_TCK")


@contextmanager
def ground(url: str) -> Generator[Ground]:
    with tempfile.TemporaryDirectory(prefix="maia-bench-runs-") as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        (home / ".maia").mkdir(parents=True)
        work.mkdir()
        (home / ".maia" / "settings.json").write_text(json.dumps({"LiteLLM_URL": url}))
        os.environ["HOME"] = str(home)
        yield lay_ground(Options(model="fake-model", prompt=""), {**os.environ, "MAIA_CWD": str(work)}, Catalogue("en"))


async def hosted(runs: HostedRuns) -> None:
    began = await runs.start(RunWish("Say hello."))
    async for _ in runs.follow(began.run_id):
        pass
    assert (await runs.info(began.run_id)).outcome == "finished"


async def own(ground: Ground) -> None:
    """The same as in `maia -p`: the ground is laid, a session opened, one turn, closed."""
    talk = build_conversation(lay_ground(ground.options, ground.env, ground.say))
    async for _ in talk.open():
        pass
    async for _ in talk.turn(Submission("Say hello.")):
        pass
    await talk.close()


def host_cpu() -> float:
    """CPU seconds of the host processes that this one's runs have, started and not ended."""
    total = 0.0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "cmdline").read_bytes()
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if b"maia.app.runhost" in words and os.environ["HOME"].encode() in words:
            total += (int(fields[11]) + int(fields[12])) / _TICK
    return total


async def together(ground: Ground) -> Row:
    async with aclosing(open_runs(ground)) as runs:
        await hosted(runs)
        start = time.perf_counter()
        await hosted(runs)
        one = time.perf_counter() - start
        start = time.perf_counter()
        await asyncio.gather(*(hosted(runs) for _ in range(AT_ONCE)))
        many = time.perf_counter() - start
    note = f"{many:.2f} s against {one:.2f} s, model {DELAY:g} s a turn"
    return at_most(f"{AT_ONCE} runs at once / one run", many / one, "×", 1.3, note)


async def added(ground: Ground) -> list[Row]:
    for _ in range(3):
        await own(ground)
    start = time.process_time()
    for _ in range(IN_A_ROW):
        await own(ground)
    alone = (time.process_time() - start) / IN_A_ROW * 1000
    async with aclosing(open_runs(ground)) as runs:
        for _ in range(3):
            await hosted(runs)
        front, host = time.process_time(), host_cpu()
        for _ in range(IN_A_ROW):
            await hosted(runs)
        front = (time.process_time() - front) / IN_A_ROW * 1000
        host = (host_cpu() - host) / IN_A_ROW * 1000
    note = f"host {host:.1f} + front {front:.1f}, the agent's own turn {alone:.1f}"
    return [at_most("CPU that a run adds to its turn", host + front - alone, "ms", 15, note)]


def main() -> list[Row]:
    compiled()
    with fake_llm("slow", delay=DELAY) as server, ground(server.url) as place:
        rows = [asyncio.run(together(place))]
    with fake_llm() as server, ground(server.url) as place:
        rows += asyncio.run(added(place))
    return rows
