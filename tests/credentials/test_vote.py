from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maia.core.providers import BY_NAME, PROVIDERS
from maia.core.secret import Secret
from maia.credentials.explain import after_refusal, at_wrong_host
from maia.credentials.prefixes import RULES, detect
from maia.credentials.providers import place_of
from tests.credentials.made import ANTHROPIC, MINIMAX, ZAI, codes, error, fake, hex_key, vote

# Hosts ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        pytest.param("https://api.minimaxi.com/anthropic", "minimax-cn", id="with an i: China"),
        pytest.param("https://api.minimax.io/anthropic", "minimax", id="without: global"),
        pytest.param("HTTPS://API.MINIMAXI.COM./x", "minimax-cn", id="case and a final dot"),
        pytest.param("https://api.minimaxi.com:8443/x", "minimax-cn", id="a port changes no owner"),
        pytest.param("https://eu.api.openai.com/v1", "openai", id="a vendor's other hosts are its own"),
        pytest.param("https://x.openai.azure.com", "azure-openai", id="the longest domain wins"),
        pytest.param("https://api.minimaxi.com.example.org/x", None, id="a look-alike is nobody's"),
        pytest.param("https://example.org/api.minimaxi.com", None, id="a host in the path is none"),
        pytest.param("https://notapi.z.ai.example.org", None, id="z.ai in the middle"),
        pytest.param("https://buz.ai", None, id="a name that ends alike"),
        pytest.param("http://127.0.0.1:4000", None, id="a proxy"),
        pytest.param("http://[::1]:4000", None, id="a proxy over IPv6"),
    ],
)
def test_hosts_are_compared_as_parsed_hosts(url: str, provider: str | None) -> None:
    place = place_of(url)
    assert place is not None
    assert (place.provider and place.provider.name) == provider


@pytest.mark.parametrize(
    "url",
    [
        "https://api.minimaxi.com@example.org/",
        "https://user:pw@api.minimaxi.com/",
        "https://api.minimaxi.com\\@example.org/",
        "ftp://api.minimaxi.com",
        "https://",
        "https://api.minimaxi.com/?to=example.org",
        "https://api.mini\nmaxi.com",
        "javascript:alert(1)",
        f"https://llm.example.org/{ANTHROPIC}/v1",
    ],
)
def test_an_address_that_readers_take_differently_is_refused(url: str) -> None:
    assert (error(vote(MINIMAX, url)), vote(MINIMAX, url).host) == ("BAD_BASE_URL", "")


def test_no_host_belongs_to_two_providers() -> None:
    names = [domain.name for provider in PROVIDERS for domain in provider.domains]
    assert len(names) == len(set(names))


# The three signals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("switch", "provider", "told"),
    [
        (None, "minimax-cn", []),
        ("cn", "minimax-cn", []),
        ("Global", "minimax", []),
        (" AUTO ", "minimax", ["REGION_UNVERIFIED"]),
        ("usa", "minimax-cn", ["BAD_SWITCH_VALUE"]),
    ],
)
def test_minimax_without_address_and_hint_goes_by_the_switch(
    switch: str | None, provider: str, told: list[str]
) -> None:
    seen = vote(MINIMAX, minimax_default=switch)
    assert (seen.provider, codes(seen)) == (provider, told)


def test_an_address_beats_the_switch_and_the_hint_beats_it_too() -> None:
    assert vote(MINIMAX, "https://api.minimax.io", minimax_default="cn").provider == "minimax"
    assert vote(MINIMAX, hint="minimax", minimax_default="cn").provider == "minimax"


def test_the_variables_name_gives_the_region_where_nothing_else_does() -> None:
    assert vote(MINIMAX, variable="MINIMAX_CN_API_KEY", minimax_default="global").provider == "minimax-cn"
    assert vote(MINIMAX, variable="MINIMAX_API_KEY").provider == "minimax-cn", (
        "the family's name leaves it to the switch"
    )


