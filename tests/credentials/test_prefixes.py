from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.credentials.prefixes import RULES, clean_token, detect, mask
from tests.credentials.made import ANTHROPIC, fake, hex_key

MARKER = "T3Blbk" + "FJ"
"""Stands in the middle of OpenAI's own keys."""


@pytest.mark.parametrize(
    ("prefix", "provider", "kind"),
    [
        ("sk-cp-", "minimax", "api"),
        ("sk-mm-", "minimax", "api"),
        ("sk-ant-api03-", "anthropic", "api"),
        ("sk-ant-", "anthropic", "api"),
        ("sk-ant-oat01-", "anthropic", "oauth"),
        ("sk-ant-admin01-", "anthropic", "admin"),
        ("sk-or-v1-", "openrouter", "api"),
        ("sk-or-", "openrouter", "api"),
        ("sk-proj-", "openai", "api"),
        ("sk-svcacct-", "openai", "api"),
        ("sk-admin-", "openai", "admin"),
        ("sk-kimi-", "kimi", "api"),
        ("AIza", "google", "api"),
        ("gsk_", "groq", "api"),
        ("xai-", "xai", "api"),
        ("pplx-", "perplexity", "api"),
        ("hf_", "huggingface", "api"),
        ("r8_", "replicate", "api"),
        ("fw_", "fireworks", "api"),
        ("csk-", "cerebras", "api"),
        ("csk_", "cerebras", "api"),
        ("nvapi-", "nvidia", "api"),
        ("ghp_", "github-models", "api"),
        ("github_pat_", "github-models", "api"),
        ("ABSK", "bedrock", "api"),
        ("sk-lf-", "langfuse", "not-llm"),
        ("lsv2_pt_", "langsmith", "not-llm"),
    ],
)
def test_a_specific_prefix_decides_alone(prefix: str, provider: str, kind: str) -> None:
    seen = detect(fake(prefix, 60))
    assert (seen.provider, seen.confidence, seen.kind, seen.length) == (provider, "exact", kind, 60)


