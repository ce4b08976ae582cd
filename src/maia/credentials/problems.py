"""What is wrong, or worth knowing, about a key: a code with its values, never a sentence and never a key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from maia.core.jsonvalue import JsonObject

Level: TypeAlias = Literal["info", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` is stable and stands in `maia keys explain --json`; its words are `keys.code.<code in lower case>`.

    `fail` means that nothing may be launched or sent. `values` hold names, hosts and places, never a key.
    """

    code: str
    level: Level = "warn"
    values: JsonObject = field(default_factory=dict[str, Any])

    @property
    def words(self) -> str:
        """The key of its sentence in the catalogue."""
        return f"keys.code.{self.code.lower()}"


def info(code: str, **values: Any) -> Problem:
    return Problem(code, "info", values)


def warn(code: str, **values: Any) -> Problem:
    return Problem(code, "warn", values)


def fail(code: str, **values: Any) -> Problem:
    return Problem(code, "fail", values)
