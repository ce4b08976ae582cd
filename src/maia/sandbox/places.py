"""Which folders a sandboxed command may write and which it may not even see: tables, and what git needs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from maia.core.fileread import read_bounded
from maia.core.namedpath import named_path

_POINTER_BYTES: Final = 65_536

SECRETS: Final = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".password-store",
    ".vault-token",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".pypirc",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/git/credentials",
    ".config/op",
    ".config/rclone",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".Xauthority",
    ".local/share/keyrings",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
)
"""Under HOME: keys, tokens and browser profiles. Hidden where they exist, unless the person names them as readable."""

OWN_SHOWN: Final = ("skills", "agents", "tools", "commands", "hooks")
"""What of `~/.maia` a command may read: programs of the person. The rest (settings with keys, vault) is hidden."""

DOORS_OUT: Final = (
    "/run/user",
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/dbus",
    "/run/systemd/private",
    "/run/libvirt",
    "/run/snapd.socket",
    "/tmp/.X11-unix",
)
"""Sockets through which a command could have something run outside: read-only does not stop a connection."""

DOORS_IN_TMP: Final = ("tmux-*", "screens", "dbus-*")
_AGENTS_IN_TMP: Final = "ssh-*"

CACHES: Final = (
    ".cache/pip",
    ".cache/uv",
    ".cache/go-build",
    ".cache/yarn",
    ".cache/node",
    ".cache/pypoetry",
    ".cache/ccache",
    ".cache/sccache",
    ".npm",
    ".yarn/berry/cache",
    ".local/share/pnpm/store",
    ".bun/install/cache",
    ".cargo/registry",
    ".cargo/git",
    "go/pkg/mod",
    ".gradle/caches",
    ".m2/repository",
    ".nuget/packages",
    ".composer/cache",
)
"""Under HOME: what package programs refuse to work without. Writable where they exist."""

START_FILES: Final = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".gitconfig",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".config/autostart",
    ".local/bin",
)
"""Under HOME: what other programs run by themselves. Read-only even where HOME is the launch folder."""

_OWN_PARTS: Final = (".maia", ".vscode", ".idea", ".claude")
_GIT_PARTS: Final = ("config", "config.worktree", "hooks")


def named_places(texts: Sequence[str], launch: Path) -> tuple[Path, ...]:
    """The places that a setting names; what names none is left out, as one that is not there."""
    return tuple(path for text in texts if isinstance(path := named_path(text, launch), Path))


def temporary_folders() -> tuple[Path, ...]:
    """Where programs expect to write; the person's own, so that file tools and commands see the same files there."""
    return tuple(dict.fromkeys((Path("/tmp"), Path("/var/tmp"), Path(os.environ.get("TMPDIR") or "/tmp"))))


def ssh_agent() -> Path | None:
    """The socket of the person's ssh agent, which signs for whoever reaches it."""
    named = os.environ.get("SSH_AUTH_SOCK")
    return Path(named) if named else None


@dataclass(frozen=True, slots=True)
class Places:
    """What the person's launch and settings say. `readable` are hidden places shown after all, `hidden` further ones.

    With `~/.ssh` among them the agent's socket is shown too.
    """

    launch: Path
    home: Path
    folders: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    network: bool = True
    hidden: tuple[Path, ...] = ()
    temporary: tuple[Path, ...] = field(default_factory=temporary_folders)
    agent: Path | None = field(default_factory=ssh_agent)


@dataclass(frozen=True, slots=True)
class Layout:
    """The places that exist now, resolved: `read_only` lie inside `writable`, `shown` inside `hidden`."""

    writable: tuple[Path, ...]
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = field(default=())


