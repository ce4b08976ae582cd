"""A conversation as every chat API demands it: roles alternate, and each call has its result (T4.06)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from maia.core.jsonvalue import JsonValue
from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    UserPart,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn of the user: results of the calls before it, in the order of the calls, then what was said."""

    results: tuple[ToolResultPart, ...] = ()
    parts: tuple[UserPart, ...] = ()


Turn: TypeAlias = Asked | AssistantMessage


def alternating(messages: Sequence[Message]) -> list[Turn]:
    """Turns of user and model in strict alternation.

    Calls without a result are left out, and results without a call; so are messages that nothing is left of. Messages
    of the same role are merged, results first.
    """
    turns: list[Turn] = []
    for start, message in enumerate(messages):
        match message:
            case AssistantMessage():
                kept = _answered(message, messages, start + 1)
                if any(isinstance(p, ToolCallPart) or (isinstance(p, TextPart) and p.text.strip()) for p in kept.parts):
                    _append(turns, kept)
            case ToolMessage(results):
                _append(turns, Asked(_matching(results, turns)))
            case UserMessage(parts):
                _append(turns, Asked(parts=tuple(filter(_says_something, map(_at_hand, parts)))))
    return turns


def _at_hand(part: UserPart) -> UserPart:
    """A picture that nobody put in is named, not sent empty."""
    return TextPart("[The image is not at hand.]") if isinstance(part, ImagePart) and not part.data else part


def _says_something(part: UserPart) -> bool:
    return not isinstance(part, TextPart) or bool(part.text)


def _append(turns: list[Turn], turn: Turn) -> None:
    last = turns[-1] if turns else None
    if isinstance(turn, Asked):
        if not turn.results and not turn.parts:
            return
        if isinstance(last, Asked):
            results = _in_order(last.results + turn.results, turns[-2] if len(turns) > 1 else None)
            turns[-1] = Asked(results, last.parts + turn.parts)
            return
    elif isinstance(last, AssistantMessage):
        turns[-1] = AssistantMessage(last.parts + turn.parts, turn.model, turn.provider)
        return
    turns.append(turn)


def _in_order(results: tuple[ToolResultPart, ...], answer: Turn | None) -> tuple[ToolResultPart, ...]:
    """Results in the order of the answer's calls."""
    if not isinstance(answer, AssistantMessage):
        return results
    order = [part.call_id for part in answer.parts if isinstance(part, ToolCallPart)]
    return tuple(sorted(results, key=lambda result: order.index(result.call_id)))


def _answered(message: AssistantMessage, messages: Sequence[Message], start: int) -> AssistantMessage:
    """The message without the calls that have no result before the next answer."""
    if not any(isinstance(part, ToolCallPart) for part in message.parts):
        return message
    have: set[str] = set()
    for position in range(start, len(messages)):
        following = messages[position]
        if isinstance(following, AssistantMessage):
            break
        if isinstance(following, ToolMessage):
            have.update(result.call_id for result in following.results)
    parts = tuple(p for p in message.parts if not isinstance(p, ToolCallPart) or p.call_id in have)
    return AssistantMessage(parts, message.model, message.provider)


def _matching(results: tuple[ToolResultPart, ...], turns: list[Turn]) -> tuple[ToolResultPart, ...]:
    """Results of calls of the last answer that have none yet, in the order of the calls."""
    answer = next((turn for turn in reversed(turns) if isinstance(turn, AssistantMessage)), None)
    given = turns[-1].results if turns and isinstance(turns[-1], Asked) else ()
    open_ids = [p.call_id for p in answer.parts if isinstance(p, ToolCallPart)] if answer else []
    for result in given:
        if result.call_id in open_ids:
            open_ids.remove(result.call_id)
    by_id = {result.call_id: result for result in results}
    return tuple(by_id[call_id] for call_id in open_ids if call_id in by_id)


def encode(body: JsonValue) -> bytes:
    """A request body as JSON in UTF-8. Lone surrogates, which no server accepts, become U+FFFD.

    Key order is kept, so that the same beginning of a conversation gives the same bytes (prompt caches).
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
