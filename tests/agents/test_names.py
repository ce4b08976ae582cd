import pytest

from maia.agents.names import checked_name, checked_prompt_name, key_of, near, nickname_fault
from maia.core.errors import UsageProblem


@pytest.mark.parametrize("name", ["critic", "code_reviewer", "a-b", "é", "审阅", "9lives", "x" * 64])
def test_letters_digits_and_two_signs_make_a_name(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *((bad, "agents.bad_name") for bad in ("", " ", ".", "..", "../x", "a/b", "a\\b", "-x", "_x", ".x")),
        *((bad, "agents.bad_name") for bad in ("a b", "a.b", "a\0", "a\n", "~", "x" * 65, "a\ud800", "🔥", "/etc")),
        *((bad, "agents.reserved_name") for bad in ("maia", "MAIA", "con", "Lpt1", "claude-code", "Claude-Code")),
    ],
)  # fmt: skip
def test_what_could_lead_elsewhere_or_mean_something_else_is_no_name(name: str, key: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        checked_name(name, ("claude-code",))
    assert caught.value.key == key


def test_a_prompt_is_named_as_an_agent() -> None:
    assert checked_prompt_name("review") == "review"
    with pytest.raises(UsageProblem) as caught:
        checked_prompt_name("../review")
    assert caught.value.key == "agents.prompt.bad_name"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Chaos Prophet", "the  chaos\u00a0PROPHET "),
        ("é", "e\u0301"),
        ("Straße", "STRASSE"),
        ("ﬁx", "FIX"),
        ("👩\u200d🚀", "👩🚀"),
        ("❤\ufe0f", "❤"),
        ("ad\u00admin", "admin"),
        ("Ｃｏｄｅ", "code"),
    ],
)
def test_spellings_that_look_the_same_are_the_same_name(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    "nickname", ["Le Prophète du Chaos", "👩\u200d🚀 Zoë", "审阅者", "O'Neill", "#1: fan", "x" * 100]
)
def test_any_display_name_is_a_nickname(nickname: str) -> None:
    assert nickname_fault(nickname) is None


@pytest.mark.parametrize("nickname", ["", " ", "\u200b\u200d", "a\nb", "a\x1b[31m", "a\u202eb", "x" * 101, "a\ud800"])
def test_what_cannot_be_shown_is_no_nickname(nickname: str) -> None:
    assert nickname_fault(nickname) is not None


def test_suggestions_are_what_looks_alike_and_what_shares_a_word() -> None:
    names = ["The Chaos Prophet", "critic", "builder"]
    assert near("critik", names) == ("critic",)
    assert near("prophet", names) == ("The Chaos Prophet",)
    assert near("zzz", names) == ()
