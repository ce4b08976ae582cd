"""What rides on the message of a turn and on nothing else: it is put in front of the copy that is sent (N-12.04)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maia.core.messages import Message, TextPart, UserMessage
from maia.core.requests import Section


def place_of_message(history: Sequence[Message]) -> int:
    """Where the next message of the person will stand: at the end, or joined to one that was never answered (T4.06)."""
    return len(history) - 1 if history and isinstance(history[-1], UserMessage) else len(history)


def with_preface(messages: tuple[Message, ...], place: int, preface: Sequence[Section]) -> tuple[Message, ...]:
    """The messages to send, in which the one at that place begins with these sections; what is stored is another."""
    if not preface or place >= len(messages):
        return messages
    asked = messages[place]
    if not isinstance(asked, UserMessage):
        return messages
    parts = (*(TextPart(section.text) for section in preface), *asked.parts)
    return (*messages[:place], replace(asked, parts=parts), *messages[place + 1 :])
