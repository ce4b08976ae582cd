"""Files that a model left in the conversation's own workspace are kept with the conversation (R-2.350, N-19.06)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.database.attachments import AttachmentRow
from maia.database.conversations import ConversationRow
from maia.files.names import clean_name
from maia.files.produced import Produced, open_produced, produced
from maia.workspace.files.attachments import LARGEST_FILE, Attachments

MOST_A_TURN: Final = 100
"""Files that are kept after one turn: more than that is a checkout or an installation."""


async def gathered(files: Attachments, row: ConversationRow, turn: int, workspace: Path) -> list[Notice]:
    """Keep what is new or changed in the workspace; what the person is told of it.

    Who wrote it and how does not matter: a tool, a program, or a turn before that a dying server never ended. What
    cannot be read is left where it is. Raises nothing but defects.
    """
    known = latest(await files.of(row))
    moments = {path: (each.size, each.changed_ns or 0) for path, each in known.items()}
    found = await asyncio.to_thread(produced, workspace, moments)
    wanted = [each for each in found if each.size <= LARGEST_FILE][:MOST_A_TURN]
    kept: list[AttachmentRow] = []
    for each in wanted:
        try:
            if (made := await _kept(files, row, turn, workspace, each, known.get(each.path))) is not None:
                kept.append(made)
        except OSError:  # gone or replaced meanwhile
            continue
        except MaiaError as problem:  # no room: the next ones would fare no better
            return [*_told(kept, 0), Notice("warn", problem.key, dict(problem.values))]
    return _told(kept, len(found) - len(wanted))


def latest(rows: Sequence[AttachmentRow]) -> Mapping[str, AttachmentRow]:
    """By its path, what each file of the workspace was when it was last kept."""
    return {row.path: row for row in rows if row.path is not None}


def shown_files(rows: Sequence[AttachmentRow]) -> list[AttachmentRow]:
    """As people look for them: the newest first, of a file that was written again only the last one."""
    last = {row.id for row in latest(rows).values()}
    return [row for row in reversed(rows) if row.path is None or row.id in last]


async def _kept(
    files: Attachments,
    row: ConversationRow,
    turn: int,
    workspace: Path,
    found: Produced,
    before: AttachmentRow | None,
) -> AttachmentRow | None:
    """The new row; None where the content is the same as before, of which the moment is noted."""
    async with files.incoming() as incoming:
        await asyncio.to_thread(_copy, workspace, found.path, incoming.write)
        if not 0 < incoming.size <= LARGEST_FILE:
            return None
        if before is not None and before.digest == incoming.digest:
            await files.touch(before, found.changed_ns)
            return None
        looked = await files.looked_into(incoming.path)
        name = clean_name(found.path)

        def values(_connection: Connection) -> dict[str, Any]:
            place = {"path": found.path, "changed_ns": found.changed_ns}
            return {"name": name, "origin": "model", "turn": turn, **place}

        return await files.keep(row.id, incoming, looked, values)


def _copy(workspace: Path, path: str, write: Callable[[bytes], None]) -> None:
    with open(open_produced(workspace, path), "rb") as file:
        left = LARGEST_FILE + 1
        while left > 0 and (part := file.read(min(left, 1 << 20))):
            write(part)
            left -= len(part)


def _told(kept: Sequence[AttachmentRow], left_out: int) -> list[Notice]:
    def notices() -> Iterator[Notice]:
        if kept:
            files: list[JsonObject] = [
                {"id": each.id, "name": each.name, "kind": each.kind, "size": each.size} for each in kept
            ]
            yield Notice("info", "files.written", {"n": len(kept), "files": files})
        if left_out:
            yield Notice("warn", "files.not_all", {"n": left_out})

    return list(notices())
