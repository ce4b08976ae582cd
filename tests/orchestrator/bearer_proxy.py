"""Adds a bearer token to every request on its way to a server: for test programs that cannot send one.

python bearer_proxy.py SERVER_PORT TOKEN   prints the port on which it listens
"""

from __future__ import annotations

import asyncio
import contextlib
import sys


async def main(server_port: int, token: str) -> None:
    serving: set[asyncio.Task[None] | None] = set()  # the loop alone holds its tasks loosely

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request a connection, so that only its head need be understood."""
        serving.add(asyncio.current_task())
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
            kept = [row for row in head[1:-2] if not row.lower().startswith(b"connection:")]
            added = [f"Authorization: Bearer {token}".encode(), b"Connection: close"]
            there, back = await asyncio.open_connection("127.0.0.1", server_port)
            back.write(b"\r\n".join([head[0], *kept, *added, b"", b""]))
            onwards = asyncio.create_task(_pump(reader, back))
            await _pump(there, writer)
            onwards.cancel()
            back.close()
        writer.close()
        serving.discard(asyncio.current_task())

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
