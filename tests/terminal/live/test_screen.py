"""The live screen in a real terminal (tmux): zones, colours, resize, queue, questions, leaving."""

from __future__ import annotations

import os
import re
import shlex
import signal as signals
import time
from pathlib import Path

import pytest
from tests.terminal.live.tmux import Term, needs_tmux, terminal

from maia.terminal.commands import COMMANDS

pytestmark = needs_tmux
DOTS = "┈"
HINT = "Écrivez une demande"


def idle(rows: list[str], width: int = 80) -> bool:
    """Nothing runs: the status row is empty, dotted borders above and below the input, the bar last."""
    return rows[-5].strip() == "" and rows[-4] == rows[-2] == DOTS * width and "%" in rows[-1]


def said(term: Term, request: str) -> list[str]:
    term.type(request)
    term.keys("Enter")
    return term.until(lambda rows: idle(rows, len(rows[-2])) and any("0,4" in row for row in rows))


def test_the_zone_stands_on_the_last_rows_and_the_log_above(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        rows = term.until(HINT)
        assert rows[-5:] == [
            "",
            DOTS * 80,
            "▹▹▹▹▹ Écrivez une demande, / pour les commandes",
            DOTS * 80,
            " " * 40 + "■■■■■□□□□□□□□□□□□□□□  45.7k / 200k · 23%",
        ]
        assert term.cursor() == (21, 6)
        assert "echo before" in "\n".join(term.past())


def test_the_windows_title_names_the_folder_and_what_goes_on_and_is_given_back(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_LAUNCH="/srv/code/factu\x1b\x07ration") as term:

        def title() -> str:
            return term.tmux("display-message", "-t", "t", "-p", "#{pane_title}").strip()

        before = title()
        term.until("23%")
        term.until(lambda _: title() == "maia — factu␛␇ration")
        term.type("slow")
        term.keys("Enter")
        term.until(lambda _: title() == "▸ maia — factu␛␇ration")
        term.keys("C-c")
        term.until(idle)
        term.type("ask")
        term.keys("Enter")
        term.until(lambda _: title() == "? maia — factu␛␇ration")
        time.sleep(0.4)
        term.keys("Escape")
        term.until(idle)
        term.keys("C-d")
        term.until("code 0")
        assert title() == before


def test_english_and_forty_columns(tmp_path: Path) -> None:
    with terminal(tmp_path, 40, FAKE_LANG="en") as term:
        term.until("23%")
        rows = term.until("Write a request")
        assert rows[-5:] == [
            "",
            DOTS * 40,
            "▹▹▹▹▹ Write a request, / for commands",
            DOTS * 40,
            "■■■■■□□□□□□□□□□□□□□□  45.7k / 200k · 23%",
        ]


def test_twenty_columns(tmp_path: Path) -> None:
    with terminal(tmp_path, 20) as term:
        rows = term.until("23%")
        assert rows[-4:] == [DOTS * 20, "▹▹▹▹▹", DOTS * 20, " " * 17 + "23%"]
        term.type("a line that wraps around")
        rows = term.until("around")
        assert rows[-4:-2] == ["▹▹▹▹▹ a line that wr", "      aps around"]
        assert rows[-1] == " " * 17 + "23%"


def test_colours_are_those_of_the_table(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until(HINT)
        term.until("23%")
        rows = term.rows(codes=True)
        assert rows[-4].startswith("\x1b[38;2;74;222;128m┈")
        assert rows[-3].startswith("▹▹▹▹▹ \x1b[38;2;138;143;152mÉcrivez")  # the border's green goes on
        assert "\x1b[38;2;34;197;94m■■■■■" in rows[-1]


def test_no_color_writes_no_colour_and_ascii_no_drawings(tmp_path: Path) -> None:
    with terminal(tmp_path, NO_COLOR="1", LANG="C") as term:
        rows = term.until("23%")
        assert "\x1b[" not in "".join(term.rows(codes=True)[-4:])
        assert rows[-4:] == [
            "." * 80,
            ">>>>> Ecrivez une demande, / pour les commandes",
            "." * 80,
            " " * 40 + "#####---------------  45.7k / 200k - 23%",
        ]


def test_a_request_streams_raw_and_ends_as_markdown(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("Corrige")
        input_row = term.until("Corrige")[-3]
        term.keys("Enter")
        rows = term.until("`LigneAvoir")
        assert input_row == "▹▹▹▹▹ Corrige"
        assert "En réflexion…" in rows[-5]
        assert re.fullmatch(r"[▸▹]{5} Traitement en cours — Ctrl\+C : interrompre", rows[-3])
        rows = term.until(idle)
        text = "\n".join(rows)
        assert "❯ Corrige" in text
        assert "`" not in text
        assert "• deux" in text
        assert "46.3k / 200k" in rows[-1]


def test_many_turns_leave_no_ghost_in_the_scrollback(tmp_path: Path) -> None:
    with terminal(tmp_path, 60, 14) as term:
        term.until("23%")
        for place in range(6):
            term.type(f"request {place}")
            term.keys("Enter")
            term.until(f"❯ request {place}")
            term.until(lambda rows: idle(rows, 60))
        past = term.past()
        assert [row for row in past if row.startswith("❯")] == [f"❯ request {place}" for place in range(6)]
        assert sum(DOTS in row for row in past) == 2
        assert sum("En réflexion" in row for row in past) == 0
        assert sum("□" in row for row in past) == 1
        assert sum("• deux" in row for row in past) == 6


@pytest.mark.parametrize(
    "sizes",
    [
        [(50, 24)],
        [(20, 24)],
        [(120, 24)],
        [(80, 12)],
        [(80, 40)],
        [(33, 15)],
        [(33, 9)],
        [(40, 40)],
        [(120, 12)],
        [(60, 20), (33, 15), (90, 30)],
        [(33, 9), (80, 24)],
    ],
    ids=str,
)
def test_a_resize_leaves_one_zone_and_every_log_row(tmp_path: Path, sizes: list[tuple[int, int]]) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        said(term, "request")
        term.type("draft")
        term.until("draft")
        for width, height in sizes:
            term.resize(width, height)
            time.sleep(0.05)
        width, height = sizes[-1]
        rows = term.until(lambda rows: len(rows) == height and rows[-2] == DOTS * width and "draft" in rows[-3])
        assert rows[-4] == DOTS * width
        past = term.at_rest()
        assert sum(bool(row) and set(row) == {DOTS} for row in past) == 2
        assert [row for row in past if row.startswith(("❯", "• deux", "maia 0.1", "before"))] == [
            "before",
            "maia 0.1",
            "❯ request",
            "• deux",
        ]
        assert sum("draft" in row for row in past) == 1


TYPED = {
    "question": ("ask", "› Oui, une fois"),
    "draft": ("one row\ntwo rows\nthree rows " + "and more " * 6, "and more"),
    "list": ("/co", "› /context"),
    "stream": ("slow", "word3"),
}


@pytest.mark.parametrize("what", TYPED)
@pytest.mark.parametrize("sizes", [[(33, 15)], [(120, 40)], [(60, 20), (33, 15), (90, 30)]], ids=str)
def test_a_resize_with_more_in_the_zone_leaves_no_trace_of_it(
    tmp_path: Path, what: str, sizes: list[tuple[int, int]]
) -> None:
    typed, seen = TYPED[what]
    with terminal(tmp_path) as term:
        term.until("23%")
        said(term, "request")
        (term.paste if what == "draft" else term.type)(typed)
        if what in ("question", "stream"):
            term.keys("Enter")
        term.until(seen)
        for width, height in sizes:
            term.resize(width, height)
            time.sleep(0.05)
        width, height = sizes[-1]
        term.until(lambda rows: len(rows) == height and rows[-2] == DOTS * width)
        time.sleep(0.5)
        if what != "draft":
            term.keys("Escape" if what == "list" else "C-c")
            term.until(lambda rows: idle(rows, width) and not any("›" in row for row in rows))
        past = term.at_rest()
        assert sum(bool(row) and set(row) == {DOTS} for row in past) == 2
        assert not any("›" in row for row in past)
        assert sum("%" in row for row in past) == 1
        assert sum("two rows" in row for row in past) == (what == "draft")
        assert [row for row in past if row.startswith(("❯ request", "• deux", "maia 0.1", "before"))] == [
            "before",
            "maia 0.1",
            "❯ request",
            "• deux",
        ]


def test_a_storm_of_resizes_ends_with_one_zone(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        said(term, "request")
        term.type("slow")
        term.keys("Enter")
        term.until("word3")
        for place in range(25):
            term.resize(30 + (place * 37) % 90, 8 + (place * 13) % 30)
        term.resize(70, 20)
        rows = term.until(lambda rows: len(rows) == 20 and rows[-2] == DOTS * 70)
        term.keys("C-c")
        rows = term.until(lambda rows: idle(rows, 70))
        assert sum(set(row) == {DOTS} for row in rows) == 2
        past = [row for row in term.past() if set(row.strip()) == {DOTS}]
        assert len(past) == 2


def test_the_bar_turns_yellow_and_red_is_told_in_words_without_colour(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_TOKENS="180000", NO_COLOR="1") as term:
        assert term.until("90%")[-1].endswith("90% (presque plein)")


def test_ctrl_c_stops_the_turn_and_gives_the_prompt_back(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("slow please")
        term.keys("Enter")
        term.until("word5")
        term.keys("C-c")
        term.until(lambda rows: idle(rows) and HINT in rows[-3])


def test_escape_takes_back_what_waits_and_then_stops_the_turn(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("slow please")
        term.keys("Enter")
        term.until("word3")
        term.type("next")
        term.keys("Enter")
        term.until("❯ next")
        term.keys("Escape")
        term.until(lambda rows: rows[-3].endswith("next"))
        term.keys("Escape")
        rows = term.until(lambda rows: idle(rows) and rows[-3] == "▹▹▹▹▹ next")
        assert any("Interrompu" in row for row in rows)


def test_ctrl_c_clears_the_line_and_twice_on_an_empty_one_leaves(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("draft")
        term.until("draft")
        term.keys("C-c")
        term.until(HINT)
        term.keys("C-c")
        term.until("Ctrl+C encore une fois pour quitter")
        term.keys("C-c")
        term.until("code 0")


def test_leaving_restores_the_terminal_and_keeps_the_log(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        said(term, "request")
        term.keys("C-d")
        rows = term.until("code 0")
        text = "\n".join(rows)
        assert "❯ request" in text
        assert "maia --resume session_2026-11-30_10_02_11" in text
        assert DOTS not in text
        term.type("stty -a | grep -c ' icanon'; stty -a | grep -c ' echo '")
        term.keys("Enter")
        term.until(lambda rows: rows.count("1") == 2)


def test_the_command_to_come_back_can_be_pasted_whatever_the_sessions_name_is(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("/rename l'été; touch owned")
        term.keys("Enter")
        term.until(lambda rows: idle(rows) and any("INFO" in row and "owned" in row for row in rows))
        term.keys("C-d")
        rows = term.until("code 0")
        told = next(row for row in rows if "maia --resume" in row)
        assert shlex.split(told.partition(": ")[2]) == ["maia", "--resume", "l'été; touch owned"]


def test_lines_sent_while_working_wait_visible_and_escape_takes_them_back(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("slow")
        term.keys("Enter")
        term.until("word3")
        for text in ("first next", "second next"):
            term.type(text)
            term.keys("Enter")
            term.until(f"❯ {text}")
        rows = term.until("en attente — Échap : reprendre")
        assert rows[-8:-5] == ["❯ first next", "❯ second next", "  en attente — Échap : reprendre"]
        term.keys("Escape")
        rows = term.until(lambda rows: rows[-3].endswith("second next"))
        assert "❯ second next" not in rows
        term.keys("C-c")
        rows = term.until(lambda rows: rows[-3] == "      second next" and HINT not in rows[-3])
        assert rows[-4].endswith(" first next")


def test_a_waiting_line_is_sent_when_the_turn_ends(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("one")
        term.keys("Enter")
        term.type("two")
        term.keys("Enter")
        term.until("❯ two")
        term.until(lambda rows: idle(rows) and sum("• deux" in row for row in rows) == 2)


def test_a_question_is_asked_in_the_input_zone_and_leaves_one_row(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("ask")
        term.keys("Enter")
        rows = term.until("› Oui, une fois")
        assert rows[-10:-1] == [
            "? Bash attend votre réponse",
            DOTS * 80,
            "ASK   Exécuter « git push origin avoirs-devise » ? (o/n)",
            "      rien ne correspond",
            "    › Oui, une fois",
            "      Oui, pour cette session",
            "      Oui, toujours : allow Bash(git push origin avoirs-devise)",
            "      Non",
            DOTS * 80,
        ]
        time.sleep(0.4)
        term.type("o")
        rows = term.until(idle)
        answered = [row for row in rows if row.startswith("◆")]
        assert answered == ["◆ Exécuter « git push origin avoirs-devise » ? : Oui, une fois"]
        assert sum("ASK" in row for row in term.past()) == 0


def test_choices_in_forty_columns_do_not_wrap(tmp_path: Path) -> None:
    with terminal(tmp_path, 40) as term:
        term.until("23%")
        term.type("ask")
        term.keys("Enter")
        rows = term.until("› Oui, une fois")
        assert rows[-9:-1] == [
            DOTS * 40,
            "ASK   Exécuter « git push origin",
            "      avoirs-devise » ? (o/n)",
            "    › Oui, une fois",
            "      Oui, pour cette session",
            "      Oui, toujours",
            "      Non",
            DOTS * 40,
        ]


def test_keys_typed_as_the_question_appears_do_not_answer_it(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("ask")
        term.keys("Enter")
        term.type("non, attends")
        term.keys("Enter")
        term.paste("o\no\n")
        time.sleep(0.5)
        rows = term.rows()
        assert any("› Oui, une fois" in row for row in rows)
        assert not any("◆" in row for row in rows)
        term.keys("Escape")
        rows = term.until("◆")
        assert any(row.endswith(": Non") for row in rows)


def test_a_refusal_may_give_a_reason(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("ask")
        term.keys("Enter")
        term.until("› Oui, une fois")
        time.sleep(0.4)
        term.keys("Up")
        term.until("› Non")
        term.keys("Enter")
        term.until("Pourquoi")
        term.type("pas sur main")
        term.until("pas sur main")
        term.keys("Enter")
        rows = term.until("◆")
        assert any("Non — pas sur main" in row for row in rows)


def test_several_questions_come_one_at_a_time_with_their_count(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("ask ask")
        term.keys("Enter")
        term.until("? Bash attend votre réponse · 1 autre question ensuite")
        time.sleep(0.4)
        term.type("o")
        term.until(lambda rows: "? Bash attend votre réponse" in [row.rstrip() for row in rows])
        time.sleep(0.4)
        term.type("n")
        rows = term.until(idle)
        assert sum("◆" in row for row in rows) == 2


def test_ctrl_c_at_a_question_stops_the_turn(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("ask")
        term.keys("Enter")
        term.until("› Oui, une fois")
        term.keys("C-c")
        term.until(idle)


def test_a_limit_asks_whether_to_go_on(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("limit")
        term.keys("Enter")
        rows = term.until("ASK")
        assert any("(o/n)" in row for row in rows)
        time.sleep(0.4)
        term.type("o")
        term.until("◆")


def test_trust_is_asked_before_the_start(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_TRUST="1") as term:
        term.until("Faire confiance au dossier")
        time.sleep(0.4)
        term.keys("Escape")
        rows = term.until("23%")
        assert sum(row.startswith("◆ Faire confiance au dossier") for row in rows) == 1, "T2.04"
        assert "Non, continuer sans" in "\n".join(rows)


def test_a_start_that_fails_is_told_and_the_prompt_rests_with_its_bar(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_OPEN_FAILS="1") as term:
        term.until("FAIL")
        rows = term.until(idle)
        time.sleep(0.7)
        assert term.rows() == rows, "no spinner goes on"
        said(term, "request")


def test_without_a_model_the_list_opens(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_MODEL="") as term:
        term.until("Choisir un modèle")
        term.type("mist")
        rows = term.until(lambda rows: not any("sonnet" in row for row in rows))
        assert any("› mistral-small" in row for row in rows)
        term.keys("Enter")
        term.until(lambda rows: idle(rows) and any("mistral-small" in row for row in rows))


def test_a_pasted_block_is_one_line_of_the_input_and_is_sent_whole(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.paste("".join(f"pasted {place}\n" for place in range(120)))
        rows = term.until("[collé : 120 lignes]")
        assert rows[-4:-1] == [DOTS * 80, "▹▹▹▹▹ [collé : 120 lignes]", DOTS * 80]
        term.keys("Enter")
        term.until("… 91 lignes de plus")
        term.until(idle)
        assert "❯ pasted 0" in term.past()


def test_a_multi_line_request_grows_upward_to_eight_rows(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        for place in range(10):
            term.type(f"row {place}")
            term.keys("C-j")
        rows = term.until(lambda rows: rows[-4].endswith("row 9") and rows[-3].strip() == "")
        assert rows[-11] == DOTS * 80
        assert rows[-10].endswith("row 3")
        assert "%" in rows[-1]


def test_completion_opens_above_the_status_row_and_closes_without_a_trace(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        before = term.until("23%")
        term.type("/co")
        rows = term.until("› /context")
        assert rows[-6].strip().endswith(f"{len(COMMANDS)} commandes")
        assert rows[-5].strip() == ""
        term.keys("Escape")
        rows = term.until(lambda rows: not any("/context" in row for row in rows))
        assert rows[:-3] == before[:-3]
        term.keys("BSpace")
        term.until("› /c")
        term.keys("Tab")
        term.until(lambda rows: rows[-3].startswith("▹▹▹▹▹ /clear"))


def test_history_is_recalled_and_searched(tmp_path: Path) -> None:
    history = tmp_path / "history"
    with terminal(tmp_path, FAKE_HISTORY=str(history)) as term:
        term.until("23%")
        for text in ("alpha one", "beta two"):
            said(term, text)
        term.keys("Up")
        term.until(lambda rows: rows[-3].endswith("beta two"))
        term.keys("C-u")
        term.keys("C-r")
        term.type("alp")
        rows = term.until("Recherche dans l'historique : alp")
        assert rows[-3].endswith("alpha one")
        term.keys("Enter")
        term.until(lambda rows: idle(rows) and rows[-3].endswith("alpha one"))
    assert history.read_text().splitlines() == ['"alpha one"', '"beta two"']
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_shell_command_shows_its_output_as_it_comes_and_ctrl_c_stops_it(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("!long")
        term.keys("Enter")
        term.until("line 5")
        term.keys("C-c")
        term.until(idle)


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("/help", "/permissions"),
        ("/context", "Invite système"),
        ("/cost", "412 208"),
        ("/permissions", "Read(**)"),
        ("/tools", "Read"),
        ("/undo", "Défait : src/a.py"),
        ("/redo", "Il n'y a rien à refaire."),
        ("/diff", "src/a.py"),
        ("/rename neuf", "neuf"),
        ("/export", "session.md"),
        ("/clear", "INFO"),
        ("/nonsense", "FAIL"),
        ("/cost now", "FAIL"),
        ("/load session_3", "loaded answer"),
    ],
)
def test_commands_show_their_answer(tmp_path: Path, command: str, shows: str) -> None:
    with terminal(tmp_path, height=60) as term:
        term.until("23%")
        term.type(command + " ")
        term.keys("Enter")
        term.until(lambda rows: idle(rows) and any(shows in row for row in rows))


@pytest.mark.parametrize(
    ("typed", "offered", "line"),
    [
        ("/model mis", "› mistral-small   litellm · 200k", "/model mistral-small"),
        ("/load 36", "› session_36   ", "/load session_36"),
    ],
)
def test_the_argument_of_a_command_is_completed(tmp_path: Path, typed: str, offered: str, line: str) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type(typed)
        term.until(offered)
        term.keys("Tab")
        term.until(lambda rows: rows[-3].rstrip() == f"▹▹▹▹▹ {line}")
        term.keys("Enter")
        term.until(lambda rows: idle(rows) and HINT in rows[-3])


def test_suspending_gives_the_shell_a_clean_terminal_and_comes_back(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        said(term, "request")
        term.type("draft")
        term.keys("C-z")
        rows = term.until("Stopped")
        assert DOTS not in "\n".join(rows)
        term.type("stty -a | grep -o ' icanon'")
        term.keys("Enter")
        term.until(" icanon")
        term.type("fg")
        term.keys("Enter")
        rows = term.until(lambda rows: rows[-3] == "▹▹▹▹▹ draft")
        assert any("❯ request" in row for row in rows)


@pytest.mark.parametrize(("signal", "code"), [("TERM", 143), ("INT", 130), ("HUP", 129)])
def test_a_signal_restores_the_terminal(tmp_path: Path, signal: str, code: int) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        os.kill(term.pid(), getattr(signals, f"SIG{signal}"))
        term.until(f"code {code}")
        term.type("stty -a | grep -o ' icanon'")
        term.keys("Enter")
        term.until(" icanon")


def test_a_crash_shows_its_traceback_on_a_restored_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("crash")
        term.keys("Enter")
        rows = term.until("code 1")
        assert any("RuntimeError: crash" in row for row in rows)
        term.type("stty -a | grep -o ' icanon'")
        term.keys("Enter")
        term.until(" icanon")


def test_the_line_can_be_edited_in_ones_own_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho ' and more' >> \"$1\"\n")
    editor.chmod(0o755)
    with terminal(tmp_path, EDITOR=str(editor)) as term:
        term.until("23%")
        term.type("draft")
        term.keys("C-g")
        term.until(lambda rows: rows[-3].endswith("and more"))


def test_a_start_that_takes_long_is_told_and_lines_wait_for_it(tmp_path: Path) -> None:
    with terminal(tmp_path, FAKE_OPEN="2") as term:
        rows = term.until("Démarrage…")
        assert rows[-5].endswith("Démarrage…")
        term.type("early")
        term.keys("Enter")
        term.until("❯ early")
        term.until(lambda rows: idle(rows) and any("• deux" in row for row in rows))


def test_without_animation_nothing_moves_while_it_works(tmp_path: Path) -> None:
    with terminal(tmp_path, MAIA_NO_ANIMATION="1") as term:
        term.until("23%")
        term.type("ask")
        term.keys("Enter")
        term.until("› Oui")
        time.sleep(0.4)
        term.keys("C-c")
        term.until(idle)
        term.type("slow")
        term.keys("Enter")
        term.until("word1")
        seen = {(rows[-5], rows[-3]) for rows in (term.rows() for _ in range(8)) if not time.sleep(0.1)}
        assert seen == {("⢄⢂ En réflexion…", "▹▹▹▹▹ Traitement en cours — Ctrl+C : interrompre")}


def test_files_are_completed_and_folders_go_on(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "target one.py").write_text("x")
    with terminal(tmp_path, FAKE_LAUNCH=str(tmp_path)) as term:
        term.until("23%")
        term.type("see @tar")
        rows = term.until("› src/deep/target one.py")
        assert rows[-5].strip() == ""
        term.keys("Tab")
        term.until(lambda rows: rows[-3] == "▹▹▹▹▹ see @'src/deep/target one.py'")
        term.keys("C-u")
        term.type("@sr")
        term.until("› src/")
        term.keys("Tab")
        term.until(lambda rows: rows[-3] == "▹▹▹▹▹ @src/" and any("deep/" in row for row in rows))


def test_bang_alone_shows_help_and_exit_leaves(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("!")
        term.keys("Enter")
        term.until("Écrivez !commande")
        term.type("/exit")
        term.keys("Enter")
        term.until("code 0")


def test_commands_that_only_look_run_while_the_agent_works(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("slow")
        term.keys("Enter")
        term.until("word3")
        term.type("/cost")
        term.keys("Enter")
        term.until("412 208")
        term.until("Ctrl+C : interrompre")
        term.keys("C-c")
        term.until(idle)


def test_a_terminal_that_is_closed_ends_the_program(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("slow")
        term.keys("Enter")
        term.until("word3")
        pid = term.pid()
        term.tmux("kill-server")
        end = time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}").exists()


def test_a_program_stopped_from_outside_takes_the_terminal_again(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("draft")
        term.until("draft")
        os.kill(term.pid(), signals.SIGSTOP)
        term.until("Stopped")
        term.type("stty sane; fg")
        term.keys("Enter")
        term.until(lambda rows: rows[-3] == "▹▹▹▹▹ draft" and rows[-2] == DOTS * 80)
        term.type(" more")
        term.until(lambda rows: rows[-3] == "▹▹▹▹▹ draft more")


def test_leaving_does_not_wait_for_a_thread_that_is_stuck(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("stuck")
        term.keys("Enter")
        term.until("name server")
        term.keys("C-d")
        term.until("code 0")
        term.type("stty -a | grep -o ' icanon'")
        term.keys("Enter")
        term.until(" icanon")


def test_a_stored_turn_that_was_cut_asks_nothing_and_leaves_nothing_running(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("/load session_cut")
        term.keys("Enter")
        term.until(lambda rows: idle(rows) and any(row.startswith("~ Bash") for row in rows))
        time.sleep(0.5)
        assert not any("ASK" in row for row in term.past())
        assert HINT in term.rows()[-3]


def test_an_error_in_the_middle_of_a_turn_is_told_and_the_prompt_comes_back(tmp_path: Path) -> None:
    with terminal(tmp_path) as term:
        term.until("23%")
        term.type("refused")
        term.keys("Enter")
        rows = term.until(lambda rows: idle(rows) and any(row.startswith("FAIL") for row in rows))
        assert HINT in rows[-3]
        assert any("→" in row for row in rows)
        said(term, "again")
