import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal.colours import Look
from maia.terminal.completion import (
    Choice,
    Menu,
    Sources,
    Wanted,
    accept,
    menu_for,
    menu_lines,
    quoted_mention,
    rank,
    wanted_at,
)
from maia.terminal.line import Text, parse
from maia.terminal.spans import Span
from tests.terminal.pure.frames import EN, FR, frame, shown

SIX = (
    Choice("/clear", "/clear", "vider le contexte, relire la configuration"),
    Choice("/compact", "/compact", "résumer la conversation"),
    Choice("/context", "/context", "ce que contient la prochaine requête"),
    Choice("/cost", "/cost", "jetons et coût de la session"),
    Choice("/createAgent", "/createAgent", "créer un sous-agent"),
)
OPEN = Menu(Wanted("commands", "c", 0, 2), SIX, 20)


def test_the_list_is_drawn_as_specified() -> None:
    assert shown(menu_lines(OPEN, 0, Look(), FR)) == frame("""
  › /clear         vider le contexte, relire la configuration
    /compact       résumer la conversation
    /context       ce que contient la prochaine requête
    /cost          jetons et coût de la session
    /createAgent   créer un sous-agent
                                                            5 sur 20 commandes
""")


def test_in_40_columns_the_descriptions_are_left_out() -> None:
    assert shown(menu_lines(OPEN, 1, Look(width=40), EN), 40) == frame("""
    /clear
  › /compact
    /context
    /cost
    /createAgent
                      5 of 20 commands
""")


def test_the_current_choice_is_in_reverse_video() -> None:
    row = menu_lines(OPEN, 0, Look(), FR)[0]
    assert row[0] == Span("  ")
    assert {span.style for span in row[1:]} == {"selected"}


def test_a_long_list_follows_the_current_choice_in_six_rows() -> None:
    choices = tuple(Choice(f"@f{n}", f"f{n}", folder="src/") for n in range(30))
    rows = menu_lines(Menu(Wanted("files", "f", 0, 2), choices, 1_234, more=True), 20, Look(), FR)
    assert shown(rows) == frame("""
    src/f18
    src/f19
  › src/f20
    src/f21
    src/f22
                                                        30+ sur 1\u202f234 fichiers
""")
    assert rows[0][2] == Span("src/", "muted")


@pytest.mark.parametrize("width", [1, 5, 20, 39])
def test_the_list_is_never_wider_than_the_screen(width: int) -> None:
    shown(menu_lines(OPEN, 3, Look(width=width), FR), width)


def test_a_list_that_is_being_made_says_so() -> None:
    rows = menu_lines(Menu(Wanted("files", "f", 0, 2), (), 0, note="indexing"), 0, Look(), EN)
    assert shown(rows).strip() == "listing files…"


WANTED = [
    ("a command", "/mo", 3, Wanted("commands", "mo", 0, 3)),
    ("all commands", "/", 1, Wanted("commands", "", 0, 1)),
    ("inside a command", "/model", 3, Wanted("commands", "mo", 0, 6)),
    ("a model", "/model x", 8, Wanted("models", "x", 7, 8)),
    ("all sessions", "/LOAD ", 6, Wanted("sessions", "", 6, 6)),
    ("a session with blanks", "/load my ta", 11, Wanted("sessions", "my ta", 6, 11)),
    ("no list for this command", "/rename x", 9, None),
    ("not over several lines", "/model x\ny", 10, None),
    ("not for a path", "/usr/bi", 7, None),
    ("not before the sign", "/mo", 0, None),
    ("a skill", "§pd", 3, Wanted("skills", "pd", 0, 3)),
    ("an agent", "&re", 3, Wanted("agents", "re", 0, 3)),
    ("a file", "lis @src/a", 10, Wanted("files", "src/a", 4, 10)),
    ("all files", "lis @", 5, Wanted("files", "", 4, 5)),
    ("inside a path", "lis @src/a.py et", 8, Wanted("files", "src", 4, 13)),
    ("in quotes", "@'mon do", 8, Wanted("files", "mon do", 0, 8)),
    ("after closed quotes", "@'a b' x", 8, None),
    ("an escaped blank", "@a\\ b", 5, Wanted("files", "a b", 0, 5)),
    ("after a blank", "@a b", 4, None),
    ("an e-mail address", "jean@ex", 7, None),
    ("in backticks", "`@ex", 4, None),
    ("on a second line", "x\n@a", 4, Wanted("files", "a", 2, 4)),
    ("a command with a file", "!cat @a", 7, Wanted("files", "a", 5, 7)),
    ("nothing", "abc", 3, None),
]


