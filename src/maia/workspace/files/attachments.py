"""Files of conversations: taken in, looked into, kept, given to their owners, and removed when nobody knows them."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from maia.database import attachments
from maia.database.attachments import AttachmentRow
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.ids import ID_CHARS
from maia.database.users import User
from maia.files.blobs import Blobs, Incoming
from maia.files.names import clean_name, free_name
from maia.files.reading import Look, look
from maia.workspace.problems import FileGone, FileRefused, FileTooLarge, NoRoomForFile, NotYours

LARGEST_FILE: Final = 25_000_000
"""Bytes of one file."""
MOST_FILES: Final = 20
"""Files that go with one message."""
MOST_BYTES: Final = 20_000_000_000
"""Bytes of all files of this installation."""
_KEPT_FREE: Final = 200_000_000
"""Bytes that are left to the database and to everybody else."""
_AT_ONCE: Final = 2
"""Files that are looked into at the same time."""
_log = logging.getLogger("maia.workspace")


class Attachments:
    """All files of this installation, in a folder of its own below `folder`; `open` it before anything else."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._opened: Blobs | None = None
        self._looking = asyncio.Semaphore(_AT_ONCE)
        self._in_turn = asyncio.Lock()
        """Held while a content is kept together with its row, or removed because no row knows it."""

    async def open(self, installation: str) -> None:
        """Remove what a server that died left half written. Two databases may share a data folder, but no files."""

        def work() -> Blobs:
            blobs = Blobs(self._folder / installation)
            blobs.clear_incoming()
            return blobs

        try:
            self._opened = await asyncio.to_thread(work)
        except OSError as problem:  # conversations go on without files
            _log.error("attachments: %s: %s", self._folder, problem)

    @property
    def _blobs(self) -> Blobs:
        if self._opened is None:
            raise NoRoomForFile("files.no_place")
        return self._opened

    # Coming and going

    async def take_in(self, row: ConversationRow, name: str, content: AsyncIterator[bytes]) -> AttachmentRow:
        """A file that waits for the next message of a conversation.

        Raises `FileRefused` for an empty one and where too many wait, `FileTooLarge`, `NoRoomForFile`: then nothing of
        it is kept. Nor is it where the caller gives up.
        """
        async with self.incoming() as incoming:
            self._refuse_crowd(await self.waiting(row))
            await self._fill(incoming, content)
            if not incoming.size:
                raise FileRefused("files.empty")
            found = await self.looked_into(incoming.path)

            def values(connection: Connection) -> dict[str, Any]:
                others = attachments.waiting(connection, row.id)
                self._refuse_crowd(others)
                return {"name": free_name(clean_name(name), {each.name for each in others}), "origin": "person"}

            return await self.keep(row.id, incoming, found, values)

    @asynccontextmanager
    async def incoming(self) -> AsyncGenerator[Incoming]:
        """A file to fill, which is gone afterwards unless it was kept. Raises `NoRoomForFile`."""
        kept = await self._database.read(attachments.kept_bytes)
        try:
            free = await asyncio.to_thread(self._blobs.free_bytes)
            incoming = await asyncio.to_thread(self._blobs.begin)
        except OSError as problem:
            raise NoRoomForFile("files.no_place") from problem
        try:
            if kept > MOST_BYTES or free < _KEPT_FREE:
                raise NoRoomForFile("files.no_room")
            yield incoming
        except OSError as problem:
            if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise NoRoomForFile("files.no_room") from problem
        finally:
            incoming.drop()

    async def looked_into(self, path: Path) -> Look:
        """What that file is; a few at a time."""
        async with self._looking:
            return await look(path)

    async def keep(
        self, conversation_id: str, incoming: Incoming, found: Look, values: Callable[[Connection], Mapping[str, Any]]
    ) -> AttachmentRow:
        """Keep a file with its row; `values` adds to the row, in its transaction."""

        def contents() -> dict[str, Any]:
            incoming.sync()
            size = incoming.size
            more: dict[str, Any] = {"digest": self._blobs.keep(incoming), "size": size}
            if (picture := found.picture) is not None:
                more |= {
                    "width": picture.width,
                    "height": picture.height,
                    "sent_digest": self._blobs.add(picture.sent),
                    "sent_type": picture.sent_type,
                    "thumbnail_digest": self._blobs.add(picture.thumbnail),
                }
            return more

        async with self._in_turn:
            kept = await asyncio.to_thread(contents)
            looked = {"kind": found.kind, "media_type": found.media_type, "problem": found.problem}
            read = {"text": found.text, "is_cut": found.is_cut}

            def add(connection: Connection) -> AttachmentRow:
                given = {"conversation_id": conversation_id, **kept, **looked, **read, **values(connection)}
                return attachments.attachment(connection, attachments.add_attachment(connection, given))

            return await self._database.write(add)

    async def touch(self, row: AttachmentRow, changed_ns: int) -> None:
        """A file of a workspace was written again with the same content."""
        await self._database.write(lambda c: attachments.touch(c, row.id, changed_ns))

    async def remove(self, user: User, attachment_id: str) -> None:
        """Away with a file that was not sent. Raises `NotYours`, and `FileGone` for one that stays with its message."""
        row = await self.one(user, attachment_id)
        async with self._in_turn:
            if not await self._database.write(lambda c: attachments.remove_waiting(c, row.id)):
                raise FileGone("files.sent")
            await self._drop([each for each in (row.digest, row.sent_digest, row.thumbnail_digest) if each])

    async def sweep(self) -> None:
        """Remove contents that no row knows: of a server that died, and of conversations that are gone for good."""
        if self._opened is None:
            return
        blobs = self._opened
        async with self._in_turn:
            strays = await asyncio.to_thread(lambda: list(blobs.strays(time.time())))
            for start in range(0, len(strays), 500):
                await self._drop(strays[start : start + 500])

    # Looking

    async def of(self, row: ConversationRow) -> list[AttachmentRow]:
        """All files of a conversation, oldest first."""
        return await self._database.read(lambda c: attachments.attachments_of(c, row.id))

    async def waiting(self, row: ConversationRow) -> list[AttachmentRow]:
        """Those that go with the next message."""
        return await self._database.read(lambda c: attachments.waiting(c, row.id))

    async def one(self, user: User, attachment_id: str) -> AttachmentRow:
        """One file. Raises `NotYours` for another person's, for one of a deleted conversation, and for none."""
        found = None
        if len(attachment_id) == ID_CHARS and attachment_id.isascii() and attachment_id.isalnum():
            found = await self._database.read(lambda c: attachments.attachment_of(c, attachment_id, user.id))
        if found is None:
            raise NotYours("files.not_found")
        return found

    def path(self, digest: str) -> Path:
        """Where a content lies."""
        return self._blobs.path(digest)

    def read(self, digest: str) -> bytes:
        """A content. Blocks. Raises `OSError`."""
        return self._blobs.read(digest)

    # Inside

    @staticmethod
    async def _fill(incoming: Incoming, content: AsyncIterator[bytes]) -> None:
        async for part in content:
            if incoming.size + len(part) > LARGEST_FILE:
                raise FileTooLarge("files.too_large", limit=LARGEST_FILE // 1_000_000)
            await asyncio.to_thread(incoming.write, part)

    @staticmethod
    def _refuse_crowd(others: Sequence[AttachmentRow]) -> None:
        if len(others) >= MOST_FILES:
            raise FileRefused("files.too_many", n=MOST_FILES)

    async def _drop(self, digests: Sequence[str]) -> None:
        unknown = await self._database.read(lambda c: attachments.unknown_among(c, digests))

        def work() -> None:
            for each in unknown:
                self._blobs.remove(each)

        await asyncio.to_thread(work)
