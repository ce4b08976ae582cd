"""`maia -p`: the request from the command line and standard input, one session without counting, one exit code."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import BinaryIO

from maia.app.build import Ground, build_conversation, lay_ground
from maia.core.errors import UsageProblem
from maia.core.submission import Attachment, Submission
from maia.core.text import cut_middle
from maia.i18n.catalogue import Catalogue
from maia.terminal.headless import Printer, run, show_aside, standard_streams, stream_look
from maia.terminal.loop import run_to_end
from maia.terminal.options import Options

MAX_STDIN_BYTES = 10_000_000
MAX_STDIN_CHARS = 150_000
"""Of what is joined, as for the files of one message (T4.02)."""
_PATIENCE = 1.0
"""Seconds that a pipe beside a prompt may stay silent before it counts as one that nobody writes to."""


def run_headless(options: Options, say: Catalogue) -> int:
    """One turn; the exit code of decisions §11. Raises `MaiaError` where it cannot even begin."""
    submission = read_submission(options, sys.stdin.buffer if sys.stdin is not None else None)
    ground = lay_ground(options, os.environ, say)
    return run_to_end(_run(ground, submission))


async def _run(ground: Ground, submission: Submission) -> int:
    out, err = standard_streams()
    talk = build_conversation(ground)
    look = stream_look(ground.env, err)
    agent = ground.acting.agent if ground.acting else None
    printer = Printer(
        ground.options.output_format,
        ground.say,
        out,
        lambda rows: show_aside(rows, look, err),
        look,
        lambda: talk.name,
        {"agent": agent.name, "nickname": agent.nickname} if agent else None,
    )
    return await run(talk, submission, printer)


def read_submission(options: Options, stdin: BinaryIO | None) -> Submission:
    """The request: `-p PROMPT`, standard input, or the prompt with standard input joined as data.

    Standard input is joined when `-` asks for it, or when it is a file or a pipe that somebody writes to. Raises
    `UsageProblem` when there is nothing to ask, and for what is too big or no text. A request is sent whole: whether it
    fits is for the model's server to say. Of what is joined the middle is cut, and the model is told.
    """
    prompt = options.prompt or ""
    if not prompt.strip():
        text = _text(stdin) if stdin is not None and not stdin.isatty() else ""
        if not text.strip():
            raise UsageProblem("cli.empty_prompt")
        return Submission(text.strip("\n"))
    joined = _text(stdin) if stdin is not None and (options.stdin or _is_fed(stdin)) else ""
    if not joined.strip():
        return Submission(prompt)
    cut = cut_middle(joined, MAX_STDIN_CHARS)
    return Submission(prompt, (Attachment("file", "standard input", cut.text, cut.cut_chars),))


def _is_fed(stdin: BinaryIO) -> bool:
    try:
        mode = os.fstat(stdin.fileno()).st_mode
        if stat.S_ISREG(mode):
            return True
        return stat.S_ISFIFO(mode) and bool(select.select([stdin], [], [], _PATIENCE)[0])
    except (OSError, ValueError):
        return False


def _text(stdin: BinaryIO) -> str:
    """All of it, never silently a part."""
    data = stdin.read(MAX_STDIN_BYTES + 1)
    if len(data) > MAX_STDIN_BYTES:
        raise UsageProblem("cli.stdin_big", megabytes=MAX_STDIN_BYTES // 1_000_000)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageProblem("cli.stdin_binary") from None
    if "\x00" in text:
        raise UsageProblem("cli.stdin_binary")
    return text
