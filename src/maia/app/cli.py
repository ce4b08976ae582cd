"""The command line: which door or command was asked for, and what a person sees when it cannot be done."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from maia.core.errors import MaiaError, UsageProblem
from maia.core.ports import Say
from maia.i18n.catalogue import Catalogue, choose_language
from maia.terminal.options import TABLE, Options, parse


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A sub-command: how it is called, and what runs it. The module is imported only when it is called."""

    usage: str
    run: Callable[[Options, Catalogue], int]


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


SUBCOMMANDS: dict[str, Subcommand] = {
    "permissions": Subcommand("permissions check TOOL VALUE [--cwd DIR] [--settings FILE …] [--json]", _permissions),
    "sessions": Subcommand("sessions list | show NAME | export NAME [FILE]", _sessions),
    "models": Subcommand("models [--json]", _models),
    "doctor": Subcommand("doctor [--json]", _doctor),
    "tokens": Subcommand("tokens < FILE", _tokens),
}


def run(argv: Sequence[str]) -> int:
    """Run maia with these words. Every error ends as words for a person and an exit code, never as a traceback."""
    say = _words(argv)
    try:
        options = parse(argv)
        return _dispatch(options, _in_language(options.lang))
    except MaiaError as error:
        _tell(error, say)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader went away (`maia … | head`). Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:  # a defect of ours: words and a report, never a traceback on the screen
        _tell(_reported(error), say)
        return 1


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
    from maia.app.interactive import run_interactive

    return run_interactive(options, say)


def _subcommand(options: Options, say: Catalogue) -> int:
    name = options.command[0]
    command = SUBCOMMANDS.get(name)
    if command is None:
        raise UsageProblem("cli.unknown_command", given=name, known=", ".join(SUBCOMMANDS))
    return command.run(options, say)


def help_text(say: Say) -> str:
    """What `maia --help` prints: one row an option and a sub-command, from their tables."""
    rows = [(_spelled(row.spellings, row.value), say(f"cli.option.{row.field}")) for row in TABLE]
    commands = [(command.usage, say(f"cli.command.{name}")) for name, command in SUBCOMMANDS.items()]
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


def _reported(error: Exception) -> MaiaError:
    """The defect, written to a private file that can be sent to us; keys are never part of a traceback's text."""
    import tempfile
    import traceback

    try:
        handle, path = tempfile.mkstemp(prefix="maia-report-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        path = ""
    return MaiaError("cli.defect", problem=f"{type(error).__name__}: {error}", path=path)


def _tell(error: MaiaError, say: Catalogue) -> None:
    """What happened and, where the catalogue knows it, what to do; on standard error."""
    from maia.terminal.badges import error_lines
    from maia.terminal.headless import show, standard_streams, stream_look

    _, err = standard_streams()
    look = stream_look(os.environ, err)
    show(error_lines(error, look, say), look, err)
