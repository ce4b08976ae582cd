from typing import get_args

import pytest

from maia.core.endings import Failure, FailureCause
from maia.core.errors import ModelFailed, UsageProblem
from maia.terminal.badges import badge_lines, detail_lines, error_lines, failure_lines
from maia.terminal.colours import Look
from maia.terminal.spans import Line, Span, line
from tests.terminal.pure.frames import EN, FR, fr, frame, shown

REFUSED = Failure("auth", "https://llm.example.org", 401, "invalid_api_key", "invalid api key")


def test_the_start_log_aligns_under_its_text() -> None:
    entries: tuple[tuple[str, str], ...] = (
        ("info", "Dossier de travail : /srv/code/facturation"),
        ("info", "Contexte de départ : MAIA.md"),
        ("info", "Permissions : ~/.maia/settings.json (12 règles), ./.maia/settings.json (4)"),
        ("info", "Contexte maximal de sonnet : 200k (catalogue)"),
        ("warn", "./.maia/settings.json, ligne 9 : règle « Bash(git push » ignorée, il manque « ) »."),
    )
    rows: list[Line] = []
    for badge, text in entries:
        rows += badge_lines(badge, fr(text), Look())  # type: ignore[arg-type]
    assert shown(rows) == fr(
        frame("""
INFO  Dossier de travail : /srv/code/facturation
INFO  Contexte de départ : MAIA.md
INFO  Permissions : ~/.maia/settings.json (12 règles), ./.maia/settings.json (4)
INFO  Contexte maximal de sonnet : 200k (catalogue)
WARN  ./.maia/settings.json, ligne 9 : règle « Bash(git push » ignorée, il
      manque « ) ».
""")
    )


def test_an_error_says_what_happened_why_and_what_to_do() -> None:
    assert shown(failure_lines(REFUSED, Look(), FR)) == fr(
        frame("""
FAIL  Le serveur n'a pas accepté la clé (HTTP\u00a0401).
      https://llm.example.org répond « invalid api key ».
      → Corrigez LiteLLM_API_Key dans ~/.maia/settings.json, puis /model.
""")
    )
    assert shown(failure_lines(REFUSED, Look(), EN)) == frame("""
FAIL  The server did not accept the key (HTTP\u00a0401).
      https://llm.example.org answers "invalid api key".
      → Correct LiteLLM_API_Key in ~/.maia/settings.json, then /model.
""")


def test_an_error_in_40_columns_keeps_its_indent() -> None:
    assert shown(failure_lines(REFUSED, Look(width=40), FR), 40) == fr(
        frame("""
FAIL  Le serveur n'a pas accepté la clé
      (HTTP\u00a0401).
      https://llm.example.org répond
      « invalid api key ».
      → Corrigez LiteLLM_API_Key dans
      ~/.maia/settings.json, puis
      /model.
""")
    )


def test_a_vendor_that_refuses_a_key_gets_the_general_remedy() -> None:
    rows = shown(failure_lines(Failure("auth", "https://api.anthropic.com", 401), Look(), EN))
    assert "LiteLLM_API_Key or" in rows or "its environment variable" in rows


@pytest.mark.parametrize(
    "kind",
    [
        "auth",
        "rate_limit",
        "overloaded",
        "timeout",
        "network",
        "cancelled",
        "rejected",
        "incomplete",
        "too_long",
        "not_llm",
        "not_configured",
        "other",
    ],
)
def test_every_kind_of_failure_has_words_and_a_remedy_in_both_languages(kind: str) -> None:
    for say in (FR, EN):
        rows = shown(failure_lines(Failure(kind, "llm.example.org", 500), Look(), say))  # type: ignore[arg-type]
        assert "HTTP\u00a0500" in rows
        assert "→ " in rows


@pytest.mark.parametrize("cause", get_args(FailureCause))
def test_what_the_system_says_is_never_put_in_the_servers_mouth(cause: FailureCause) -> None:
    failure = Failure("network", "llm.example.org", code="ConnectError", provider_text="the words", cause=cause)
    for say, answers in ((FR, "répond « "), (EN, 'answers "')):
        rows = shown(failure_lines(failure, Look(), say)).split("\n")
        assert len(rows) >= 3, "what happened, why, what to do"
        assert answers not in "\n".join(rows)
    timed_out = Failure("timeout", "llm.example.org", code="timeout_error", provider_text="took too long")
    assert 'llm.example.org answers "took too long".' in shown(failure_lines(timed_out, Look(), EN))


def test_the_words_of_a_server_are_shown_literally_and_bounded() -> None:
    failure = Failure("other", "evil\x1b[2J", 500, "", "\x1b]0;owned\x07" + "x" * 100_000)
    rows = failure_lines(failure, Look(), FR)
    assert "\x1b" not in shown(rows)
    assert "␛]0;owned␇" in shown(rows)
    assert len(rows) < 16


def test_error_text_after_fail_is_coloured_and_the_badge_is_a_span_of_its_own() -> None:
    assert badge_lines("fail", "non", Look()) == [line(Span("FAIL", "fail"), "  ", Span("non", "fail_text"))]
    assert badge_lines("ask", "Oui ?", Look()) == [line(Span("ASK", "ask"), "   ", "Oui ?")]


def test_without_colour_badges_have_brackets_and_the_text_still_aligns() -> None:
    rows = badge_lines("warn", "un texte qui passe à la ligne", Look(width=25, level="none"))
    assert shown(rows, 25) == "[WARN] un texte qui passe\n       à la ligne"


def test_in_a_very_narrow_terminal_the_badge_stands_above() -> None:
    assert shown(badge_lines("info", "un texte assez long", Look(width=12)), 12) == "INFO\nun texte\nassez long"


def test_an_error_has_its_remedy_under_it() -> None:
    rows = error_lines(UsageProblem("term.command.unknown", name="foo"), Look(), EN)
    assert shown(rows) == (
        "FAIL  /foo is not a command.\n      → /help shows them all; a leading space sends the line as text."
    )
    assert shown(error_lines(UsageProblem("term.choice.no"), Look(), EN)) == "FAIL  No"


def test_a_failed_model_call_outside_a_turn_is_drawn_like_one_inside() -> None:
    assert error_lines(ModelFailed(REFUSED), Look(), FR) == failure_lines(REFUSED, Look(), FR)


def test_details_align_with_the_text_of_the_badge() -> None:
    assert shown(detail_lines("→ x", Look())) == "      → x"
    assert shown(detail_lines("→ x", Look(level="none"))) == "       → x"


def test_a_screen_reader_hears_the_badge_as_a_word() -> None:
    assert shown(badge_lines("warn", "attention", Look(level="none", screen_reader=True))) == "WARN. attention"
