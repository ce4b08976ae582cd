"""Why a delegated run failed, as the model that delegated it reads it."""

import pytest

from maia.core.endings import Failure
from maia.core.reason import Reason
from maia.i18n.catalogue import Catalogue
from maia.workspace.delegating.problem import problem_of

GONE = Reason("delegate.circle", {"name": "Iris\u202e"})


@pytest.mark.parametrize(
    ("failure", "key"),
    [
        (Failure("other", code="agent_quota", provider_text="quota"), "delegate.problem.agent_quota"),
        (Failure("other", code="budget_stop"), "delegate.problem.budget_stop"),
        (Failure("incomplete", code="server_stopped"), "delegate.problem.server_stopped"),
        (Failure("other", code="storage"), "delegate.problem.storage"),
    ],
)
def test_what_we_ended_is_told_in_our_words(failure: Failure, key: str, say: Catalogue) -> None:
    assert problem_of(failure, say) == say(key)


def test_a_refusal_is_told_in_its_words_and_anything_else_in_those_of_the_provider(say: Catalogue) -> None:
    assert problem_of(None, say) == ""
    assert problem_of(Failure("other", why=GONE), say) == say("delegate.circle", name="Iris<U+202E>")
    assert problem_of(Failure("overloaded", code="529", provider_text="busy\x1b[2J"), say) == "busy\u241b[2J"
    assert problem_of(Failure("overloaded", code="529"), say) == "529"
    assert problem_of(Failure("timeout"), say) == "timeout"
