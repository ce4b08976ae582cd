"""What is known before a session: folders, settings, rules, environment with kept keys, language, and the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from maia.app.acting import Acting
from maia.app.rules import FolderRules
from maia.core.errors import UsageProblem
from maia.core.namedpath import named_path
from maia.i18n.catalogue import Catalogue, choose_language
from maia.launch import Folders, find_folders, prepare
from maia.terminal.options import Options

if TYPE_CHECKING:
    from maia.app.memories import OpenMemory
    from maia.app.runtimes import Guard


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known before a session: the options, the folders, the settings and rules, the language.

    `memory` opens the private memory that the session's tools work on, where it has one; the session closes it.
    `acting` is the agent as which the session acts, None for maia itself. `hidden` are places that its commands may not
    see, beside those that no command sees. `offered` are the names of the only tools that there are, None for all.
    `guard` stands before the turns of agent programs, None where nobody asks for that.
    `turns` are the steps of a turn that an agent's definition sets, None where the settings say (R-2.255).
    """

    options: Options
    env: Mapping[str, str]
    folders: Folders
    rules: FolderRules
    add_dirs: tuple[Path, ...]
    say: Catalogue
    memory: OpenMemory | None = None
    acting: Acting | None = None
    hidden: tuple[Path, ...] = ()
    offered: tuple[str, ...] | None = None
    turns: int | None = None
    guard: Guard | None = None


def plain_ground(options: Options, env: Mapping[str, str], say: Catalogue) -> Ground:
    """Find and prepare the folders (T1.01, T1.03). Raises `UsageProblem` for a folder that is not there."""
    folders = prepare(find_folders(env), env)
    add_dirs = tuple(named_folder(name, folders.launch) for name in options.add_dirs)
    rules = FolderRules(folders, env, options, say, add_dirs)
    lang = choose_language(options.lang, env, rules.settings.lang)
    words = say if lang == say.lang else Catalogue(lang)
    ground = Ground(options, with_kept_keys(folders.config / "keys", env), folders, rules, add_dirs, words)
    return replace(ground, memory=_own_memory(ground)) if rules.settings.memory.on else ground


def _own_memory(ground: Ground) -> OpenMemory:
    """The memory of the person at the terminal, for conversations with maia itself (setting `memory`)."""
    from maia.app.memories import opening
    from maia.core.memories import PERSON

    return opening(ground.rules.settings, ground.folders, ground.env, PERSON)


def with_kept_keys(folder: Path, env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with the keys that `maia keys set` kept; one look at the file system where there are none."""
    if not folder.is_dir():
        return env
    from maia.credentials.vault import kept_environment

    return kept_environment(folder, env)


def named_folder(name: str, launch: Path) -> Path:
    """A folder that an option or an agent names, resolved. Raises `UsageProblem` where there is none."""
    named = named_path(name, launch)
    try:
        path = named.resolve(strict=True) if isinstance(named, Path) else None
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        path = None
    if path is None or not path.is_dir():
        raise UsageProblem("cli.bad_dir", path=name)
    return path
