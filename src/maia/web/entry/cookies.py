"""The cookies of a sign-in: unreadable for scripts, and sent by our own pages only."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from maia.web.entry.desk import Desk
from maia.workspace.people.accounts import DAYS, Signed
from maia.workspace.people.oidc import RETURN

_DEVICE_DAYS = 400
"""The longest time for which browsers keep a cookie."""


def set_cookies(answer: Response, request: Request, desk: Desk, signed: Signed) -> None:
    """Keep the sign-in in this browser, and that this person signed in with it."""
    for name, value, days in ((desk.cookie, signed.token, DAYS), (_device(desk), signed.device, _DEVICE_DAYS)):
        answer.set_cookie(
            name,
            value,
            max_age=days * 86_400,
            path="/",
            httponly=True,
            samesite="strict",
            secure=_is_secure(request, desk),
        )


def device_of(request: Request, desk: Desk) -> str:
    """What this browser says of who signed in with it before; empty where nobody did."""
    return request.cookies.get(_device(desk), "")


def keep_binding(answer: Response, request: Request, desk: Desk, binding: str) -> None:
    """Keep for some minutes that this browser went to sign in elsewhere; it is sent when it comes back from there."""
    answer.set_cookie(
        f"{desk.cookie}-oidc",
        binding,
        max_age=600,
        path=RETURN,
        httponly=True,
        samesite="lax",
        secure=_is_secure(request, desk),
    )


def binding_of(request: Request, desk: Desk) -> str:
    """What `keep_binding` kept."""
    return request.cookies.get(f"{desk.cookie}-oidc", "")


def _is_secure(request: Request, desk: Desk) -> bool:
    return desk.public.startswith("https:") or request.url.scheme == "https"


def _device(desk: Desk) -> str:
    return f"{desk.cookie}-known"


def drop_cookie(answer: Response, desk: Desk) -> None:
    """Forget the sign-in."""
    answer.delete_cookie(desk.cookie, path="/", httponly=True, samesite="strict")
