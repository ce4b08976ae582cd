import asyncio
import ssl
from unittest.mock import AsyncMock

import httpcore2
import pytest
from httpcore2 import AsyncNetworkStream

from maia.llm.paced import MUCH, PacedStream


def line(problem: Exception | None = None) -> AsyncMock:
    """A connection whose other end answers, also where it reads no more."""
    made = AsyncMock(spec=AsyncNetworkStream)
    made.read.return_value, made.write.side_effect = b"413", problem
    return made


async def asked(stream: PacedStream, *pieces: bytes) -> bytes:
    for piece in pieces:
        await stream.write(piece)
    return await stream.read(100)


_LARGE = b"x" * (MUCH + 1)


@pytest.mark.parametrize(
    ("pieces", "left"),
    [
        ((b"head", b"body"), [b"headbody"]),
        ((b"head", _LARGE), [b"head", _LARGE]),
        ((b"head", _LARGE, b"end"), [b"head", _LARGE, b"end"]),
    ],
    ids=["small", "large", "large with an end"],
)
def test_a_request_leaves_whole_and_in_order(pieces: tuple[bytes, ...], left: list[bytes]) -> None:
    inner = line()
    assert asyncio.run(asked(PacedStream(inner), *pieces)) == b"413"
    assert [call.args[0] for call in inner.write.call_args_list] == left


def test_a_server_that_reads_no_more_may_have_said_why() -> None:
    assert asyncio.run(asked(PacedStream(line(httpcore2.WriteError())), b"head", b"body")) == b"413"


def test_nothing_is_held_back_over_the_beginning_of_tls() -> None:
    async def go() -> None:
        inner = line()
        stream = PacedStream(inner)
        await stream.write(b"CONNECT")
        await stream.start_tls(ssl.create_default_context())
        assert [name for name, _, _ in inner.mock_calls] == ["write", "start_tls"]

    asyncio.run(go())
