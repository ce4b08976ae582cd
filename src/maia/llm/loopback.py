"""Model servers on this machine, found by asking their usual ports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from maia.core.errors import ModelFailed
from maia.llm.addresses import checked_key, is_loopback_url, url_problem
from maia.llm.endpoint import Endpoint, GetJson
from maia.llm.providers import LOCAL_SERVERS, LocalServer
from maia.llm.target import WireTarget

CONNECT_SECONDS: Final = 0.25
ANSWER_SECONDS: Final = 1.5

Listens: TypeAlias = Callable[[str, int], Awaitable[bool]]


async def on_loopback(
    get_json: GetJson, env: Mapping[str, str], listens: Listens | None = None
) -> tuple[Endpoint, ...]:
    """Servers that answer on their usual port of this machine, asked all at once.

    A port that nobody listens on costs one refused connection, and no HTTP client is loaded for it. `listens` tells
    whether a host and port take connections (default: tries).
    """
    listens = listens or _listens
    found = await asyncio.gather(*(_answering(server, get_json, env, listens) for server in LOCAL_SERVERS))
    return tuple(endpoint for endpoint in found if endpoint is not None)


async def _listens(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _answering(
    server: LocalServer, get_json: GetJson, env: Mapping[str, str], listens: Listens
) -> Endpoint | None:
    base = local_url(server, env)
    parts = urlsplit(base)
    if not is_loopback_url(base) or not await listens(parts.hostname or "", parts.port or 0):
        return None
    probe = WireTarget(server.name, "openai-chat", base.removesuffix(server.base_path), connect_timeout=ANSWER_SECONDS)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await get_json(probe, server.probe)
    except (TimeoutError, ModelFailed):
        return None
    if server.sign not in json.dumps(answer):
        return None  # somebody else's port
    key = checked_key(env.get(server.key_var), server.key_var, []) if server.key_var else None
    target = WireTarget(server.name, "openai-chat", base, key=key)
    return Endpoint(server.name, "loopback", target, "/models", server.style)


def local_url(server: LocalServer, env: Mapping[str, str]) -> str:
    """The server's address: its own variable (`OLLAMA_HOST`: host, host:port or URL), else its usual port."""
    given = env.get(server.url_var, "").strip() if server.url_var else ""
    if not given or url_problem(url := given if "://" in given else f"http://{given}"):
        return f"http://127.0.0.1:{server.port}{server.base_path}"
    parts = urlsplit(url)
    host = "127.0.0.1" if parts.hostname in ("0.0.0.0", "::") else parts.hostname
    shown = f"[{host}]" if host and ":" in host else host
    port = parts.port or (server.port if parts.scheme == "http" else 443)
    return f"{parts.scheme}://{shown}:{port}{server.base_path}"
