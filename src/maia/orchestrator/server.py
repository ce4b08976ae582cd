"""The door in the words of the protocol: tools listed and called, progress, questions, cancellation, errors."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from mcp import types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from maia import __version__
from maia.core.errors import MaiaError
from maia.core.events import ApprovalRequested
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Answer
from maia.core.ports import Say
from maia.orchestrator.calls import Call, Desk, Identity, Pause, Reply, Resumed
from maia.orchestrator.forms import answer_of, form_message, form_schema
from maia.orchestrator.table import TABLE, answer
from maia.orchestrator.tools.row import Tool
from maia.orchestrator.words import error_data, error_text

Context: TypeAlias = ServerRequestContext[Any, Any]

MOST_CALLS: Final = 200
"""Calls served at once; more are refused with words. One that waits for a run costs next to nothing."""

INSTRUCTIONS: Final = (
    "maia runs agents on this machine: its own, and agent programs such as Claude Code or Codex, each with a nickname, "
    "a model, permission rules and a private memory. list_agents tells which there are, run_agent gives one a task, "
    "run_agents_parallel several at once, agent_control looks after runs."
)

_NOTICED: Final = 0.3
"""Seconds within which a cancellation that the client sent has been seen; its call is ended a moment before."""


class Door:
    """One server for any number of connections. `identify` tells who sent a request, as authenticated.

    `open_desk` is asked on every call, and not before: most clients connect and then call nothing. `say` has the words
    for what keeps it from being opened.
    """

    def __init__(self, open_desk: Callable[[], Desk], identify: Callable[[Context], Identity], say: Say) -> None:
        self._open_desk = open_desk
        self._say = say
        self._identify = identify
        self._running = 0
        self._taken_back: dict[tuple[str, str, str], asyncio.Event] = {}
        self.is_closing = False
        """Set when every client is gone: no call is then taken back any more."""

    def server(self) -> Server[Any]:
        """The server of the SDK, with our handlers."""
        server: Server[Any] = Server(
            "maia",
            version=__version__,
            title="maia",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            get_tool_input_schema=lambda name: TABLE[name].parameters.schema() if name in TABLE else None,
        )
        server.middleware = [self._notice_cancellations]
        return server

    async def _list(self, _context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TABLE.values()])

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = TABLE.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        if self._running >= MOST_CALLS:
            return _failed(MaiaError("mcp.busy", n=MOST_CALLS), self._say)
        try:
            desk = self._open_desk()
        except MaiaError as problem:
            return _failed(problem, self._say)
        self._running += 1
        try:
            return await self._answered(desk, context, tool, params)
        finally:
            self._running -= 1

    async def _answered(
        self, desk: Desk, context: Context, tool: Tool, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        place = self._place(context, context.request_id)
        self._taken_back[place] = asyncio.Event()
        try:
            client = _Client(context, desk, self._was_taken_back)
            call = Call(desk, self._identify(context), client, await _resumed(desk, params))
            return _result(desk, await answer(call, tool, params.arguments))
        except Pause as pause:
            return _paused(desk, pause)
        except MaiaError as problem:  # of the runs that a paused call names
            return _failed(problem, desk.say)
        finally:
            self._taken_back.pop(place, None)

    async def _notice_cancellations(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "notifications/cancelled" and ctx.params is not None:
            place = self._place(ctx, ctx.params.get("requestId"))
            if place in self._taken_back:
                self._taken_back[place].set()
        return await call_next(ctx)

    async def _was_taken_back(self, context: Context) -> bool:
        noticed = self._taken_back.get(self._place(context, context.request_id))
        if noticed is None or self.is_closing:
            return False
        import anyio

        with anyio.move_on_after(_NOTICED, shield=True):  # the call is cancelled already
            await noticed.wait()
        return noticed.is_set()

    def _place(self, context: Context, request_id: object) -> tuple[str, str, str]:
        """Of whom a request is: numbers of requests are each client's own, and not every protocol has sessions."""
        return self._identify(context).name, _session(context), str(request_id)


