"""The command line: which door or command was asked for, and what a person sees when it cannot be done."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TextIO

from maia.app.defects import reported
from maia.app.usage import USAGE
from maia.core.errors import MaiaError, UsageProblem
from maia.i18n.catalogue import Catalogue, choose_language
from maia.terminal.options import TABLE, Options, parse
from maia.terminal.streams import give_up, hold_standard_streams, output_problem

if TYPE_CHECKING:
    from maia.core.ports import Say


def _serve(options: Options, say: Catalogue) -> int:
    from maia.app.serve import serve

    return serve(options, say)


def _permissions(options: Options, say: Catalogue) -> int:
    from maia.app.machine import permissions

    return permissions(options, say)


def _tokens(options: Options, say: Catalogue) -> int:
    from maia.app.machine import tokens

    return tokens(options, say)


def _models(options: Options, say: Catalogue) -> int:
    from maia.app.machine import models

    return models(options, say)


def _doctor(options: Options, say: Catalogue) -> int:
    from maia.app.checkup import doctor

    return doctor(options, say)


def _sessions(options: Options, say: Catalogue) -> int:
    from maia.app.machine import sessions

    return sessions(options, say)


def _keys(options: Options, say: Catalogue) -> int:
    from maia.app.keys import keys

    return keys(options, say)


def _runs(options: Options, say: Catalogue) -> int:
    from maia.app.run_commands import runs

    return runs(options, say)


def _agents(options: Options, say: Catalogue) -> int:
    from maia.app.agents_command import agents

    return agents(options, say)


def _mcp(options: Options, say: Catalogue) -> int:
    from maia.app.orchestrator import mcp

    return mcp(options, say)


def _memory(options: Options, say: Catalogue) -> int:
    from maia.app.memory_commands import memory

    return memory(options, say)


_RUN: Mapping[str, Callable[[Options, Catalogue], int]] = {
    "serve": _serve,
    "permissions": _permissions,
    "sessions": _sessions,
    "models": _models,
    "doctor": _doctor,
    "keys": _keys,
    "agents": _agents,
    "runs": _runs,
    "mcp": _mcp,
    "memory": _memory,
    "tokens": _tokens,
}
"""What runs a sub-command. Each one's module is imported only when it is called."""


def run(argv: Sequence[str]) -> int:
    """Run maia with these words. Every error ends as words for a person and an exit code, never as a traceback."""
    hold_standard_streams()
    _hear_of_children()
    say = _words(argv)
    problem: MaiaError | None = None
    try:
        options = parse(argv)
        code = _dispatch(options, _in_language(options.lang))
    except MaiaError as error:
        problem, code = error, error.exit_code
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader went away (`maia … | head`)
        give_up(1)
        return 141
    except Exception as error:
        problem, code = _refused(error) or reported(error), 1
    lost = output_problem()
    if isinstance(lost, BrokenPipeError):
        return 141
    if lost is not None:
        problem, code = _refused(lost) or reported(lost), 1
    if problem is not None:
        _tell(problem, say)
    return code


def _hear_of_children() -> None:
    """Where the caller ignored that children end (`trap '' CHLD`), the kernel would keep no exit code for us."""
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


_SYSTEM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def _refused(error: Exception) -> MaiaError | None:
    """A disk that is full or broken, and limits of the system, are no defects of ours: words, and no report."""
    if isinstance(error, OSError) and error.errno in _SYSTEM:
        place = f"{error.filename}: " if error.filename else ""
        return MaiaError("cli.system", problem=f"{place}{error.strerror}")
    return None


def _dispatch(options: Options, say: Catalogue) -> int:
    if options.version:
        from maia import __version__

        print(f"maia {__version__}")
        return 0
    if options.help:
        print(help_text(say))
        return 0
    if options.command:
        return _subcommand(options, say)
    if options.prompt is not None:
        from maia.app.headless import run_headless

        return run_headless(options, say)
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)):
        return _without_terminal(options, say)
    from maia.app.interactive import run_interactive

    return run_interactive(options, say)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _without_terminal(options: Options, say: Catalogue) -> int:
    """Nobody can type: a request on standard input is answered as with `-p`; where there is none, the error says so."""
    from maia.app.headless import run_headless

    if sys.stdin is None or _is_terminal(sys.stdin):
        raise UsageProblem("cli.no_terminal")
    try:
        return run_headless(replace(options, prompt=""), say)
    except UsageProblem as problem:
        if problem.key == "cli.empty_prompt":
            raise UsageProblem("cli.no_terminal") from None
        raise


def _subcommand(options: Options, say: Catalogue) -> int:
    name = options.command[0]
    run_it = _RUN.get(name)
    if run_it is None:
        raise UsageProblem("cli.unknown_command", given=name, known=", ".join(USAGE))
    return run_it(options, say)


def help_text(say: Say) -> str:
    """What `maia --help` prints: one row an option and a sub-command, from their tables."""
    rows = [(_spelled(row.spellings, row.value), say(f"cli.option.{row.field}")) for row in TABLE]
    commands = [(usage, say(f"cli.command.{name}")) for name, usage in USAGE.items()]
    width = max(len(left) for left, _ in rows)
    lines = [say("cli.usage"), "", *(f"  {left:<{width}}  {right}" for left, right in rows), "", say("cli.commands")]
    for usage, right in commands:
        lines += [f"  maia {usage}", f"  {'':<{4}}{right}"]
    return "\n".join(lines)


def _spelled(spellings: tuple[str, ...], value: str) -> str:
    return ", ".join(spellings) + (f" {value}" if value else "")


def _words(argv: Sequence[str]) -> Catalogue:
    """The language for errors in the command line itself, found before it is read."""
    words = list(argv)
    given = next((after for word, after in pairwise(words) if word == "--lang"), None)
    given = given or next((word[7:] for word in words if word.startswith("--lang=")), None)
    try:
        return _in_language(given)
    except UsageProblem:
        return _in_language(None)


def _in_language(option: str | None) -> Catalogue:
    return Catalogue(choose_language(option, os.environ))


def _tell(error: MaiaError, say: Catalogue) -> None:
    """What happened and, where the catalogue knows it, what to do; on standard error."""
    from maia.terminal.badges import error_lines
    from maia.terminal.headless import show_aside, standard_streams, stream_look

    _, err = standard_streams()
    look = stream_look(os.environ, err)
    show_aside(error_lines(error, look, say), look, err)
