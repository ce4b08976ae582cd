import time
from collections.abc import Sequence

import pytest

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    ContextCleared,
    ContextMeasured,
    Event,
    LimitReached,
    ModelChanged,
    Notice,
    PendingAdded,
    ReasoningDelta,
    Reminded,
    RetryScheduled,
    SessionRenamed,
    SessionStarted,
    StepStarted,
    TextDelta,
    ToolCallDrafted,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, TextPart
from maia.core.permission import Answer, Decision, Need
from maia.core.submission import Attachment
from maia.i18n.catalogue import Catalogue
from maia.terminal.colours import Look
from maia.terminal.contextbar import Fill
from maia.terminal.render import (
    RenderState,
    Status,
    diff_of,
    live_lines_of,
    render,
    render_all,
    status_of,
)
from maia.terminal.spans import Span, line
from tests.terminal.pure.frames import EDIT, EN, FR, NO_RULE, answered, fr, frame, ruled, shown

NB = "\u00a0"
PUSH = "git push origin avoirs-devise"


def log(
    events: Sequence[Event], say: Catalogue = FR, *, look: Look | None = None, state: RenderState | None = None
) -> str:
    """The rows that the events add to the log, as text."""
    look, state = look or Look(), state or RenderState()
    return shown([row for event in events for row in render(event, state, look, say)], look.width)


def asked(
    name: str = "Bash",
    preview: str = PUSH,
    *,
    approval: str = "q1",
    call: str = "1",
    origin: str = "",
    decision: Decision = NO_RULE,
    blocks: tuple[object, ...] = (),
) -> ApprovalRequested:
    need = Need(name, "command", preview)
    return ApprovalRequested(
        approval,
        call,
        name,
        {},
        (need,),
        decision,
        f"{name}({preview})",
        preview,
        blocks,
        origin,  # type: ignore[arg-type]
    )


def ended(outcome: str = "finished", **values: object) -> TurnEnded:
    facts: dict[str, object] = {
        "usage": Usage(12_402, 380),
        "cost": Cost(0.0123, "reported"),
        "model": "sonnet",
        "provider": "litellm",
        "steps": 2,
        "tool_calls": 1,
        "approvals": 0,
        "duration": 12.3,
    }
    return TurnEnded(outcome, "end", "stop", **(facts | values))  # type: ignore[arg-type]


def test_a_streaming_answer_is_raw_and_then_replaced_by_markdown() -> None:
    state = RenderState()
    first = log(
        [TurnStarted(1, "m", "p"), UserSaid("Corrige l'arrondi des avoirs en yens."), StepStarted(1)], state=state
    )
    assert first == "❯ Corrige l'arrondi des avoirs en yens."
    text = "L'arrondi est figé à deux décimales dans `LigneAvoir.tva`. Je le fais suivre le\npas de la **devise"
    assert log([TextDelta(text[:40]), TextDelta(text[40:])], state=state) == ""
    assert shown(live_lines_of(state, Look(), FR)) == frame("""

L'arrondi est figé à deux décimales dans `LigneAvoir.tva`. Je le fais suivre le
pas de la **devise▏
""")
    assert status_of(state, FR) == Status("thinking", "En réflexion…")
    rows = render(answered(text=text + "**."), state, Look(), FR)
    assert rows[-1] == line("pas de la ", Span("devise", "bold"), ".")
    assert live_lines_of(state, Look(), FR) == ()


def test_the_users_line_is_bold_and_names_what_goes_with_it() -> None:
    said = UserSaid("lis ça", (Attachment("file", "a.py", "x" * 2_300, 12), Attachment("command", "ls", "y")))
    assert log([said]) == frame("""
❯ lis ça
  a.py joint (2\u202f300 caractères) · 12 caractères laissés de côté
  ! ls joint (1 caractère)
""")
    assert render(UserSaid("a"), RenderState(), Look(), FR) == (line(Span("❯ ", "user"), Span("a", "user")),)


