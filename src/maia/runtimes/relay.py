"""Joins a program's pipes to the socket of its bridge: what a program starts as its server of tools.

Run by its path with the bare interpreter, inside the program's wall, so it knows the standard library alone. The word
that opens the bridge comes by the environment, never as an argument, and is never said: another program may have put
a socket of its own in this place, and who listens has to show that it knows the word, too.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import sys
import threading


def proof(word: str, about: str) -> str:
    """What only who knows the word can say about something."""
    return hmac.new(word.encode(), about.encode(), hashlib.sha256).hexdigest()


def main() -> int:
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    if not _is_met(line, os.environ.get("MAIA_BRIDGE", "")):
        return 1
    threading.Thread(target=_outward, args=(line,), daemon=True).start()
    try:
        while data := line.recv(65536):
            _write(data)
    except OSError:
        return 1
    return 0


def _is_met(line: socket.socket, word: str) -> bool:
    """Greet each other, each by a proof that it knows the word."""
    mine = proof(word, os.urandom(16).hex())
    greeting = f"{mine} {proof(word, mine)}"
    line.sendall(greeting.encode() + b"\n")
    wanted = proof(word, greeting).encode()
    said = b""
    while len(said) < len(wanted) and (more := line.recv(len(wanted) - len(said))):
        said += more
    return bool(word) and hmac.compare_digest(said, wanted)


def _outward(line: socket.socket) -> None:
    """From the program to the bridge; the end of the one is told to the other."""
    try:
        while data := os.read(0, 65536):
            line.sendall(data)
        line.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError:
        sys.exit(1)
