from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maia.core.secret import Secret
from maia.credentials.find import Request, find
from maia.credentials.interpolate import interpolate, interpolate_token
from maia.credentials.sources import process_layer, settings_layer, token_vars
from tests.credentials.made import ANTHROPIC, MINIMAX, ZAI, codes, error, fake, found, settings_file

OPENROUTER = fake("sk-or-v1-", 73)


# Pass 1: the settings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "env", "key"),
    [
        pytest.param(MINIMAX, {}, MINIMAX, id="literal"),
        pytest.param("$TOK", {"TOK": MINIMAX}, MINIMAX, id="a reference"),
        pytest.param("${TOK}", {"TOK": MINIMAX}, MINIMAX, id="with braces"),
        pytest.param("sk-${KIND}-" + "a" * 30, {"KIND": "cp"}, "sk-cp-" + "a" * 30, id="a part"),
        pytest.param("sk-$KIND", {"KIND": "cp-" + "a" * 30}, "sk-cp-" + "a" * 30, id="a part without braces"),
        pytest.param(" $TOK\n", {"TOK": MINIMAX}, MINIMAX, id="blanks around a reference"),
    ],
)
def test_a_token_in_the_settings_is_taken_or_filled_in(
    value: str, env: dict[str, str], key: str, tmp_path: Path
) -> None:
    seen = found(tmp_path, {"ANTHROPIC_AUTH_TOKEN": value}, env)
    assert (seen.provider, seen.key) == ("minimax-cn", Secret(key))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param("$NOT_SET", "MISSING_ENV_VAR", id="not set"),
        pytest.param("${EMPTY}", "MISSING_ENV_VAR", id="empty"),
        pytest.param("sk-${NOT_SET}-x", "MISSING_ENV_VAR", id="a part"),
        pytest.param("", "EMPTY_TOKEN", id="an empty text"),
        pytest.param("  ", "EMPTY_TOKEN", id="blanks"),
        pytest.param("$$x", "DOLLAR_ESCAPE", id="a doubled dollar"),
        pytest.param("${A:-b}", "UNSUPPORTED_SYNTAX", id="a default"),
        pytest.param("***", "MASKED_TOKEN", id="masked"),
        pytest.param(5, "BAD_SETTINGS", id="a number"),
        pytest.param(["x"], "BAD_SETTINGS", id="a list"),
    ],
)
def test_a_broken_token_key_is_an_error_and_never_another_key(value: object, code: str, tmp_path: Path) -> None:
    seen = found(tmp_path, {"ANTHROPIC_AUTH_TOKEN": value}, {"MINIMAX_API_KEY": MINIMAX, "EMPTY": ""})
    assert (error(seen), seen.key) == (code, None)


def test_the_error_names_file_key_and_variable(tmp_path: Path) -> None:
    problem = found(tmp_path, {"GLM_API_KEY": "$NOT_SET"}).error
    assert problem is not None
    assert problem.values == {"where": "settings_a.json: GLM_API_KEY", "variable": "NOT_SET"}


def test_settings_with_a_token_win_over_the_environment(tmp_path: Path) -> None:
    seen = found(tmp_path, {"ANTHROPIC_AUTH_TOKEN": ZAI}, {"MINIMAX_API_KEY": MINIMAX})
    assert (seen.provider, error(seen)) == ("zai", None)


def test_the_variable_behind_a_reference_says_whose_key_it_is(tmp_path: Path) -> None:
    seen = found(tmp_path, {"ANTHROPIC_AUTH_TOKEN": "$MISTRAL_API_KEY"}, {"MISTRAL_API_KEY": "FAKE-opaque-1"})
    assert (seen.provider, seen.source, seen.decided_by) == ("mistral", "ANTHROPIC_AUTH_TOKEN", "variable")


def test_null_is_no_token(tmp_path: Path) -> None:
    assert found(tmp_path, {"ANTHROPIC_AUTH_TOKEN": None}, {"ANTHROPIC_API_KEY": ANTHROPIC}).provider == "anthropic"


# Passes A, B and C ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["MINIMAX_API_KEY", "MINIMAX_CN_API_KEY"])
@pytest.mark.parametrize("place", ["settings", "environment", "agent"])
def test_the_providers_own_variable_beats_a_generic_one(name: str, place: str, tmp_path: Path) -> None:
    values = {"ANTHROPIC_AUTH_TOKEN": fake("sk-cp-", 40, "abcd"), name: MINIMAX}
    text = "".join(f"{key}={value}\n" for key, value in values.items())
    seen = {
        "settings": lambda: found(tmp_path, values),
        "environment": lambda: found(tmp_path, None, values),
        "agent": lambda: found(tmp_path, None, {}, text),
    }[place]()
    assert (seen.source, seen.key, "KEY_PASSED_OVER" in codes(seen)) == (name, Secret(MINIMAX), True)