@pytest.mark.parametrize(("text", "cursor", "expected"), [w[1:] for w in WANTED], ids=[w[0] for w in WANTED])
def test_what_is_completed_depends_on_the_cursor(text: str, cursor: int, expected: Wanted | None) -> None:
    assert wanted_at(text, cursor) == expected


def test_matches_at_the_beginning_come_first_then_inside_then_scattered() -> None:
    names = [Choice(name, name) for name in ("xab", "acb", "ab", "b", "ABC")]
    assert [choice.label for choice in rank("ab", names, lambda c: c.label)] == ["ab", "ABC", "xab", "acb"]


def test_commands_are_offered_with_their_words() -> None:
    menu = menu_for(Wanted("commands", "co", 0, 3), Sources(), FR)
    assert menu is not None
    assert [choice.label for choice in menu.choices] == ["/context", "/cost"]
    assert menu.choices[1].detail == "jetons et coût de la session"
    assert menu_for(Wanted("commands", "zzz", 0, 4), Sources(), FR) is None


def test_skills_and_agents_come_from_who_knows_them() -> None:
    sources = Sources(lists={"skills": lambda: [Choice("pdf", "pdf", "read PDF")]})
    menu = menu_for(Wanted("skills", "p", 0, 2), sources, EN)
    assert menu is not None
    assert menu.choices == (Choice("§pdf", "§pdf", "read PDF"),)
    assert menu_for(Wanted("agents", "p", 0, 2), sources, EN) is None
    assert menu_for(Wanted("files", "p", 0, 2), sources, EN) is None
    models = Sources(lists={"models": lambda: [Choice("gpt", "gpt", "litellm"), Choice("qwen", "qwen")]})
    menu = menu_for(Wanted("models", "qw", 7, 9), models, EN)
    assert menu is not None
    assert menu.choices == (Choice("qwen", "qwen"),)


@pytest.mark.parametrize(
    ("text", "wanted", "choice", "expected"),
    [
        ("/mo", Wanted("commands", "mo", 0, 3), Choice("/model", "/model"), ("/model ", 7)),
        ("lis @sr !", Wanted("files", "sr", 4, 7), Choice("@src/a.py", "a.py"), ("lis @src/a.py !", 13)),
        ("lis @sr", Wanted("files", "sr", 4, 7), Choice("@src/", "src/", goes_on=True), ("lis @src/", 9)),
        ("@mo", Wanted("files", "mo", 0, 3), Choice("@'mon dossier/'", "x", goes_on=True), ("@'mon dossier/", 14)),
    ],
)
def test_accepting_puts_the_choice_in_the_text(
    text: str, wanted: Wanted, choice: Choice, expected: tuple[str, int]
) -> None:
    assert accept(text, Menu(wanted, (choice,), 1), choice) == expected


@given(st.text(st.sampled_from("ab /.'\"`,;@#:!é-_(){}\u202f"), min_size=1, max_size=20).filter(lambda p: p.strip(" ")))
def test_an_accepted_path_is_read_back_as_the_same_path(path: str) -> None:
    typed = parse("lis " + quoted_mention(path) + " ")
    assert isinstance(typed, Text)
    assert typed.mentions[0].candidates[0].path == path
