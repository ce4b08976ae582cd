"""The application: its routes, each behind the one check, and what stands around them."""

from __future__ import annotations

from functools import partial
from typing import Final

from fastapi import APIRouter, Depends, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from maia.web import pages
from maia.web.api import (
    account,
    agents,
    approvals,
    attachments,
    autonomy,
    cards,
    children,
    completion,
    conversations,
    defaults,
    isolation,
    memories,
    models,
    observability,
    opencode,
    planning,
    preferences,
    privacy,
    routing,
    security,
    session,
    sessions,
    tools,
    users,
)
from maia.web.boards import board as board_page
from maia.web.boards import home, projects, records
from maia.web.conversation import bar, files, folders, history, terminal
from maia.web.conversation import children as children_page
from maia.web.conversation import context as context_page
from maia.web.drawing.assets import assets, packed
from maia.web.entry import failures, oidc
from maia.web.entry.auth import may_write, signed_in
from maia.web.entry.desk import Desk, desk_of
from maia.web.entry.guard import Guard
from maia.web.entry.strangers import refusal
from maia.web.layout import colleagues as colleagues_page
from maia.web.layout import frame as frame_page
from maia.web.layout.errors import failed_page
from maia.web.running import agents as agents_page
from maia.web.running import approvals as approvals_page
from maia.web.running import autonomy as autonomy_page
from maia.web.running import memories as memory_page
from maia.web.running import observability as observability_page
from maia.web.running import people, providers
from maia.web.running import privacy as privacy_page
from maia.web.running import security as security_page
from maia.web.running import tools as tools_page

API: Final = "/api/v1"
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}

_open = APIRouter(include_in_schema=False)


@_open.get("/health")
async def health(request: Request) -> Response:
    """Whether the server is there."""
    return JSONResponse({"status": "ok", "version": desk_of(request).version})


@_open.get("/static/{digest}/{name:path}")
async def static(request: Request, digest: str, name: str) -> Response:
    """A file of the pages."""
    found = assets().get(name)
    if found is None or found.digest != digest:
        raise HTTPException(404)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed(name), media_type=found.media_type, headers={**_FOR_EVER, "content-encoding": "gzip"})
    return Response(found.body, media_type=found.media_type, headers=_FOR_EVER)


def make_app(desk: Desk) -> ASGIApp:
    """The application of one server. Routes are private unless they stand among the open ones here."""
    app = FastAPI(
        title="maia",
        version=desk.version,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.desk = desk
    failures.install(app, failed_page)
    private, writing = [Depends(signed_in)], [Depends(may_write)]
    # the first one that fits is taken: what people wait for comes first
    for router in (
        conversations.router,
        children.router,
        approvals.router,
        autonomy.router,
        attachments.router,
        observability.router,
        opencode.router,
        memories.router,
        preferences.router,
        agents.router,
        cards.router,
        planning.router,
        planning.by_planner,
        defaults.router,
        privacy.router,
        completion.router,
        isolation.router,
        models.router,
        routing.router,
        security.router,
        tools.router,
        users.router,
        sessions.router,
    ):
        app.include_router(router, prefix=API, dependencies=writing)
    for router in (_open, pages.open_router, people.open_router, oidc.open_router):
        app.include_router(router)
    app.include_router(session.open_router, prefix=API)
    app.include_router(opencode.lines, prefix=API)  # behind `signed_in_line`
    for router in (session.router, account.router):
        app.include_router(router, prefix=API, dependencies=private)
    for router in (
        home.router,
        board_page.router,
        projects.router,
        pages.router,
        frame_page.router,
        bar.router,
        history.router,
        children_page.router,
        files.router,
        folders.router,
        records.router,
        context_page.router,
        memory_page.router,
        agents_page.router,
        approvals_page.router,
        autonomy_page.router,
        colleagues_page.router,
        providers.router,
        observability_page.router,
        security_page.router,
        tools_page.router,
        privacy_page.router,
        people.router,
        terminal.router,
    ):
        app.include_router(router, dependencies=writing)

    @app.get(f"{API}/openapi.json", include_in_schema=False, dependencies=private)
    async def openapi() -> Response:
        return JSONResponse(app.openapi())

    return Guard(app, desk.hosts, partial(refusal, desk))
