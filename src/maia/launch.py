"""The folders of one run: where maia was started, the user's home, and where sessions are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from maia.core.errors import SessionProblem, UsageProblem
from maia.core.events import Notice

NO_HOME = Path("/nonexistent")
"""Stands for the home of a user who has none, as in Debian's user database."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Fixed once at start. `launch` is resolved (T1.01); `sessions` exists and can be written once `prepare` made it.

    `notices` are for the start log.
    """

    launch: Path
    home: Path
    sessions: Path
    notices: tuple[Notice, ...] = ()

    @property
    def config(self) -> Path:
        """`~/.maia`, the only place of the home folder that is read (T1.02)."""
        return self.home / ".maia"

    @property
    def project(self) -> Path:
        """`./.maia` of the launch folder."""
        return self.launch / ".maia"

    def shown(self, path: Path) -> str:
        """A path as people read it: `./…` in the launch folder, `~/…` in the home folder."""
        if path.is_relative_to(self.launch):
            return f"./{path.relative_to(self.launch)}" if path != self.launch else "./"
        if path.is_relative_to(self.home):
            return f"~/{path.relative_to(self.home)}" if path != self.home else "~/"
        return str(path)


def find_folders(env: Mapping[str, str], current: Callable[[], str] = os.getcwd) -> Folders:
    """Where this run happens: `MAIA_CWD`, else `INIT_CWD`, else the current folder (T1.01). Creates nothing.

    Raises `UsageProblem` when the folder named by `MAIA_CWD` or the current folder is not there or cannot be read.
    """
    notices: list[Notice] = []
    launch = _launch(env, current, notices)
    if not os.access(launch, os.R_OK | os.X_OK):
        raise UsageProblem("launch.unreadable", path=str(launch))
    home = _home(env)
    if home is None:
        notices.append(Notice("warn", "launch.no_home"))
        home = NO_HOME
    return Folders(launch, home, launch / ".maia" / ".sessions", tuple(notices))


def _launch(env: Mapping[str, str], current: Callable[[], str], notices: list[Notice]) -> Path:
    if named := env.get("MAIA_CWD"):
        folder = _existing(named)
        if folder is None:
            raise UsageProblem("launch.maia_cwd", path=named)
        return folder
    if named := env.get("INIT_CWD"):
        if folder := _existing(named):
            return folder
        notices.append(Notice("warn", "launch.init_cwd", {"path": named}))
    try:
        return Path(current()).resolve(strict=True)
    except (OSError, RuntimeError):
        raise UsageProblem("launch.cwd_gone") from None


def _existing(named: str) -> Path | None:
    try:
        folder = Path(named).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle; ValueError: a NUL byte
        return None
    return folder if folder.is_dir() else None


def _home(env: Mapping[str, str]) -> Path | None:
    """`HOME`, else the entry of the user database; None when neither names an absolute path (a container's user)."""
    named = env.get("HOME", "")
    if not os.path.isabs(named):
        import pwd  # not on every system, and rarely needed

        try:
            named = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            return None
    return Path(named).resolve() if os.path.isabs(named) else None


def prepare(folders: Folders, env: Mapping[str, str]) -> Folders:
    """Create `./.maia` and `./.maia/.sessions` where absent (T1.03).

    Where that cannot be written, sessions are kept in the user's state folder, else in the temporary folder, and a
    notice says so: nothing is lost. Raises `SessionProblem` when no folder at all can be written.
    """
    try:
        _make_sessions(folders.sessions)
        return folders
    except OSError as problem:
        why = os.strerror(problem.errno or 0)
    tried = folders.sessions
    for tried in _other_places(folders, env):
        try:
            _make_sessions(tried)
        except OSError:
            continue
        notice = Notice("warn", "launch.sessions_elsewhere", {"why": why, "folder": str(tried)})
        return Folders(folders.launch, folders.home, tried, (*folders.notices, notice))
    raise SessionProblem("launch.sessions_nowhere", why=why, folder=str(tried))


def _make_sessions(folder: Path) -> None:
    """The folder, only for its owner, and kept out of git. Raises `OSError` when files cannot be made in it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "")
    ignore = folder / ".gitignore"
    if not ignore.exists():
        try:
            ignore.write_text("*\n", "ascii")
        except OSError:
            with suppress(OSError):
                ignore.unlink()  # an empty one would keep nothing out of git at the next start
            raise


def _other_places(folders: Folders, env: Mapping[str, str]) -> Iterator[Path]:
    """A folder of its own for each launch folder, so that sessions of two projects never mix."""
    import tempfile
    from hashlib import sha256

    own = f"{folders.launch.name or 'root'}-{sha256(os.fsencode(folders.launch)).hexdigest()[:12]}"
    state = env.get("XDG_STATE_HOME", "")
    base = Path(state) if os.path.isabs(state) else folders.home / ".local" / "state"
    yield base / "maia" / "sessions" / own
    shared = Path(tempfile.gettempdir()) / f"maia-{os.getuid()}"
    try:
        shared.mkdir(mode=0o700, exist_ok=True)
        if shared.lstat().st_uid == os.getuid() and not shared.is_symlink():  # not one that somebody else put there
            yield shared / "sessions" / own
    except OSError:
        return
