import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maia.core.weburl import WebUrl, read_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTP://Example.ORG:80/A?b=C#d", "http://example.org/A?b=C"),
        ("https://example.org.:8443/", "https://example.org:8443/"),
        (" example.org/x ", "https://example.org/x"),
        ("example.org:8080/x", "https://example.org:8080/x"),
        ("http://[::1]:3000/", "http://[::1]:3000/"),
        ("http://[0:0::0:1]/", "http://[::1]/"),
        ("https://été.fr/é?q=é à".replace(" ", "%20"), "https://xn--t-9fab.fr/%C3%A9?q=%C3%A9%20%C3%A0"),
        ("http://2130706433/", "http://2130706433/"),
        ("https://a_b.example.org/", "https://a_b.example.org/"),
        ("https://example.org/a/../b;c=1?x[]=2&y=%20", "https://example.org/a/../b;c=1?x[]=2&y=%20"),
    ],
)
def test_an_address_has_one_form(text: str, url: str) -> None:
    assert str(read_url(text)) == url


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("ftp://example.org/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("https://user:pass@example.org/", "credentials"),
        ("https://example.org@evil.org/", "credentials"),
        ("https://", "host"),
        ("https:///path", "host"),
        ("https://a..b/", "host"),
        ("https://a%2eb/", "host"),
        ("https://exa mple.org/", "form"),
        ("https://evil.org\\@example.org/", "form"),
        ("https://example.org/\r\nHost: x", "form"),
        ("https://faß.de/", "host"),
        ("https://[::1/", "host"),
        ("https://[zz]/", "host"),
        ("https://example.org:99999/", "host"),
        ("https://-example.org/", "host"),
        ("", "host"),
    ],
)
def test_what_readers_disagree_about_is_refused(text: str, fault: str) -> None:
    assert read_url(text) == fault


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_an_address_or_a_reason(text: str) -> None:
    got = read_url(f"https://{text}")
    if isinstance(got, WebUrl):
        assert read_url(str(got)) == got
        assert str(got).isascii()
