from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.errors import NotConfigured, SettingsProblem, UsageProblem
from maia.core.events import Notice
from maia.i18n.catalogue import Catalogue
from maia.llm.binding import Choice, Wanted, choose, default_model, find, suggestions, version_of
from maia.llm.endpoint import OFFLINE_ENDPOINT, Endpoint
from maia.llm.models import OFFLINE_MODEL, ModelInfo
from maia.llm.target import WireTarget


def endpoint(name: str, prefer: str = "") -> Endpoint:
    return Endpoint(name, "x", WireTarget(name, "openai-chat", f"https://{name}.example"), "/models", prefer=prefer)


SONNET = ModelInfo("claude-sonnet-4-5", "litellm")
OPUS = ModelInfo("claude-opus-4-1", "litellm")
EMBED = ModelInfo("sonnet-embed", "litellm", usable=False)
GPT = ModelInfo("gpt-5", "openai")
TWIN = ModelInfo("claude-opus-4-1", "openrouter")
ROUTED = ModelInfo("anthropic/claude-sonnet-5", "openrouter")
MODELS = (SONNET, OPUS, EMBED, GPT, TWIN, ROUTED, OFFLINE_MODEL)

FOUND = {
    "exact id": ("gpt-5", GPT),
    "exact id, first endpoint": ("claude-opus-4-1", OPUS),
    "provider and id": ("openrouter/claude-opus-4-1", TWIN),
    "an id with a slash": ("anthropic/claude-sonnet-5", ROUTED),
    "provider and an id with a slash": ("openrouter/anthropic/claude-sonnet-5", ROUTED),
    "another case": ("GPT-5", GPT),
    "a fragment": ("opus", OPUS),
    "a fragment in another case": ("OpUs", OPUS),
    "a fragment, usable before others": ("sonnet", SONNET),
    "a fragment of the provider only": ("openr", TWIN),
    "blanks around": ("  gpt-5 ", GPT),
    "offline": ("offline", OFFLINE_MODEL),
    "an exact id that does not chat": ("sonnet-embed", EMBED),
}


@pytest.mark.parametrize(("word", "model"), FOUND.values(), ids=FOUND.keys())
def test_a_model_is_found_by_any_name(word: str, model: ModelInfo) -> None:
    assert find(MODELS, word)[0] == model


@pytest.mark.parametrize("word", ["", "  ", "nothing-like-it"])
def test_a_word_that_names_no_model_finds_nothing(word: str) -> None:
    assert find(MODELS, word) == []


ORDER = {
    "the option comes first": (Wanted("gpt-5", "opus", "sonnet", "offline"), GPT, "option"),
    "then the resumed session": (Wanted(None, "opus", "gpt-5", "offline"), GPT, "resumed"),
    "of its own provider": (Wanted(None, "opus", "openrouter/claude-opus-4-1", "offline"), TWIN, "resumed"),
    "then the settings": (Wanted(None, "claude-opus-4-1", None, "offline"), OPUS, "settings"),
    "then the last choice": (Wanted(None, None, None, "offline"), OFFLINE_MODEL, "resumed"),
    "then the first that is there": (Wanted(), SONNET, "default"),
}


@pytest.mark.parametrize(("wanted", "model", "why"), ORDER.values(), ids=ORDER.keys())
def test_who_chooses_and_why(wanted: Wanted, model: ModelInfo, why: str) -> None:
    assert choose(MODELS, wanted) == Choice(model, why)


def test_a_fragment_that_fits_several_takes_the_first_listed_and_says_so(say: Catalogue) -> None:
    choice = choose(MODELS, Wanted("claude"))
    assert choice.model == SONNET
    assert choice.others == (OPUS, TWIN, ROUTED)
    (notice,) = choice.notices
    assert notice == Notice("info", "models.several_fit", {"name": "claude", "model": SONNET.id, "n": 3})
    assert SONNET.id in say(notice.key, **notice.values)


def test_an_option_that_names_no_model_is_an_error_with_the_closest_names(say: Catalogue) -> None:
    with pytest.raises(UsageProblem) as caught:
        choose(MODELS, Wanted("claude-sonet-4"))
    assert caught.value.values["close"].split(", ")[0] == "claude-sonnet-4-5"
    assert "claude-sonet-4" in say(caught.value.key, **caught.value.values)
    assert SONNET.id in say(caught.value.key + ".fix", **caught.value.values)