@pytest.mark.parametrize(
    ("token", "url", "region"),
    [
        (ZAI, "https://open.bigmodel.cn/api/paas/v4", "cn"),
        (ZAI, "https://api.z.ai/api/coding/paas/v4", "global"),
        (fake("sk-", 51), "https://api.moonshot.cn/v1", "cn"),
        (fake("sk-", 51), "https://dashscope.aliyuncs.com/compatible-mode/v1", "cn"),
    ],
)
def test_an_address_gives_the_region_inside_the_family(token: str, url: str, region: str) -> None:
    seen = vote(token, url)
    assert (error(seen), seen.region, seen.base_url) == (None, region, url)


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.deepseek.com", "deepseek"),
        ("https://api.moonshot.ai/v1", "moonshot"),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "dashscope"),
        ("https://api.siliconflow.cn/v1", "siliconflow"),
        ("https://api.openai.com/v1", "openai"),
    ],
)
def test_a_bare_sk_goes_to_whom_the_address_names(url: str, provider: str) -> None:
    assert (vote(fake("sk-", 51), url).provider, vote(fake("sk-", 51), url).error) == (provider, None)


def test_a_bare_sk_goes_to_whom_hint_or_variable_names() -> None:
    assert vote(fake("sk-", 51), hint="DeepSeek").provider == "deepseek"
    assert vote(fake("sk-", 51), variable="MOONSHOT_API_KEY").provider == "moonshot"
    assert vote(fake("sk-kimi-", 51), variable="KIMI_API_KEY").provider == "kimi"
    assert vote(fake("sk-", 51), variable="KIMI_API_KEY").provider == "moonshot"


def test_a_kimi_code_key_is_not_moonshots() -> None:
    assert error(vote(fake("sk-kimi-", 51), "https://api.moonshot.ai/v1")) == "TOKEN_URL_CONFLICT"


def test_a_hint_that_the_shape_excludes_is_not_followed() -> None:
    seen = vote(fake("sk-", 51), hint="zai")
    assert (seen.provider, codes(seen)) == ("openai", ["AMBIGUOUS_TOKEN", "HINT_CONFLICT"])


def test_a_key_in_another_providers_variable_is_told_or_refused() -> None:
    sure, unsure = vote(ANTHROPIC, variable="OPENAI_API_KEY"), vote(fake("sk-", 51), variable="ZAI_API_KEY")
    assert (sure.provider, error(sure), codes(sure)) == ("anthropic", None, ["VARIABLE_CONFLICT"])
    assert error(unsure) == "VARIABLE_CONFLICT"


def test_a_key_without_a_shape_is_its_variables() -> None:
    seen = vote("FAKE-opaque-token-123", variable="MISTRAL_API_KEY")
    assert (seen.provider, seen.decided_by, error(seen)) == ("mistral", "variable", None)
    there = vote("FAKE-opaque-token-123", "https://api.z.ai", variable="MISTRAL_API_KEY")
    assert (error(there), there.host) == ("TOKEN_URL_CONFLICT", "")


def test_a_low_shape_never_chooses_a_host_alone() -> None:
    assert (error(vote(hex_key(20))), vote(hex_key(20)).host) == ("UNKNOWN_PROVIDER", "")
    assert vote(hex_key(20), hint="glm").provider == "zai"


def test_a_key_of_nobody_goes_to_the_address_that_was_given() -> None:
    seen = vote("FAKE-opaque-token-123", "https://llm.example.org/v1")
    assert (seen.provider, seen.host, codes(seen)) == ("custom", "llm.example.org", ["CUSTOM_ENDPOINT"])


def test_azure_needs_the_customers_own_address() -> None:
    assert error(vote(hex_key(), hint="azure")) == "BASE_URL_NEEDED"


def test_a_hint_that_names_nobody_is_told_and_no_key_in_it_is_repeated() -> None:
    seen = vote(ZAI, hint="nobody-known")
    assert codes(seen) == ["UNKNOWN_HINT"]
    assert ANTHROPIC not in repr(vote(ZAI, hint=ANTHROPIC))