def lay_out(places: Places) -> Layout:
    """Look which places exist. Done for each command, since folders come and go; a few dozen `stat` calls."""
    fixed = _unlinked((places.launch, *places.folders, *places.temporary))
    roots = tuple(_kept_in(fixed, (places.launch, *places.folders, *places.writable)))
    git = tuple(dict.fromkeys(folder for root in roots for folder in git_folders(root)))
    others = _kept_in(fixed, (*places.temporary, *(places.home / name for name in CACHES)))
    writable = tuple(dict.fromkeys((*roots, *git, *others)))
    inside = (
        *(root / part for root in roots for part in _OWN_PARTS),
        *(folder / part for one in git for folder in (one, *_matching(one, "modules/*")) for part in _GIT_PARTS),
        *(places.home / name for name in START_FILES),
    )
    own = places.home / ".maia"
    open_to_see = tuple(_existing(places.readable))
    secret = (
        *_secret_places(places.home),
        *places.hidden,
        *(() if places.home / ".ssh" in open_to_see else _agents(places.agent)),
    )
    hidden = tuple(path for path in _existing(secret) if path not in open_to_see)
    return Layout(
        writable=tuple(path for path in writable if path.is_dir()),
        read_only=tuple(path for path in _existing(inside) if any(path.is_relative_to(root) for root in writable)),
        hidden=hidden,
        shown=(*_existing(own / name for name in OWN_SHOWN), *open_to_see),
    )


def _secret_places(home: Path) -> Iterator[Path]:
    yield from (home / name for name in SECRETS)
    yield home / ".maia"
    yield from map(Path, DOORS_OUT)
    for pattern in DOORS_IN_TMP:
        yield from _matching(Path("/tmp"), pattern)


def _agents(named: Path | None) -> Iterator[Path]:
    yield from _matching(Path("/tmp"), _AGENTS_IN_TMP)
    if named is not None:
        yield named


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    """A folder that goes while it is read holds nothing more."""
    try:
        yield from folder.glob(pattern)
    except OSError:
        return


def _existing(paths: Iterable[Path]) -> Iterator[Path]:
    """Resolved, each once."""
    seen: set[Path] = set()
    for path in paths:
        try:
            real = path.expanduser().resolve(strict=True)
        except (OSError, RuntimeError):
            continue
        if real not in seen:
            seen.add(real)
            yield real


def _unlinked(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Those that are reached without a link."""
    return tuple(path for path in paths if path in _existing((path,)))


def _kept_in(fixed: Sequence[Path], paths: Iterable[Path]) -> Iterator[Path]:
    """Resolved, without those that a link in a writable place leads out of it.

    A command may have put that link there, so that the next one could write where it points to.
    """
    for path in paths:
        for real in _existing((path,)):
            if real == path or _inside(real, fixed) or not _inside(path, fixed):
                yield real


def _inside(path: Path, places: Sequence[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def git_folders(folder: Path) -> Sequence[Path]:
    """The git folders that a commit made in `folder` writes: the repository's, and a worktree's common one.

    One that lies elsewhere must name the folder in return: a command can make a `.git` that points anywhere.
    """
    for parent in (folder, *folder.parents):
        entry = parent / ".git"
        if entry.is_dir():
            return () if entry.is_symlink() else (entry.resolve(),)
        if entry.is_file():
            return _linked_git_folders(entry)
    return ()


def _linked_git_folders(entry: Path) -> Sequence[Path]:
    """gitrepository-layout(5): `.git` of a worktree or submodule is a file, `commondir` names the shared folder."""
    try:
        first, _, target = _line_of(entry).partition(":")
        own = (entry.parent / target.strip()).resolve(strict=True)
        if first != "gitdir" or not (own / "HEAD").is_file() or not _names_in_return(own, entry):
            return ()
        common = own / "commondir"
        if not common.is_file():
            return (own,)
        shared = (own / _line_of(common)).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle; ValueError: a NUL byte
        return ()
    return (own, shared) if own.parent == shared / "worktrees" and (shared / "HEAD").is_file() else (own,)


def _names_in_return(own: Path, entry: Path) -> bool:
    """Whether the git folder knows this `.git`: a worktree's by `gitdir`, a submodule's by `core.worktree`."""
    back = own / "gitdir"
    if back.is_file():
        return (own / _line_of(back)).resolve() == entry.resolve()
    worktrees = (line.partition("=") for line in _line_of(own / "config").splitlines())
    return any(
        name.strip() == "worktree" and (own / value.strip().strip('"')).resolve() == entry.parent.resolve()
        for name, _, value in worktrees
    )


def _line_of(file: Path) -> str:
    """What a pointer file of git says."""
    return read_bounded(file, _POINTER_BYTES).decode("utf-8", "replace").strip()
