"""What the benches of the web workspace share: a server, a model in another process, a full database, figures of /proc.

CPU is that of the server process alone; the model, the pages and the readers are other processes or this one.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from harness import ROOT, compiled
from sqlalchemy import Connection
from tests.web.serving import OWNER, Serving, Visitor, serving

from maia.core.costs import Cost
from maia.core.events import (
    Answered,
    Event,
    StepStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.database import conversations, messages, users
from maia.database.address import database_url
from maia.database.database import Database
from maia.database.events import Stamped, append_events
from maia.workspace.people.passwords import hashed

_TICK = os.sysconf("SC_CLK_TCK")
CONVERSATIONS, LONG_TURNS = 10_000, 1_000
MODEL = "openai/m"


@dataclass(frozen=True)
class Model:
    """The model process."""

    url: str

    def sent(self) -> int:
        """Words of its newest answer that it has sent."""
        return int(httpx2.get(f"{self.url}/sent").json())


@contextmanager
def model() -> Generator[Model]:
    """Start the model process."""
    argv = [sys.executable, str(ROOT / "bench" / "_model_server.py")]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Model(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@contextmanager
def served(data: Path, answering: Model, *options: str) -> Generator[Serving]:
    """`maia serve` over a data folder, with that model."""
    compiled()
    url = f"{answering.url}/v1"
    with serving(data, *options, started_with=MODEL, OPENAI_BASE_URL=url, OPENAI_API_KEY="FAKE-key") as server:
        yield server


@dataclass(frozen=True)
class Rig:
    """A server with a signed-in owner. `long` is the conversation of many messages, where there is one."""

    model: Model
    data: Path
    server: Serving
    owner: Visitor
    long: str

    def cpu(self) -> float:
        """CPU seconds of the server so far."""
        fields = Path(f"/proc/{self.server.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def memory_mb(self) -> float:
        """Resident memory of the server."""
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6

    def per_request(self, ask: Callable[[], object], times: int) -> float:
        """CPU seconds of the server for one request, after one that fills caches."""
        ask()
        before = self.cpu()
        for _ in range(times):
            ask()
        return (self.cpu() - before) / times


@contextmanager
def rig(*, full: bool = False) -> Generator[Rig]:
    """Everything, in a folder that goes away again. `full`: with many conversations and a long one, the newest."""
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maia-bench-web-")), "data")
        answering = stack.enter_context(model())
        long = asyncio.run(_fill(data)) if full else ""
        server = stack.enter_context(served(data, answering))
        visitor = stack.enter_context(Visitor(server.url))
        if server.token:
            visitor.become_owner(server.token)
        yield Rig(answering, data, server, visitor, long)


async def _fill(data: Path) -> str:
    database = Database(database_url(None, data))
    kept = await hashed(OWNER["password"])
    user = await database.write(lambda c: users.add_user(c, OWNER["email"], OWNER["name"], "owner", kept, None))

    def many(connection: Connection) -> str:
        made = [conversations.add_conversation(connection, user.id, f"n {n}", "en") for n in range(CONVERSATIONS)]
        for turn in range(1, LONG_TURNS + 1):
            messages.open_turn(connection, made[-1], user.id, f"Question {turn}")
            append_events(connection, made[-1], turn, [Stamped(turn, each) for each in _turn(turn)])
            ending = messages.Ending("An answer", "finished", "p", "m", 10, 3, None, "unknown", {"outcome": "finished"})
            messages.close_answer(connection, made[-1], turn, ending)
        conversations.set_status(connection, made[-1], "idle")
        return made[-1]

    long = await database.write(many)
    database.close()
    return long


def _turn(turn: int) -> Sequence[Event]:
    """A question, a look at a file, and an answer with what answers have."""
    call = ToolCallPart(f"c{turn}", "Read", {"path": f"src/module_{turn}.py"})
    looked = AssistantMessage((TextPart(f"I look at module {turn}."), call), "m", "p")
    text = f"Answer {turn} with **marks**.\n\n- one\n- two\n\n```python\nprint({turn})\n```\n"
    return [
        TurnStarted(turn, "m", "p"),
        UserSaid(f"Question {turn}"),
        StepStarted(1),
        Answered(looked, "tool_calls", "tool_calls", None, Cost()),
        ToolCallStarted(call.call_id, "Read", call.arguments),
        ToolCallFinished(call.call_id, "Read", "succeeded", "1\tprint()\n" * 20, "20 lines"),
        StepStarted(2),
        Answered(AssistantMessage((TextPart(text),), "m", "p"), "end", "stop", None, Cost()),
        TurnEnded("finished", "end", "stop", None, Cost(), "m", "p", 2, 1, 0),
    ]
