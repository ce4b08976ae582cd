"""A conversation as a Markdown file for people (`/export`, `maia sessions export`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from maia.core.errors import SessionProblem, system_words
from maia.core.messages import (
    AssistantMessage,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from maia.core.namedpath import named_path
from maia.engine.transcript import Transcript


def markdown(transcript: Transcript, name: str) -> str:
    """The conversation from its first message on. Calls and results are fenced so that nothing in them renders."""
    return "\n\n".join([f"# {name}", *_blocks(transcript.messages())]) + "\n"


def write_markdown(transcript: Transcript, name: str, launch: Path, path: str) -> Path:
    """Write `markdown` to `path` (relative to the launch folder; empty: a free name there). Never over a file.

    Raises `SessionProblem` when `path` names none, when a file is there, and when it cannot be written.
    """
    target = named_path(path.strip(), launch) if path.strip() else _free(launch / f"{name}.md")
    if not isinstance(target, Path):
        raise SessionProblem("session.export_no_path", path=path.strip())
    try:
        file = target.open("x", encoding="utf-8", errors="replace")
    except FileExistsError as error:
        raise SessionProblem("session.export_exists", path=str(target)) from error
    except OSError as error:
        raise SessionProblem("session.export_failed", path=str(target), problem=system_words(error)) from error
    try:
        with file:
            file.write(markdown(transcript, name))
    except OSError as error:
        target.unlink(missing_ok=True)  # half of a conversation would pass for all of it, and hold the name
        raise SessionProblem("session.export_failed", path=str(target), problem=system_words(error)) from error
    return target


def _free(path: Path) -> Path:
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}_{number}")
    return free


def _blocks(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        match message:
            case UserMessage():
                yield "## maia" if message.reminder else "## User"
                yield from (part.text for part in message.parts if isinstance(part, TextPart))
            case AssistantMessage():
                yield f"## {message.model or 'Assistant'}"
                yield from _answer(message)
            case ToolMessage():
                yield from (f"**{result.name}** →\n\n{_fenced(result.text)}" for result in message.results)


def _answer(message: AssistantMessage) -> Iterator[str]:
    for part in message.parts:
        match part:
            case TextPart():
                yield part.text
            case ToolCallPart():
                yield f"**{part.name}**\n\n{_fenced(json.dumps(part.arguments, ensure_ascii=False, indent=2), 'json')}"
            case ReasoningPart():
                pass


def _fenced(text: str, language: str = "") -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
