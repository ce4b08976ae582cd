"""The model servers that maia itself asks get no key of another provider."""

from __future__ import annotations

from maia.app.keyguard import guarded
from maia.llm.endpoints import configured
from tests.credentials.made import ANTHROPIC, MINIMAX, ZAI, fake


def names(env: dict[str, str]) -> tuple[list[str], list[str]]:
    found = guarded(configured({}, env), env)
    return [endpoint.name for endpoint in found.endpoints], [notice.key for notice in found.notices]


def test_a_key_at_its_own_host_stays() -> None:
    assert names({"ANTHROPIC_API_KEY": ANTHROPIC, "MISTRAL_API_KEY": "FAKE" * 8}) == (["anthropic", "mistral"], [])


def test_openrouter_is_asked_only_where_its_setting_allows_it() -> None:
    env = {"ANTHROPIC_API_KEY": ANTHROPIC, "OPENROUTER_API_KEY": fake("sk-or-v1-", 73)}
    assert names(env) == (["anthropic"], ["keys.code.openrouter_blocked"])
    (notice,) = guarded(configured({}, env), env).notices
    assert notice.values == {"setting": "MAIA_ALLOW_OPENROUTER"}
    assert names(env | {"MAIA_ALLOW_OPENROUTER": "1"}) == (["anthropic", "openrouter"], [])


def test_a_key_of_another_provider_is_left_out_and_told() -> None:
    assert names({"OPENAI_API_KEY": ANTHROPIC}) == ([], ["keys.code.token_url_conflict"])
    env = {"ANTHROPIC_API_KEY": MINIMAX, "ANTHROPIC_BASE_URL": "https://api.z.ai/api/anthropic", "GLM_API_KEY": ZAI}
    assert names(env) == (["zai"], ["keys.code.token_url_conflict"])


def test_the_switch_lets_it_through_and_only_when_it_is_on() -> None:
    assert names({"OPENAI_API_KEY": ANTHROPIC, "MAIA_ALLOW_KEY_MISMATCH": "1"}) == (["openai"], [])
    assert names({"OPENAI_API_KEY": ANTHROPIC, "MAIA_ALLOW_KEY_MISMATCH": "0"})[0] == []


def test_what_is_no_key_of_a_model_is_sent_nowhere() -> None:
    assert names({"OPENAI_API_KEY": "AKIA" + 4 * "FAKE"}) == ([], ["keys.code.not_an_api_key"])


def test_a_gateway_gets_what_it_is_given() -> None:
    env = {"OPENAI_API_KEY": "FAKE-gateway-key", "OPENAI_BASE_URL": "https://llm.example.org/v1"}
    assert names(env) == (["openai"], [])


def test_no_notice_holds_a_key() -> None:
    env = {"OPENAI_API_KEY": ANTHROPIC}
    assert ANTHROPIC not in repr(guarded(configured({}, env), env))
