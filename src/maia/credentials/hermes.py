"""Writes an agent's `.env` and `auth.json` for Hermes: planned first, shown masked, then both or none (C4)."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from maia.core.fileread import read_regular
from maia.credentials.all_or_none import Locked, locked, make_private, recover, replace_all
from maia.credentials.hermes_files import (
    agent_values,
    auth_text,
    env_text,
    masked_auth,
    masked_env,
    person_values,
    unfit_value,
)
from maia.credentials.problems import Problem, fail, warn
from maia.credentials.vote import Resolution

ENV_FILE: Final = ".env"
AUTH_FILE: Final = "auth.json"
_LOCKS: Final = (".maia.lock", "auth.lock")
"""Ours, then the one under which Hermes reads and writes `auth.json`."""

_ALLOWED: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "LOCALAPPDATA", "APPDATA"),
    }
)
"""What a child process gets of our environment: nothing that holds a key (C4.06)."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; `before` is None where there is none yet."""

    path: Path
    before: str | None = field(repr=False)
    after: str = field(repr=False)

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def shown(self) -> list[str]:
        """The lines that go and come, keys masked, with `-` and `+` in front."""
        masked: Callable[[str], list[str]] = masked_env if self.path.name == ENV_FILE else masked_auth
        old, new = masked(self.before or ""), masked(self.after)
        return [line for line in difflib.unified_diff(old, new, n=0, lineterm="") if line[:3] not in ("---", "+++")]


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written. With a `fail` among the problems, nothing is."""

    home: Path
    changes: tuple[Change, ...] = ()
    keep_old_auth: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def error(self) -> Problem | None:
        return next((problem for problem in self.problems if problem.level == "fail"), None)

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(change.path for change in self.changes)


def agent_files(home: Path) -> tuple[Path, Path]:
    """The two files that are written for an agent."""
    return home / ENV_FILE, home / AUTH_FILE


def read_person_values(home: Path) -> dict[str, str]:
    """What a person wrote into the agent's `.env`; nothing where there is no readable one."""
    try:
        return person_values(_read(home / ENV_FILE) or "")
    except OSError:
        return {}


def plan(found: Resolution, home: Path, model: str = "") -> Plan:
    """What writing would change. Reads only; a refused key changes nothing (C2.04)."""
    if found.error or found.key is None:
        return Plan(home, problems=(found.error or fail("NO_LLM_TOKEN"),))
    values = agent_values(found, model)
    if problem := unfit_value(values) or _unsafe(home):
        return Plan(home, problems=(problem,))
    env_path, auth_path = agent_files(home)
    try:
        env_before, auth_before = _read(env_path), _read(auth_path)
    except OSError as error:
        return Plan(home, problems=(_failed(error, home),))
    auth = auth_text(auth_before, found)
    if auth.problems and not auth.text:
        return Plan(home, problems=auth.problems)
    changes = (
        Change(env_path, env_before, env_text(env_before or "", values)),
        Change(auth_path, auth_before, auth.text),
    )
    return Plan(home, changes, auth.keep_old, auth.problems)


def write(found: Resolution, home: Path, model: str = "") -> Plan:
    """Write both files, under a lock, both or none. What is wrong is in the plan's problems; never raises `OSError`."""
    if (refused := plan(found, home, model)).error:
        return refused
    try:
        make_private(home)
        with locked(*(home / name for name in _LOCKS)):
            recover(home)
            planned = plan(found, home, model)
            return planned if planned.error else _written(planned)
    except OSError as error:
        return Plan(home, problems=(_failed(error, home),))


def finish(home: Path) -> None:
    """Finish a write that a crash interrupted, before anything is launched. Raises `OSError`."""
    if home.is_dir():
        with locked(*(home / name for name in _LOCKS)):
            recover(home)


def _written(planned: Plan) -> Plan:
    tightened = tuple(_tighten(change.path) for change in planned.changes if change.before is not None)
    if planned.keep_old_auth:
        _keep(planned.home / AUTH_FILE)
    files = {change.path.name: change.after.encode("utf-8", "surrogateescape") for change in planned.changes}
    if any(change.is_needed for change in planned.changes):
        replace_all(planned.home, files)
    exposed = tuple(warn("FILE_EXPOSED", file=path.name, tightened=True) for path in tightened if path)
    return Plan(planned.home, planned.changes, planned.keep_old_auth, (*planned.problems, *exposed))


def _tighten(path: Path) -> Path | None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & 0o077:
        return None
    path.chmod(0o600)
    return path


def _keep(path: Path) -> None:
    """Keep an unreadable file beside the new one; an earlier one is not overwritten."""
    data = path.read_bytes()
    for n in range(1000):
        name = path.with_name(f"{path.name}.corrupt" + (f".{n}" if n else ""))
        try:
            fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            if name.read_bytes() == data:
                return
            continue
        with open(fd, "wb") as file:
            file.write(data)
            os.fsync(fd)
        return


def _read(path: Path) -> str | None:
    """A file as text that can be written back byte by byte; None where there is none. Raises `OSError`."""
    try:
        return read_regular(path)[0].decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _unsafe(home: Path) -> Problem | None:
    """A link, or a file of somebody else, where a key is to be written."""
    for path in (home, *agent_files(home)):
        try:
            state = path.lstat()
        except OSError:
            continue
        if stat.S_ISLNK(state.st_mode):
            return fail("UNSAFE_LINK", path=str(path))
        if state.st_uid not in (0, os.geteuid()):
            return fail("FOREIGN_OWNER", file=str(path))
    return None


def _failed(error: OSError, home: Path) -> Problem:
    if isinstance(error, Locked):
        return fail("HOME_LOCKED", path=str(home))
    return fail("WRITE_FAILED", path=str(error.filename or home), why=os.strerror(error.errno or 0))


# Launching ------------------------------------------------------------------------------------------------------------


def child_environment(found: Resolution, home: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a Hermes process: allow-listed names, its home, and only the chosen key (C4.06)."""
    kept = {name: value for name, value in env.items() if name.upper() in _ALLOWED or name.startswith("LC_")}
    values = agent_values(found, "")
    own = {name: values[name] for name in (*found.key_vars, found.base_var) if name in values}
    return {**kept, **own, "HERMES_HOME": str(home), "HERMES_DISABLE_LAZY_INSTALLS": "1"}


def launch_options(found: Resolution, model: str = "") -> tuple[str, ...]:
    """`--provider` with the vote's winner, never the hint, and the model. Empty when the key is refused."""
    if found.error or found.hermes is None:
        return ()
    return ("--provider", found.hermes.provider, *(("--model", model) if model else ()))
