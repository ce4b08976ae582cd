"""config_example: what to write where, so that a client has this server, an agent exists, or a model has a nickname."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameter, Parameters
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.tools.row import Tool, Values

URL: Final = "http://127.0.0.1:6242/mcp"
TOKEN_VARIABLE: Final = "MAIA_MCP_TOKEN"


async def config_example(call: Call, values: Values) -> Reply:
    """The examples asked for, each with the file it belongs into."""
    wanted = values["topic"] or "all"
    over_http = values["transport"] == "http"
    rows: list[JsonObject] = []
    for topic, example in EXAMPLES.items():
        if wanted in ("all", topic):
            file, content = example(call.desk.command, over_http)
            rows.append({"topic": topic, "file": file, "content": content})
    return Reply(
        "\n\n".join(f"## {row['topic']}: {row['file']}\n\n{row['content']}" for row in rows), {"examples": rows}
    )


def _json(value: JsonObject) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _server(command: tuple[str, ...], over_http: bool, **kind: str) -> JsonObject:
    """A server as most clients write it."""
    if over_http:
        return {**kind, "url": URL, "headers": {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"}}
    return {"command": command[0], "args": list(command[1:])}


def _claude_code(command: tuple[str, ...], over_http: bool) -> tuple[str, str]:
    kind = {"type": "http"} if over_http else {}
    return ".mcp.json", _json({"mcpServers": {"maia": _server(command, over_http, **kind)}})


def _codex(command: tuple[str, ...], over_http: bool) -> tuple[str, str]:
    if over_http:
        rows = [f"url = {json.dumps(URL)}", f'bearer_token_env_var = "{TOKEN_VARIABLE}"']
    else:
        rows = [f"command = {json.dumps(command[0])}", f"args = {json.dumps(list(command[1:]))}"]
    return "~/.codex/config.toml", "\n".join(["[mcp_servers.maia]", *rows, "tool_timeout_sec = 3600"])


def _opencode(command: tuple[str, ...], over_http: bool) -> tuple[str, str]:
    server: JsonObject = {"type": "local", "command": list(command), "enabled": True}
    if over_http:
        token = f"Bearer {{env:{TOKEN_VARIABLE}}}"
        server = {"type": "remote", "url": URL, "headers": {"Authorization": token}, "enabled": True}
    return "opencode.json", _json({"$schema": "https://opencode.ai/config.json", "mcp": {"maia": server}})


def _cursor(command: tuple[str, ...], over_http: bool) -> tuple[str, str]:
    server = _server(command, over_http)
    if over_http:
        server["headers"] = {"Authorization": f"Bearer ${{env:{TOKEN_VARIABLE}}}"}
    return "~/.cursor/mcp.json", _json({"mcpServers": {"maia": server}})


def _vscode(command: tuple[str, ...], over_http: bool) -> tuple[str, str]:
    server = _server(command, over_http)
    server["type"] = "http" if over_http else "stdio"
    if over_http:
        server["headers"] = {"Authorization": f"Bearer ${{env:{TOKEN_VARIABLE}}}"}
    return ".vscode/mcp.json", _json({"servers": {"maia": server}})


def _gemini(command: tuple[str, ...], over_http: bool) -> tuple[str, str]:
    server = _server(command, over_http)
    if over_http:
        server["httpUrl"] = server.pop("url")
    server["timeout"] = 3_600_000
    return "~/.gemini/settings.json", _json({"mcpServers": {"maia": server}})


def _agent(_command: tuple[str, ...], _over_http: bool) -> tuple[str, str]:
    return "~/.maia/agents/reviewer/AGENT.md", _AGENT


_AGENT: Final = """---
name: reviewer
nickname: The Chaos Prophet     # what people call it; unique
description: Reads a change and says what will break
model: sonnet                   # a nickname, an exact name, or a part of one
tools: [Read, Grep, Glob]       # only these; all when left out
---

## Instructions system

You look for what will go wrong. You say where, why, and how to see it.

## Missions

Read the change that you are given, whole, with the code that it touches.

## Output

At most ten findings, the worst first, each with file and line."""

EXAMPLES: Final[Mapping[str, Callable[[tuple[str, ...], bool], tuple[str, str]]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "opencode": _opencode,
    "cursor": _cursor,
    "vscode": _vscode,
    "gemini": _gemini,
    "agent": _agent,
}
"""One row an example: the file it belongs into, and what to write there."""

_ROW: Final[JsonObject] = {
    "topic": {"type": "string"},
    "file": {"type": "string", "description": "Where it belongs"},
    "content": {"type": "string"},
}

TOOL: Final = Tool(
    "config_example",
    "Show example settings",
    Parameters(
        (
            Parameter("topic", "string", "A client, or agent; all when left out", choices=(*EXAMPLES, "all"),
                      aliases=("client",)),
            Parameter("transport", "string", "How the client reaches maia, stdio unless said",
                      choices=("stdio", "http")),
        ),
        closed=True,
    ),
    {
        "type": "object",
        "properties": {
            "examples": {
                "type": "array",
                "items": {"type": "object", "properties": _ROW, "required": list(_ROW)},
            }
        },
        "required": ["examples"],
    },
    config_example,
    reads_only=True,
)  # fmt: skip
