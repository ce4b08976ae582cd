"""The table of places that no model may work in, and the names that mark one wherever it lies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from maia.folders.instance import Instance
from maia.folders.obsidian import listed_vaults, settings_folders
from maia.folders.refusals import Code

Kind: TypeAlias = Literal["providerHome", "vault", "maiaData", "sensitive"]

CONTAINS: dict[Kind, Code] = {
    "providerHome": "containsProviderHome",
    "vault": "containsVault",
    "maiaData": "containsMaiaData",
}
"""The code of a folder that holds such a place. What is sensitive lies in most folders: it is refused path by path."""

TOOL_FOLDERS = (".claude", ".grok", ".codex", ".gemini", ".cursor", ".codeium", ".kimi", ".agents", ".copilot")
"""Folders of other assistants, in the home folder and in repositories."""

STORES = (
    *TOOL_FOLDERS,
    ".claude.json",
    ".kimi-code",
    ".config/agents",
    ".config/opencode",
    ".local/share/opencode",
    ".local/state/opencode",
)
"""Under HOME: what other assistants keep for themselves (R-2.321)."""

SECRET_FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store")
"""At any depth (R-2.328, N-08.03)."""

SECRET_FILES = (".env", "master.key")
HARMLESS = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Written to be read by everybody: they show which variables there are, without their values."""

MEMORY = "ai-memory"
VAULT_MARK = ".obsidian"
CLI_HOMES = "cli-homes"
PROGRAM_HOMES = "runtimes"
"""Of the product's home: where the agent programs are signed in."""

OPEN_DATA = ("studio", "browser/downloads")
"""Of the data folder: what conversations may work in beside their workspace (R-2.324, N-19.07)."""


@dataclass(frozen=True, slots=True)
class Protected:
    """One place. A `pledged` one counts as being there before it is: it belongs to this installation."""

    path: str
    kind: Kind
    pledged: bool = False


def known_places(instance: Instance) -> tuple[Protected, ...]:
    """Every protected place that can be named beforehand, in the order in which they are told of."""
    before, settings, after = _named(instance)
    listed = (
        place for folder in settings for place in (*_of("vault", (folder,)), *_of("vault", listed_vaults(folder)))
    )
    return tuple(dict.fromkeys((*before, *listed, *after)))


@lru_cache(4)
def _named(instance: Instance) -> tuple[tuple[Protected, ...], tuple[Path, ...], tuple[Protected, ...]]:
    """What no look at the disk changes, before and after what the settings of other programs list."""
    return (
        tuple(_before(instance)),
        tuple(settings_folders(instance.home, instance.settings_of_others)),
        tuple(_of("sensitive", (instance.home / name for name in SECRET_FOLDERS))),
    )


def _before(instance: Instance) -> Iterator[Protected]:
    home, data = instance.home, instance.data
    own = (instance.config, data, *((instance.workspaces,) if instance.workspaces else ()))
    yield from _of("maiaData", own, pledged=True)
    if instance.database is not None:
        yield Protected(_tidy(instance.database), "sensitive", pledged=True)
    yield from _of("providerHome", (data / CLI_HOMES, instance.config / PROGRAM_HOMES), pledged=True)
    yield from _of("providerHome", (*(home / name for name in STORES), *instance.moved))
    yield from _of("vault", instance.foreign, pledged=True)


def _of(kind: Kind, paths: Iterable[os.PathLike[str] | str], *, pledged: bool = False) -> Iterator[Protected]:
    return (Protected(_tidy(path), kind, pledged) for path in paths)


def _tidy(path: os.PathLike[str] | str) -> str:
    return os.path.normpath(os.fspath(path))


# Names that mark a place ---------------------------------------------------------------------------------------------


def marked_folder(names: Sequence[str]) -> Kind | None:
    """What the last of the names of a path makes of that folder, wherever it lies. Case does not matter."""
    name = names[-1].casefold()
    if name == MEMORY:
        return "vault"
    if name == "memory" and any(each.casefold() in TOOL_FOLDERS for each in names[:-1]):
        return "providerHome"
    return "sensitive" if name in SECRET_FOLDERS else None


def is_secret_file(name: str) -> bool:
    """Whether a file of that name holds keys or passwords."""
    name = name.casefold()
    return name in SECRET_FILES or (name.startswith(".env.") and name not in HARMLESS)
