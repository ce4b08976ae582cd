"""What guards this installation, for those who lead it: refusals, protected places, the sandbox (N-09.10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.database import autonomy
from maia.database.autonomy import DenialRow
from maia.database.database import Database
from maia.database.ids import now_ms
from maia.database.users import User
from maia.folders.protected import Kind
from maia.folders.safety import Safety
from maia.folders.workspaces import Location
from maia.workspace.models.isolation import FileSandbox, Isolations
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed

LISTED = 100
_DAY_MS = 86_400_000
_OWN: Final[tuple[Kind, ...]] = ("maiaData", "providerHome")
ForeignState: TypeAlias = Literal["found", "missing", "ignored"]
"""What became of a path of `security.foreignMemoryPaths`: it is protected, also where nothing is there yet; or it is
not absolute, and protects nothing (N-09.11)."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The home folder, and each path of `security.foreignMemoryPaths` as written and as understood, None if ignored."""

    home: Path
    foreign: tuple[tuple[str, Path | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Guarded:
    """What was found. Counts are of the last 24 hours, by (checkpoint, reason); paths begin with `~` in the home."""

    counts: Mapping[tuple[str, str], int]
    stores: tuple[str, ...]
    vaults: tuple[str, ...]
    foreign: tuple[tuple[str, ForeignState], ...]
    own: tuple[str, ...]
    workspaces: str
    sandbox: FileSandbox


class Security:
    """For those who may read the audit; anybody else gets `NotAllowed`."""

    def __init__(
        self,
        database: Database,
        look: Callable[[], Safety],
        location: Location,
        isolations: Isolations,
        surroundings: Surroundings | None,
    ) -> None:
        self._database = database
        self._look = look
        self._location = location
        self._isolations = isolations
        self._around = surroundings or Surroundings(Path("/"))

    async def guarded(self, user: User) -> Guarded:
        """The state of now."""
        _only(user)
        since = now_ms() - _DAY_MS
        counts = await self._database.read(lambda c: autonomy.denials_by_reason(c, since))
        return await asyncio.to_thread(self._guarded, counts)

    async def denials(self, user: User, before: tuple[int, str] | None = None) -> Sequence[DenialRow]:
        """Refusals, the newest first; `before` is (at, id) of the last one seen."""
        _only(user)
        return await self._database.read(lambda c: autonomy.denials(c, LISTED, before))

    def _guarded(self, counts: Mapping[tuple[str, str], int]) -> Guarded:
        safety, named = self._look(), {str(path) for _, path in self._around.foreign}

        def found(kind: Kind, *, pledged: bool) -> tuple[str, ...]:
            places = (each for each in safety.places if each.kind == kind and each.path not in named)
            there = (each.path for each in places if each.pledged == pledged and _is_there(safety, each.path))
            return tuple(self._shown(path) for path in there)

        workspaces = self._shown(str(self._location.workspaces or ""))
        return Guarded(
            counts,
            found("providerHome", pledged=False),
            found("vault", pledged=False),
            tuple((self._shown(text), _state(safety, path)) for text, path in self._around.foreign),
            tuple(each for kind in _OWN for each in found(kind, pledged=True) if each != workspaces),
            workspaces,
            self._isolations.file_sandbox,
        )

    def _shown(self, path: str) -> str:
        home = str(self._around.home).rstrip("/")
        return f"~{path[len(home) :]}" if home and (path == home or path.startswith(f"{home}/")) else path


def _is_there(safety: Safety, path: str) -> bool:
    return safety.disk.state(path) in ("folder", "file")


def _state(safety: Safety, path: Path | None) -> ForeignState:
    if path is None:
        return "ignored"
    return "found" if _is_there(safety, str(path)) else "missing"


def _only(user: User) -> None:
    if not may(user, "audit"):
        raise NotAllowed("security.not_allowed")
