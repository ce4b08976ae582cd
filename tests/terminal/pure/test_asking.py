import pytest

from maia.core.events import ApprovalRequested, LimitReached
from maia.core.permission import Answer, ApprovalScope, Decision, Need, Verdict
from maia.i18n.catalogue import Catalogue
from maia.terminal.asking import answer_text, choice_text, question_reason, question_title, scopes
from tests.terminal.pure.frames import EN, FR, NO_RULE, fr, ruled


def asked(
    name: str, preview: str, decision: Decision = NO_RULE, proposed: str | None = "x", origin: str = ""
) -> ApprovalRequested:
    return ApprovalRequested("q", "c", name, {}, (Need(name, "text", "need"),), decision, proposed, preview, (), origin)


TITLES = [
    ("Bash", "git push", "Exécuter « git push » ?", 'Run "git push"?'),
    ("Edit", "src/a.py", "Modifier src/a.py ?", "Change src/a.py?"),
    ("Write", "src/a.py", "Modifier src/a.py ?", "Change src/a.py?"),
    ("Read", "src/a.py", "Lire src/a.py ?", "Read src/a.py?"),
    ("Grep", "x dans src/", "Chercher x dans src/ ?", "Search x dans src/?"),
    ("WebFetch", "https://a.org", "Télécharger https://a.org ?", "Fetch https://a.org?"),
    ("Addition", "5", "Utiliser Addition : 5 ?", "Use Addition: 5?"),
    ("Addition", "", "Utiliser Addition : need ?", "Use Addition: need?"),
]


@pytest.mark.parametrize(("name", "preview", "french", "english"), TITLES)
def test_each_tool_has_its_question(name: str, preview: str, french: str, english: str) -> None:
    assert question_title(asked(name, preview), FR) == fr(french)
    assert question_title(asked(name, preview), EN) == english


def test_a_sub_agent_is_named_first() -> None:
    assert question_title(asked("Read", "a", origin="relecteur"), FR) == fr("[sous-agent relecteur] Lire a ?")
    assert question_title(asked("Read", "a", origin="relecteur"), EN) == "[sub-agent relecteur] Read a?"


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (asked("Bash", "x"), ("once", "session", "always", "no")),
        (asked("Bash", "x", proposed=None), ("once", "session", "no")),
        (asked("Bash", "x", ruled("Bash(x)")), ("once", "session", "no")),
        (asked("Bash", "x", ruled("Bash(x)", Verdict.ALLOW)), ("once", "session", "always", "no")),
    ],
    ids=["no rule", "no allow could win", "an ask rule decides", "another reason"],
)
def test_always_is_offered_only_where_a_rule_could_win(
    event: ApprovalRequested, expected: tuple[ApprovalScope, ...]
) -> None:
    assert scopes(event) == expected


def test_the_choices_are_those_of_the_specification() -> None:
    event = asked("Bash", "x", proposed="Bash(git push origin avoirs-devise)")
    assert [choice_text(scope, event, FR) for scope in scopes(event)] == [
        "Oui, une fois",
        "Oui, pour cette session",
        fr("Oui, toujours : allow Bash(git push origin avoirs-devise)"),
        "Non",
    ]
    assert [choice_text(scope, event, EN, with_rule=False) for scope in scopes(event)] == [
        "Yes, once",
        "Yes, for this session",
        "Yes, always",
        "No",
    ]


def test_the_reason_names_the_rule_and_its_file(say: Catalogue) -> None:
    reason = question_reason(asked("Bash", "x", ruled("Bash(git push *)")), say)
    assert reason == fr("règle : ask Bash(git push *) — ./.maia/settings.json") or reason == (
        "rule: ask Bash(git push *) — ./.maia/settings.json"
    )
    assert question_reason(asked("Bash", "x"), say) == say("term.permissions.default")


def test_answers_are_told() -> None:
    assert answer_text(Answer("no", "later"), asked("Bash", "x"), EN, stopped=False) == "No — later"
    assert answer_text(Answer("once"), LimitReached("q", "turns", 5), EN, stopped=False) == "Yes"
    assert answer_text(Answer("no"), asked("Bash", "x"), FR, stopped=True) == "interrompu"


def test_a_preview_cannot_act_on_the_screen(say: Catalogue) -> None:
    assert "\x1b" not in question_title(asked("Bash\x1b", "\x1b[2J"), say)
    assert "\u202e" not in question_title(asked("Tool", "\u202ex"), say)
