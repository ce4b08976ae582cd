"""What is done with a conversation from any page: found by its words, its record edited, moved, exported, deleted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.boards.board import nicknames_of
from maia.web.drawing.cardwords import CardWords
from maia.web.drawing.words import PRESSING_FIRST, PRIORITIES
from maia.web.entry.auth import AtDesk, Owned, SignedIn
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import RECENT, reader_of
from maia.web.layout.nav import entries_for
from maia.workspace.record.board import words_in

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/ui/find")
async def find(
    desk: AtDesk, person: SignedIn, query: Annotated[str, Query(alias="q", max_length=400)] = ""
) -> Response:
    """What the finder offers: conversations with these words; without any, pages and what was done last."""
    say = person.say
    found = await desk.workspace.cards.search(person.user, query) if query.strip() else ()
    recent = () if query.strip() else await desk.workspace.conversations(person.user, RECENT)
    typed = query.strip().casefold()
    pages = [entry for entry in entries_for(person.user) if typed in say(entry.key).casefold()]
    hits = [(each.row, marked(each.excerpt, words_in(query))) for each in found]
    html = reader_of(desk, person).draw("found.html", found=hits, recent=recent, pages=pages, query=query.strip())
    return HTMLResponse(html, headers=NO_STORE)


def marked(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """A text in pieces, those that are one of the words apart; accents that were not typed stay unmarked."""
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pieces = re.split(f"({pattern})", text, flags=re.IGNORECASE) if pattern else [text]
    return [(piece, n % 2 == 1) for n, piece in enumerate(pieces) if piece]


@router.get("/ui/cards/{conversation_id}")
async def record(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """The record of a conversation, to be edited."""
    projects, types, stages = await desk.workspace.planning.all()
    html = reader_of(desk, person).draw(
        "record.html",
        card=await desk.workspace.cards.card(person.user, row),
        words=CardWords.of(person.say, person.lang, person.zone),
        projects=projects,
        types=types,
        stages=stages,
        priorities={key: PRIORITIES[key] for key in PRESSING_FIRST},
        prompt=await desk.workspace.cards.prompt(row),
        people=await desk.workspace.cards.people(),
        nicknames=await nicknames_of(desk),
    )
    return HTMLResponse(html, headers=NO_STORE)