def test_a_pasted_text_of_many_lines_is_shown_by_its_beginning() -> None:
    rows = log([UserSaid("\n".join(f"ligne {n}" for n in range(120)))])
    assert rows.count("\n") == 30
    assert rows.endswith("… 90 lignes de plus")


def test_one_tool_that_asks() -> None:
    state = RenderState()
    log([TurnStarted(1, "m", "p"), answered(("1", "Bash")), asked()], state=state)
    assert shown(live_lines_of(state, Look(), FR)) == "? Bash  git push origin avoirs-devise"
    assert status_of(state, FR) == Status("waiting", "Bash attend votre réponse")
    rows = log(
        [
            ApprovalAnswered("q1", Answer("once")),
            ToolCallStarted("1", "Bash", {}, PUSH),
            ToolCallFinished("1", "Bash", "succeeded", "", duration=3.1),
        ],
        state=state,
    )
    assert rows == fr(
        frame(f"""
◆ Exécuter « git push origin avoirs-devise » ? : Oui, une fois
✓ Bash  git push origin avoirs-devise                                      3,1{NB}s
""")
    )


def test_the_same_in_english() -> None:
    state = RenderState()
    log([TurnStarted(1, "m", "p"), answered(("1", "Bash")), asked()], EN, state=state)
    assert status_of(state, EN) == Status("waiting", "Bash waits for your answer")
    rows = log(
        [ApprovalAnswered("q1", Answer("always")), ToolCallFinished("1", "Bash", "succeeded", "", duration=3.1)],
        EN,
        state=state,
    )
    assert rows == frame(f"""
◆ Run "git push origin avoirs-devise"?: Yes, always: allow Bash(git push origin
  avoirs-devise)
✓ Bash  git push origin avoirs-devise                                      3.1{NB}s
""")


def test_an_answer_keeps_its_choice_in_bold() -> None:
    state = RenderState()
    log([answered(("1", "Bash")), asked()], state=state)
    rows = render(ApprovalAnswered("q1", Answer("no", "pas encore")), state, Look(), FR)
    assert rows == (
        line(
            Span("◆ ", "answered"),
            Span(fr("Exécuter « git push origin avoirs-devise » ? : "), "answered"),
            Span("Non — pas encore", "answered_choice"),
        ),
    )


PARALLEL: list[Event] = [
    TurnStarted(1, "m", "p"),
    StepStarted(1),
    answered(("1", "Read"), ("2", "Bash"), ("3", "Grep")),
    ToolCallStarted("1", "Read", {}, "src/facturation/avoirs.py"),
    ToolCallStarted("2", "Bash", {}, "pytest tests/avoirs -q"),
    ToolCallStarted("3", "Grep", {}, "ROUND_ dans src/"),
]
FAILED = ToolCallFinished("2", "Bash", "failed", "", fr("code de sortie : 1"), data={"exitCode": 1}, duration=14.8)
READ = ToolCallFinished("1", "Read", "succeeded", "", "412 lignes", duration=0.1)


def test_parallel_tools_keep_the_asked_order_and_are_counted() -> None:
    state = RenderState()
    assert log([*PARALLEL, FAILED], state=state) == ""
    assert status_of(state, FR) == Status("tools", fr("Outils en parallèle : 1/3 terminé (Bash)"))
    assert shown(live_lines_of(state, Look(), FR)) == fr(
        frame(f"""
▸ Read  src/facturation/avoirs.py
✗ Bash  pytest tests/avoirs -q               échec · code de sortie : 1   14,8{NB}s
▸ Grep  ROUND_ dans src/
""")
    )
    assert log([READ], state=state) == fr(
        frame(f"""
✓ Read  src/facturation/avoirs.py                            412 lignes    0,1{NB}s
✗ Bash  pytest tests/avoirs -q               échec · code de sortie : 1   14,8{NB}s
""")
    )
    assert status_of(state, FR) == Status("tools", fr("Outils en parallèle : 2/3 terminés (Read, Bash)"))
    assert status_of(state, EN) == Status("tools", "Parallel tools: 2/3 finished (Read, Bash)")
    assert shown(live_lines_of(state, Look(), FR)) == "▸ Grep  ROUND_ dans src/"
    assert log([ToolCallFinished("3", "Grep", "succeeded", "", duration=72)], state=state).endswith(f"1{NB}min{NB}12")
    assert status_of(state, FR) == Status("thinking", "En réflexion…")


