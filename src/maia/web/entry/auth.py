"""The one check that every route passes: who asks, whether the page is ours, and whose conversation it is."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, WebSocket, WebSocketException
from starlette.requests import Request

from maia.i18n.catalogue import Catalogue, Lang
from maia.web.entry.desk import Desk, desk_of, language_of
from maia.web.entry.hosts import SAFE
from maia.workspace.people.accounts import csrf_token
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed
from maia.workspace.records import ConversationRow, User

CSRF_HEADER = "x-csrf-token"


class NotSignedIn(Exception):
    """Nobody is signed in with this request."""


class WrongToken(Exception):
    """A request that changes something came without the token of our pages."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, in which language they read, and the token that their pages send."""

    user: User
    token: str
    lang: Lang
    say: Catalogue
    zone: str

    @property
    def csrf(self) -> str:
        return csrf_token(self.token)


async def reader(request: Request) -> Person:
    """Who reads the answer, whatever was asked. Raises `NotSignedIn`."""
    desk = desk_of(request)
    token = request.cookies.get(desk.cookie, "")
    user = await desk.workspace.accounts.who(token) if token else None
    if user is None:
        raise NotSignedIn
    request.state.lang = user.lang  # what is refused from here on is said in their language
    lang = language_of(request, user.lang, desk.lang)
    return Person(user, token, lang, desk.words[lang], request.cookies.get("maia-zone", "")[:60])


async def signed_in(request: Request) -> Person:
    """Who asks. Raises `NotSignedIn`, and `WrongToken` where something would change."""
    person = await reader(request)
    given = request.headers.get(CSRF_HEADER, "")
    if request.method not in SAFE and not hmac.compare_digest(given.encode(), person.csrf.encode()):
        raise WrongToken
    return person


async def signed_in_line(line: WebSocket) -> Person:
    """Who opens a line, before it is. It is refused where nobody is signed in; our pages alone come so far (guard)."""
    desk = desk_of(line)
    token = line.cookies.get(desk.cookie, "")
    user = await desk.workspace.accounts.who(token) if token else None
    if user is None:
        raise WebSocketException(1008)
    lang = language_of(line, user.lang, desk.lang)
    return Person(user, token, lang, desk.words[lang], line.cookies.get("maia-zone", "")[:60])


async def may_write(request: Request, person: Annotated[Person, Depends(signed_in)]) -> None:
    """Everything that changes something needs the right to (N-20.03). Raises `NotAllowed`."""
    if request.method not in SAFE and not may(person.user, "chat"):
        raise NotAllowed("people.may_only_read")


SignedIn = Annotated[Person, Depends(signed_in)]


async def owned(request: Request, conversation_id: str, person: SignedIn) -> ConversationRow:
    """The conversation that a route is about. Raises `NotYours` for another person's and for none, alike."""
    return await desk_of(request).workspace.conversation(person.user, conversation_id)


Owned = Annotated[ConversationRow, Depends(owned)]


@dataclass(frozen=True, slots=True)
class Within:
    """Who asks within which conversation of theirs, at which desk."""

    desk: Desk
    person: Person
    row: ConversationRow


async def within(request: Request, conversation_id: str, person: SignedIn) -> Within:
    """As `owned` and the desk in one: each dependency costs the first word of an answer its time."""
    return Within(desk_of(request), person, await owned(request, conversation_id, person))


InOwned = Annotated[Within, Depends(within)]


async def the_desk(request: Request) -> Desk:
    """The desk. A plain function would cost a thread for each request."""
    return desk_of(request)


AtDesk = Annotated[Desk, Depends(the_desk)]
