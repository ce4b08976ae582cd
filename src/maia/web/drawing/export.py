"""A conversation as a file that leaves: Markdown for people, JSON for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.text import one_line
from maia.web.drawing.clock import moment
from maia.workspace.records import Card, MessageRow

Kind: TypeAlias = Literal["md", "json"]
MEDIA_TYPES: Final[Mapping[Kind, str]] = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json; charset=utf-8",
}
_LONGEST_NAME = 80
_UNFIT = re.compile(r"[^\w .()\[\]-]+")


def as_json(body: JsonObject) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"


def as_markdown(card: Card, messages: Sequence[MessageRow], author: str, say: Say) -> str:
    """Title, what is known of it, and what was said, in order; texts stay as they were written."""
    return "\n".join([f"# {card.title or say('web.title.none')}", "", *_facts(card, say), *_said(messages, author)])


def _facts(card: Card, say: Say) -> Iterator[str]:
    facts = {
        "board.field.project": card.project,
        "board.field.due": card.due_on,
        "board.field.labels": ", ".join(card.labels),
        "board.field.created": moment(card.created_at),
    }
    yield from (f"- {say(key)}: {value}" for key, value in facts.items() if value)
    yield ""


def _said(messages: Sequence[MessageRow], author: str) -> Iterator[str]:
    for message in messages:
        who = author if message.role == "user" else _answerer(message)
        yield from (f"## {who} · {moment(message.created_at)}", "", message.text.rstrip(), "")


def _answerer(message: MessageRow) -> str:
    told = message.turn_meta or {}
    who, model = one_line(told.get("agent") or "maia"), told.get("model")
    return f"{who} ({model})" if model else who


def file_header(title: str, kind: Kind) -> str:
    """A header under which every browser keeps the file by that title, whatever is in it."""
    name = " ".join(_UNFIT.sub(" ", title).split())[:_LONGEST_NAME].strip(" .") or "conversation"
    plain = name.encode("ascii", "ignore").decode().strip() or "conversation"
    return f"attachment; filename=\"{plain}.{kind}\"; filename*=UTF-8''{quote(name)}.{kind}"
