"""Whether a new message of a person may leave: only that one text is ever refused (R-2.266, R-2.268)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.privacy.destination import Destination, all_local
from maia.privacy.mask import Masked, Masker

REFUSED: Final = "privacy.inbound_refused"
MASKED: Final = "privacy.inbound_masked"
"""Acts of the audit (R-2.281)."""

_BLOCKED: Final = ("block",)


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that may not leave as it is: what types of values it holds, and its text without them (R-2.083)."""

    types: tuple[str, ...]
    masked: str

    def noted(self) -> JsonObject:
        """What the audit keeps of it: never a value."""
        return {"types": list(self.types)}


def judge_message(text: str, masker: Masker, destinations: Sequence[Destination]) -> Refused | None:
    """Refuse a text with a value of a `block` type that would leave for a remote model; None lets it pass.

    `destinations` are all the models that would get it: one for a conversation, each of the list in God mode. Where the
    policy is not enabled nothing is refused (R-2.280).
    """
    if not masker.policy.enabled or all_local(destinations, masker.policy.local_hosts):
        return None
    masked = mask_blocked(text, masker)
    return Refused(types_of(masked), masked.text) if masked.spans else None


def mask_blocked(text: str, masker: Masker) -> Masked:
    """The text that a person sends instead: only blocked values are replaced (R-2.276)."""
    return masker.mask(text, _BLOCKED)


def types_of(masked: Masked) -> tuple[str, ...]:
    """The types of what was replaced, in the order of the text, each once."""
    return tuple(dict.fromkeys(span.kind for span in masked.spans))
