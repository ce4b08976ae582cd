"""What was done to one request before it left, as data for a record: places and numbers, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason
from maia.privacy.kinds import KINDS
from maia.privacy.mask import Span
from maia.privacy.policy import Policy

EGRESS: Final = "privacy.egress"
POLICY_UPDATED: Final = "privacy.policy.updated"
"""Acts of the audit (N-10.17)."""

State: TypeAlias = Literal["masked", "clean", "unscanned", "local", "withheld"]
"""`unscanned`: the product's own words; `local`: nothing leaves; `withheld`: the scan failed, so it was not sent."""


@dataclass(frozen=True, slots=True)
class PartSent:
    """One section of the system prompt, or one kind of message. `spans` are places in the text as assembled.

    Of messages, `spans` are those of all texts of that kind, one after the other; only their number and types tell
    something.
    """

    name: str
    state: State
    spans: tuple[Span, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many values of each type, in the order of the types."""
        if not self.spans:
            return {}
        counted = Counter(span.kind for span in self.spans)
        order = [*KINDS, *sorted(counted)]
        return {kind: counted[kind] for kind in dict.fromkeys(order) if counted[kind]}


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it left. `version` is the policy's (R-2.113).

    `sections` are those of the system prompt in their order, `parts` what the messages held: `user`, `assistant`,
    `tool`. `tools` says how many results of each tool had something masked (R-2.114). `pictures` left as they are:
    nobody reads them. `noticed` says how many values of types left that are only counted (N-10.01).

    A program gets results of tools while it works, and with each its record grows: `new` is then what this one added.
    """

    provider: str
    version: str
    is_local: bool
    sections: tuple[PartSent, ...] = ()
    parts: tuple[PartSent, ...] = ()
    tools: tuple[tuple[str, int], ...] = ()
    pictures: int = 0
    noticed: Mapping[str, int] = field(default_factory=dict[str, int])
    new: Sent | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many values of each type were replaced in the whole request."""
        return total(part.counts for part in (*self.sections, *self.parts))

    def noted(self) -> JsonObject:
        """What the audit keeps of a request in which something was masked."""
        return {
            "provider": self.provider,
            "policy": self.version,
            "counts": self.counts,
            "sections": [part.name for part in (*self.sections, *self.parts) if part.state == "masked"],
        }


def total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """All counts added up, in the order of the types."""
    summed: Counter[str] = Counter()
    for each in counts:
        summed.update(each)
    return {kind: summed[kind] for kind in dict.fromkeys([*KINDS, *sorted(summed)]) if summed[kind]}


_BADGES: Final[dict[State, str]] = {
    "masked": "privacy.badge.masked",
    "clean": "privacy.badge.clean",
    "unscanned": "privacy.badge.unscanned",
    "local": "privacy.badge.local",
    "withheld": "privacy.badge.withheld",
}


def badge(part: PartSent) -> Reason:
    """The words of a section's badge (R-2.107–R-2.110); `types` are to be named by `kind_name` where it is shown."""
    return Reason(_BADGES[part.state], {"n": len(part.spans), "types": list(part.counts)})


def kind_name(kind: str, policy: Policy) -> Reason:
    """How a type is called: a custom one by the name that its pattern was given."""
    if kind in KINDS:
        return Reason(f"privacy.type.{kind}")
    named = next((pattern.name for pattern in policy.patterns if pattern.kind == kind), kind)
    return Reason("privacy.type.custom", {"name": named})
