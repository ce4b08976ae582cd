"""Files that go with a message: as text cut to what the model can take, as pictures, as copies where it works."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from maia.core.submission import Attachment
from maia.core.text import cut_middle
from maia.database import attachments
from maia.database.attachments import AttachmentRow
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.files.placing import place_copies
from maia.workspace.composition import tokens_of
from maia.workspace.files.attachments import MOST_FILES, Attachments
from maia.workspace.problems import FileGone, FileRefused

_SHARE: Final = 3
"""All files of a message fill at most this part of the window."""
_USUAL_TOKENS: Final = 32_000
_MOST_TOKENS: Final = 200_000
_NO_TEXT: Final = {
    "": "(its content is not text)",
    "locked": "(no text was read: it is protected by a password)",
    "no_text": "(no text was found in it, as in a scan)",
    "no_picture": "(it looks like an image, but could not be decoded)",
}
_NOT_ALL: Final = "\n[the file goes on, but no more of it was read]"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who will read the files: its `window` in tokens, where it works, and whether it opens files there by itself."""

    window: int | None
    folder: Path
    is_program: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """What goes with a message. `along` stores that the files went with it; it raises `FileGone` where they cannot."""

    attachments: tuple[Attachment, ...] = ()
    ids: tuple[str, ...] = ()

    def along(self, connection: Connection, turn: int) -> None:
        if self.ids and not attachments.mark_sent(connection, self.ids, turn):
            raise FileGone("files.gone")


async def joined(
    database: Database, files: Attachments, row: ConversationRow, ids: Sequence[str], reader: Reader
) -> Joined:
    """The files of these ids, in the order in which they came.

    Raises `FileGone` where one does not wait in this conversation: it was removed, or sent in another tab.
    """
    if not ids:
        return Joined()
    if len(set(ids)) > MOST_FILES:
        raise FileRefused("files.too_many", n=MOST_FILES)
    wanted = [each for each in await files.waiting(row) if each.id in set(ids)]
    if len(wanted) != len(set(ids)):
        raise FileGone("files.gone")
    texts = await database.read(lambda c: attachments.texts_of(c, [each.id for each in wanted]))
    room = room_for({name: tokens_of(text) for name, text in texts.items()}, reader.window)
    made = [_attachment(each, texts.get(each.id), room.get(each.id, 0)) for each in wanted]
    placed = await _placed(files, wanted, made, reader)
    return Joined(tuple(placed), tuple(each.id for each in wanted))


def sent_along(connection: Connection, conversation_id: str, turn: int) -> tuple[Attachment, ...]:
    """What went with the message of a turn, for who tells of it later: no copies, and as much text as is usual."""
    rows = attachments.sent_with(connection, conversation_id, turn)
    texts = attachments.texts_of(connection, [each.id for each in rows])
    room = room_for({name: tokens_of(text) for name, text in texts.items()}, None)
    return tuple(_attachment(each, texts.get(each.id), room.get(each.id, 0)) for each in rows)


def room_for(sizes: Mapping[str, int], window: int | None) -> dict[str, int]:
    """How many tokens of each text are sent: short ones whole, what is left in equal parts to the long ones."""
    left = min(window // _SHARE, _MOST_TOKENS) if window else _USUAL_TOKENS
    room: dict[str, int] = {}
    for n, (name, size) in enumerate(sorted(sizes.items(), key=lambda each: each[1])):
        room[name] = min(size, left // (len(sizes) - n))
        left -= room[name]
    return room


def cut_to(text: str, tokens: int) -> tuple[str, int]:
    """The beginning and the end of a text in about that many tokens, with a mark, and how many characters are gone."""
    size = tokens_of(text)
    if size <= tokens:
        return text, 0
    cut = cut_middle(text, len(text) * tokens // size)
    return cut.text, cut.cut_chars


def _attachment(row: AttachmentRow, text: str | None, room: int) -> Attachment:
    base = Attachment("file", row.name, "", id=row.id, media_type=row.media_type, size=row.size)
    if row.kind == "image":
        return replace(base, kind="image", digest=row.sent_digest or "", media_type=row.sent_type or "")
    if text is None:
        return replace(base, text=_NO_TEXT[row.problem])
    kept, gone = cut_to(text, room)
    return replace(base, text=kept + _NOT_ALL * row.is_cut, cut_chars=gone)


async def _placed(
    files: Attachments, rows: Sequence[AttachmentRow], made: Sequence[Attachment], reader: Reader
) -> list[Attachment]:
    """Copies where the reader works: of everything for a program, else of what the message does not hold whole.

    Where the folder cannot be written there are none.
    """
    wanted = [n for n, (row, item) in enumerate(zip(rows, made, strict=True)) if reader.is_program or _lacks(row, item)]
    copies = [(rows[n].name, files.path(rows[n].sent_digest or rows[n].digest)) for n in wanted]
    try:
        places = await asyncio.to_thread(place_copies, reader.folder, copies) if copies else []
    except OSError:
        return list(made)
    by_number = dict(zip(wanted, places, strict=True))
    return [replace(item, place=by_number.get(n, "")) for n, item in enumerate(made)]


def _lacks(row: AttachmentRow, item: Attachment) -> bool:
    return row.kind != "image" and (row.kind != "text" or row.is_cut or item.cut_chars > 0)
