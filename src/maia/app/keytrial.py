"""One call with a key, to where the vote sends it: the same for `maia keys check`, `maia keys set` and the set-up."""

from __future__ import annotations

from maia.credentials.vote import Resolution
from maia.llm.endpoint import Endpoint


def endpoint_of(found: Resolution) -> Endpoint | None:
    """The endpoint that asks this provider, made by the model room from the variables it knows; None for others."""
    from maia.llm.endpoints import configured
    from maia.llm.providers import BY_NAME

    key, row = found.key.reveal() if found.key else "", BY_NAME.get(found.provider)
    if row is None:
        entry = {"name": found.provider, "url": found.base_url, "key": key}
        endpoints = configured({"endpoints": [entry]}, {}).endpoints
    else:
        names = row.bearer_vars if found.detection.kind == "oauth" and row.bearer_vars else row.key_vars
        endpoints = configured({}, {names[0]: key, row.base_var: found.base_url}).endpoints
    return next((endpoint for endpoint in endpoints if endpoint.name == found.provider), None)


async def count_models(endpoint: Endpoint) -> int:
    """How many models the server lists with this key. Raises `ModelFailed`."""
    from maia.llm.models import list_models
    from maia.llm.transport import get_json

    return len(await list_models(endpoint, get_json))
