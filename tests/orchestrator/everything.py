"""The door's own http server with the tools, resources and prompts that the official conformance suite asks for.

    python -m tests.orchestrator.everything   prints the port on which it listens

maia's tools give neither images nor resources, so that most scenarios of the suite have nothing to ask of `maia mcp`
itself; here they go through the same server, guard and transport.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp import types

from maia.core.jsonvalue import JsonObject
from maia.orchestrator.address import listen
from maia.orchestrator.calls import Identity
from maia.orchestrator.http import serve_http
from maia.orchestrator.server import Context
from tests.orchestrator.doubles import House

PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
NO_ARGUMENTS: Final[JsonObject] = {"type": "object", "properties": {}}
Content = list[types.ContentBlock]
Made = Callable[[Context, dict[str, Any]], Awaitable[Content]]


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def picture() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, kind: str, words: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=words))


async def simple(_context: Context, _arguments: dict[str, Any]) -> Content:
    return [text("This is a simple text response for testing.")]


async def image(_context: Context, _arguments: dict[str, Any]) -> Content:
    return [picture()]


async def audio(_context: Context, _arguments: dict[str, Any]) -> Content:
    return [types.AudioContent(data=SOUND, mime_type="audio/wav")]


async def resource(_context: Context, _arguments: dict[str, Any]) -> Content:
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


async def mixed(_context: Context, _arguments: dict[str, Any]) -> Content:
    value = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [text("Multiple content types test:"), picture(), value]


async def logging(context: Context, _arguments: dict[str, Any]) -> Content:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        params = types.LoggingMessageNotificationParams(level="info", data=words)
        await context.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=context.request_id
        )
        await asyncio.sleep(0.05)
    return [text("done")]


async def error(_context: Context, _arguments: dict[str, Any]) -> Content:
    raise ValueError("This tool intentionally returns an error for testing")


async def progress(context: Context, _arguments: dict[str, Any]) -> Content:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return [text("done")]


async def sampling(context: Context, arguments: dict[str, Any]) -> Content:
    message = types.SamplingMessage(role="user", content=text(arguments["prompt"]))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    result = await context.session.send_request(types.CreateMessageRequest(params=params), types.CreateMessageResult)
    return [text(f"LLM response: {result.content}")]


def asks(schema: JsonObject) -> Made:
    async def ask(context: Context, arguments: dict[str, Any]) -> Content:
        message = arguments.get("message", "Please answer")
        result = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
        return [text(f"Elicitation completed: action={result.action}, content={json.dumps(result.content)}")]

    return ask


PERSON: Final[JsonObject] = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}
DEFAULTS: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
_TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
ENUMS: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}
FULL_SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
TOOLS: Final[dict[str, tuple[JsonObject, Made]]] = {
    "test_simple_text": (NO_ARGUMENTS, simple),
    "test_image_content": (NO_ARGUMENTS, image),
    "test_audio_content": (NO_ARGUMENTS, audio),
    "test_embedded_resource": (NO_ARGUMENTS, resource),
    "test_multiple_content_types": (NO_ARGUMENTS, mixed),
    "test_tool_with_logging": (NO_ARGUMENTS, logging),
    "test_error_handling": (NO_ARGUMENTS, error),
    "test_tool_with_progress": (NO_ARGUMENTS, progress),
    "test_sampling": ({"type": "object", "properties": {"prompt": {"type": "string"}}}, sampling),
    "test_elicitation": ({"type": "object", "properties": {"message": {"type": "string"}}}, asks(PERSON)),
    "test_elicitation_sep1034_defaults": (NO_ARGUMENTS, asks(DEFAULTS)),
    "test_elicitation_sep1330_enums": (NO_ARGUMENTS, asks(ENUMS)),
    "test_reconnection": (NO_ARGUMENTS, simple),
    "json_schema_2020_12_tool": (FULL_SCHEMA, simple),
}


async def list_tools(_context: Context, _params: types.PaginatedRequestParams) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema=schema) for name, (schema, _) in TOOLS.items()]
    )


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        return types.CallToolResult(content=await TOOLS[params.name][1](context, params.arguments or {}))
    except ValueError as problem:
        return types.CallToolResult(content=[text(str(problem))], is_error=True)


# Resources and prompts -----------------------------------------------------------------------------------------------


async def list_resources(_context: Context, _params: types.PaginatedRequestParams) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri="test://static-text", name="text", description="text", mime_type="text/plain"),
            types.Resource(uri="test://static-binary", name="binary", description="binary", mime_type="image/png"),
            types.Resource(uri="test://watched-resource", name="watched", description="x", mime_type="text/plain"),
        ]
    )


async def list_templates(_context: Context, _params: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="t", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)]
        )
    words = "This is the content of the static text resource."
    kind = "text/plain"
    if uri.startswith("test://template/"):
        number = uri.split("/")[3]
        words, kind = (
            json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"}),
            "application/json",
        )
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=words)])


async def empty(_context: Context, _params: object) -> types.EmptyResult:
    return types.EmptyResult()


def _prompt(name: str, *arguments: str) -> types.Prompt:
    return types.Prompt(
        name=name,
        description=name,
        arguments=[types.PromptArgument(name=word, description=word, required=True) for word in arguments],
    )


async def list_prompts(_context: Context, _params: types.PaginatedRequestParams) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            _prompt("test_simple_prompt"),
            _prompt("test_prompt_with_arguments", "arg1", "arg2"),
            _prompt("test_prompt_with_embedded_resource", "resourceUri"),
            _prompt("test_prompt_with_image"),
        ]
    )


async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    contents: dict[str, Content] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", "test://x"), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [picture(), text("Please analyze the image above.")],
    }
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=content) for content in contents[params.name]]
    )


async def complete(_context: Context, _params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris", "park"], total=2, has_more=False))


async def main() -> None:
    server = House().door.server()
    rows: list[tuple[str, Any, Any]] = [
        ("tools/list", types.PaginatedRequestParams, list_tools),
        ("tools/call", types.CallToolRequestParams, call_tool),
        ("resources/list", types.PaginatedRequestParams, list_resources),
        ("resources/templates/list", types.PaginatedRequestParams, list_templates),
        ("resources/read", types.ReadResourceRequestParams, read_resource),
        ("resources/subscribe", types.SubscribeRequestParams, empty),
        ("resources/unsubscribe", types.UnsubscribeRequestParams, empty),
        ("prompts/list", types.PaginatedRequestParams, list_prompts),
        ("prompts/get", types.GetPromptRequestParams, get_prompt),
        ("completion/complete", types.CompleteRequestParams, complete),
        ("logging/setLevel", types.SetLevelRequestParams, empty),
    ]
    for method, params, handler in rows:
        server.add_request_handler(method, params, handler)
    listening = listen("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    await serve_http(server, lambda _token: Identity(), listening, "127.0.0.1", lambda _end: None)


if __name__ == "__main__":
    asyncio.run(main())
