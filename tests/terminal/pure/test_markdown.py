import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal import markdown
from maia.terminal.colours import Look
from maia.terminal.markdown import markdown_lines, raw_lines
from maia.terminal.spans import Line, Span, line, text_of
from tests.terminal.pure.frames import fr, frame, shown


def drawn(text: str, width: int = 80, lang: str = "en", **modes: object) -> str:
    return shown(markdown_lines(text, Look(width=width, **modes), lang), width)  # type: ignore[arg-type]


def spans(text: str, **modes: object) -> Line:
    """All spans of the rows, one after the other."""
    return tuple(span for row in markdown_lines(text, Look(**modes)) for span in row)  # type: ignore[arg-type]


ANSWER = """# Ce qui change

| Devise | Pas | Avant | Après |
|---|---|---|---|
| EUR | 0,01 | 12,35 | 12,35 |
| JPY | 1 | 1 250,00 | 1 250 |

- Les factures émises ne sont pas recalculées.
- Deux tests attendent encore l'ancienne valeur.

```python
return brut.quantize(pas, ROUND_HALF_UP)
```
"""


def test_a_complete_answer_is_drawn_as_specified() -> None:
    assert drawn(ANSWER) == frame("""
Ce qui change

Devise  Pas   Avant     Après
──────  ────  ────────  ─────
EUR     0,01  12,35     12,35
JPY     1     1 250,00  1 250

• Les factures émises ne sont pas recalculées.
• Deux tests attendent encore l'ancienne valeur.

  python
│ return brut.quantize(pas, ROUND_HALF_UP)
""")


STYLED = [
    ("a title", "# T", (Span("T", "title"),)),
    ("a second title", "## T", (Span("T", "subtitle"),)),
    ("a third title", "### T", (Span("T", "heading"),)),
    ("a sixth title", "###### T", (Span("T", "heading"),)),
    ("bold", "**b**", (Span("b", "bold"),)),
    ("italic", "*i*", (Span("i", "italic"),)),
    ("both", "***b***", (Span("b", "bold_italic"),)),
    ("struck", "~~s~~", (Span("s", "struck"),)),
    ("code without backticks", "`c`", (Span("c", "code"),)),
    ("a quote", "> q", (Span("▏ ", "quote"), Span("q"))),
    ("a bar before code", "```\nx\n```", (Span("│ ", "muted"), Span("x"))),
    ("the language above", "```py x\nx\n```", (Span("  py", "muted"), Span("│ ", "muted"), Span("x"))),
    ("indented code", "    x", (Span("│ ", "muted"), Span("x"))),
    (
        "a link with its address",
        "[t](https://a.org)",
        (Span("t", "link", "https://a.org"), Span(" (https://a.org)", "muted", "")),
    ),
    ("a bare link", "<https://a.org>", (Span("https://a.org", "link", "https://a.org"),)),
    ("a picture", "![alt](a.png)", (Span("alt", "link"), Span(" (a.png)", "muted"))),
    ("a rule", "---", (Span("─" * 80, "muted"),)),
    ("a head of a table", "|A|\n|-|\n|b|", (Span("A", "bold"), Span("─", "muted"), Span("b"))),
    ("a task", "- [x] t", (Span("• "), Span("☑ t"))),
    ("HTML stays text", "<b>x</b>", (Span("<b>x</b>"),)),
    ("markup of a library stays text", "[bold]x[/bold]", (Span("[bold]x[/bold]"),)),
]


@pytest.mark.parametrize(("source", "expected"), [row[1:] for row in STYLED], ids=[row[0] for row in STYLED])
def test_each_element_has_its_style(source: str, expected: Line) -> None:
    found = spans(source)
    assert tuple(
        span._replace(href=span.href if any(e.href for e in expected) else "") for span in found
    ) == expected or ([(s.text, s.style) for s in found] == [(e.text, e.style) for e in expected])


def test_code_of_a_known_language_is_coloured_and_its_text_stays_the_same() -> None:
    code = "def f(x):\n    return 'a' + str(1)  # why\n\n"
    source = f"```python\n{code}```"
    found = {span.text: span.style for span in spans(source)}
    styles = [found[word] for word in ("def", "f", "1", "# why")]
    assert styles == ["code_keyword", "code_name", "code_number", "muted"]
    assert drawn(source) == drawn(source, level="none") == "  python\n│ def f(x):\n│     return 'a' + str(1)  # why\n│"


@pytest.mark.parametrize("info", ["", "brainfuck", "../../etc/passwd", "python" + "x" * 99])
def test_code_of_an_unknown_language_stays_plain(info: str) -> None:
    assert [span.style for span in spans(f"```{info}\nif x\n```") if span.text == "if x"] == ["plain"]


def test_without_colour_code_keeps_its_backticks() -> None:
    assert drawn("un `mot` **gras**", level="none") == "un `mot` gras"


