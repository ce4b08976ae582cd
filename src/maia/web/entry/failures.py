"""Errors become answers: a status, a code and words in the reader's language; a page becomes a page."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from maia.core.errors import MaiaError, NotConfigured
from maia.core.jsonvalue import JsonObject
from maia.core.text import visible
from maia.web.drawing.troubles import settings_for
from maia.web.entry.auth import NotSignedIn, WrongToken
from maia.web.entry.bodies import issues_of, summary
from maia.web.entry.strangers import LONGEST_PLACE, stranger
from maia.workspace.problems import (
    AlreadyDecided,
    BudgetStopped,
    Busy,
    Coded,
    DiscoveryFailed,
    EnteringFailed,
    FileGone,
    FileRefused,
    FileTooLarge,
    FolderRefused,
    ListRefused,
    ModelUnavailable,
    NoRoomForFile,
    NotAllowed,
    NotThere,
    NotYours,
    Outdated,
    PolicyChanged,
    PolicyRefused,
    PrivacyBlocked,
    QuotaReached,
    StorageError,
    Taken,
    TerminalRefused,
    TooManyTries,
    TrialFailed,
    Unfit,
    Unusable,
    VerifyUnavailable,
    WrongSignIn,
    is_unwritable,
)

_STATUS: Mapping[type[MaiaError], int] = {
    NotYours: 404,
    Busy: 409,
    FileTooLarge: 413,
    FileRefused: 400,
    FileGone: 409,
    NoRoomForFile: 507,
    NotAllowed: 403,
    AlreadyDecided: 409,
    Taken: 409,
    Outdated: 409,
    Unusable: 400,
    FolderRefused: 400,
    ListRefused: 400,
    ModelUnavailable: 409,
    BudgetStopped: 402,
    QuotaReached: 402,
    PolicyChanged: 412,
    PolicyRefused: 400,
    PrivacyBlocked: 422,
    Unfit: 400,
    NotThere: 404,
    VerifyUnavailable: 409,
    DiscoveryFailed: 502,
    TrialFailed: 502,
    WrongSignIn: 401,
    EnteringFailed: 403,
    TooManyTries: 429,
    TerminalRefused: 409,
    NotConfigured: 409,
}
_CODES: Mapping[int, tuple[str, str]] = {
    400: ("bad_request", "web.error.no_json"),
    404: ("not_found", "web.not_found"),
    405: ("method_not_allowed", "web.error.method"),
    413: ("too_large", "web.error.too_large"),
}
"""Code and words of what reaches no route: no address, no such method, a body that is no JSON at all."""
Page: TypeAlias = Callable[[Request, int, str], Awaitable[Response]]
_log = logging.getLogger("maia.web")


def install(app: FastAPI, page: Page) -> None:
    """Answer all errors of the application's routes; `page` draws them for whoever opened one in a browser."""
    app.state.failed_page = page
    app.add_exception_handler(MaiaError, _refused)
    app.add_exception_handler(NotSignedIn, _not_signed_in)
    app.add_exception_handler(WrongToken, _wrong_token)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_exception_handler(RequestValidationError, _bad_body)
    app.add_exception_handler(StorageError, _storage)
    app.add_exception_handler(Exception, _defect)


def status_of(error: MaiaError) -> int:
    """The HTTP status of a refusal."""
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def code_of(error: MaiaError) -> str:
    """Its machine code: the last part of its key, unless it has one of its own."""
    if isinstance(error, FolderRefused):
        return error.refusal.code
    if isinstance(error, (Coded, PolicyRefused, PrivacyBlocked)):
        return error.code
    return error.key.rpartition(".")[2]


def _more(request: Request, error: MaiaError) -> JsonObject:
    """What stands beside code and words: which folder and what was found in it (R-2.337), or what may be sent."""
    if isinstance(error, Coded):
        where = settings_for(error.code)
        return error.more if where is None else {**error.more, "settings": where}
    if isinstance(error, PrivacyBlocked):
        return {"types": error.types, "maskedContent": error.masked}
    if isinstance(error, PolicyRefused):
        said = ((place, _words(request, reason.key, **reason.values)) for place, reason in error.issues)
        return {"issues": [{"path": place, "message": words} for place, words in said]}
    if not isinstance(error, FolderRefused):
        return {}
    path, found = error.refusal.path, error.refusal.found
    return {"path": path} if found is None else {"path": path, "found": found}


def _body(code: str, message: str, **more: Any) -> JsonObject:
    return {"error": code, "code": code, "message": message, **more}


def _is_page(request: Request) -> bool:
    """Whether somebody opened it; what a script of ours asks for it gets as it is, never as a page to show inside."""
    is_opened = request.headers.get("sec-fetch-mode", "navigate") == "navigate"
    return is_opened and not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def _words(request: Request, key: str, **values: Any) -> str:
    return visible(stranger(request).say(key, **values))


async def _told(
    request: Request, status: int, code: str, words: str, more: JsonObject, headers: Mapping[str, str] | None = None
) -> Response:
    """A page for whom opened one, else the words with their code."""
    if _is_page(request):
        page: Page = request.app.state.failed_page
        return await page(request, status, words)
    return JSONResponse(_body(code, words, **more), status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, MaiaError)
    headers = {"retry-after": str(error.seconds)} if isinstance(error, TooManyTries) else None
    words, more = _words(request, error.key, **error.values), _more(request, error)
    if isinstance(error, NotConfigured) and stranger(request).say.has(fix := f"{error.key}.fix"):
        more = {**more, "remedy": _words(request, fix, **error.values)}
    return await _told(request, status_of(error), code_of(error), words, more, headers)


async def _not_signed_in(request: Request, _error: Exception) -> Response:
    if _is_page(request) and request.method == "GET":
        where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        leads_back = where != "/" and len(where) <= LONGEST_PLACE
        return RedirectResponse(f"/signin?next={quote(where, safe='/')}" if leads_back else "/signin", 303)
    return JSONResponse(_body("not_signed_in", _words(request, "signin.needed")), 401)


async def _wrong_token(request: Request, _error: Exception) -> Response:
    return JSONResponse(_body("csrf", _words(request, "web.reload_needed")), 403)


async def _by_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code, key = _CODES.get(error.status_code, (f"http_{error.status_code}", ""))
    words = _words(request, key) if key else str(error.detail)
    return await _told(request, error.status_code, code, words, {}, error.headers)


async def _bad_body(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    reader = stranger(request)
    issues = issues_of(error.errors(), reader.say, reader.lang)
    return await _told(request, 400, "ValidationError", summary(issues, reader.say), {"issues": issues})


async def _storage(request: Request, error: Exception) -> Response:
    _log.error("storage: %s", type(error).__name__)
    return await _told(
        request, 503, "storage", _words(request, "web.storage_full" if is_unwritable(error) else "web.storage"), {}
    )


async def _defect(request: Request, error: Exception) -> Response:
    """The traceback goes to the server's log, never to a reader."""
    _log.error("defect at %s %s", request.method, request.url.path, exc_info=error)
    return await _told(request, 500, "defect", _words(request, "web.defect"), {})
