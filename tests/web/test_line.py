"""The line of a terminal with a page and a program that are played by hand: what takes long or much elsewhere."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from maia.core.screens import Size
from maia.web.api import line
from maia.web.api.line import UNREAD, UNSEEN, Line, Said, said
from maia.workspace.people.stays import Stay
from maia.workspace.terminals import Terminal

SAID = [
    ("a ping", '{"type":"ping"}', Said("ping")),
    ("a size", '{"type":"resize","columns":9,"rows":1}', Said("resize", 9, 1)),
    ("output seen", '{"type":"seen","bytes":7}', Said("seen", bytes=7)),
    ("nothing", "", None),
    ("no JSON", "nonsense", None),
    ("a list", "[]", None),
    ("an unknown word", '{"type":"kill"}', None),
    ("a word for a number", '{"type":"resize","columns":"9","rows":1}', None),
    ("a truth for a number", '{"type":"seen","bytes":true}', None),
    ("less than nothing", '{"type":"seen","bytes":-1}', None),
    ("more than was sent", '{"type":"seen","bytes":99999999}', None),
    ("very deep", "[" * 100_000, None),
]


@pytest.mark.parametrize(("text", "told"), [each[1:] for each in SAID], ids=[each[0] for each in SAID])
def test_what_a_page_may_say(text: str, told: Said | None) -> None:
    assert said(text) == told


def stayed(user: Any, token: str) -> AbstractContextManager[Stay]:
    return nullcontext(Stay(user, token))


class Played:
    """A program whose `output` is told and that reads only what `reads` lets through, and a page that is `heard`."""

    def __init__(self, output: list[bytes], heard: list[dict[str, Any]], *, reads: bool = True) -> None:
        self.output = output
        self.heard = heard
        self.reads = reads
        self.typed = b""
        self.sizes: list[Size] = []
        self.sent: list[Any] = []
        self.allowed: Callable[[], bool] = lambda: True
        self.go_on = asyncio.Event()
        self.waits = False

    async def read(self) -> bytes:
        if not self.output:
            await asyncio.Event().wait()
        return self.output.pop(0)

    async def write(self, data: bytes) -> None:
        if not self.reads:
            await asyncio.Event().wait()
        self.typed += data

    def resize(self, size: Size) -> None:
        self.sizes.append(size)

    async def stop(self) -> int | None: ...

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        if self.waits:
            await self.go_on.wait()
        if not self.heard:
            await asyncio.Event().wait()
        return self.heard.pop(0)

    async def send_bytes(self, data: bytes) -> None:
        self.sent.append(data)

    async def send_json(self, data: Any) -> None:
        self.sent.append(data)

    async def is_allowed(self, _ticket: Any) -> bool:
        return self.allowed()

    def run(self) -> Coroutine[Any, Any, str]:
        accounts = SimpleNamespace(stay=stayed)
        workspace = SimpleNamespace(accounts=accounts, terminals=self)
        ticket: Any = SimpleNamespace(user=None, token="")
        desk: Any = SimpleNamespace(workspace=workspace)
        say: Any = str
        page: Any = self
        return Line(desk, say, page, ticket, Terminal(self)).run()


def played(*output: bytes, heard: list[dict[str, Any]] | None = None, **options: Any) -> Played:
    return Played([*output], heard or [], **options)


GONE = {"type": "websocket.disconnect", "code": 1001}


def test_the_right_is_looked_at_though_nothing_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "LOOK", 0.01)
    play, looks = played(), iter([True, True, False])
    play.allowed = lambda: next(looks)
    assert asyncio.run(play.run()) == "right"


@pytest.mark.parametrize(
    "message",
    [{"bytes": b"rm -r /"}, {"text": '{"type":"resize","columns":9,"rows":1}'}, {"text": '{"type":"ping"}'}],
    ids=["a key", "a size", "a ping"],
)
def test_nothing_arrives_once_the_right_is_lost(message: dict[str, Any]) -> None:
    play = played(heard=[{"type": "websocket.receive", "bytes": b"ok"}, {"type": "websocket.receive", **message}])
    looks = iter([True, True, False])  # the line itself, the first message, the second
    play.allowed = lambda: next(looks)
    assert asyncio.run(play.run()) == "right"
    assert (play.typed, play.sizes) == (b"ok", [])


def test_no_more_output_is_read_than_the_page_has_room_for() -> None:
    piece = b"x" * (UNSEEN // 4)

    async def go() -> tuple[int, int]:
        seen = {"type": "websocket.receive", "text": f'{{"type":"seen","bytes":{len(piece) * 2}}}'}
        play = played(
            *[piece] * 10, heard=[seen, *[{"type": "websocket.receive", "text": '{"type":"ping"}'}] * 50, GONE]
        )
        play.waits = True
        running = asyncio.ensure_future(play.run())
        for _ in range(100):
            await asyncio.sleep(0)
        before = len(play.sent)
        play.go_on.set()
        assert await running == "gone"
        return before, len(play.sent)

    assert asyncio.run(go()) == (4, 6)


def test_what_is_beyond_a_bound_is_not_typed_and_told() -> None:
    half = b"y" * (UNREAD // 2)
    heard = [{"type": "websocket.receive", "bytes": half} for _ in range(5)]
    play = played(heard=[*heard, GONE], reads=False)
    assert asyncio.run(play.run()) == "gone"
    assert {"type": "dropped", "message": "opencode.dropped"} in play.sent


def test_the_end_of_the_program_ends_the_line() -> None:
    play = played(b"last words", b"")
    assert asyncio.run(play.run()) == "ended"
    assert play.sent == [b"last words"]
