"""Why a folder is refused: the codes of the API, and their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maia.core.errors import MaiaError

Code: TypeAlias = Literal[
    "home",
    "providerHome",
    "vault",
    "maiaData",
    "sensitive",
    "otherWorkspace",
    "containsMaiaData",
    "containsProviderHome",
    "containsVault",
    "notAbsolute",
    "notFound",
    "notDirectory",
]
"""R-2.337, the product's own name put in (decisions §2)."""

_WORDS: dict[Code, str] = {
    "home": "folders.home",
    "providerHome": "folders.provider_home",
    "vault": "folders.vault",
    "maiaData": "folders.maia_data",
    "sensitive": "folders.sensitive",
    "otherWorkspace": "folders.other_workspace",
    "containsMaiaData": "folders.contains_maia_data",
    "containsProviderHome": "folders.contains_provider_home",
    "containsVault": "folders.contains_vault",
    "notAbsolute": "folders.not_absolute",
    "notFound": "folders.not_found",
    "notDirectory": "folders.not_directory",
}

UNUSABLE: frozenset[Code] = frozenset({"notAbsolute", "notFound", "notDirectory"})
"""Codes of a folder that protects nothing: it is merely not there (R-2.342)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One folder that may not be used. `found` is the protected place inside it, of the `contains…` codes (R-2.338)."""

    code: Code
    path: str
    found: str | None = None

    @property
    def is_protected(self) -> bool:
        """Whether it is refused for what lies there, not because it is missing (R-2.342)."""
        return self.code not in UNUSABLE


class FolderRefused(MaiaError):
    """A folder of a list cannot be saved; nothing of the list is (R-2.346). `code`, `path`, `found` are for the API."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(_WORDS[refusal.code], path=refusal.path, found=refusal.found or "")
        self.refusal = refusal
