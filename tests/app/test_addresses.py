from collections.abc import Sequence

import pytest

from maia.app.addresses import entry_of, id_of, provider_of
from maia.core.errors import MaiaError
from maia.core.secret import Secret
from maia.database.providers import ProviderRow
from maia.workspace.models.supply import Address

PLACES = {
    "models.example.com": ["93.184.216.34"],
    "atelier.lan": ["192.168.1.20"],
    "rebound.example.com": ["93.184.216.34", "169.254.169.254"],
    "2852039166": ["169.254.169.254"],
    "0xa9fea9fe": ["169.254.169.254"],
}


def found(host: str, _port: int) -> Sequence[str]:
    if host in PLACES:
        return PLACES[host]
    if host.replace(".", "").isdigit() or ":" in host:
        return [host]
    raise OSError("Name or service not known")


def added(url: str, key: str = "", name: str = "Atelier Nº 2") -> ProviderRow:
    return provider_of(Address(name, "anthropic", url, Secret(key) if key else None), ["taken"], found)


def test_an_address_becomes_a_provider() -> None:
    row = added("https://models.example.com/v1", "k" * 20)
    variable = "MAIA_AT_ATELIER_NO_2"
    expected = ProviderRow(
        "atelier-no-2",
        "Atelier Nº 2",
        "api",
        "https://models.example.com/v1",
        variable,
        "person",
        format="anthropic",
    )
    assert row == expected
    assert entry_of(row) == {"format": "anthropic", "url": row.base_url, "key_env": variable}
    assert added("http://127.0.0.1:8000").kind == "local"
    assert entry_of(added("http://127.0.0.1:8000")) == {"format": "anthropic", "url": "http://127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("url", "key", "problem"),
    [
        pytest.param("models.example.com", "", "provider.no_scheme", id="no scheme"),
        pytest.param("file:///etc/passwd", "", "provider.not_http", id="a file"),
        pytest.param("gopher://models.example.com", "", "provider.not_http", id="another protocol"),
        pytest.param("http://", "", "provider.not_a_url", id="no host"),
        pytest.param("http://a b", "", "provider.not_a_url", id="a blank"),
        pytest.param("https://me:pw@models.example.com", "", "provider.url_with_password", id="a password"),
        pytest.param("https://models.example.com/?x=1", "", "provider.url_with_query", id="a query"),
        pytest.param("https://nowhere.example.com", "", "provider.unresolved", id="nobody"),
        pytest.param("http://169.254.169.254/latest", "", "provider.forbidden_place", id="metadata"),
        pytest.param("http://2852039166", "", "provider.forbidden_place", id="metadata as a number"),
        pytest.param("http://0xA9FEA9FE", "", "provider.forbidden_place", id="metadata in hexadecimal"),
        pytest.param("http://[::ffff:169.254.169.254]", "", "provider.forbidden_place", id="metadata wrapped"),
        pytest.param("http://[fd00:ec2::254]", "", "provider.forbidden_place", id="metadata over IPv6"),
        pytest.param("http://[fe80::1]", "", "provider.forbidden_place", id="a link's own"),
        pytest.param("https://rebound.example.com", "", "provider.forbidden_place", id="one of several places"),
        pytest.param("http://models.example.com", "k" * 20, "provider.key_in_clear", id="a key in clear"),
    ],
)
def test_an_address_that_requests_may_not_go_to_is_refused(url: str, key: str, problem: str) -> None:
    with pytest.raises(MaiaError) as refused:
        added(url, key)
    assert refused.value.key == problem
    assert key not in str(refused.value) or not key


def test_on_the_own_network_a_key_may_go_without_tls() -> None:
    assert added("http://atelier.lan:4000", "k" * 20).secret_name == "MAIA_AT_ATELIER_NO_2"


@pytest.mark.parametrize(
    ("name", "problem"),
    [("OpenAI", "name_taken"), ("taken", "name_taken"), ("Ollama", "name_taken"), ("«»", "name_unusable")],
)
def test_a_name_is_of_one_provider_only(name: str, problem: str) -> None:
    with pytest.raises(MaiaError) as refused:
        added("https://models.example.com", name=name)
    assert refused.value.key == f"provider.{problem}"


def test_an_id_is_made_of_letters_and_digits() -> None:
    assert [id_of(name) for name in ("Été 2026!", "a" * 60, "--", "日本")] == ["ete-2026", "a" * 40, "", ""]