def test_the_regions_own_variable_beats_the_familys(tmp_path: Path) -> None:
    env = {"MINIMAX_API_KEY": fake("sk-cp-", 40, "abcd"), "MINIMAX_CN_API_KEY": MINIMAX}
    assert found(tmp_path, None, env).source == "MINIMAX_CN_API_KEY"
    env["OVERMIND_MINIMAX_DEFAULT"] = "global"
    assert found(tmp_path, None, env).source == "MINIMAX_API_KEY"


@pytest.mark.parametrize(
    ("name", "token", "variable"),
    [
        ("ANTHROPIC_AUTH_TOKEN", MINIMAX, "MINIMAX_CN_API_KEY"),
        ("ANTHROPIC_AUTH_TOKEN_2", ZAI, "GLM_API_KEY"),
        ("ANTHROPIC_AUTH_TOKEN_9", fake("gsk_", 56), "GROQ_API_KEY"),
        ("ANTHROPIC_AUTH_TOKEN", ANTHROPIC, "ANTHROPIC_API_KEY"),
    ],
)
def test_a_generic_key_is_mapped_to_its_providers_variable(
    name: str, token: str, variable: str, tmp_path: Path
) -> None:
    seen = found(tmp_path, None, {name: token})
    assert (error(seen), seen.source, seen.env_vars[0]) == (None, name, variable)


@pytest.mark.parametrize(
    ("name", "token", "provider"),
    [
        ("ANTHROPIC_API_KEY", ANTHROPIC, "anthropic"),
        ("GEMINI_API_KEY", fake("AIza", 39), "google"),
        ("GOOGLE_API_KEY", fake("AIza", 39), "google"),
        ("XAI_API_KEY", fake("xai-", 84), "xai"),
        ("GROQ_API_KEY", fake("gsk_", 56), "groq"),
        ("DEEPSEEK_API_KEY", fake("sk-", 35), "deepseek"),
        ("MISTRAL_API_KEY", "FAKE" * 8, "mistral"),
        ("KIMI_API_KEY", fake("sk-kimi-", 60), "kimi"),
        ("MOONSHOT_API_KEY", fake("sk-", 51), "moonshot"),
        ("ZAI_API_KEY", ZAI, "zai"),
        ("Z_AI_API_KEY", ZAI, "zai"),
        ("ZAI_ANTHROPIC_FALLBACK_KEY", ZAI, "zai"),
        ("OPENAI_API_KEY", fake("sk-proj-", 100), "openai"),
    ],
)
def test_each_providers_own_name_is_known(name: str, token: str, provider: str, tmp_path: Path) -> None:
    seen = found(tmp_path, None, {name: token})
    assert (seen.provider, error(seen)) == (provider, None)


def test_openrouters_own_name_is_known_and_blocked_until_allowed(tmp_path: Path) -> None:
    env = {"OPENROUTER_API_KEY": OPENROUTER}
    assert error(found(tmp_path, None, env)) == "OPENROUTER_BLOCKED"
    assert found(tmp_path, None, env | {"MAIA_ALLOW_OPENROUTER": "1"}).error is None
    assert found(tmp_path, None, env, purpose="embeddings").error is None


def test_a_blocked_key_is_no_rival(tmp_path: Path) -> None:
    seen = found(tmp_path, None, {"OPENROUTER_API_KEY": OPENROUTER, "MINIMAX_API_KEY": MINIMAX})
    assert (seen.provider, error(seen)) == ("minimax-cn", None)


def test_keys_of_several_providers_and_no_signal_are_ambiguous(tmp_path: Path) -> None:
    env = {"ANTHROPIC_API_KEY": ANTHROPIC, "MINIMAX_API_KEY": MINIMAX, "GLM_API_KEY": ZAI}
    problem = found(tmp_path, None, env).error
    assert problem is not None
    assert problem.code == "AMBIGUOUS_CREDENTIALS"
    assert sorted(problem.values["names"].split(", ")) == sorted(env)
    assert not any(token in repr(problem) for token in env.values())


