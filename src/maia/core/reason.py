"""Words as data: what is said in the language of whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from maia.core.jsonvalue import JsonObject


@dataclass(frozen=True, slots=True)
class Reason:
    """Words as data: a key of the catalogue with its values, put in the user's language by a door.

    A value may be the words of another reason, as `told.inner` makes them.
    """

    key: str
    values: JsonObject = field(default_factory=dict[str, Any])
