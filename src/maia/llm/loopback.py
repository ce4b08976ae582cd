"""Model servers on this machine, found by asking their usual ports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from maia.core.errors import ModelFailed
from maia.llm.addresses import checked_key, is_loopback_url, url_problem
from maia.llm.endpoint import Endpoint, GetJson
from maia.llm.providers import LOCAL_SERVERS, LocalServer
from maia.llm.target import WireTarget

PROBE_SECONDS: Final = 0.4


async def on_loopback(get_json: GetJson, env: Mapping[str, str]) -> tuple[Endpoint, ...]:
    """Servers that answer on their usual port of this machine, asked all at once, `PROBE_SECONDS` at the longest."""
    found = await asyncio.gather(*(_answering(server, get_json, env) for server in LOCAL_SERVERS))
    return tuple(endpoint for endpoint in found if endpoint is not None)


async def _answering(server: LocalServer, get_json: GetJson, env: Mapping[str, str]) -> Endpoint | None:
    base = local_url(server, env)
    if not is_loopback_url(base):
        return None
    key = checked_key(env.get(server.key_var), server.key_var, []) if server.key_var else None
    probe = WireTarget(server.name, "openai-chat", base.removesuffix(server.base_path), connect_timeout=PROBE_SECONDS)
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            answer = await get_json(probe, server.probe)
    except (TimeoutError, ModelFailed):
        return None
    if server.sign not in json.dumps(answer):
        return None  # somebody else's port
    return Endpoint(
        server.name, "loopback", WireTarget(server.name, "openai-chat", base, key=key), "/models", server.style
    )


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
