"""The types of personal data, what may be done about each, and what stands in the place of a value."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Action: TypeAlias = Literal["off", "warn", "mask", "block"]
"""`warn` only counts; `mask` replaces the value where it leaves for a remote model; `block` also refuses a message."""

ACTIONS: Final[tuple[Action, ...]] = ("off", "warn", "mask", "block")
"""Ordered from free to strict."""

MASKING: Final[frozenset[Action]] = frozenset(("mask", "block"))

KINDS: Final[dict[str, Action]] = {
    "email": "mask",
    "phone": "mask",
    "secret": "mask",
    "iban": "block",
    "bank_account": "block",
    "tax_number": "block",
    "personal_id": "block",
    "credit_card": "block",
    "ssn": "block",
    "taj_number": "warn",
}
"""Every built-in type with what is done about it where a policy does not say (R-2.267, N-10.02)."""

SLUG: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
"""How the type of a custom pattern is written."""


def placeholder(kind: str) -> str:
    """What stands in the place of a value: the same for each value of a type, so that it tells nothing more."""
    return f"[{kind.upper()}]"
