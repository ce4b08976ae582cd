import pytest

from maia.core.proxy import environment_proxy


@pytest.mark.parametrize(
    ("scheme", "netloc", "proxy"),
    [
        ("http", "a.org", "http://p:1"),
        ("https", "a.org:8443", "http://s:2"),
        ("http", "x.skip.org", None),
        ("https", "skip.org", None),
        ("ftp", "a.org", "socks5://all:3"),
    ],
)
def test_the_environment_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, scheme: str, netloc: str, proxy: str | None
) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ftp_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "p:1")
    monkeypatch.setenv("https_proxy", "http://s:2")
    monkeypatch.setenv("all_proxy", "socks5://all:3")
    monkeypatch.setenv("no_proxy", "localhost,skip.org")
    assert environment_proxy(scheme, netloc) == proxy
