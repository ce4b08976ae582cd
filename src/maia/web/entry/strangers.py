"""Pages for whoever is not signed in: in the language of their browser, with nothing of anybody."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from maia.core.ports import Say
from maia.web.drawing.render import Reader
from maia.web.entry.desk import Desk, desk_of, first_language, language_of

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


NEXT: Final[Mapping[int, str]] = {
    400: "web.error.next.400",
    403: "web.error.next.403",
    404: "web.error.next.404",
    405: "web.error.next.405",
    413: "web.error.next.413",
    421: "web.error.next.421",
    503: "web.error.next.503",
}
"""What somebody may do about an error, by its status."""


def error_page(request: Request, status: int, words: str) -> Response:
    """A page that says what went wrong, and what can be done."""
    return stranger_page(request, "error.html", status, words=words, **next_step(stranger(request).say, status))


def refusal(desk: Desk, headers: Mapping[str, str], status: int, code: str, key: str, is_page: bool) -> tuple[str, str]:
    """The media type and body of a refusal before any route is reached, when only its headers are known."""
    lang = first_language(headers.get("accept-language", ""), desk.lang)
    say = desk.words[lang]
    words = say(key)
    if not is_page:
        return "application/json", json.dumps({"error": code, "code": code, "message": words}, ensure_ascii=False)
    html = Reader(say, lang).draw(
        "error.html", look=Look(), words=words, **next_step(say, 0 if status == 403 else status)
    )
    return "text/html; charset=utf-8", html


def next_step(say: Say, status: int) -> Mapping[str, Any]:
    """What an error page says below its words, and whether there is a way home: not by a name that is not ours."""
    return {"more": say(NEXT[status]) if status in NEXT else "", "leads_home": status != 421}