@pytest.mark.parametrize(
    ("signal", "source"),
    [
        ({"ANTHROPIC_BASE_URL": "https://api.z.ai/api/paas/v4"}, "GLM_API_KEY"),
        ({"GLM_BASE_URL": "https://api.z.ai/api/paas/v4"}, "GLM_API_KEY"),
        ({"PROVIDER": "MiniMax"}, "MINIMAX_API_KEY"),
        ({"ANTHROPIC_PROVIDER": "https://api.anthropic.com"}, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_PROVIDER": "zai", "PROVIDER": "minimax"}, "GLM_API_KEY"),
        ({"ANTHROPIC_BASE_URL": "https://api.minimax.io", "GLM_BASE_URL": "https://api.z.ai"}, "MINIMAX_API_KEY"),
    ],
)
def test_a_signal_chooses_among_several(signal: dict[str, str], source: str, tmp_path: Path) -> None:
    env = {"ANTHROPIC_API_KEY": ANTHROPIC, "MINIMAX_API_KEY": MINIMAX, "GLM_API_KEY": ZAI}
    seen = found(tmp_path, None, env | signal)
    assert (seen.source, error(seen)) == (source, None)


def test_the_same_key_under_two_names_is_one_key(tmp_path: Path) -> None:
    seen = found(tmp_path, None, {"ANTHROPIC_AUTH_TOKEN": ZAI, "ZAI_API_KEY": ZAI, "GLM_API_KEY": ZAI})
    assert (seen.provider, codes(seen)) == ("zai", [])


def test_a_token_that_serves_other_uses_counts_only_where_its_provider_is_wanted(tmp_path: Path) -> None:
    env = {"GITHUB_TOKEN": fake("ghp_", 40), "MINIMAX_API_KEY": MINIMAX}
    assert found(tmp_path, None, env).provider == "minimax-cn"
    assert found(tmp_path, None, {"GITHUB_TOKEN": env["GITHUB_TOKEN"]}).error is not None
    assert found(tmp_path, None, {"GITHUB_TOKEN": env["GITHUB_TOKEN"], "PROVIDER": "github"}).error is None


def test_an_empty_variable_is_one_that_is_not_set(tmp_path: Path) -> None:
    env = {"ANTHROPIC_AUTH_TOKEN": " ", "ANTHROPIC_BASE_URL": "", "GLM_BASE_URL": "https://api.minimax.io"}
    seen = found(tmp_path, None, env | {"MINIMAX_API_KEY": MINIMAX})
    assert (seen.provider, seen.source) == ("minimax", "MINIMAX_API_KEY")


def test_a_providers_own_address_variable_goes_with_its_key(tmp_path: Path) -> None:
    env = {
        "OPENAI_API_KEY": "FAKE-gateway-key-1",
        "OPENAI_BASE_URL": "https://llm.example.org/v1",
        "ANTHROPIC_BASE_URL": "https://api.z.ai/api/anthropic",
    }
    assert found(tmp_path, None, env, variable="OPENAI_API_KEY").host == "llm.example.org"


def test_options_beat_every_place(tmp_path: Path) -> None:
    settings = {"ANTHROPIC_AUTH_TOKEN": MINIMAX, "ANTHROPIC_BASE_URL": "https://api.minimaxi.com/anthropic"}
    seen = found(tmp_path, settings, {}, base_url="https://api.minimax.io/anthropic")
    assert seen.provider == "minimax"


def test_only_the_environment_may_allow_a_mismatch(tmp_path: Path) -> None:
    settings = {
        "ANTHROPIC_AUTH_TOKEN": MINIMAX,
        "ANTHROPIC_BASE_URL": "https://api.z.ai",
        "MAIA_ALLOW_KEY_MISMATCH": "1",
    }
    assert error(found(tmp_path, settings)) == "TOKEN_URL_CONFLICT"
    assert found(tmp_path, settings, {"MAIA_ALLOW_KEY_MISMATCH": "1"}).host == "api.z.ai"


def test_a_name_that_is_not_there_is_told(tmp_path: Path) -> None:
    problem = found(tmp_path, None, {}, variable="MINIMAX_API_KEY").error
    assert problem is not None
    assert (problem.code, problem.values["variable"]) == ("MISSING_ENV_VAR", "MINIMAX_API_KEY")


# The settings file ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        pytest.param('{\n "env": {\n  "A" "b"\n}}', "settings_a.json:3:7", "json", id="no colon"),
        pytest.param('{"env": {"A": "b",}}', "settings_a.json:1:18", "json", id="a comma too many"),
        pytest.param("[]", "settings_a.json", "not_an_object", id="a list"),
        pytest.param('{\n\n"env": "x"}', "settings_a.json:3:1", "env", id="env is a text"),
        pytest.param('{"env": {"A": "\x01"}}', "settings_a.json:1:16", "json", id="a control character"),
        pytest.param("[" * 100_000, "settings_a.json", "json", id="endlessly nested"),
        pytest.param(" " * 1_000_001, "settings_a.json", "too_big", id="huge"),
    ],
)
def test_broken_settings_are_named_with_their_place(text: str, where: str, reason: str, tmp_path: Path) -> None:
    problem = found(tmp_path, text, {"MINIMAX_API_KEY": MINIMAX}).error
    assert problem is not None
    assert (problem.code, problem.values["where"], problem.values["reason"]) == ("BAD_SETTINGS", where, reason)


