"""The host process of runs (`python -m maia.app.runhost SOCKET LOCK FOLDER`), started by a front and ending by itself.

It forks at once, so that it is no child of the front any more: a client that ends its server ends the server's whole
family, and runs go on (C6.05).
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Read what the front wants from standard input, then host its runs. The exit code."""
    if os.fork():
        os._exit(0)
    listening, lock = map(int, sys.argv[1:3])
    for held in (listening, lock):  # until this process ends, and in no program that it starts
        os.set_inheritable(held, False)
    return _host(listening)


def _host(listening: int) -> int:
    import json
    import socket

    wishes = json.loads(sys.stdin.buffer.read())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    from maia.app.hosting import host_runs

    return host_runs(wishes, socket.socket(fileno=listening))


if __name__ == "__main__":
    sys.exit(main())
