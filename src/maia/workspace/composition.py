"""What the last model call of a turn received: taken down around the privacy mask, as assembled and as sent (§7)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from maia.core.codec import to_json
from maia.core.events import ContextMeasured, WireEvent
from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from maia.core.ports import Wire
from maia.core.requests import ModelRequest, Section, ToolSpec
from maia.core.runtime import Desk, ProgramEnd, ProgramTask, Runtime
from maia.core.submission import Attachment
from maia.core.text import cut_middle
from maia.database.compositions import CompositionRow, SectionRow, TokensSource
from maia.database.providers import ModelRow
from maia.engine.setup import Bound
from maia.privacy.sent import PartSent, Sent, total
from maia.workspace.remembering.briefing import Briefing

ESTIMATED_SERVERS: Final = frozenset(("ollama",))
ESTIMATED_PROGRAMS: Final = frozenset(("grok", "kimi"))
"""Whose numbers are not the size of the last prompt: a cache that is left out, a sum over inner steps (R-2.097)."""
PROGRAM_WINDOWS: Final = {"claude-code": 200_000, "grok": 500_000, "kimi": 256_000}
"""Of programs whose models are listed without a window, before the program tells one itself (R-2.100)."""
MEMORY_TOOLS: Final = frozenset(
    ("MemorySearch", "MemoryExpand", "MemoryStore", "memory_search", "memory_expand", "search_memory")
)
"""Whose masked results are told apart in the panel (R-2.114)."""
_LONGEST = 200_000
"""Characters of a section that are kept."""
_CHARS_A_TOKEN = 4


@dataclass(slots=True)
class Tape:
    """Hears what one turn asks of its model. Only the last call stays (R-2.093)."""

    assembled: ModelRequest | ProgramTask | None = None
    as_sent: ModelRequest | ProgramTask | None = None
    sent: Sent | None = None
    before: int | None = None
    measured: int | None = None
    window: int | None = None
    briefing: Briefing | None = None
    said_parts: int = 0
    files: tuple[Attachment, ...] = ()
    has_words: bool = True
    """What went with the message, and whether it has words beside them."""

    def outside(self, asked: ModelRequest | ProgramTask) -> None:
        """A call as it was assembled."""
        self.assembled, self.as_sent, self.sent = asked, None, None
        if self.before is None and isinstance(asked, ModelRequest):
            self.before = max(0, len(asked.messages) - 1)
            said = asked.messages[self.before] if asked.messages else None
            self.said_parts = len(said.parts) if isinstance(said, UserMessage) else 0  # a reminder may join it later

    def inside(self, asked: ModelRequest | ProgramTask) -> None:
        """The same call behind the mask: exactly what leaves (R-2.112)."""
        self.as_sent = asked

    def ended(self, end: ProgramEnd) -> None:
        """How a program's turn went for what it was told."""
        if self.briefing is not None:
            self.briefing.observed(end.prompt, came=end.came)

    def mask(self, sent: Sent) -> None:
        """What the mask did to it."""
        self.sent = sent

    # What it comes to

    def context(self) -> ContextMeasured | None:
        """How full the window is: as the provider reports it, else as the text of the call tells (R-2.094, R-2.096)."""
        if self.assembled is None:
            return None
        tokens, source = self._tokens()
        return ContextMeasured(tokens, self.window, source)

    def composition(self, conversation: str, turn: int, provider: str, model: str) -> CompositionRow | None:
        """The row of the turn."""
        if self.assembled is None:
            return None
        tokens, source = self._tokens()
        policy = self.sent.version if self.sent else ""
        tools = {name: n for name, n in self.sent.tools if name in MEMORY_TOOLS} if self.sent else {}
        memory = {"maskedResults": tools, **(self.briefing.delivery() if self.briefing else {})}
        return CompositionRow(
            conversation, turn, provider, model, self.window, tokens, source, policy, memory, self._sections()
        )

    def _tokens(self) -> tuple[int, TokensSource]:
        if self.measured is not None:
            return self.measured, "measured"
        return sum(tokens_of(text) for _, _, text in self._parts(self.assembled)), "estimated"

    def _parts(self, asked: ModelRequest | ProgramTask | None) -> list[_Piece]:
        preface = self.briefing.preface if self.briefing else ()
        pieces = _parts(asked, self.before or 0, preface)
        if not self.files or not isinstance(asked, ModelRequest):
            return pieces
        _, now = _led(asked.messages[self.before or 0 :], len(preface))
        return [*pieces[:-1], *_with_files(now, self.said_parts - len(preface), self.files, self.has_words)]

    def _sections(self) -> tuple[SectionRow, ...]:
        sent_texts = [text for _, _, text in self._parts(self.as_sent)]
        rows: list[SectionRow] = []
        for n, (zone, section, text) in enumerate(self._parts(self.assembled)):
            sent = sent_texts[n] if n < len(sent_texts) and sent_texts[n] != text else None
            row = SectionRow(
                zone,
                section.name,
                section.origin,
                tokens_of(text),
                section.cut_chars,
                _kept(text),
                None if sent is None else _kept(sent),
            )
            rows.append(self._badged(row, n))
        return tuple(rows)

    def _badged(self, row: SectionRow, position: int) -> SectionRow:
        """What the mask noted of that section; of the person's message nothing is noted (R-2.111)."""
        if self.sent is None or row.zone == "turn":
            return row
        if row.name == "tools":
            return replace(row, privacy="unscanned")
        if row.zone == "conversation" and self.sent.is_local:
            return replace(row, privacy="local")
        if row.zone == "conversation":
            return _with(row, self.sent.parts)
        return _with(row, self.sent.sections[position : position + 1])


