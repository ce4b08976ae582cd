"""Serves lent tools by the Model Context Protocol: from one message to its answer, no transport.

Protocol: modelcontextprotocol.io, versions 2024-11-05 to 2025-11-25, of which tools are the same part in each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.requests import ToolSpec
from maia.core.results import ToolResult
from maia.runtimes.rpc import METHOD_NOT_FOUND
from maia.runtimes.values import table, text

SERVER: Final = "maia"
"""The name under which programs know the server; it stands before the names of its tools."""
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
INVALID_PARAMS: Final = -32602

Use = Callable[[str, JsonObject], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class Lending:
    """The tools of one program, and how they are called."""

    tools: Sequence[ToolSpec]
    use: Use

    async def answer(self, message: JsonObject) -> JsonObject | None:
        """The answer to a message of the program's client, None for one that wants none."""
        number = message.get("id")
        if number is None or "method" not in message:
            return None
        params = table(message.get("params"))
        match message["method"]:
            case "initialize":
                return _result(number, self._greeting(text(params.get("protocolVersion"))))
            case "ping":
                return _result(number, {})
            case "tools/list":
                return _result(number, {"tools": [_shown(spec) for spec in self.tools]})
            case "tools/call":
                result = await self.use(text(params.get("name")), table(params.get("arguments")))
                content: list[JsonValue] = [{"type": "text", "text": result.text}]
                return _result(number, {"content": content, "isError": result.is_error})
            case other:
                return failed(number, METHOD_NOT_FOUND, f"{other} is not supported")

    def _greeting(self, wanted: str) -> JsonObject:
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SERVER, "version": "1"},
        }


def _shown(spec: ToolSpec) -> JsonObject:
    """Nothing outside changes by these tools without our own gate: no program needs to ask about them again."""
    hints: JsonObject = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
    return {"name": spec.name, "description": spec.description, "inputSchema": spec.parameters, "annotations": hints}


def _result(number: JsonValue, result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def failed(number: JsonValue, code: int, words: str) -> JsonObject:
    """An answer that says why there is none."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}}
