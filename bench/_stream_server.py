"""Streams the same answer to every request, one frame a write: `python _stream_server.py CHUNKS PAUSE`."""

from __future__ import annotations

import json
import socket
import sys
import time
from contextlib import suppress

TEXT = "x" * 20
USAGE = {"input_tokens": 9, "output_tokens": 9}


def chat(chunks: int) -> list[str]:
    delta = {"index": 0, "delta": {"content": TEXT}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    bodies = [json.dumps({**base, "choices": [choice]}) for choice in [delta] * chunks + [end]]
    return [f"data: {body}\n\n" for body in [*bodies, "[DONE]"]]


def messages(chunks: int) -> list[str]:
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": USAGE}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *[delta] * chunks,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def read_request(connection: socket.socket) -> bytes:
    """The whole request: unread bytes at close would reset the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head


def main(chunks: int, pause: float) -> None:
    streams = {b"/chat/completions": chat(chunks), b"/messages": messages(chunks)}
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        while True:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                asked = read_request(connection).partition(b"\r\n")[0]
                connection.sendall(head)
                for frame in next(frames for path, frames in streams.items() if path in asked):
                    connection.sendall(b"%x\r\n%s\r\n" % (len(frame), frame.encode()))
                    if pause:
                        time.sleep(pause)
                connection.sendall(b"0\r\n\r\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
