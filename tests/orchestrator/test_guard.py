from __future__ import annotations

import asyncio
import contextlib
from collections.abc import MutableMapping
from typing import Any

import pytest

from maia.orchestrator.address import is_loopback
from maia.orchestrator.calls import Identity
from maia.orchestrator.guard import (
    IDENTITY,
    MAX_BODY_BYTES,
    MOST_BODY_BYTES,
    Guard,
    Receive,
    Scope,
    Send,
    is_expected_host,
)


@pytest.mark.parametrize(
    ("given", "listening", "expected"),
    [
        ("127.0.0.1:6242", "127.0.0.1", True),
        ("localhost", "127.0.0.1", True),
        ("LOCALHOST:1", "127.0.0.1", True),
        ("[::1]:6242", "::1", True),
        ("evil.example", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("localhost.evil.example:6242", "127.0.0.1", False),
        ("192.168.1.5:6242", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("192.168.1.5:6242", "0.0.0.0", True),
        ("[fe80::1]:6242", "::", True),
        ("evil.example", "0.0.0.0", False),
        ("box.example:6242", "box.example", True),
    ],
)
def test_a_host_is_this_machine_or_it_is_not_served(given: str, listening: str, expected: bool) -> None:
    assert is_expected_host(given, listening) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("box", False)],
)
def test_only_the_loopback_is_for_this_machine_alone(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def scope(**headers: str) -> Scope:
    known = {"host": "localhost", "authorization": "Bearer good", **headers}
    rows = [(name.replace("_", "-").encode(), value.encode()) for name, value in known.items()]
    return {"type": "http", "method": "POST", "path": "/mcp", "headers": rows}


def asked(guard: Guard, request: Scope) -> int:
    """The status that the guard gave, 0 where it let the request through."""
    status = 0

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    asyncio.run(guard(request, receive, send))
    return status


async def taken(_scope: Scope, receive: Receive, _send: Send) -> None:
    await receive()


def known(token: str) -> Identity | None:
    return Identity("client:a") if token == "good" else None


def test_what_is_let_through_carries_its_identity() -> None:
    request = scope()
    assert asked(Guard(taken, known, "127.0.0.1"), request) == 0
    assert request[IDENTITY] == Identity("client:a")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer bad"}, 401),
        ({"authorization": "good"}, 401),
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:5173"}, 0),
        ({"origin": "file://localhost"}, 403),
        ({"origin": "http://localhost:5173/page"}, 403),
        ({"content_length": str(MAX_BODY_BYTES)}, 0),
        ({"content_length": str(MAX_BODY_BYTES + 1)}, 413),
    ],
)
def test_what_is_not_let_through_has_its_own_status(headers: dict[str, str], status: int) -> None:
    assert asked(Guard(taken, known, "127.0.0.1"), scope(**headers)) == status


def test_bodies_that_are_being_read_in_are_bounded_together_and_leave_room_once_they_are() -> None:
    many = MOST_BODY_BYTES // MAX_BODY_BYTES
    statuses: list[int] = []

    async def work() -> None:
        release = asyncio.Event()

        async def slow(_scope: Scope, receive: Receive, _send: Send) -> None:
            await release.wait()
            await receive()

        guard = Guard(slow, known, "127.0.0.1")

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            if "status" in message:
                statuses.append(message["status"])

        big = str(MAX_BODY_BYTES)
        waiting = [asyncio.create_task(guard(scope(content_length=big), receive, send)) for _ in range(many)]
        await asyncio.sleep(0)
        await guard(scope(content_length=big), receive, send)
        assert statuses == [503]
        release.set()
        await asyncio.gather(*waiting)
        await guard(scope(content_length=big), receive, send)
        assert statuses == [503]

    asyncio.run(asyncio.wait_for(work(), 20))


def test_a_body_that_nobody_reads_leaves_its_room_too() -> None:
    statuses: list[int] = []

    async def gone(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ConnectionResetError

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("read")

    async def send(message: MutableMapping[str, Any]) -> None:
        if "status" in message:
            statuses.append(message["status"])

    async def work() -> None:
        guard = Guard(gone, known, "127.0.0.1")
        for _ in range(2 * MOST_BODY_BYTES // MAX_BODY_BYTES):
            with contextlib.suppress(ConnectionResetError):
                await guard(scope(content_length=str(MAX_BODY_BYTES)), receive, send)

    asyncio.run(work())
    assert statuses == []
