"""The program: answers `--version` with no import of its own, then loads the one door asked for."""

from __future__ import annotations

import sys
from contextlib import suppress


def main() -> int:
    """Entry point of `maia` and `python -m maia`; returns the exit code (decisions §11)."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from maia import __version__

        with suppress(OSError):  # a full disk is told below
            print(f"maia {__version__}", flush=True)
            return 0
    from maia.app.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
