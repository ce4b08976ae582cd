"""What JSON holds, as types."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""A value that `json` reads and writes. `Any`, because a checked recursive alias costs more than it catches."""
JsonObject: TypeAlias = dict[str, Any]
