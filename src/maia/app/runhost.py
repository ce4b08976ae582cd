"""The host process of runs (`python -m maia.app.runhost SOCKET LOCK FOLDER`), started by a front and ending by itself.

It forks at once, so that it is no child of the front any more: a client that ends its server ends the server's whole
family, and runs go on (C6.05).
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Host runs until nobody needs them. The exit code."""
    if os.fork():
        os._exit(0)
    listening, lock = map(int, sys.argv[1:3])
    for held in (listening, lock):  # until this process ends, and in no program that it starts
        os.set_inheritable(held, False)
    from maia.app.hosting import host_runs

    return host_runs(sys.argv[3], listening)


if __name__ == "__main__":
    sys.exit(main())
