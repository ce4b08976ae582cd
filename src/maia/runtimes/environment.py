"""What a program's process gets of the environment: a short list, its own home, and only its own key (C4.06)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from maia.core.runtime import ProgramStart
from maia.core.secret import Secret
from maia.runtimes.programs import Program

_PASSED: Final = frozenset(
    {
        "PATH",
        "LANG",
        "LANGUAGE",
        "TZ",
        "USER",
        "LOGNAME",
        "SHELL",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    }
)
"""What a program needs to run and to reach its server, and nothing that another program could be reached with."""

_QUIET: Final = {"TERM": "dumb", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PAGER": "cat"}


_ON_A_TERMINAL: Final = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
_NO_LETTERS: Final = ("", "C", "POSIX")
"""Locales in which a program shows no letter beyond ASCII."""


def start_of(
    program: Program, path: Path, arguments: tuple[str, ...], *, folder: Path, home: Path, env: Mapping[str, str]
) -> ProgramStart:
    """How the program is started with these arguments. Makes its home, only for its owner.

    Raises OSError when the home cannot be made.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = home / "tmp"
    temporary.mkdir(mode=0o700, exist_ok=True)
    own = {name: value.replace("{home}", str(home)) for name, value in program.home_vars.items()}
    for place in own.values():
        Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
    quiet = {name: value.replace("{home}", str(home)) for name, value in program.set_vars.items()}
    for name, text in program.files.items():
        (home / name).write_text(text, "utf-8")
    keys = {name: env[name] for name in program.key_vars if env.get(name)}
    passed = {name: value for name, value in env.items() if name in _PASSED or name.startswith("LC_")}
    more = {name: env[name] for name in program.pass_vars if env.get(name)}
    return ProgramStart(
        argv=(str(path), *arguments),
        folder=folder,
        home=home,
        env={
            **passed,
            **_QUIET,
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "PWD": str(folder),
            **quiet,
            **own,
            **more,
            **keys,
        },
        secrets={name: Secret(value) for name, value in keys.items()},
    )


def screen_start(program: Program, path: Path, *, folder: Path, home: Path, env: Mapping[str, str]) -> ProgramStart:
    """How the program is started on a terminal, where a person signs in by themselves: it gets no key that maia has.

    Makes its home as `start_of` does, and raises as it does.
    """
    ours = {*program.key_vars, *program.pass_vars}
    start = start_of(program, path, (), folder=folder, home=home, env={n: v for n, v in env.items() if n not in ours})
    kept = {name: value for name, value in start.env.items() if name not in _QUIET}
    letters = {"LANG": "C.UTF-8"} if kept.get("LANG", "") in _NO_LETTERS else {}
    return replace(start, env={**kept, **letters, **_ON_A_TERMINAL})
