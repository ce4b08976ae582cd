"""The lanes of a board as they are drawn: in their order, with those that are empty. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from maia.core.ports import Say
from maia.web.drawing.words import PRESSING_FIRST, PRIORITIES
from maia.workspace.record.board import MOST_OF_A_LANE, Asked, Board, Lane
from maia.workspace.records import Card

FIELDS: Mapping[str, str] = {"stage": "stageId", "priority": "priority", "agent": "agent"}
"""What a card gets by being moved into a lane."""
_EMPTY = Lane("", 0, ())
_AT_LEAST = 50
"""Cards that a lane shows once somebody asks for more."""


@dataclass(frozen=True, slots=True)
class Column:
    """One lane. `key` is what its cards get; `left` are the cards that are not shown.

    `size` is how many cards "more" shows, 0 where a lane shows as many as it may.
    """

    id: str
    key: str
    title: str
    count: int
    cards: Sequence[Card]
    limit: int | None = None
    is_folded: bool = False
    size: int = 0

    @property
    def left(self) -> int:
        return self.count - len(self.cards)

    @property
    def is_over(self) -> bool:
        """Whether more cards stand here than should."""
        return self.limit is not None and self.count > self.limit


def columns(board: Board, asked: Asked, nicknames: Mapping[str, str], say: Say) -> list[Column]:
    """All lanes of a board in their order."""
    found = {lane.key: lane for lane in board.lanes}
    match asked.group:
        case "stage":
            return list(_stages(board, asked, found, say))
        case "priority":
            return [_column(key, say(PRIORITIES[key].key), found) for key in PRESSING_FIRST]
        case "agent":
            names = {"": say("board.unassigned"), **nicknames, **{key: key for key in found if key not in nicknames}}
            names[""] = say("board.unassigned")
            return [_column(key, name, found) for key, name in names.items()]


def _stages(board: Board, asked: Asked, found: Mapping[str, Lane], say: Say) -> Iterator[Column]:
    wanted = asked.wanted
    if "" in found:
        yield _column("", say("board.no_stage"), found)
    for stage in board.stages:
        if wanted.stage_id in ("", stage.id) and not (wanted.state == "active" and stage.is_closed):
            yield _column(stage.id, stage.name, found, stage.wip_limit, is_folded=stage.is_folded)


def _column(
    key: str, title: str, found: Mapping[str, Lane], limit: int | None = None, *, is_folded: bool = False
) -> Column:
    lane = found.get(key, _EMPTY)
    size = min(MOST_OF_A_LANE, max(_AT_LEAST, 2 * len(lane.cards))) if len(lane.cards) < MOST_OF_A_LANE else 0
    name = "lane-" + sha256(key.encode()).hexdigest()[:10]
    return Column(name, key, title, lane.count, lane.cards, limit, is_folded, size)
