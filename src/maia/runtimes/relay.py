"""Joins a program's pipes to the socket of its bridge: what a program starts as its server of tools.

Run by its path with the bare interpreter, inside the program's wall, so it knows the standard library alone. The word
that opens the bridge comes by the environment, never as an argument.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def main() -> int:
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    line.sendall(os.environ.get("MAIA_BRIDGE", "").encode() + b"\n")
    threading.Thread(target=_outward, args=(line,), daemon=True).start()
    try:
        while data := line.recv(65536):
            _write(data)
    except OSError:
        return 1
    return 0


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
