from __future__ import annotations

import logging
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maia.app.keyground import words_of
from maia.core.secret import Secret
from maia.credentials.explain import as_json, listed, look_up
from maia.credentials.find import Request, find
from maia.credentials.hermes import Plan, plan
from maia.credentials.prefixes import RULES, clean_token, detect
from maia.credentials.sources import process_layer, settings_layer, token_vars
from maia.i18n.catalogue import Catalogue
from tests.credentials.made import fake, settings_file

PREFIXES = ["", *(rule.prefix for rule in RULES)]
SECRETS = st.tuples(st.sampled_from(PREFIXES), st.text("abcXYZ0123456789", min_size=24, max_size=60)).map("".join)
PLACES = st.dictionaries(
    st.sampled_from([*token_vars(), "ANTHROPIC_BASE_URL", "ANTHROPIC_PROVIDER", "OVERMIND_MINIMAX_DEFAULT", "OTHER"]),
    st.sampled_from(["{}", " {}\n", "Bearer {}", "{}\x00", "https://{}/", "https://x/{}", "${}", "a{}", "***"]),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def words() -> list[Catalogue]:
    return [Catalogue("fr", strict=True), Catalogue("en", strict=True)]


@given(SECRETS, PLACES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_wherever_a_key_stands_no_output_repr_log_or_sentence_holds_it(
    words: list[Catalogue], caplog: pytest.LogCaptureFixture, secret: str, places: dict[str, str]
) -> None:
    caplog.clear()
    layer = process_layer({name: pattern.replace("{}", secret) for name, pattern in places.items()})
    body = secret[-20:]
    with caplog.at_level(logging.DEBUG):
        seen = look_up(Request((layer,)))
        typed = look_up(Request((layer,), token=Secret(secret)))
    said = [words_of(problem, say) for say in words for found in (seen, typed) for problem in found.problems]
    shown = [
        repr((seen, typed, layer, find(Request((layer,))), list(listed((layer,))))),
        str([as_json(found) for found in (seen, typed)]),
        repr((plan(typed, Path("/nonexistent/x")), detect(secret), clean_token(secret))),
        caplog.text,
        *said,
    ]
    assert not any(body in text for text in shown)


def test_what_holds_a_text_with_keys_leaves_it_out_of_its_repr() -> None:
    import maia.credentials.hermes
    import maia.credentials.hermes_files
    import maia.credentials.interpolate
    import maia.credentials.sources

    holding = {"before", "after", "text", "values"}
    open_ones: list[str] = []
    for module in (
        maia.credentials.hermes,
        maia.credentials.hermes_files,
        maia.credentials.interpolate,
        maia.credentials.sources,
    ):
        for cls in vars(module).values():
            if isinstance(cls, type) and is_dataclass(cls) and cls.__module__ == module.__name__:
                open_ones += [f"{cls.__name__}.{f.name}" for f in fields(cls) if f.name in holding and f.repr]
    assert open_ones == []


def test_a_key_with_bearer_before_it_is_known_again_where_an_address_belongs() -> None:
    token = "FAKE" * 6
    seen = look_up(Request((process_layer({"ANTHROPIC_API_KEY": f"Bearer {token}", "ANTHROPIC_BASE_URL": token}),)))
    assert token.lower() not in repr(seen).lower()


def test_warnings_are_logged_as_codes(caplog: pytest.LogCaptureFixture) -> None:
    token = fake("sk-cp-")
    with caplog.at_level(logging.DEBUG, "maia.credentials"):
        look_up(Request((process_layer({"ANTHROPIC_AUTH_TOKEN": token, "PROVIDER": "zai"}),)))
    assert [record.getMessage().split()[0] for record in caplog.records] == ["HINT_CONFLICT"]


def test_a_plan_of_nothing_has_no_files() -> None:
    empty: Any = Plan(Path("x"))
    assert (empty.files, empty.error) == ((), None)


@pytest.mark.parametrize("value", ["{}", "${}", "${{{}}}", "x${{{}}}", "$X{}"])
@pytest.mark.parametrize("name", ["GLM_API_KEY", "PROVIDER", "ANTHROPIC_BASE_URL", "{}"])
@pytest.mark.parametrize("prefix", ["sk-ant-api03-", "hf_", ""])
def test_a_key_anywhere_in_a_settings_file_is_not_repeated(value: str, name: str, prefix: str, tmp_path: Path) -> None:
    token = fake(prefix)
    path = settings_file(tmp_path, {name.format(token): value.format(token)})
    layer = settings_layer(path, {})
    seen = look_up(Request((layer, process_layer({}))))
    assert token[-16:] not in repr((seen, layer, as_json(seen)))
