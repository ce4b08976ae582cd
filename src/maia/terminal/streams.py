"""The standard streams as the caller left them: closed, on a full disk, or with nobody who reads any more."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from maia.core.text import visible

_NAMES = ("stdin", "stdout", "stderr")


def hold_standard_streams() -> None:
    """Give every standard stream that was closed (`>&-`) the null device.

    Otherwise the next file that is opened, a session for one, takes its number, and what a command prints goes there.
    """
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            os.set_inheritable(null, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def literal(text: str, stream: TextIO) -> str:
    """What a model, a server or a file brought, as it may go to this stream: on a terminal it must not act.

    A file or a pipe gets it unchanged, whoever reads it there.
    """
    return visible(text) if stream.isatty() else text


def output_problem() -> OSError | None:
    """Why standard output does not take what was printed, None when it does; asked once, it is given up then."""
    try:
        sys.stdout.flush()
    except OSError as problem:
        give_up(1)
        return problem
    return None


def give_up(number: int) -> None:
    """Let a standard stream lead nowhere, so that Python does not complain once more when it flushes at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
