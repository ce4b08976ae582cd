"""One table of providers: whoever speaks of one means the same name, the same host and the same variables."""

from __future__ import annotations

from typing import get_args

import pytest

from maia.core.providers import BY_NAME, GENERIC_VARS, LOCAL_VARS, PROVIDERS, Provider, model_keys
from maia.credentials.prefixes import RULES, UNKNOWN
from maia.credentials.providers import CUSTOM, hermes_of, place_of
from maia.llm.providers import LOCAL_SERVERS, Served
from maia.llm.providers import PROVIDERS as SERVED
from maia.llm.target import EffortControl
from maia.runtimes.programs import PROGRAMS
from maia.sandbox.environment import is_withheld

OWN_OF_PROGRAMS = {"CODEX_API_KEY", "OPENCODE_API_KEY", "CLINE_API_KEY", "KILO_API_KEY"}
"""Variables that only one program reads."""


def test_every_name_host_and_variable_stands_once() -> None:
    names = [name for p in PROVIDERS for name in dict.fromkeys((p.name, *p.aliases))]
    hosts = [domain.name for p in PROVIDERS for domain in p.domains]
    assert len(names) == len(set(names))
    assert len(hosts) == len(set(hosts))
    shared = {name for p in PROVIDERS for name in p.shared_vars}
    assert not shared & model_keys()


@pytest.mark.parametrize("served", SERVED, ids=lambda served: served.name)
def test_the_model_room_asks_providers_of_the_table_by_their_own_variables(served: Served) -> None:
    known = BY_NAME[served.name]
    assert served.known is known
    assert set(served.key_vars) <= set(known.key_vars)
    assert set(served.bearer_vars) <= {*known.key_vars, *GENERIC_VARS}
    assert served.effort is None or served.effort in get_args(EffortControl)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_an_address_leads_to_its_own_provider(provider: Provider) -> None:
    for url in (provider.base_url, *(domain.base_url for domain in provider.domains)):
        if url:
            place = place_of(url)
            assert place is not None
            assert place.provider is provider


def test_shapes_of_keys_name_providers_of_the_table() -> None:
    keys_only = {"langfuse", "langsmith", "aws", "litellm", UNKNOWN}
    named = {name for rule in RULES for name in (rule.provider, *rule.others)}
    assert named - keys_only <= {p.kin for p in PROVIDERS}


def test_hermes_reads_something_for_everybody() -> None:
    assert all(hermes_of(provider).provider for provider in PROVIDERS)
    assert CUSTOM not in BY_NAME


def test_no_command_sees_a_key_that_a_room_spends() -> None:
    spent = {name for served in SERVED for name in (*served.key_vars, *served.bearer_vars)}
    spent |= {server.key_var for server in LOCAL_SERVERS if server.key_var}
    assert [name for name in sorted(spent) if not is_withheld(name)] == []
    assert not is_withheld("GITHUB_TOKEN")
    assert not is_withheld("ELEVENLABS_API_KEY")


def test_programs_get_their_keys_by_names_of_the_table() -> None:
    given = {name for program in PROGRAMS for name in program.key_vars}
    assert given - OWN_OF_PROGRAMS <= model_keys()


def test_a_server_of_ones_own_is_no_provider() -> None:
    assert not {server.name for server in LOCAL_SERVERS} & set(BY_NAME)
    assert {server.key_var for server in LOCAL_SERVERS} - {""} <= set(LOCAL_VARS)
