"""The board: conversations as cards in lanes or as a list, and the stream that keeps both as they are (N-15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from maia.web.api.boardquery import BoardQuery
from maia.web.drawing.boardview import FIELDS, columns
from maia.web.drawing.cardwords import CardWords
from maia.web.drawing.words import PRESSING_FIRST, PRIORITIES
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.layout.frame import nav_parts, page_of, reader_of
from maia.web.layout.parts import LONGEST_SHOWN, Parts, follow, reached, shown_word
from maia.web.layout.stream import streamed
from maia.workspace.record.board import EVERYONE, MOST_OF_A_LANE, Board

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_ROWS = 40
"""Rows of a list at first; each asking for more shows as many again, up to what a lane shows at most."""


class PageQuery(BoardQuery):
    """`view` is how cards are shown; a list shows `rows` of them."""

    view: Literal["kanban", "list"] = "kanban"
    rows: Annotated[int, Query(ge=1, le=MOST_OF_A_LANE)] = _ROWS


Asking = Annotated[PageQuery, Query()]


@router.get("/board")
async def board(desk: AtDesk, person: SignedIn, query: Asking) -> Response:
    """The board as its address says."""
    read, parts = await _draw(desk, person, query)
    return await page_of(
        desk,
        person,
        "board.html",
        "/board",
        query=query,
        parts=parts,
        shown=shown_word(parts),
        project_options=[(each.id, each.name) for each in read.projects],
        stage_options=[(each.id, each.name) for each in read.stages],
        priority_options=[(key, person.say(PRIORITIES[key].key)) for key in PRESSING_FIRST],
        label_options=[(label, label) for label in read.labels],
    )


@router.get("/ui/board/stream")
async def stream(
    request: Request,
    desk: AtDesk,
    person: SignedIn,
    query: Asking,
    shown: Annotated[str, Query(max_length=LONGEST_SHOWN)] = "",
) -> Response:
    """What changes on a board of that address, as it changes."""

    async def draw() -> Parts:
        return {**(await _draw(desk, person, query))[1], **await nav_parts(desk, person, "/board")}

    return streamed(desk, person, follow(desk, person, draw, reached(request, shown)))


async def _draw(desk: Desk, person: Person, query: PageQuery) -> tuple[Board, Parts]:
    """What the board is drawn from, and its lanes, or its list, as HTML by their ids."""
    boards = desk.workspace.boards
    words = CardWords.of(person.say, person.lang, person.zone)
    nicknames = await nicknames_of(desk)
    pieces = reader_of(desk, person).pieces("cards.html")
    if query.view == "list":
        read = await boards.listing(person.user, query.filter, query.rows)
        more = min(2 * query.rows, MOST_OF_A_LANE)
        return read, {"cards-list": pieces.listing(read.lanes[0], more if more > query.rows else 0, words, nicknames)}
    read = await boards.board(person.user, query.asked)
    lanes = columns(read, query.asked, nicknames, person.say)
    field = FIELDS[query.group]
    drawn = {lane.id: pieces.lane(lane, field, words, nicknames) for lane in lanes}
    nothing = pieces.nothing(bool(read.lanes), query.filter != EVERYONE, query.q)
    return read, {**drawn, "board-none": nothing}


async def nicknames_of(desk: Desk) -> Mapping[str, str]:
    """What people call the colleagues, by the names under which conversations keep them."""
    return {each.name: each.nickname for each in await desk.workspace.cards.colleagues()}