def test_commands_of_the_person_are_not_counted_with_earlier_ones() -> None:
    state = RenderState()
    for call_id in ("bang-1", "bang-2"):
        log([ToolCallStarted(call_id, "!", {}, "make")], state=state)
        assert status_of(state, FR) == Status("tools", "Votre commande est en cours")
        log([ToolCallFinished(call_id, "!", "succeeded", "ok")], state=state)
        assert status_of(state, FR) == Status()


def test_parallel_tools_in_40_columns_have_no_durations() -> None:
    look = Look(width=40)
    state = RenderState()
    log(PARALLEL, state=state, look=look)
    assert log([READ, FAILED], state=state, look=look) == frame("""
✓ Read  src/facturation/avoirs.py
  412 lignes
✗ Bash  pytest tests/avoirs -q
  échec · code 1
""")


def test_a_change_is_in_the_log_above_its_question() -> None:
    state = RenderState()
    rows = log([answered(("1", "Edit")), asked("Edit", EDIT.path, blocks=(EDIT,))], state=state)
    assert rows == frame("""
? Edit  src/facturation/avoirs.py                                          +2 −1
   119 │         brut = self.ht * self.taux
 − 120 │         return round(brut, 2)
 + 120 │         pas = self.avoir.devise.pas
 + 121 │         return brut.quantize(pas, ROUND_HALF_UP)
   122 │
""")
    assert live_lines_of(state, Look(), FR) == ()
    assert diff_of(state) == (EDIT,)
    rows = log(
        [
            ApprovalAnswered("q1", Answer("session")),
            ToolCallStarted("1", "Edit", {}, EDIT.path),
            ToolCallFinished("1", "Edit", "succeeded", "", blocks=(EDIT,), duration=0.1),
        ],
        state=state,
    )
    assert rows == fr(
        frame(f"""
◆ Modifier src/facturation/avoirs.py ? : Oui, pour cette session
✓ Edit  src/facturation/avoirs.py                                 +2 −1    0,1{NB}s
""")
    )


def test_a_change_that_a_rule_allowed_is_shown_after_it_was_made() -> None:
    rows = log([answered(("1", "Edit")), ToolCallFinished("1", "Edit", "succeeded", "", blocks=(EDIT,), duration=0.1)])
    assert rows.count("\n") == 5
    assert " + 121 │" in rows


def test_a_sub_agent_that_asks_is_named_and_others_are_counted() -> None:
    state = RenderState()
    log([asked("Read", "config/devises.toml", origin="relecteur"), asked(approval="q2", call="2")], state=state)
    waiting = "[sous-agent relecteur] attend votre réponse · 1 autre question ensuite"
    assert status_of(state, FR) == Status("waiting", waiting)
    assert status_of(state, EN).text == "[sub-agent relecteur] waits for your answer · 1 more question after it"
    rows = log([ApprovalAnswered("q1", Answer("once"))], state=state)
    assert rows == fr("◆ [sous-agent relecteur] Lire config/devises.toml ? : Oui, une fois")
    assert status_of(state, FR) == Status("waiting", "Bash attend votre réponse")


def test_the_limit_of_steps_is_a_question_too() -> None:
    state = RenderState()
    log([TurnStarted(1, "m", "p"), LimitReached("q", "turns", 50)], state=state)
    assert status_of(state, FR) == Status("waiting", "La limite d'étapes attend votre réponse")
    assert log([ApprovalAnswered("q", Answer("once"))], state=state) == fr("◆ 50 étapes utilisées. Continuer ? : Oui")
    log([LimitReached("q", "tools", 9)], EN, state=state)
    assert log([ApprovalAnswered("q", Answer("no"))], EN, state=state) == "◆ 9 tool calls used. Go on?: No"


