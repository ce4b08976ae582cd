"""Whether agent programs run behind their wall: what was tried last, and trying it now (N-03.01–N-03.09)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from maia.core.errors import MaiaError
from maia.core.reason import Reason
from maia.core.runtime import IsolationCheck
from maia.database.providers import ProviderRow
from maia.database.users import User
from maia.workspace.models.shelf import Shelf
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed, NotThere, VerifyUnavailable

IsolationStatus: TypeAlias = Literal["verified", "violation", "unverified", "auth-required"]
SandboxStatus: TypeAlias = Literal["active", "unavailable", "unsupported"]


@dataclass(frozen=True, slots=True)
class Isolation:
    """What is known of a program. `checked_at` is in milliseconds, None where nothing was tried yet.

    A person can ask for a trial where `can_verify` says so; before each first turn it is made all the same.
    """

    status: IsolationStatus
    checks: tuple[IsolationCheck, ...]
    checked_at: int | None
    signed_in: bool
    can_verify: bool


@dataclass(frozen=True, slots=True)
class FileSandbox:
    """What the kernel offers to wall programs in (N-03.09); `mode` is the setting `security.cliSandbox`."""

    status: SandboxStatus
    reason: Reason | None
    mode: Literal["auto", "required"]


@dataclass(frozen=True, slots=True)
class Tried:
    """The last trial of a program: when, in milliseconds, and how it went."""

    at: int
    checks: tuple[IsolationCheck, ...]

    @property
    def failed(self) -> tuple[IsolationCheck, ...]:
        return tuple(check for check in self.checks if not check.passed)


class Walls(Protocol):
    """What the composition root knows of programs and their walls."""

    @property
    def file_sandbox(self) -> FileSandbox: ...

    def tried(self, provider_id: str) -> Tried | None:
        """The last trial, whoever caused it."""
        ...

    def is_signed_in(self, provider_id: str) -> bool: ...

    def may_be_tried(self, provider_id: str) -> bool:
        """Whether a person can ask for a trial of this program."""
        ...

    async def try_now(self, provider_id: str) -> Tried:
        """Try it behind the wall that it would get; no model is called. Raises `MaiaError` where that cannot be."""
        ...


class NoWalls:
    """Of a workspace without agent programs."""

    @property
    def file_sandbox(self) -> FileSandbox:
        return FileSandbox("unsupported", None, "required")

    def tried(self, provider_id: str) -> Tried | None:
        del provider_id

    def is_signed_in(self, provider_id: str) -> bool:
        del provider_id
        return False

    def may_be_tried(self, provider_id: str) -> bool:
        del provider_id
        return False

    async def try_now(self, provider_id: str) -> Tried:
        raise MaiaError("isolation.no_program", name=provider_id)


class Isolations:
    """The isolation of the programs among the providers."""

    def __init__(self, shelf: Shelf, walls: Walls) -> None:
        self._shelf = shelf
        self._walls = walls

    @property
    def file_sandbox(self) -> FileSandbox:
        """What the kernel offers here; the same for every program."""
        return self._walls.file_sandbox

    def of(self, provider_id: str) -> Isolation:
        """What is known of a program. Raises `NotThere`, also for a provider that is none (N-03.02)."""
        row = self._program(provider_id)
        tried, signed_in = self._walls.tried(row.id), self._walls.is_signed_in(row.id)
        checks, at = (tried.checks, tried.at) if tried else ((), None)
        return Isolation(_status(tried, signed_in=signed_in), checks, at, signed_in, self._can_verify(row))

    async def verify(self, by: User, provider_id: str) -> Isolation:
        """Try it now. Raises `NotAllowed`, `NotThere`, `VerifyUnavailable` (N-03.03)."""
        if not may(by, "models"):
            raise NotAllowed("provider.not_allowed")
        row = self._program(provider_id)
        if not self._can_verify(row):
            raise VerifyUnavailable("isolation.cannot_verify", program=row.name)
        try:
            await self._walls.try_now(row.id)
        except MaiaError as error:
            raise VerifyUnavailable(error.key, **error.values) from error
        return self.of(row.id)

    def _program(self, provider_id: str) -> ProviderRow:
        row = self._shelf.provider(provider_id)
        if row.kind != "cli":
            raise NotThere("isolation.no_program", name=row.name)
        return row

    def _can_verify(self, row: ProviderRow) -> bool:
        return row.enabled and row.health != "absent" and self._walls.may_be_tried(row.id)


def _status(tried: Tried | None, *, signed_in: bool) -> IsolationStatus:
    """What could be reached is told first; a program that nobody signed in answers nobody."""
    if tried is not None and tried.failed:
        return "violation"
    if not signed_in:
        return "auth-required"
    return "unverified" if tried is None else "verified"
