"""Home: what needs a person, what runs, what was done last, the board and the cost at a glance (N-15.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from maia.core.ports import Say
from maia.web.boards.board import nicknames_of
from maia.web.drawing.cardwords import CardWords
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.layout.frame import nav_parts, page_of, reader_of
from maia.web.layout.parts import LONGEST_SHOWN, Parts, follow, reached, shown_word
from maia.web.layout.stream import streamed
from maia.workspace.approvals import may_decide
from maia.workspace.records import Card

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_APPROVALS = 10


@router.get("/")
async def home(desk: AtDesk, person: SignedIn) -> Response:
    """What goes on, and a place to begin something."""
    parts = await _draw(desk, person)
    projects, _, _ = await desk.workspace.planning.all()
    return await page_of(
        desk,
        person,
        "home.html",
        "/",
        parts=parts,
        shown=shown_word(parts),
        words=CardWords.of(person.say, person.lang, person.zone),
        projects=projects,
        colleagues=await desk.workspace.cards.colleagues(),
    )


@router.get("/ui/home/stream")
async def stream(
    request: Request,
    desk: AtDesk,
    person: SignedIn,
    shown: Annotated[str, Query(max_length=LONGEST_SHOWN)] = "",
) -> Response:
    """What changes on Home, as it changes."""

    async def draw() -> Parts:
        return {**await _draw(desk, person), **await nav_parts(desk, person, "/")}

    return streamed(desk, person, follow(desk, person, draw, reached(request, shown)))


async def _draw(desk: Desk, person: Person) -> Parts:
    """Home's parts by their ids."""
    words = CardWords.of(person.say, person.lang, person.zone)
    today = await desk.workspace.boards.today(person.user, words.today, words.month_began)
    waiting = await desk.workspace.approvals.listed(person.user, decided=False)
    names = await nicknames_of(desk)
    is_without_model = (await desk.workspace.models.known()).install_default() is None
    tiles = reader_of(desk, person).pieces("tiles.html")
    pressing = needing(today.running, today.pressing, words)
    only_stuck = len(pressing) - len(today.pressing)
    needs = len(waiting) + only_stuck + today.needs + is_without_model
    return {
        "home-said": tiles.said(_sentence(needs, today.works, person.say)),
        "home-needs": tiles.needs(
            waiting[:_APPROVALS], pressing, words, names, may_decide(person.user), person.user.id, is_without_model
        ),
        "home-running": tiles.running(today.running, words, names),
        "home-recent": tiles.recent(today.recent, words, names),
        "home-board": tiles.board(today.stages, today.lanes),
        "home-cost": tiles.cost(today.spent, words),
    }


def needing(running: Sequence[Card], pressing: Sequence[Card], words: CardWords) -> Sequence[Card]:
    """What needs a person, each card once: what is stuck, then what waits, failed or is due."""
    stuck = [card for card in running if words.is_stuck(card)]
    return [*stuck, *(card for card in pressing if card not in stuck)]


def _sentence(needs: int, running: int, say: Say) -> str:
    """What goes on, in two short sentences."""
    said = [say("board.home.said.needs", n=needs) if needs else say("board.home.said.nothing")]
    if running:
        said.append(say("web.home.running", n=running))
    return " ".join(said)
