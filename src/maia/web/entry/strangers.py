"""Pages for whoever is not signed in: in the language of their browser, with nothing of anybody."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from maia.web.drawing.render import Reader
from maia.web.entry.desk import desk_of, language_of

_INSIDE: Final = re.compile(r"/(?![/\\])[^\x00-\x20\x7f\\]*")
LONGEST_PLACE: Final = 300
"""Characters of the place that signing in leads to."""
NO_STORE: Final = {"cache-control": "no-store"}


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody wants pages to look; empty is what the system says."""

    theme: str = ""
    density: str = ""


def stranger(request: Request) -> Reader:
    """Words for somebody of whom no more is known than their language, and that only once they are signed in."""
    desk = desk_of(request)
    lang = language_of(request, getattr(request.state, "lang", None), desk.lang)
    return Reader(desk.words[lang], lang)


def stranger_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page for them."""
    return HTMLResponse(stranger(request).draw(template, look=Look(), **values), status, NO_STORE)


def signin_page(
    request: Request, status: int = 200, *, where: str = "/", email: str = "", problem: str = ""
) -> Response:
    """The page for signing in; `where` is the place to go on to."""
    oidc = desk_of(request).oidc
    elsewhere = oidc.provider.name if oidc is not None else ""
    return stranger_page(request, "signin.html", status, next=where, email=email, problem=problem, elsewhere=elsewhere)


def inside(where: str) -> str:
    """A place in this server only: never somebody else's page."""
    return where if _INSIDE.fullmatch(where) else "/"


def error_page(request: Request, status: int, words: str) -> Response:
    """A page that says what went wrong."""
    return stranger_page(request, "error.html", status, words=words)