def test_settings_that_are_no_file_are_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings_fifo.json")
    (tmp_path / "settings_loop.json").symlink_to("settings_loop.json")
    for name, reason in [("none", "missing"), ("fifo", "not_a_file"), ("loop", "unreadable")]:
        layer = settings_layer(tmp_path / f"settings_{name}.json", {})
        assert [(p.code, p.values["reason"]) for p in layer.problems] == [("BAD_SETTINGS", reason)]


def test_a_file_with_a_key_that_others_can_read_is_closed(tmp_path: Path) -> None:
    path = settings_file(tmp_path, {"ANTHROPIC_AUTH_TOKEN": MINIMAX})
    path.chmod(0o644)
    layer = settings_layer(path, {})
    assert [(p.code, p.values["tightened"]) for p in layer.problems] == [("FILE_EXPOSED", True)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path = settings_file(tmp_path, {"ANTHROPIC_AUTH_TOKEN": "$TOK"})
    path.chmod(0o644)
    assert settings_layer(path, {"TOK": MINIMAX}).problems == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644, "a reference is no secret"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_somebody_elses_settings_are_not_used(tmp_path: Path) -> None:
    path = settings_file(tmp_path, {"ANTHROPIC_AUTH_TOKEN": "$TOK"})
    os.chown(path, 12345, 12345)
    assert [p.code for p in settings_layer(path, {"TOK": MINIMAX}).problems] == ["FOREIGN_OWNER"]


def test_other_values_are_filled_in_and_what_is_not_set_is_told(tmp_path: Path) -> None:
    settings = {"ANTHROPIC_AUTH_TOKEN": MINIMAX, "ANTHROPIC_BASE_URL": "https://${HOST_X}", "PROVIDER": "$NOT_SET"}
    seen = found(tmp_path, settings, {"HOST_X": "api.minimax.io"})
    assert (seen.provider, codes(seen)) == ("minimax", ["UNRESOLVED_VAR"])


def test_values_that_are_no_texts_become_texts(tmp_path: Path) -> None:
    path = settings_file(tmp_path, {"PORT": 80, "ON": True, "LIST": ["$A", {"x": "${NONE}"}], "NIL": None})
    layer = settings_layer(path, {"A": "é"})
    assert layer.values == {"PORT": "80", "ON": "true", "LIST": '["é", {"x": ""}]'}
    assert [problem.code for problem in layer.problems] == ["UNRESOLVED_VAR"]


def test_references_in_a_circle_are_followed_once(tmp_path: Path) -> None:
    env = {"A": "$B", "B": "$A"}
    assert error(found(tmp_path, {"ANTHROPIC_AUTH_TOKEN": "$A"}, env)) == "MISSING_ENV_VAR"


# Properties -----------------------------------------------------------------------------------------------------------


@given(st.text(), st.dictionaries(st.text("ABC_", min_size=1), st.text()))
def test_any_value_is_filled_in_without_raising(text: str, env: dict[str, str]) -> None:
    assert "$" in text or interpolate(text, env).text == text
    interpolate_token(text, env, "x")


@given(
    st.dictionaries(st.sampled_from(["ANTHROPIC_AUTH_TOKEN", "MINIMAX_API_KEY", "GLM_API_KEY", "PROVIDER"]), st.text())
)
def test_any_environment_gives_a_result(env: dict[str, str]) -> None:
    result = find(Request((process_layer(env),)))
    assert result.ballot is not None or result.problems


@given(st.text(max_size=300))
def test_any_settings_text_gives_a_layer(text: str) -> None:
    import tempfile

    assume(text not in token_vars() and text.strip())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings_x.json"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        settings_layer(path, {})
        path.write_text(json.dumps({"env": {text: text, "GLM_API_KEY": text}}), "utf-8")
        assert settings_layer(path, {}).token_keys == ("GLM_API_KEY",)
