"""The one cookie of a sign-in: unreadable for scripts, and sent by our own pages only."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from maia.web.desk import Desk
from maia.workspace.accounts import DAYS


def set_cookie(answer: Response, request: Request, desk: Desk, token: str) -> None:
    """Keep the sign-in in this browser."""
    answer.set_cookie(
        desk.cookie,
        token,
        max_age=DAYS * 86_400,
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def drop_cookie(answer: Response, desk: Desk) -> None:
    """Forget it."""
    answer.delete_cookie(desk.cookie, path="/", httponly=True, samesite="strict")