@pytest.mark.parametrize(
    ("token", "code"),
    [
        pytest.param(fake("sk-ant-admin01-", 60), "ADMIN_KEY", id="an administrator's key answers no prompt"),
        pytest.param(fake("sk-admin-", 60), "ADMIN_KEY", id="nor does OpenAI's"),
        pytest.param(fake("sk-lf-"), "NOT_AN_LLM_KEY", id="Langfuse looks like OpenAI and is not"),
        pytest.param("sk_" + hex_key(48), "NOT_AN_LLM_KEY", id="ElevenLabs has an underscore"),
        pytest.param("AKIA" + "FAKE" * 4, "NOT_AN_API_KEY", id="an AWS id is half a key"),
        pytest.param("4" + "0" * 15, "NOT_AN_API_KEY", id="a card number is sent nowhere"),
        pytest.param("", "EMPTY_TOKEN", id="empty"),
        pytest.param(" \n\t", "EMPTY_TOKEN", id="only blanks"),
        pytest.param("Bearer", "EMPTY_TOKEN", id="Bearer alone"),
        pytest.param('""', "EMPTY_TOKEN", id="quotes alone"),
        pytest.param("***", "MASKED_TOKEN", id="masked"),
        pytest.param("sk-cp-***", "MASKED_TOKEN", id="masked after its prefix"),
        pytest.param("sk-ant-…", "MASKED_TOKEN", id="an ellipsis"),
        pytest.param("sk-cp-....m0", "MASKED_TOKEN", id="dots in the middle"),
        pytest.param("••••", "MASKED_TOKEN", id="bullets"),
        pytest.param("$NAME", "MISSING_ENV_VAR", id="a reference"),
        pytest.param("${NAME}", "MISSING_ENV_VAR", id="with braces"),
        pytest.param(" '${NAME:-x}'\n", "MISSING_ENV_VAR", id="with a default, quoted"),
        pytest.param("sk-ant-a\nb", "CONTROL_CHARACTER", id="a line end inside could inject a variable"),
        pytest.param("sk-ant-\x00", "CONTROL_CHARACTER", id="NUL"),
        pytest.param("sk-ant-\x1b[31m", "CONTROL_CHARACTER", id="an escape sequence"),
        pytest.param("sk-ant-\x85x", "CONTROL_CHARACTER", id="C1"),
        pytest.param("sk-ant-a b", "BAD_CHARACTER", id="a blank inside"),
        pytest.param("sk-ant-é" + "a" * 20, "BAD_CHARACTER", id="a letter that no header carries"),
        pytest.param("sk-", "TRUNCATED_TOKEN", id="nothing after the prefix"),
        pytest.param("sk-ant-", "TRUNCATED_TOKEN", id="a specific prefix alone is not OpenAI's sk-"),
        pytest.param("sk-or-v1-", "TRUNCATED_TOKEN", id="OpenRouter's alone"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(token: str, code: str) -> None:
    problem = detect(token).error
    assert problem is not None
    assert problem.code == code


@pytest.mark.parametrize(
    "raw",
    [
        "{}\n",
        "  {}  ",
        "\r\n{}\r\n",
        '"{}"',
        "'{}'",
        "`{}`",
        "“{}”",
        "« {} »",
        "Bearer {}",
        "bearer   {}",
        ' "Bearer {}" \n',
        "'\"{}\"'",
        "\ufeff{}",
        "\u00a0{}\u200b",
        "Bearer\t{}",
    ],
)
def test_what_came_along_when_it_was_pasted_is_taken_off_with_a_warning(raw: str) -> None:
    cleaned = clean_token(raw.format(ANTHROPIC))
    assert (cleaned.text, [p.code for p in cleaned.problems]) == (ANTHROPIC, ["TOKEN_WHITESPACE"])


@pytest.mark.parametrize(
    ("token", "provider", "confidence"),
    [
        pytest.param("sk-" + fake("", 20) + MARKER + fake("", 20), "openai", "exact", id="the marker makes it exact"),
        pytest.param(fake("sk-", 51), "openai", "ambiguous", id="without it others use the same"),
        pytest.param("sk-" + hex_key(), "deepseek", "ambiguous", id="DeepSeek's shape is never exact"),
        pytest.param("SK-CP-" + "A" * 30, "unknown", "none", id="prefixes have a case"),
        pytest.param("sk_cp_" + "a" * 30, "unknown", "none", id="an underscore is another prefix"),
        pytest.param("XAI-" + "a" * 30, "unknown", "none", id="xAI's has a case too"),
        pytest.param("a" + ANTHROPIC, "unknown", "none", id="a prefix stands at the start"),
        pytest.param(hex_key() + "." + "a" * 16, "zai", "exact", id="Z.AI's shape"),
        pytest.param(hex_key() + ".", "unknown", "none", id="nothing after the dot"),
        pytest.param(hex_key() + ".a-b", "unknown", "none", id="a dash after the dot"),
        pytest.param(hex_key(33), "zai", "low", id="33 hex is the catch-all"),
        pytest.param("g" * 32, "unknown", "none", id="not hex"),
    ],
)
def test_the_longest_specific_shape_wins(token: str, provider: str, confidence: str) -> None:
    seen = detect(token)
    assert (seen.provider, seen.confidence) == (provider, confidence)


def test_a_short_key_of_a_known_prefix_is_told() -> None:
    assert [p.code for p in detect("sk-ant-abc").problems] == ["TOKEN_TOO_SHORT"]


def test_no_rule_is_hidden_by_an_earlier_one() -> None:
    for n, rule in enumerate(RULES):
        earlier = [other for other in RULES[:n] if other.prefix == rule.prefix and rule.prefix]
        assert all(other.pattern for other in earlier), rule.name


@given(st.text(max_size=200))
def test_any_text_is_answered_and_never_repeated(text: str) -> None:
    seen, cleaned = detect(text), clean_token(text)
    assert cleaned.error is None or cleaned.text == ""
    if len(text) > 24 and cleaned.text:
        assert cleaned.text not in repr(seen) + repr(cleaned) + mask(text)


@given(st.sampled_from([rule.prefix for rule in RULES if rule.prefix]), st.text("abcXYZ019-_", min_size=12))
def test_a_mask_shows_prefix_and_length_only(prefix: str, body: str) -> None:
    shown = mask(prefix + body)
    assert body[-8:] not in shown
    assert shown.endswith(f"…({len(prefix + body)})")


@given(st.text("abcXYZ019-_", min_size=8, max_size=80))
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once = clean_token(f' "Bearer {text}"\n').text
    assert clean_token(once).text == once