SHAPES = [
    ("lists hang", "- un deux trois quatre\n  - cinq", 14, "• un deux\n  trois quatre\n  • cinq"),
    ("a mark stands above where there is no room", "10. un deux", 8, "10.\nun deux"),
    ("numbers hang", "9. un deux trois\n10. q", 12, " 9. un deux\n    trois\n10. q"),
    ("a loose list keeps its blank rows", "- a\n\n- b", 80, "• a\n\n• b"),
    ("a small heading stands on its text", "a\n\n## T\n\nb", 80, "a\n\nT\nb"),
    ("a big one has blank rows around it", "a\n# T\nb", 80, "a\n\nT\n\nb"),
    ("line ends of the source stay", "a\nb", 80, "a\nb"),
    ("quotes in quotes", "> a\n>\n> > b", 80, "▏ a\n▏\n▏ ▏ b"),
    ("code is broken at the edge", "```\nabcdefghijklmno\n\n  x\n```", 12, "│ abcdefghij\n│ klmno\n│\n│   x"),
    ("numbers on the right", "|a|n|\n|-|-:|\n|x|1|\n|y|100|", 80, "a    n\n─  ───\nx    1\ny  100"),
    ("centred", "|aaaaa|n|\n|:-:|-|\n|x|1|", 80, "aaaaa  n\n─────  ─\n  x    1"),
    ("cells that are missing", "|a|b|\n|-|-|\n|x|", 80, "a  b\n─  ─\nx"),
    ("definitions are not lost", "[1]: https://a.org\n\nvoir [1]", 80, "[1]: https://a.org\n\nvoir [1]"),
]


@pytest.mark.parametrize(("source", "width", "expected"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_blocks_have_their_shape(source: str, width: int, expected: str) -> None:
    assert "\n".join(row.rstrip() for row in drawn(source, width).split("\n")) == expected


def test_a_table_wider_than_the_screen_becomes_a_block_for_each_row() -> None:
    source = "|Nom|Rôle|\n|-|-|\n|Anne|une très longue description|\n|Bob|courte|"
    assert drawn(source, 24, "fr") == fr(
        frame("""
Nom : Anne
Rôle : une très longue
  description

Nom : Bob
Rôle : courte
""")
    )
    assert drawn(source, 24).startswith("Nom: Anne\n")


def test_dangerous_links_lead_nowhere_and_every_address_is_visible() -> None:
    assert all(not span.href for span in spans("[x](javascript:alert)"))
    assert drawn("[https://good.org](https://evil.org)") == "https://good.org (https://evil.org)"
    assert all(not span.href for span in spans("[x](data:text/html,y) [y](//z)"))


HOSTILE = {
    "10,000 nested quotes": "> " * 10_000 + "x",
    "a line of a megabyte": "a" * 1_000_000,
    "nested lists": "\n".join(" " * n + "- a" for n in range(400)),
    "emphasis that never ends": "*a" * 90_000,
    "open brackets": "[" * 90_000,
    "links that never end": "[a](" * 45_000,
    "backticks": "`".join("a" * (n % 500) for n in range(3_000)),
    "entities": "&a;" * 90_000,
    "a wide table": "|" * 20_000 + "\n" + "|-" * 20_000,
    "pictures in pictures": "![" * 45_000 + "](a)" * 45_000,
    "an open fence": "```\n" + "漢" * 400_000,
    "10,000 lines": "\n".join(f"- line {n} with **bold** and `code`" for n in range(10_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_stays_quick_and_fits(name: str) -> None:
    began = time.process_time()
    rows = markdown_lines(HOSTILE[name], Look())
    assert time.process_time() - began < 6
    shown(rows)
    assert rows


def test_what_is_nested_too_deep_is_shown_raw_and_whole() -> None:
    text = "> " * 100 + "x"
    assert markdown_lines(text, Look()) == raw_lines(text, Look())


def test_nothing_in_the_text_can_act_on_the_screen() -> None:
    text = "a\x1b[31m &#27;[2J &#x202e;x\n\n```\n\x1b]0;t\x07\n```\n\n[l](http://a/%1b\x1b) ![\x1b](\x1b)"
    rows = drawn(text)
    assert "\x1b" not in rows
    assert "\x07" not in rows
    assert "\u202e" not in rows
    assert all(span.href.isprintable() and span.href.isascii() for span in spans(text))


@given(st.text(st.sampled_from("#*_`>-|[]()!\n 1.ab~<&;é漢\\\t"), max_size=120), st.integers(1, 50))
def test_any_text_is_drawn_within_the_screen(text: str, width: int) -> None:
    wide_chars = any(char in text for char in "漢")
    for row in markdown_lines(text, Look(width=max(width, 2 if wide_chars else 1))):
        assert len(text_of(row)) <= max(width, 2)


@given(st.text(st.sampled_from("abc \n-*#>1."), max_size=80))
def test_no_letter_is_lost(text: str) -> None:
    rows = "".join(text_of(row) for row in markdown_lines(text, Look()))
    assert [char for char in rows if char in "abc"] == [char for char in text if char in "abc"]


def test_a_renderer_that_fails_shows_the_raw_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> list[Line]:
        raise RuntimeError

    monkeypatch.setattr(markdown, "_stack", broken)
    assert markdown_lines("**a**\n# b", Look()) == [line("**a**"), line("# b")]


def test_markdown_can_be_switched_off() -> None:
    assert markdown_lines("**a**", Look(markdown=False)) == [line("**a**")]


def test_without_unicode_marks_are_ascii() -> None:
    rows = drawn("- été\n\n> q\n\n```\nx\n```\n\n|a|\n|-|\n|b|", unicode=False)
    assert rows.isascii()
    assert rows.startswith("* ete\n\n| q\n\n| x")