def test_a_key_over_plain_http_is_told() -> None:
    assert "KEY_IN_CLEAR" in codes(vote(MINIMAX, "http://api.minimaxi.com/anthropic"))
    assert "KEY_IN_CLEAR" not in codes(vote(MINIMAX, "http://localhost:4000"))


def test_openrouter_is_for_embeddings_unless_allowed() -> None:
    token = fake("sk-or-v1-", 73)
    refused = vote(token).error
    assert refused is not None
    assert (refused.code, refused.values) == ("OPENROUTER_BLOCKED", {"setting": "MAIA_ALLOW_OPENROUTER"})
    assert vote(token, allow_openrouter=True).error is None
    assert vote(token, purpose="embeddings").error is None


def test_the_switch_lets_a_conflict_through_with_a_warning() -> None:
    seen = vote(MINIMAX, "https://api.z.ai/api/paas/v4", allow_mismatch=True)
    assert (seen.provider, seen.host, error(seen), codes(seen)) == (
        "minimax",
        "api.z.ai",
        None,
        ["TOKEN_URL_CONFLICT"],
    )


def test_signals_say_who_named_whom() -> None:
    seen = vote(MINIMAX, "https://api.z.ai/x", "openai", "MINIMAX_API_KEY")
    assert [(s.voice, s.provider) for s in seen.signals] == [
        ("token", "minimax"),
        ("url", "zai"),
        ("hint", "openai"),
        ("variable", "minimax"),
    ]


@pytest.mark.parametrize(
    ("token", "url", "code", "says"),
    [
        (fake("sk-", 51), "https://api.moonshot.ai/v1", "TRY_OTHER_REGION", "api.moonshot.cn"),
        (MINIMAX, "https://api.minimax.io/anthropic", "TRY_OTHER_REGION", "api.minimaxi.com"),
        (MINIMAX, "https://api.minimaxi.com/anthropic", "TRY_OTHER_REGION", "api.minimax.io"),
        (ZAI, "https://api.z.ai/api/paas/v4", "TRY_OTHER_REGION", "bigmodel.cn"),
        (MINIMAX, "https://api.minimax.com/anthropic", "TRY_OTHER_REGION", "api.minimax.io"),
        (ANTHROPIC, "https://api.openai.com/v1", "KEY_OF_ANOTHER", "api.anthropic.com"),
        (ANTHROPIC, "https://llm.example.org", "KEY_AT_GATEWAY", "api.anthropic.com"),
        (fake("sk-ant-admin01-", 60), "https://api.anthropic.com", "ADMIN_KEY", ""),
        (fake("sk-lf-", 30), "https://api.openai.com/v1", "NOT_AN_LLM_KEY", ""),
        ("sk-ant-api03-***", "https://api.anthropic.com", "MASKED_TOKEN", ""),
        ("sk-ant-api03-", "https://api.anthropic.com", "TRUNCATED_TOKEN", ""),
        (fake("sk-ant-api03-", 20), "https://api.anthropic.com", "TOKEN_TOO_SHORT", ""),
    ],
)
def test_a_refused_key_is_explained(token: str, url: str, code: str, says: str) -> None:
    problem = after_refusal(Secret(token), url)
    assert problem is not None
    assert problem.code == code
    assert says in problem.values.get("other", "") + problem.values.get("own", "")


def test_a_refused_key_at_its_only_host_is_simply_not_valid() -> None:
    assert after_refusal(Secret(ANTHROPIC), "https://api.anthropic.com") is None
    assert after_refusal(Secret("FAKE-gateway-key"), "https://llm.example.org") is None


def test_where_nobody_answers_a_sure_key_tells_which_host_was_meant() -> None:
    typo = at_wrong_host(Secret(MINIMAX), "https://api.minimaxi.cm/anthropic")
    assert typo is not None
    assert (typo.code, typo.values["own"]) == ("KEY_AT_GATEWAY", "api.minimax.io")
    assert at_wrong_host(Secret(MINIMAX), "https://api.minimaxi.com/anthropic") is None
    assert at_wrong_host(Secret(MINIMAX), "http://127.0.0.1:9/anthropic") is None
    assert at_wrong_host(Secret("FAKE-gateway-key"), "https://llm.example.org") is None


