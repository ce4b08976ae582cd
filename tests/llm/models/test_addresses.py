import pytest

from maia.llm.addresses import is_loopback, is_loopback_url


@pytest.mark.parametrize(
    "host", ["localhost", "LocalHost", "127.0.0.1", "127.1.2.3", "::1", "::", "0.0.0.0", "a.localhost"]
)
def test_this_machine_is_known_by_its_names(host: str) -> None:
    assert is_loopback(host)
    assert is_loopback_url(f"http://[{host}]:1/v1" if ":" in host else f"http://{host}:1/v1")


@pytest.mark.parametrize(
    "host", ["example.org", "localhost.example.org", "127.evil.example", "127.0.0.1.example.org", "10.0.0.1", ""]
)
def test_other_hosts_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)
    assert not is_loopback_url(f"http://{host}/v1")