def test_a_question_that_a_stop_ended_says_so() -> None:
    state = RenderState()
    log([answered(("1", "Bash")), asked()], state=state)
    rows = log([ApprovalAnswered("q1", Answer("no"), by="stop")], state=state)
    assert rows.endswith("interrompu")


@pytest.mark.parametrize(
    ("outcome", "values", "french"),
    [
        (
            "turn_limit",
            {"steps": 50},
            "WARN  Arrêt à la limite d'étapes (50). Votre prochaine demande reprendra la",
        ),
        ("stopped", {}, "INFO  Interrompu. Ce qui est écrit est gardé."),
        ("refused", {}, "WARN  Le modèle a refusé de répondre."),
    ],
)
def test_an_unusual_end_is_said_before_the_summary(outcome: str, values: dict[str, object], french: str) -> None:
    rows = log([ended(outcome, **values)]).split("\n")
    assert rows[0] == french
    assert rows[-1].startswith("sonnet · ")


@pytest.mark.parametrize("outcome", ["output_limit", "tool_budget", "failed", "waiting_approval"])
def test_every_outcome_has_words(outcome: str, say: Catalogue) -> None:
    assert log([ended(outcome)], say).count("\n") >= 1


def test_a_failed_turn_says_what_happened_why_and_what_to_do() -> None:
    failure = Failure("auth", "https://llm.example.org", 401, "", "invalid api key")
    first = log([ended("failed", failure=failure, usage=None)])
    assert first == log([ended("failed", failure=failure, usage=None, steps=0)]), "no row of facts that nobody knows"
    rows = log([ended("failed", failure=failure, usage=None, steps=0)])
    assert rows.split("\n")[0] == f"FAIL  Le serveur n'a pas accepté la clé (HTTP{NB}401)."
    assert rows.split("\n")[2].startswith("      → Corrigez LiteLLM_API_Key")


SUMMARIES = [
    (FR, {}, f"sonnet · 12\u202f402 jetons lus · 380 écrits · $0.0123 · 12,3{NB}s"),
    (EN, {}, f"sonnet · 12,402 tokens in · 380 out · $0.0123 · 12.3{NB}s"),
    (
        FR,
        {"usage": Usage(2_402, 1, cache_read=10_000), "cost": Cost(0.084, "estimated")},
        f"sonnet · 12\u202f402 jetons lus (dont 10\u202f000 en cache) · 1 écrit · ~$0.0840 (estimé)\n· 12,3{NB}s",
    ),
    (FR, {"usage": None, "cost": Cost()}, f"sonnet · jetons non communiqués · coût non communiqué · 12,3{NB}s"),
    (EN, {"usage": None, "cost": Cost()}, f"sonnet · tokens not reported · cost not reported · 12.3{NB}s"),
    (FR, {"cost": Cost(0.0, "reported")}, f"sonnet · 12\u202f402 jetons lus · 380 écrits · $0.0000 · 12,3{NB}s"),
]


@pytest.mark.parametrize(("say", "values", "expected"), SUMMARIES)
def test_each_turn_ends_with_what_it_used_and_no_invented_zero(
    say: Catalogue, values: dict[str, object], expected: str
) -> None:
    assert log([ended(**values)], say) == expected


def test_families_of_rows_are_parted_by_one_blank_row() -> None:
    rows = log(
        [
            Notice("info", "term.context.cleared"),
            Notice("warn", "term.context.cleared"),
            UserSaid("a"),
            answered(("1", "Read"), text="b"),
            ToolCallFinished("1", "Read", "succeeded", "", duration=0),
            answered(text="c"),
            ended(),
        ]
    )
    kinds = [row[:4] for row in rows.split("\n")]
    assert kinds == ["INFO", "WARN", "", "❯ a", "", "b", "", "✓ Re", "", "c", "", "sonn"]


AROUND = [
    (SessionRenamed("x"), "INFO  Session renommée : x"),
    (ModelChanged("qwen", "ollama", "command"), "INFO  Modèle : qwen (ollama)"),
    (ModelChanged("qwen", "ollama", "default"), ""),
    (ContextCleared(), "INFO  Contexte vidé. Ce qui précède n'est plus envoyé au modèle."),
    (PendingAdded(Attachment("command", "git status", "x")), "INFO  git status : sera joint à la prochaine demande."),
    (SessionStarted("s", "/x", "0"), ""),
    (Reminded("x"), ""),
    (ReasoningDelta("x"), ""),
]


