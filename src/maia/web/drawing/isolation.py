"""How a program's isolation is shown in its panel: the state, each check, and what the kernel offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from maia.web.drawing.words import Sign
from maia.workspace.models.isolation import FileSandbox, Isolation, IsolationStatus, SandboxStatus

STATUSES: Final[Mapping[IsolationStatus, Sign]] = {
    "verified": Sign("check", "success", "isolation.status.verified"),
    "violation": Sign("x", "danger", "isolation.status.violation"),
    "unverified": Sign("clock", "muted", "isolation.status.unverified"),
    "auth-required": Sign("lock", "warning", "isolation.status.auth_required"),
}
SANDBOXES: Final[Mapping[SandboxStatus, Sign]] = {
    "active": Sign("shield", "success", "isolation.sandbox.active"),
    "unavailable": Sign("alert", "warning", "isolation.sandbox.unavailable"),
    "unsupported": Sign("alert", "warning", "isolation.sandbox.unsupported"),
}
PASSED: Final = Sign("check", "success", "isolation.passed")
FAILED: Final = Sign("x", "danger", "isolation.failed_check")


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel of a program tells."""

    isolation: Isolation
    sandbox: FileSandbox

    @property
    def sign(self) -> Sign:
        return STATUSES[self.isolation.status]

    @property
    def sandbox_sign(self) -> Sign:
        return SANDBOXES[self.sandbox.status]

    @property
    def lines(self) -> tuple[tuple[Sign, str, tuple[str, ...]], ...]:
        """Each check: how it went, the key of its words, and what could be reached."""
        checks = self.isolation.checks
        return tuple((PASSED if c.passed else FAILED, f"isolation.check.{c.id}", c.found) for c in checks)