def _result(desk: Desk, reply: Reply | MaiaError) -> types.CallToolResult:
    if isinstance(reply, MaiaError):
        return _failed(reply, desk.say)
    content: list[types.ContentBlock] = [types.TextContent(text=reply.text)]
    return types.CallToolResult(content=content, structured_content=reply.data, is_error=reply.is_error)


def _failed(problem: MaiaError, say: Say) -> types.CallToolResult:
    """An error as the result of a call: a model reads the words, a program the code."""
    data = error_data(problem, say)
    return types.CallToolResult(
        content=[types.TextContent(text=error_text(data))], is_error=True, _meta={"maia/error": data}
    )


def _paused(desk: Desk, pause: Pause) -> types.InputRequiredResult:
    """A question where the protocol knows no requests of a server (2026-07-28): the call comes with the answer."""
    state = json.dumps({"runs": pause.run_ids, "asked": [pause.run_id, pause.request.approval_id]})
    return types.InputRequiredResult(
        input_requests={"approval": types.ElicitRequest(params=_form(pause.request, desk))},
        request_state=base64.urlsafe_b64encode(state.encode()).decode(),
    )


async def _resumed(desk: Desk, params: types.CallToolRequestParams) -> Resumed | None:
    """What an earlier, paused call began. Whether the caller may see those runs is asked where they are used."""
    if params.request_state is None:
        return None
    try:
        state = read_json(base64.urlsafe_b64decode(params.request_state))
        runs, (run_id, approval_id) = tuple(map(str, state["runs"])), map(str, state["asked"])
    except (ValueError, TypeError, KeyError):
        raise MCPError(types.INVALID_PARAMS, "requestState is not one that this server gave") from None
    given = (params.input_responses or {}).get("approval")
    if not isinstance(given, types.ElicitResult):
        return Resumed(runs)
    info = await desk.runs.info(run_id)
    request = next((ask for ask in info.open_asks if ask.approval_id == approval_id), None)
    if request is None:
        return Resumed(runs)
    said = answer_of(given.action, given.content, request, desk.say)
    return Resumed(runs, {(run_id, approval_id): said})


def _session(context: Context) -> str:
    """The connection: one on stdio, the session's over http."""
    return context.request.headers.get("mcp-session-id", "") if context.request is not None else ""


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.parameters.schema(),
        output_schema=tool.output,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or tool.reads_only,
            open_world_hint=tool.open_world,
        ),
    )


def _form(request: ApprovalRequested, desk: Desk) -> types.ElicitRequestFormParams:
    message, schema = form_message(request, desk.say), form_schema(request, desk.say)
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)


class _Client:
    """The client at the other end of one call."""

    def __init__(self, context: Context, desk: Desk, was_taken_back: Callable[[Context], Any]) -> None:
        self._context = context
        self._desk = desk
        self._was_taken_back = was_taken_back
        self._told = 0

    @property
    def _is_modern(self) -> bool:
        return self._context.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def can_ask(self) -> bool:
        session = self._context.session
        offered = session.client_capabilities.elicitation if session.client_capabilities is not None else None
        has_forms = offered is not None and (offered.form is not None or offered.url is None)
        return has_forms and (self._is_modern or session.can_send_request)

    async def tell(self, message: str) -> None:
        self._told += 1
        await self._context.session.report_progress(self._told, None, message)

    async def ask(self, run_id: str, request: ApprovalRequested) -> Answer | None:
        if self._is_modern:
            raise Pause(run_id, request)
        form = _form(request, self._desk)
        try:
            result = await self._context.session.elicit_form(
                form.message, form.requested_schema, related_request_id=self._context.request_id
            )
        except MCPError:
            return Answer("no", self._desk.say("mcp.form.cannot"))
        return answer_of(result.action, cast("JsonObject | None", result.content), request, self._desk.say)

    async def was_cancelled(self) -> bool:
        return await self._was_taken_back(self._context)
