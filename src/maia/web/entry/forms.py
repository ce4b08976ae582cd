"""Plain HTML forms, for pages on which nobody is signed in yet."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a plain form."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=20))
    except ValueError:
        return {}
