"""What the mask did since this server started: numbers of calls, messages and values, never a value (N-10.13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from maia.core.jsonvalue import JsonObject
from maia.database.ids import now_ms
from maia.privacy.sent import Sent, total


@dataclass(slots=True)
class Tally:
    """Counted as it happens, by the server's one loop. A value counts each time it would have left.

    `since` is in milliseconds. `scanned` are calls that were looked through, `local` those of models on this machine,
    `refused` and `sent_masked` messages, `withheld` calls in which a text could not be checked and stayed here.
    """

    since: int = field(default_factory=now_ms)
    scanned: int = 0
    local: int = 0
    refused: int = 0
    sent_masked: int = 0
    withheld: int = 0
    masked: Counter[str] = field(default_factory=Counter[str])
    noticed: Counter[str] = field(default_factory=Counter[str])

    def take(self, sent: Sent) -> None:
        """Count one call, or what its record has grown by."""
        is_same, sent = sent.new is not None, sent.new or sent
        if sent.is_local:
            self.local += 1
            return
        self.scanned += not is_same
        self.withheld += any(part.state == "withheld" for part in (*sent.sections, *sent.parts))
        self.masked.update(sent.counts)
        self.noticed.update(sent.noticed)

    @property
    def by_type(self) -> Mapping[str, int]:
        """Values that were replaced, in the order of the types."""
        return total((self.masked,))

    @property
    def only_counted(self) -> Mapping[str, int]:
        """Values that left and were counted, in the same order."""
        return total((self.noticed,))

    def to_json(self) -> JsonObject:
        """As the interface gives it, the moment aside."""
        return {
            "scanned": self.scanned,
            "local": self.local,
            "refused": self.refused,
            "sentMasked": self.sent_masked,
            "withheld": self.withheld,
            "masked": dict(self.by_type),
            "counted": dict(self.only_counted),
        }
