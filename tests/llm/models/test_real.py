import asyncio
import os

import pytest

from maia.llm.doctor import Check, check_endpoint, verdict
from maia.llm.endpoints import configured
from maia.llm.models import list_models
from maia.llm.open import open_wire
from maia.llm.transport import get_json

URL, KEY, MODEL = "MAIA_REAL_LITELLM_URL", "MAIA_REAL_LITELLM_KEY", "MAIA_REAL_LITELLM_MODEL"
GIVEN = {name: os.environ.get(name, "") for name in (URL, KEY, MODEL)}  # read before the tests' clean environment


@pytest.mark.real
@pytest.mark.skipif(not GIVEN[URL], reason=f"needs a LiteLLM server: {URL}, {KEY}, {MODEL}")
def test_a_real_litellm_in_front_of_a_real_model_passes_every_check() -> None:
    endpoint = configured({"LiteLLM_URL": GIVEN[URL], "LiteLLM_API_Key": GIVEN[KEY]}, {}).endpoints[0]

    async def check() -> tuple[Check, ...]:
        assert endpoint.target is not None
        models = await list_models(endpoint, get_json)
        assert all(model.window_from == "server" for model in models)
        wire = open_wire(endpoint.target)
        try:
            return await check_endpoint(endpoint, get_json, lambda _: wire, model=GIVEN[MODEL])
        finally:
            await wire.aclose()

    assert verdict(asyncio.run(check())) == "ok"
