"""The web workspace from outside: start, memory, lists, long conversations, the cost of a stream (issue's figures).

CPU is that of the server process alone, read from /proc; reading pages and streams happens in this process.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from harness import Row, at_most, compiled
from sqlalchemy import Connection
from tests.web.serving import OWNER, Serving, Visitor, serving

from maia.core.events import Answered, StepStarted, TurnEnded, TurnStarted, UserSaid
from maia.core.types import AssistantMessage, Cost, TextPart
from maia.database import conversations, messages, users
from maia.database.address import database_url
from maia.database.database import Database
from maia.database.events import Stamped, append_events
from maia.workspace.passwords import hashed

_TICK = os.sysconf("SC_CLK_TCK")
CONVERSATIONS, LONG_TURNS, TOKENS = 10_000, 1_000, 1_000


def main() -> list[Row]:
    compiled()
    with tempfile.TemporaryDirectory(prefix="maia-bench-web-") as folder:
        data = Path(folder, "data")
        long = asyncio.run(_fill(data))
        long_answer = [step for n in range(TOKENS) for step in ({"text": _word(n)}, {"wait": 0.01})]
        script = [{"text": "Ready."}, long_answer]
        with serving(data, script=script) as server, Visitor(server.url) as visitor:
            started = _cpu(server)
            time.sleep(1)
            memory = _memory_mb(server)
            visitor.sign_in()
            signed = _memory_mb(server)
            listed = _per_request(server, lambda: visitor.ask("GET", "/api/v1/conversations?limit=200"), 50)
            opened = _per_request(server, lambda: visitor.ask("GET", f"/conversations/{long}"), 10)
            _stream(server, visitor)  # what the first answer loads is no cost of a token
            streamed = _stream(server, visitor)
    return [
        at_most("maia serve, start", started, "CPU s", 1.5, "Open WebUI: 27"),
        at_most("maia serve, idle memory", memory, "MB", 110, "Open WebUI: 791"),
        at_most("maia serve, memory after signing in", signed, "MB", None),
        at_most(f"list of 200 of {CONVERSATIONS:,} conversations", listed * 1000, "CPU ms", 3, "Open WebUI: 16"),
        at_most(f"page of a conversation of {2 * LONG_TURNS:,} messages", opened * 1000, "CPU ms", 150),
        at_most("1,000 streamed tokens, one page open", streamed * 1000, "CPU ms", 200, "Open WebUI: 1,198"),
    ]


def _word(n: int) -> str:
    """Paragraphs of sixty words, as people and models write."""
    return f"word{n}." + ("\n\n" if n % 60 == 59 else " ")


async def _fill(data: Path) -> str:
    database = Database(database_url(None, data))
    kept = await hashed(OWNER["password"])
    user = await database.write(lambda c: users.add_user(c, OWNER["email"], OWNER["name"], "owner", kept, None))

    def many(connection: Connection) -> str:
        made = [conversations.add_conversation(connection, user.id, f"n {n}", "en") for n in range(CONVERSATIONS)]
        for turn in range(1, LONG_TURNS + 1):
            messages.open_turn(connection, made[0], user.id, f"Question {turn}")
            append_events(connection, made[0], turn, [Stamped(turn, each) for each in _turn(turn)])
            ending = messages.Ending("An answer", "finished", "p", "m", 10, 3, None, "unknown", {"outcome": "finished"})
            messages.close_answer(connection, made[0], turn, ending)
        conversations.set_status(connection, made[0], "idle")
        return made[0]

    long = await database.write(many)
    database.close()
    return long


def _turn(turn: int) -> list[TurnStarted | UserSaid | StepStarted | Answered | TurnEnded]:
    text = f"Answer {turn} with **marks**.\n\n- one\n- two\n\n```python\nprint({turn})\n```\n"
    message = AssistantMessage((TextPart(text),), "m", "p")
    return [
        TurnStarted(turn, "m", "p"),
        UserSaid(f"Question {turn}"),
        StepStarted(1),
        Answered(message, "end", "stop", None, Cost()),
        TurnEnded("finished", "end", "stop", None, Cost(), "m", "p", 1, 0, 0),
    ]


def _stream(server: Serving, visitor: Visitor) -> float:
    """CPU seconds of the server for one answer, with a page that reads its HTML."""
    conversation = visitor.conversation()

    def read() -> None:
        with Visitor(server.url) as page:
            page.client.cookies.update(dict(visitor.client.cookies))
            path = f"/ui/stream?conversation={conversation}&cursor=0"
            with page.client.stream("GET", path) as answer:
                for line in answer.iter_lines():
                    if 'class="caption"' in line:
                        return

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.5)
    before = _cpu(server)
    visitor.say(conversation, "Go")
    reader.join(60)
    return _cpu(server) - before


def _per_request(server: Serving, ask: Callable[[], object], times: int) -> float:
    ask()
    before = _cpu(server)
    for _ in range(times):
        ask()
    return (_cpu(server) - before) / times


def _cpu(server: Serving) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _memory_mb(server: Serving) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6
