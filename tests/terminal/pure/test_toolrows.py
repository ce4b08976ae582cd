import pytest

from maia.core.results import DiffBlock, TextBlock, TodoBlock, TodoItem
from maia.terminal.colours import Look
from maia.terminal.spans import Span
from maia.terminal.toolrows import MARKS, Call, CallState, call_lines, output_lines, preview_of, row_lines
from tests.terminal.pure.frames import EN, FR, fr, frame, shown

NB = "\u00a0"


def row(state: CallState, **values: object) -> str:
    facts: dict[str, object] = {"summary": "", "duration": None} | values
    return shown(row_lines(Call("1", "Bash", "make", state, **facts), Look(width=60), FR), 60)  # type: ignore[arg-type]


STATES = [
    ("running", "▸ Bash  make"),
    ("waiting", "? Bash  make"),
    ("succeeded", "✓ Bash  make"),
    ("failed", "✗ Bash  make                                           échec"),
    ("refused", "⊘ Bash  make                                          refusé"),
    ("skipped", "» Bash  make                                          ignoré"),
    ("unknown", "~ Bash  make                                  issue inconnue"),
]


@pytest.mark.parametrize(("state", "expected"), STATES, ids=[state for state, _ in STATES])
def test_each_state_has_its_mark_and_its_word(state: CallState, expected: str) -> None:
    assert row(state) == expected


def test_every_mark_has_a_shape_of_its_own() -> None:
    shapes = [mark for state, (mark, _) in MARKS.items() if state != "queued"]
    assert len(set(shapes)) == len(shapes)


def test_the_name_is_bold_and_the_preview_grey() -> None:
    spans = row_lines(Call("1", "Bash", "make", "succeeded"), Look(), FR)[0]
    assert (Span("Bash", "tool") in spans, Span("make", "muted") in spans) == (True, True)


@pytest.mark.parametrize(
    ("state", "duration", "expected"),
    [
        ("succeeded", 0.04, f"0,0{NB}s"),
        ("succeeded", 59.9, f"59,9{NB}s"),
        ("succeeded", 72, f"1{NB}min{NB}12"),
        ("failed", 3_900, f"1{NB}h{NB}05"),
    ],
)
def test_durations_end_on_the_last_column(state: CallState, duration: float, expected: str) -> None:
    text = row(state, duration=duration)
    assert (len(text), text.endswith(expected)) == (60, True)


def test_a_call_that_never_ran_has_no_duration() -> None:
    assert row("refused", duration=0.0).endswith("refusé")
    assert row("skipped", duration=0.0).endswith("ignoré")


def test_a_long_summary_goes_below_so_that_the_preview_stays() -> None:
    call = Call("1", "Bash", "pytest tests/avoirs -q --maxfail=1", "failed", "x" * 50, 2.0)
    assert shown(row_lines(call, Look(), FR)) == frame(f"""
✗ Bash  pytest tests/avoirs -q --maxfail=1                                 2,0{NB}s
  échec · {"x" * 50}
""")


def test_a_long_preview_is_cut_and_never_pushes_the_rest_out() -> None:
    call = Call("1", "Bash", "y" * 300, "succeeded", "412 lignes", 2.0)
    text = shown(row_lines(call, Look(), FR))
    assert len(text) == 80
    assert text.endswith(f"…  412 lignes    2,0{NB}s")


def test_a_preview_of_several_lines_stands_on_one_row() -> None:
    assert shown(row_lines(Call("1", "Bash", "a\nb\n", "running"), Look(), FR)) == "▸ Bash  a ⏎ b"


def test_the_task_list_is_drawn_with_its_boxes() -> None:
    items = (
        TodoItem("Lire", "completed"),
        TodoItem("Corriger", "in_progress", "Correction"),
        TodoItem("Tester", "pending"),
    )
    rows = call_lines(Call("1", "TodoWrite", "", "succeeded", blocks=(TodoBlock(items),)), Look(), FR)
    assert shown(rows) == "✓ TodoWrite\n  ☑ Lire\n  ▶ Correction\n  ☐ Tester"
    ascii_rows = call_lines(
        Call("1", "TodoWrite", "", "succeeded", blocks=(TodoBlock(items),)), Look(unicode=False), FR
    )
    assert shown(ascii_rows) == "ok TodoWrite\n  [x] Lire\n  > Correction\n  [ ] Tester"


def test_text_for_the_person_is_shown_head_and_tail() -> None:
    text = "\n".join(f"l{n}" for n in range(100))
    rows = call_lines(Call("1", "Bash", "x", "succeeded", blocks=(TextBlock(text),)), Look(), EN)
    assert shown(rows).split("\n")[1:] == [
        *(f"  │ l{n}" for n in range(4)),
        "  │ … 90 more lines",
        *(f"  │ l{n}" for n in range(94, 100)),
    ]


def test_eleven_lines_are_shown_whole_rather_than_cut_by_one() -> None:
    assert len(output_lines("\n".join("x" * 11), Look(), EN, 4, 6)) == 11
    assert len(output_lines("\n".join("x" * 12), Look(), EN, 4, 6)) == 11


def test_a_failed_call_shows_what_it_said() -> None:
    rows = call_lines(Call("1", "Read", "a", "failed", text="no such file\n"), Look(), EN)
    assert shown(rows).endswith("failed\n  │ no such file")
    rows = call_lines(Call("1", "Read", "a", "succeeded", text="secret of the model"), Look(), EN)
    assert shown(rows) == "✓ Read  a"


def test_what_the_row_says_is_not_said_again_below() -> None:
    call = Call("1", "Bash", "make", "failed", "exit code: 2", text="boom\n[exit code: 2]")
    assert shown(call_lines(call, Look(), EN)).split("\n")[1:] == ["  │ boom"]


def test_a_summary_that_the_preview_says_already_is_not_repeated() -> None:
    assert shown(row_lines(Call("1", "TodoWrite", "1/3", "succeeded", "1/3", 0.0), Look(), FR)).split() == [
        *("✓", "TodoWrite", "1/3"),
        *("0,0", "s"),
    ]


def test_several_changed_files_are_summed_up() -> None:
    blocks = (DiffBlock("a", "", "x\n"), DiffBlock("b", "y\nz\n", ""))
    assert shown(row_lines(Call("1", "Edit", "a", "succeeded", blocks=blocks), Look(), EN)).endswith("+1 −2")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"n": 1, "path": "a"}, "a"), ({"x": " ", "y": "b"}, "b"), ({}, ""), ({"todos": [1]}, "")],
)
def test_a_call_without_preview_shows_its_first_text(arguments: dict[str, object], expected: str) -> None:
    assert preview_of(arguments) == expected


def test_marks_are_words_without_unicode() -> None:
    look = Look(unicode=False, width=60)
    first = [shown(row_lines(Call("1", "X", "", state), look, EN), 60).split()[0] for state in MARKS]
    assert first == [">", ">", "?", "ok", "x", "no", "skip", "~", "wait"]


def test_a_screen_reader_hears_sentences() -> None:
    look = Look(screen_reader=True, level="none")
    call = Call("1", "Bash", "make", "failed", fr("code de sortie : 1"))
    assert shown(call_lines(call, look, FR)) == fr("Outil Bash : échec, code de sortie : 1.")
    assert shown(call_lines(Call("1", "Bash", "make", "running"), look, EN)) == "Tool Bash: running, make."
