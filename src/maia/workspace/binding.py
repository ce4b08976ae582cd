"""Which model answers a conversation: the one it keeps, else today's default, which it keeps from then on (R-2.033)."""

from __future__ import annotations

from maia.core.errors import MaiaError, NotConfigured
from maia.database.conversations import ConversationRow
from maia.engine.setup import Bound, Models
from maia.workspace.problems import ModelUnavailable

BUILT_IN = "offline"


async def bound_to(row: ConversationRow, models: Models, default: str | None) -> Bound:
    """The model for the next message. `default` is the model that the server was started with, if any.

    Raises `ModelUnavailable`: a model that was kept is never swapped for another (R-2.051).
    """
    if row.provider_id and row.model_id:
        return await _kept(models, row.provider_id, row.model_id)
    try:
        if default is not None:
            return await models.bind(default, "option")
        found = await models.start("")
    except NotConfigured:
        found = await models.bind(BUILT_IN, "default")
    except MaiaError as error:
        raise ModelUnavailable("model_binding_unavailable", error.key, **error.values) from error
    if found is None:
        raise ModelUnavailable("no_model_configured", "workspace.no_model")
    return found


async def _kept(models: Models, provider: str, model: str) -> Bound:
    try:
        found = await models.start(f"{provider}/{model}")
    except NotConfigured:
        found = await models.bind(BUILT_IN, "resumed") if model == BUILT_IN else None
    except MaiaError:
        found = None
    if found is None or (found.provider, found.model) != (provider, model):
        raise ModelUnavailable("model_binding_unavailable", "workspace.model_gone", provider=provider, model=model)
    return found
