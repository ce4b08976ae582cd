import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.credentials.scrub import without_keys

BODY = "a1B2" * 10


@pytest.mark.parametrize(
    ("prefix", "body"),
    [
        ("sk-ant-api03-", BODY),
        ("sk-proj-", BODY),
        ("sk-or-v1-", "0a1b" * 16),
        ("sk-", BODY),
        ("AIza", BODY),
        ("gsk_", BODY),
        ("hf_", BODY),
        ("ghp_", BODY),
    ],
)
def test_a_key_in_a_sentence_is_its_prefix_and_length(prefix: str, body: str) -> None:
    key = prefix + body
    for before, after in (("use ", " now"), ("KEY=", "\n"), ('{"key": "', '"}'), ("(", ")."), ("Bearer ", "")):
        assert without_keys(before + key + after) == f"{before}{prefix}…({len(key)}){after}"
    assert without_keys(f"It is {key}.") == f"It is {prefix}…({len(key)})."


def test_a_private_key_is_taken_out_whole_also_where_its_end_is_missing() -> None:
    lines = "\n".join(["MII" + BODY] * 3)
    for kind in ("", "RSA ", "OPENSSH "):
        begin, end = f"-----BEGIN {kind}PRIVATE " + "KEY-----", f"-----END {kind}PRIVATE " + "KEY-----"
        assert without_keys(f"a\n{begin}\n{lines}\n{end}\nb") == f"a\n{begin}…\nb"
        assert without_keys(f"a\n{begin}\n{lines}") == f"a\n{begin}…"


@pytest.mark.parametrize(
    "text",
    [
        "d41d8cd98f00b204e9800998ecf8427e",  # a digest
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "fw_some_function_of_the_firewall",
        "sk-learn-contributors-and-friends",
        "https://example.org/a/very/long/path/to/something-2026-11-30.html",
        "9cdb63217ded",
        "src/maia/credentials/prefixes.py",
        "4111111111111111",
    ],
)
def test_what_only_looks_long_stays(text: str) -> None:
    assert without_keys(f"see {text} here") == f"see {text} here"


@given(st.text())
def test_scrubbing_twice_changes_nothing_more(text: str) -> None:
    assert without_keys(without_keys(text)) == without_keys(text)