@pytest.mark.parametrize(("event", "expected"), AROUND, ids=[type(row[0]).__name__ for row in AROUND])
def test_events_around_a_turn(event: Event, expected: str) -> None:
    assert log([event]) == fr(expected)


def test_a_retry_says_why_and_when() -> None:
    rows = log([RetryScheduled(1, 2, Failure("overloaded", "x", 529))], EN)
    assert rows.startswith("WARN  ")
    assert f"(HTTP{NB}529). Trying again (1) in" in rows.replace("\n      ", " ")


def test_a_notice_takes_its_plural_and_its_remedy() -> None:
    assert log([Notice("warn", "term.command.unknown", {"name": "x"})], EN).endswith("sends the line as text.")
    assert log([Notice("info", "term.output.more", {"n": 1})], EN) == "INFO  … 1 more line"


def test_progress_is_in_the_status_line() -> None:
    state = RenderState()
    assert status_of(state, FR) == Status()
    log([TurnStarted(1, "m", "p"), StepStarted(1)], state=state)
    assert status_of(state, EN) == Status("thinking", "Thinking…")
    log([ToolCallDrafted(0, "Write", 12_400)], state=state)
    assert status_of(state, FR) == Status(
        "thinking", fr("Préparation de Write : 12 400 caractères").replace("12 4", "12\u202f4")
    )
    log([answered(("1", "Write")), ToolCallStarted("1", "Write", {}, "a")], state=state)
    assert status_of(state, FR) == Status("tools", fr("Outil en cours : Write"))
    log([ToolCallFinished("1", "Write", "succeeded", ""), ended()], state=state)
    assert status_of(state, FR) == Status()


def test_the_context_bar_is_fed() -> None:
    state = RenderState()
    log([ContextMeasured(45_700, 200_000)], state=state)
    assert state.fill == Fill(45_700, 200_000)


def test_a_running_command_shows_its_last_rows() -> None:
    state = RenderState()
    log([answered(("1", "Bash")), ToolCallStarted("1", "Bash", {}, "make")], state=state)
    log([ToolOutput("1", "one\ntwo\n"), ToolOutput("1", "three\nfour\x1b[31m\n")], state=state)
    assert shown(live_lines_of(state, Look(), FR)) == "▸ Bash  make\n  │ two\n  │ three\n  │ four␛[31m"


def test_calls_that_were_cut_are_drawn_with_an_unknown_outcome() -> None:
    rows, state = render_all([answered(("1", "Bash")), ToolCallStarted("1", "Bash", {}, "make")], Look(), FR)
    assert shown(rows) == "~ Bash  make" + "issue inconnue".rjust(68)
    assert state.calls == []


def test_a_loaded_session_looks_as_it_did_live() -> None:
    said = "**Fait**.\n\n- un\n- deux"
    live: list[Event] = [
        SessionStarted("s", "/x", "0"),
        TurnStarted(1, "m", "p"),
        UserSaid("a"),
        StepStarted(1),
        ContextMeasured(1, None),
        *(TextDelta(char) for char in said),
        Answered(AssistantMessage((TextPart(said),)), "end", "stop", None, Cost()),
        ended(),
    ]
    stored = [event for event in live if not isinstance(event, TextDelta)]
    assert log(live) == shown(render_all(stored, Look(), FR)[0])