# No input pairs a known provider's key with another's host ------------------------------------------------------------

PREFIXES = [rule.prefix for rule in RULES if rule.prefix and not rule.pattern]
BODIES = st.text("abcdefXYZ0123456789-_", min_size=1, max_size=60)
TOKENS = st.one_of(
    st.tuples(st.sampled_from(PREFIXES), BODIES).map("".join),
    st.tuples(st.text("0123456789abcdef", min_size=32, max_size=32), BODIES).map(".".join),
    st.text("0123456789abcdef", min_size=1, max_size=64),
    st.text(max_size=60),
)
HOSTS = [domain.name for provider in PROVIDERS for domain in provider.domains]
URLS = st.one_of(
    st.just(""),
    st.tuples(
        st.sampled_from(["https://", "http://", "HTTPS://", ""]),
        st.sampled_from(["", "api.", "eu.", "API.", "user@"]),
        st.sampled_from(HOSTS),
        st.sampled_from(["", "/", "/v1", ":443/x", ".", ".example.org", "/../x", "?a=b"]),
    ).map("".join),
    st.text(max_size=40),
)
HINTS = st.one_of(
    st.just(""),
    st.sampled_from([name for p in PROVIDERS for name in (p.name, *p.aliases)]),
    st.sampled_from(HOSTS).map("https://{}/x".format),
    st.text(max_size=20),
)
VARIABLES = st.one_of(st.just(""), st.sampled_from([name for p in PROVIDERS for name in p.key_vars]))


@given(TOKENS, URLS, HINTS, VARIABLES, st.sampled_from([None, "cn", "global", "auto", "x"]))
def test_no_input_pairs_a_known_providers_key_with_anothers_host(
    token: str, url: str, hint: str, variable: str, switch: str | None
) -> None:
    seen = vote(token, url, hint, variable, minimax_default=switch, allow_openrouter=True)
    issuer = detect(token)
    place = place_of(seen.base_url) if seen.base_url else None
    if issuer.confidence == "exact" and place and place.provider:
        assert place.provider.kin == issuer.provider
    if seen.error:
        return
    assert seen.key is not None
    assert seen.host
    assert issuer.confidence != "exact" or BY_NAME[seen.provider].kin == issuer.provider


@given(TOKENS, URLS, HINTS, VARIABLES)
def test_every_disagreement_is_told(token: str, url: str, hint: str, variable: str) -> None:
    seen = vote(token, url, hint, variable)
    if seen.key is None:
        return
    named = {signal.voice: signal.provider for signal in seen.signals}
    winner = BY_NAME.get(seen.provider)
    if named.get("hint") and named["hint"] != seen.provider:
        assert "HINT_CONFLICT" in codes(seen)
    if (owner := named.get("url")) and (winner is None or BY_NAME[owner].kin != winner.kin):
        assert "TOKEN_URL_CONFLICT" in codes(seen)


@given(TOKENS, st.booleans(), URLS, HINTS, VARIABLES)
def test_a_resolution_never_repeats_the_key(token: str, longer: bool, url: str, hint: str, variable: str) -> None:
    token = token.strip()
    token += "q7" * 11 if longer or len(token) <= 20 else ""
    known = " ".join([*PREFIXES, *HOSTS, *(p.name for p in PROVIDERS)])
    assume(token not in known and token not in url + hint + variable)
    assert token not in repr(vote(token, url, hint, variable))


@given(TOKENS)
def test_an_unknown_key_has_no_default_host(token: str) -> None:
    seen = vote(token)
    if detect(token).confidence in ("none", "low"):
        assert (seen.host, seen.base_url) == ("", "")
        assert seen.error is not None
