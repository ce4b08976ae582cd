"""The values that travel between the rooms: messages, requests, usage, needs, rules and decisions.

All are frozen. Identity, time and parentage are a storage concern: they belong to the journal's record, never to a
value. Token counts are whole tokens, durations are seconds, money is US dollars, sizes are bytes unless a name says
`chars` (code points).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, Literal, TypeAlias

JsonValue: TypeAlias = Any
"""A value that `json` reads and writes. `Any`, because a checked recursive alias costs more than it catches."""
JsonObject: TypeAlias = dict[str, Any]

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model may think. Each wire maps it to the provider's own control, or drops it where there is none."""


# Messages ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text that was written, by a person or by the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What the model thought aloud.

    `replay` is what the provider wants back unchanged with the next request (a signature, an encrypted block) and is
    opaque to everybody but the wire that produced it; `wire` names that wire, so that no other one replays it.
    """

    text: str
    wire: str = ""
    replay: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture, as base64 without line breaks.

    In a transcript `data` is empty: `digest` says which picture it is, and whoever keeps it puts it in last.
    """

    media_type: str
    data: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call the model asked for, whole and valid: a cut call never becomes one (T5.09)."""

    call_id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a call gave back, as the model reads it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


UserPart: TypeAlias = TextPart | ImagePart
AssistantPart: TypeAlias = TextPart | ReasoningPart | ToolCallPart


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person sent, with what was joined to it (`!` results, `@` files).

    A `reminder` was not sent by the person: the engine told the model something in the user's role.
    """

    parts: tuple[UserPart, ...]
    reminder: bool = False


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model answered, in the order it came. `model` and `provider` really answered."""

    parts: tuple[AssistantPart, ...]
    model: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The results of one answer's calls, in the order in which the model asked for them (T5.07)."""

    results: tuple[ToolResultPart, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


# One request to a model, and how its answer ended --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A named piece of the system prompt. `origin` is a file, or the room that wrote it; `cut_chars` were left out."""

    name: str
    text: str
    origin: str = ""
    cut_chars: int = 0


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one call of a model receives, before a wire turns it into its own format.

    The same prefix (system, tools, earlier messages) gives the same bytes, so that prompt caches hold. With
    `answer_only` the model is to answer in words now, whatever tools there are.
    """

    model: str
    system: tuple[Section, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    effort: Effort | None = None
    answer_only: bool = False
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()


StopReason: TypeAlias = Literal["end", "tool_calls", "length", "refusal", "context_full", "stop_sequence", "unknown"]
"""Why the model stopped, normalised. The provider's own word is kept beside it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, or of several added up, as the provider reported them.

    `input` counts only what was neither read from nor written to a cache; `reasoning` is part of `output`.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """The whole prompt, cached parts included."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


CostSource: TypeAlias = Literal["reported", "estimated", "unknown"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Money, with who says so. `usd` is None exactly when `source` is `unknown`: an unknown cost is never 0."""

    usd: float | None = None
    source: CostSource = "unknown"


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


@dataclass(frozen=True, slots=True)
class BoundWhy:
    """Why this model answers a turn, and how deep it thinks. `reason`, `note` and `effort_by` are keys of words.

    `note` tells which fallback applies, empty where none does. `effort_asked` was wanted, `effort` is what is sent.
    """

    reason: str
    note: str = ""
    effort: Effort | None = None
    effort_asked: Effort | None = None
    effort_by: str = ""


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


ChosenBy: TypeAlias = Literal["default", "option", "settings", "command", "resumed"]
"""Who chose the model that answers."""


# Permissions -------------------------------------------------------------------------------------------------------


class Verdict(IntEnum):
    """Ordered so that the strictest of several is `max()`."""

    ALLOW = 0
    ASK = 1
    DENY = 2


NeedKind: TypeAlias = Literal["command", "path", "host", "name", "text", "none"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far a search goes below its folder: `globs` include names there (none: everything), to `levels` deep.

    A glob without a slash matches at any depth; one with a slash begins at the folder.
    """

    globs: tuple[str, ...] = ()
    levels: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a call would do, said by the tool; whether it may is said by the rules.

    `tool` is the name used in rules. `value` is the command line, the path as given, the host, the skill's name or a
    text value of the input, according to `kind`; `none` needs no permission unless a rule names the tool. `sweep` says
    that what lies below the path is searched, too, by somebody who leaves nothing out by himself.
    """

    tool: str
    kind: NeedKind
    value: str = ""
    sweep: Sweep | None = None


@dataclass(frozen=True, slots=True)
class RuleSource:
    """Where a rule was written: a settings file with its line, `session`, `--allow` or `built-in`."""

    name: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One parsed rule. `pattern` is None for a bare `Tool`; `text` is what the user wrote."""

    verdict: Verdict
    tool: str
    pattern: str | None
    text: str
    source: RuleSource


@dataclass(frozen=True, slots=True)
class Reason:
    """Words as data: a key of the catalogue with its values, put in the user's language by a door."""

    key: str
    values: JsonObject = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class DecisionPart:
    """One command, redirection or path of a compound call with its own verdict."""

    text: str
    verdict: Verdict
    rule: Rule | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on a whole call: the strictest of its parts, with the rule and the reason that made it."""

    verdict: Verdict
    reason: Reason
    rule: Rule | None = None
    parts: tuple[DecisionPart, ...] = ()


ApprovalScope: TypeAlias = Literal["once", "session", "always", "no"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered to an approval. `reason` goes to the model with a refusal."""

    scope: ApprovalScope
    reason: str = ""


# Tool calls --------------------------------------------------------------------------------------------------------

ToolStatus: TypeAlias = Literal["succeeded", "failed", "refused", "skipped", "unknown", "pending"]
"""How a call ended; `pending`: what it handed on waits for a person, and its result comes later (R-2.188)."""
NO_FAILURE: Final[tuple[ToolStatus, ...]] = ("succeeded", "pending")
"""Calls that did what was asked of them, or have it done."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Plain output for the person, shown literally."""

    text: str


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """A change of one file. `before` and `after` are whole texts; empty `before` is a new file.

    Of a long file they are only the changed lines with some around them, and `first_line` is the number of their first.
    """

    path: str
    before: str
    after: str
    first_line: int = 1


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One task of the list (T5.04)."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


@dataclass(frozen=True, slots=True)
class TodoBlock:
    """The whole task list after a TodoWrite."""

    items: tuple[TodoItem, ...]


Block: TypeAlias = TextBlock | DiffBlock | TodoBlock


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result has three readers: `text` is for the model, `summary` and `blocks` for the person, `data` for machines.

    `summary` is a few words for the row ("412 lines"), already in the user's language. With `is_pending` the result is
    still to come: it is no error, and no success.
    """

    text: str
    is_error: bool = False
    summary: str = ""
    blocks: tuple[Block, ...] = ()
    data: JsonObject = field(default_factory=dict[str, Any])
    is_pending: bool = False

    @property
    def status(self) -> ToolStatus:
        """How the call ended that brought it."""
        return "failed" if self.is_error else "pending" if self.is_pending else "succeeded"


# What a person submits ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file, a picture, a command result or what a specialist found, joined to a request, already cut to its limit.

    `source` is the path as written, the file's name or the command line; `cut_chars` says how much of it was left out.
    For a file that is here whole, `path` is where it is and `digest` what it held: the model has seen it as after a
    Read. `id`, `media_type` and `size` are those of a file that a workspace keeps, `place` is where tools find it; the
    `id` of a result is that of the conversation that brought it. An image has no text and no path; its `digest` is that
    of the picture to send.
    """

    kind: Literal["file", "folder", "command", "image", "result"]
    source: str
    text: str
    cut_chars: int = 0
    path: str = ""
    digest: str = ""
    id: str = ""
    media_type: str = ""
    size: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """One request of a person: the text as typed, and what goes with it."""

    text: str
    attachments: tuple[Attachment, ...] = ()