def test_a_model_of_the_settings_is_never_swapped_in_silence(say: Catalogue) -> None:
    with pytest.raises(SettingsProblem) as caught:
        choose(MODELS, Wanted(None, "gone-model"))
    assert say(caught.value.key, **caught.value.values)


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        (Wanted(resumed="litellm/gone"), "models.resumed_gone"),
        (Wanted(remembered="litellm/gone"), "models.remembered_gone"),
        (Wanted(resumed="openai/gpt"), "models.resumed_gone"),
        (Wanted(remembered="openai/gpt"), "models.remembered_gone"),
    ],
)
def test_a_last_choice_that_is_gone_is_replaced_and_told(wanted: Wanted, key: str, say: Catalogue) -> None:
    choice = choose(MODELS, wanted)
    name = wanted.resumed or wanted.remembered
    assert (choice.model, choice.why) == (SONNET, "default")
    assert choice.notices == (Notice("warn", key, {"name": name}),)
    assert say(key, name=name)


def test_a_session_whose_server_is_gone_goes_on_with_the_same_model_of_another_one_and_says_so() -> None:
    gone = Notice("warn", "models.resumed_gone", {"name": "work/gpt-5"})
    assert choose(MODELS, Wanted(resumed="work/gpt-5")) == Choice(GPT, "resumed", (), (gone,))


def test_without_any_model_nothing_is_configured(say: Catalogue) -> None:
    for wanted in (Wanted(), Wanted("gpt-5")):
        with pytest.raises(NotConfigured) as caught:
            choose((), wanted)
        assert caught.value.exit_code == 3
        assert say(caught.value.key, **caught.value.values)
        assert say(caught.value.key + ".fix", **caught.value.values)


# Endpoints without a list --------------------------------------------------------------------------------------------


def test_an_endpoint_whose_list_could_not_be_had_takes_models_on_trust() -> None:
    work = endpoint("work")
    named = choose((OFFLINE_MODEL,), Wanted("work/qwen"), (work,), ("work",))
    assert (named.model.full_name, named.why) == ("work/qwen", "option")
    bare = choose((OFFLINE_MODEL,), Wanted("qwen"), (work,), ("work",))
    assert bare.model.full_name == "work/qwen"
    setting = choose((OFFLINE_MODEL,), Wanted(None, "qwen"), (work,), ("work",))
    assert (setting.model.full_name, setting.why) == ("work/qwen", "settings")


def test_between_two_endpoints_without_a_list_the_provider_must_be_named() -> None:
    two = (endpoint("work"), endpoint("home"))
    with pytest.raises(UsageProblem):
        choose((OFFLINE_MODEL,), Wanted("qwen"), two, ("work", "home"))
    assert choose((OFFLINE_MODEL,), Wanted("home/qwen"), two, ("work", "home")).model.provider == "home"


def test_an_endpoint_with_a_list_does_not_take_unknown_models() -> None:
    with pytest.raises(UsageProblem):
        choose(MODELS, Wanted("litellm/unknown"), (endpoint("litellm"),), ())


# The default ---------------------------------------------------------------------------------------------------------


def test_the_default_is_the_newest_preferred_model_of_the_first_endpoint() -> None:
    names = ["gpt-3.5-turbo", "gpt-4o", "gpt-5", "gpt-5-2025-08-07", "gpt-5.2", "gpt-5.10", "gpt-image-9"]
    models = [ModelInfo(name, "openai") for name in names]
    assert default_model(models, (endpoint("openai", r"gpt-\d+(?:\.\d+)?"),)).id == "gpt-5.10"
    assert default_model(models, (endpoint("openai"),)).id == "gpt-3.5-turbo"
    assert default_model(models, (endpoint("openai", "nothing"),)).id == "gpt-3.5-turbo"


def test_the_default_is_never_a_model_that_does_not_chat_when_there_is_another() -> None:
    assert default_model((EMBED, OFFLINE_MODEL), (OFFLINE_ENDPOINT,)) == OFFLINE_MODEL
    assert default_model((EMBED,)) == EMBED


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20251029"),
        ("gpt-5.9", "gpt-5.10"),
        ("glm-4.7", "glm-5"),
    ],
)
def test_versions_are_compared_as_numbers_and_dates_last(older: str, newer: str) -> None:
    assert version_of(older) < version_of(newer)


@given(st.text(max_size=30))
def test_no_word_whatever_raises_more_than_a_usage_problem(word: str) -> None:
    assert suggestions(MODELS, word)
    with suppress(UsageProblem):
        assert choose(MODELS, Wanted(word)).model in MODELS