def _with(row: SectionRow, parts: Sequence[PartSent]) -> SectionRow:
    if not parts:
        return row
    counts = total(part.counts for part in parts)
    state = "masked" if counts else next((part.state for part in parts if part.state != "clean"), "clean")
    return replace(row, privacy=state, masked=sum(counts.values()), masked_types=counts or None)


def is_measured(bound: Bound) -> bool:
    """Whether what is reported is the size of the last prompt (R-2.095, R-2.097)."""
    return bound.provider not in (ESTIMATED_PROGRAMS if bound.runtime is not None else ESTIMATED_SERVERS)


def window_of(listed: ModelRow | None, provider: str) -> int | None:
    """The window as Providers lists it, else the program's usual one (R-2.098, R-2.100)."""
    return (listed.window if listed else None) or PROGRAM_WINDOWS.get(provider)


def tokens_of(text: str) -> int:
    """About how many tokens a text has: four bytes each, which holds for English and code."""
    return -(-len(text.encode("utf-8", "replace")) // _CHARS_A_TOKEN)


def _kept(text: str) -> str:
    return cut_middle(text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd"), _LONGEST).text


_Piece: TypeAlias = tuple[str, Section, str]
"""(zone, section, text)."""


def _with_files(now: Sequence[Message], said: int, files: Sequence[Attachment], has_words: bool) -> list[_Piece]:
    """The message of a turn, whose first `said` parts a person sent, with each of its files as a section of its own."""
    first = now[0]
    assert isinstance(first, UserMessage)
    pieces: list[_Piece] = []
    start = at = said - has_words - sum(_width(each) for each in files)
    for each in files:
        own = first.parts[at : at + _width(each)]
        pieces.append(("turn", Section("attachment", "", each.source, each.cut_chars), _user(own)))
        at += len(own)
    rest = replace(first, parts=(*first.parts[:start], *first.parts[at:]))
    return [*pieces, ("turn", Section("message", ""), _told((rest, *now[1:])))]


def _width(item: Attachment) -> int:
    """Parts that an attachment is sent as (`engine.transcript.user_parts`)."""
    return 2 if item.kind == "image" else 1


def _parts(asked: ModelRequest | ProgramTask | None, before: int, preface: Sequence[Section]) -> list[_Piece]:
    """(zone, section, text) in the order in which the model reads them (R-2.087, R-2.089)."""
    match asked:
        case None:
            return []
        case ModelRequest():
            system, tools = asked.system, _told_tools(asked.tools)
            history = asked.messages[:before]
            led, now = _led(asked.messages[before:], len(preface))
            message = _told(now)
        case ProgramTask():
            system = (Section("instructions", asked.instructions),) if asked.instructions else ()
            tools, history, message = _told_tools(asked.tools), asked.history, asked.text
            led = [section.text for section in asked.preface]
    parts = [("system", section, section.text) for section in system]
    if tools and tools != "[]":
        parts.append(("system", Section("tools", "", "maia"), tools))
    if history:
        parts.append(("conversation", Section("history", ""), _told(history)))
    parts += [("turn", section, text) for section, text in zip(preface, led, strict=False)]
    return [*parts, ("turn", Section("message", ""), message)]


_WRITTEN: Final[dict[tuple[int, ...], tuple[Sequence[ToolSpec], str]]] = {}
_MOST_WRITTEN: Final = 32


def _told_tools(tools: Sequence[ToolSpec]) -> str:
    """The tools as a reader of the panel sees them. They are the same for many turns, and long to write."""
    key = tuple(map(id, tools))
    if key not in _WRITTEN:
        while len(_WRITTEN) >= _MOST_WRITTEN:
            del _WRITTEN[next(iter(_WRITTEN))]
        text = json.dumps(to_json(tools), ensure_ascii=False, indent=1)
        _WRITTEN[key] = tools, text  # with the tools, so that no id of theirs becomes another's
    return _WRITTEN[key][1]


def _led(now: Sequence[Message], count: int) -> tuple[list[str], Sequence[Message]]:
    """The texts that ride in front of the message of this turn, and the messages without them."""
    if not count or not now or not isinstance(first := now[0], UserMessage):
        return [], now
    led = [part.text for part in first.parts[:count] if isinstance(part, TextPart)]
    return led, (replace(first, parts=first.parts[count:]), *now[1:])


def _told(messages: Sequence[Message]) -> str:
    """Messages as a reader of the panel sees them."""
    return "\n\n".join(text for message in messages if (text := _message(message)))


def _message(message: Message) -> str:
    match message:
        case UserMessage():
            return "user:\n" + _user(message.parts)
        case AssistantMessage():
            return "assistant:\n" + "\n".join(
                _part(part) for part in message.parts if not isinstance(part, ReasoningPart)
            )
        case ToolMessage():
            return "\n\n".join(f"tool {result.name}:\n{result.text}" for result in message.results)


def _user(parts: Sequence[UserPart]) -> str:
    return "\n".join("[image]" if isinstance(part, ImagePart) else part.text for part in parts)


def _part(part: TextPart | ToolCallPart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"call {part.name} {json.dumps(part.arguments, ensure_ascii=False)}"


# Around the model ----------------------------------------------------------------------------------------------------

Hear = Callable[[ModelRequest | ProgramTask], None]


def overheard(bound: Bound, hear: Hear, ended: Callable[[ProgramEnd], None] = lambda _end: None) -> Bound:
    """Who answers, with somebody who hears each call, and how a program's turn ended."""
    return replace(
        bound,
        wire=bound.wire and _HeardWire(bound.wire, hear),
        runtime=bound.runtime and _HeardRuntime(bound.runtime, hear, ended),
    )


@dataclass(frozen=True, slots=True)
class _HeardWire:
    wire: Wire
    hear: Hear
    provider: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "provider", self.wire.provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        self.hear(request)
        events = self.wire.stream(request)
        try:
            async for event in events:
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()


@dataclass(frozen=True, slots=True)
class _HeardRuntime:
    runtime: Runtime
    hear: Hear
    ended: Callable[[ProgramEnd], None]

    @property
    def name(self) -> str:
        return self.runtime.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        self.hear(task)
        end = await self.runtime.turn(task, desk)
        self.ended(end)
        return end

    async def aclose(self) -> None:
        await self.runtime.aclose()
