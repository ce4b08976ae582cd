"""The key that an agent names is sent to the server or program it pays for, and nowhere else (C2.04, C6.03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from maia.app.agentkeys import AgentKey, agent_key, paid_by, program_environment
from maia.app.keyguard import guarded
from maia.app.runtimes import guard_keys
from maia.core.errors import UsageProblem
from maia.core.secret import Secret
from maia.llm.endpoints import configured
from maia.runtimes.programs import BY_NAME
from tests.credentials.made import ANTHROPIC, MINIMAX, fake

OTHER = ANTHROPIC[:-4] + "WORK"
OAUTH = fake("sk-ant-oat01-", 95)
PLAIN = "FAKE" * 8
"""A key whose shape tells nobody's name."""


def paid(key: str, model: str = "", settings: Any = None, **env: str) -> dict[str, str]:
    """The servers that would be asked, with the key that each would get."""
    world: Mapping[str, str] = {**env, "WORK_KEY": key}
    named = agent_key("WORK_KEY", model, world)
    world = named.environment(world)
    found = paid_by(guarded(configured(settings or {}, world), world), named, world)
    keys = {each.name: each.target.key for each in found.endpoints if each.target}
    return {name: secret.reveal() if secret else "" for name, secret in keys.items()}


CUSTOM = {"endpoints": {"work": {"url": "https://llm.example.org/v1"}, "home": {"url": "https://home.example.org/v1"}}}


def test_a_key_goes_to_its_own_provider_in_place_of_the_usual_one() -> None:
    assert paid(OTHER, ANTHROPIC_API_KEY=ANTHROPIC, MISTRAL_API_KEY=PLAIN) == {"anthropic": OTHER}


def test_no_other_key_of_that_provider_stays_beside_it() -> None:
    env = AgentKey("WORK_KEY", Secret(OTHER)).environment({"ANTHROPIC_TOKEN": ANTHROPIC, "WORK_KEY": OTHER})
    assert env == {"ANTHROPIC_API_KEY": OTHER, "WORK_KEY": OTHER}


def test_a_provider_that_has_no_key_is_reached_by_the_agents() -> None:
    assert paid(OTHER, MISTRAL_API_KEY=PLAIN) == {"anthropic": OTHER}


def test_the_model_names_the_provider_of_a_key_that_does_not_show_it() -> None:
    assert paid(PLAIN, "mistral/large", ANTHROPIC_API_KEY=ANTHROPIC) == {"mistral": PLAIN}
    assert paid(PLAIN, "work/x", CUSTOM) == {"work": PLAIN}


def test_the_only_server_gets_the_key_that_shows_no_provider() -> None:
    assert paid(PLAIN, settings={"LiteLLM_URL": "https://llm.example.org"}) == {"litellm": PLAIN}


@pytest.mark.parametrize(
    ("key", "model", "settings", "env"),
    [
        (PLAIN, "", CUSTOM, {}),
        (PLAIN, "nobody/x", CUSTOM, {}),
        (OTHER, "", CUSTOM, {"OPENAI_API_KEY": PLAIN, "ANTHROPIC_BASE_URL": "https://api.minimax.io/anthropic"}),
    ],
    ids=["two servers, no word which", "a provider that is not there", "its provider's address is another company's"],
)
def test_a_key_that_would_have_to_be_guessed_about_goes_nowhere(
    key: str, model: str, settings: Any, env: dict[str, str]
) -> None:
    with pytest.raises(UsageProblem) as caught:
        paid(key, model, settings, **env)
    assert caught.value.key == "agents.key.nowhere"
    assert key not in str(caught.value.values)


@pytest.mark.parametrize("model", ["openai/gpt-5", "mistral/large"])
def test_a_key_of_one_company_never_goes_to_another_that_the_model_names(model: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        paid(ANTHROPIC, model, OPENAI_API_KEY=PLAIN, MISTRAL_API_KEY=PLAIN)
    assert caught.value.key == "keys.code.token_url_conflict"
    assert ANTHROPIC not in str(caught.value.values)


def test_a_key_is_not_shown_by_what_holds_it() -> None:
    assert ANTHROPIC not in repr(AgentKey("WORK_KEY", Secret(ANTHROPIC)))


# Programs -----------------------------------------------------------------------------------------------------------


def given(program: str, key: str, variable: str = "WORK_KEY", **env: str) -> dict[str, str]:
    """The program's own variables in the environment that it would get."""
    row = BY_NAME[program]
    world = program_environment(row, AgentKey(variable, Secret(key)), {**env, variable: key})
    guard_keys(row, world)
    return {name: value for name, value in world.items() if name in row.key_vars}


@pytest.mark.parametrize(
    ("program", "key", "variable", "env", "expected"),
    [
        ("claude-code", OTHER, "WORK_KEY", {"ANTHROPIC_API_KEY": ANTHROPIC}, {"ANTHROPIC_API_KEY": OTHER}),
        ("claude-code", OAUTH, "WORK_KEY", {}, {"CLAUDE_CODE_OAUTH_TOKEN": OAUTH}),
        ("opencode", OTHER, "WORK_KEY", {"OPENAI_API_KEY": PLAIN}, {"ANTHROPIC_API_KEY": OTHER}),
        ("qwen", PLAIN, "OPENAI_API_KEY", {"OPENAI_BASE_URL": "https://llm.example.org"}, {"OPENAI_API_KEY": PLAIN}),
        (
            "claude-code",
            MINIMAX,
            "WORK_KEY",
            {"ANTHROPIC_BASE_URL": "https://api.minimax.io/anthropic", "ANTHROPIC_API_KEY": ANTHROPIC},
            {"ANTHROPIC_AUTH_TOKEN": MINIMAX},
        ),
    ],
)  # fmt: skip
def test_a_program_gets_the_agents_key_under_its_own_variable_and_no_other(
    program: str, key: str, variable: str, env: dict[str, str], expected: dict[str, str]
) -> None:
    assert given(program, key, variable, **env) == expected


@pytest.mark.parametrize(
    ("program", "key", "env"),
    [
        ("vibe", ANTHROPIC, {}),
        ("gemini", PLAIN, {}),
        ("claude-code", MINIMAX, {}),
        ("claude-code", MINIMAX, {"ANTHROPIC_BASE_URL": "https://api.z.ai/api/anthropic"}),
    ],
)
def test_a_program_that_would_send_a_key_to_another_company_does_not_get_it(
    program: str, key: str, env: dict[str, str]
) -> None:
    with pytest.raises(UsageProblem) as caught:
        given(program, key, **env)
    assert caught.value.key in ("agents.key.not_for_program", "keys.code.token_url_conflict")
    assert key not in str(caught.value.values)
