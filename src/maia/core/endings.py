"""How a model call or a whole turn ended: why the model stopped, what failed, what it came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maia.core.reason import Reason

StopReason: TypeAlias = Literal["end", "tool_calls", "length", "refusal", "context_full", "stop_sequence", "unknown"]
"""Why the model stopped, normalised. The provider's own word is kept beside it."""


FailureKind: TypeAlias = Literal[
    "auth",  # the connection or the key was refused
    "rate_limit",
    "overloaded",
    "timeout",
    "network",
    "cancelled",
    "rejected",  # the request itself: bad model name, bad parameter, content policy
    "incomplete",  # the answer ended without finishing
    "too_long",  # the input does not fit the model's window
    "not_llm",  # something answered, but it is no model server
    "not_configured",
    "isolation",  # a program was stopped: nobody could confirm that it runs behind its wall
    "other",
]


FailureCause: TypeAlias = Literal[
    "refused",  # nothing listens at that address
    "closed",  # the connection ended before the answer did
    "unreachable",  # no way leads there
    "unknown_host",
    "no_connection",  # nobody took the connection in time
    "silent",  # connected, but nothing came any more
    "certificate",
    "not_tls",  # https was asked of a server that speaks http
    "system",  # anything else, in the words of the system
]
"""What kept a call from being answered, where the server itself said nothing."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed model call or turn, as data. The provider's text is never the message: doors show it as a detail.

    `host` is the server spoken to, `status` its HTTP status, `code` its own machine code, `provider_text` its words
    (secrets removed), `retry_after` the seconds it asked to wait. Where a `cause` stands, the server said nothing:
    `code` and `provider_text` are then those of the system. `why` is what is known here beside the server's words: that
    the key has the shape of another provider's, or of another region.
    """

    kind: FailureKind
    host: str = ""
    status: int | None = None
    code: str = ""
    provider_text: str = ""
    retry_after: float | None = None
    cause: FailureCause | None = None
    why: Reason | None = None


Outcome: TypeAlias = Literal[
    "finished",
    "turn_limit",
    "output_limit",
    "refused",
    "tool_budget",
    "stopped",
    "failed",
    "waiting_approval",
]


def defect(error: Exception) -> Failure:
    """How a turn ends by a defect of ours, whose words stand in the details."""
    return Failure("other", code="defect", provider_text=repr(error))