@pytest.mark.parametrize("width", [1, 3, 8, 20, 24, 39, 59, 60, 200])
def test_nothing_is_ever_wider_than_the_screen(width: int) -> None:
    for look in (
        Look(width=width),
        Look(width=width, level="none", unicode=False),
        Look(width=width, screen_reader=True),
    ):
        state = RenderState()
        events: list[Event] = [
            UserSaid("漢字" * 30, (Attachment("folder", "x" * 200, ""),)),
            *PARALLEL,
            asked(call="4", blocks=(EDIT,)),
            ApprovalAnswered("q1", Answer("no", "r" * 300)),
            FAILED,
            READ,
            Notice("warn", "term.attach.missing", {"path": "p" * 300}),
            answered(text="# T\n\n> " + "w" * 300 + "\n\n|a|b|\n|-|-|\n|" + "c" * 99 + "|d|"),
            ended("failed", failure=Failure("other", "h" * 200)),
        ]
        for event in events:
            shown(render(event, state, look, FR), width)
            shown(live_lines_of(state, look, FR), width)


def test_an_output_of_200_000_characters_is_bounded_and_quick() -> None:
    text = "".join(f"line {n}: {'x' * 60}\n" for n in range(3_000))
    began = time.process_time()
    state = RenderState()
    log([answered(("1", "Bash")), ToolCallStarted("1", "Bash", {}, "make")], state=state)
    for start in range(0, len(text), 1_000):
        log([ToolOutput("1", text[start : start + 1_000])], state=state)
        live_lines_of(state, Look(), FR)
    rows = log([ToolCallFinished("1", "Bash", "failed", text, duration=1.0)], state=state)
    assert rows.count("\n") <= 12
    assert fr("… 2 990 lignes de plus").replace("2 990", "2\u202f990") in rows
    assert time.process_time() - began < 3


def test_a_line_without_end_is_bounded_too() -> None:
    rows = log([answered(("1", "Bash")), ToolCallFinished("1", "Bash", "failed", "x" * 1_000_000, duration=1.0)])
    assert rows.count("\n") < 20


def test_ten_thousand_streamed_lines_stay_cheap() -> None:
    state = RenderState()
    began = time.process_time()
    for n in range(10_000):
        render(TextDelta(f"ligne {n} du texte\n"), state, Look(), FR)
        if n % 20 == 0:
            live_lines_of(state, Look(), FR)
    assert len(live_lines_of(state, Look(), FR)) == 12
    assert time.process_time() - began < 3


def test_the_users_own_command_is_shown_at_length() -> None:
    text = "\n".join(f"l{n}" for n in range(50))
    rows = log([ToolCallStarted("b", "!", {}, "seq 50"), ToolCallFinished("b", "!", "succeeded", text, duration=0.2)])
    assert rows.count("\n") == 50


def test_names_and_texts_from_outside_are_shown_literally() -> None:
    evil = "\x1b[2J\u202e"
    state = RenderState()
    rows = log(
        [
            UserSaid(evil),
            answered(("1", "Bash" + evil), text=evil),
            ToolCallStarted("1", "Bash" + evil, {}, evil + "\nsecond"),
            ToolCallFinished("1", "Bash" + evil, "failed", evil, evil),
            ModelChanged(evil, evil, "command"),
            ended(model=evil),
        ],
        state=state,
    )
    assert "\x1b" not in rows
    assert "\u202e" not in rows


def test_a_screen_reader_hears_each_change_once() -> None:
    look = Look(level="none", screen_reader=True)
    state = RenderState()
    log([ContextMeasured(45_700, 200_000), answered(("2", "Bash"))], state=state, look=look)
    rows = log([ToolCallStarted("2", "Bash", {}, "pytest -q"), FAILED, ended()], state=state, look=look)
    assert rows.split("\n") == [
        fr("Outil Bash : en cours, pytest -q."),
        fr(f"Outil Bash : échec, code de sortie : 1, 14,8{NB}s."),
        f"sonnet · 12\u202f402 jetons lus · 380 écrits · $0.0123 · 12,3{NB}s",
        fr(f"Contexte : 23 pour cent, 45,7{NB}k sur 200{NB}k."),
    ]
    assert live_lines_of(state, look, FR) == ()


def test_a_rule_that_asks_is_named(say: Catalogue) -> None:
    from maia.terminal.asking import question_reason

    reason = question_reason(asked(decision=ruled("Bash(git push *)")), say)
    assert reason.endswith("ask Bash(git push *) — ./.maia/settings.json")
