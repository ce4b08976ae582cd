from datetime import UTC, datetime, timedelta

import pytest

from maia.core.costs import Cost, Usage
from maia.core.permission import Rule, RuleSource, Verdict
from maia.core.ports import ContextPart, ContextView
from maia.core.results import DiffBlock
from maia.engine.views import AgentList, AgentRow, ModelCost, RuleFile, SessionChoice, ToolRow
from maia.i18n.catalogue import Catalogue
from maia.terminal.colours import Look
from maia.terminal.commands import COMMANDS
from maia.terminal.spans import Span, cell_width
from maia.terminal.views import (
    agents_lines,
    changes_lines,
    context_lines,
    cost_lines,
    help_lines,
    load_lines,
    permissions_lines,
    tools_lines,
    when,
)
from maia.tools.toolbox import built_in_tools
from tests.terminal.pure.frames import EDIT, EN, FR, fr, frame, shown


def rule(verdict: Verdict, text: str) -> Rule:
    return Rule(verdict, text.partition("(")[0], None, text, RuleSource("x", 1))


FILES = [
    RuleFile(
        "~/.maia/settings.json",
        (
            rule(Verdict.ALLOW, "Read(**)"),
            rule(Verdict.DENY, "Redirect(.env)"),
            rule(Verdict.ASK, "Bash(git push *)"),
            rule(Verdict.ALLOW, "Bash(git status)"),
            rule(Verdict.DENY, "Bash(rm -rf *)"),
        ),
    ),
    RuleFile("./empty.json", ()),
    RuleFile("./.maia/settings.json", (rule(Verdict.ALLOW, "Edit(src/**)"),)),
]


def test_rules_are_shown_file_by_file_and_empty_kinds_left_out() -> None:
    assert shown(permissions_lines(FILES, Look(), FR)) == fr(
        frame("""
~/.maia/settings.json
ALLOW  Read(**)
       Bash(git status)
ASK    Bash(git push *)
DENY   Redirect(.env)
       Bash(rm -rf *)

./.maia/settings.json
ALLOW  Edit(src/**)
Aucune règle ne correspond : la question est posée.
""")
    )
    assert shown(permissions_lines(FILES, Look(), EN)).endswith("\nWhen no rule matches, the question is asked.")


def test_badges_of_rules_are_green_yellow_and_red() -> None:
    badges = [row[0] for row in permissions_lines(FILES, Look(), FR) if row and row[0].text in ("ALLOW", "ASK", "DENY")]
    assert badges == [
        Span("ALLOW", "rule_allow"),
        Span("ASK", "rule_ask"),
        Span("DENY", "rule_deny"),
        Span("ALLOW", "rule_allow"),
    ]


def test_without_rules_it_says_so(say: Catalogue) -> None:
    rows = shown(permissions_lines([], Look(), say)).split("\n")
    assert rows == [say("term.permissions.none"), say("term.permissions.default")]


VIEW = ContextView(
    (
        ContextPart("system", 6_200),
        ContextPart("tools", 9_800),
        ContextPart("messages", 31_100, 42),
        ContextPart("pending", 2_300),
    ),
    200_000,
    "catalogue",
)


def test_the_context_is_shown_part_by_part() -> None:
    assert shown(context_lines(VIEW, Look(), FR)) == fr(
        frame("""
Contexte de la prochaine requête   49.4k / 200k · 25%   1■ = 10k
Invite système                  6.2k     3%   ■
Définitions d'outils            9.8k     5%   ■
Messages (42)                  31.1k    16%   ■■■■
En attente : ! et @             2.3k     1%   ■
Maximum : 200k, selon le catalogue. Compté ici, vocabulaire o200k_base.
""")
    )


def test_the_context_in_40_columns_has_no_squares() -> None:
    assert shown(context_lines(VIEW, Look(width=40), EN), 40) == frame("""
Context of the next request
49.4k / 200k · 25%
System prompt                6.2k     3%
Tool definitions             9.8k     5%
Messages (42)               31.1k    16%
Pending: ! and @             2.3k     1%
Maximum: 200k, according to the
catalogue. Counted here, vocabulary
o200k_base.
""")


def test_an_unknown_window_has_no_shares_and_a_full_one_a_larger_scale() -> None:
    unknown = shown(context_lines(ContextView(VIEW.parts, None, "unknown"), Look(), EN))
    assert "%" not in unknown
    assert unknown.endswith("Maximum unknown. Counted here, vocabulary o200k_base.")
    big = ContextView((ContextPart("messages", 700_000, 9),), 1_000_000, "server")
    assert "1■ = 30k" in shown(context_lines(big, Look(), EN))


def test_a_small_part_is_not_called_nothing() -> None:
    view = ContextView((ContextPart("system", 300), ContextPart("pending", 0)), 200_000, "setting")
    rows = shown(context_lines(view, Look(), EN)).split("\n")
    assert (rows[1].split()[-2:], rows[2].split()[-1]) == (["<1%", "■"], "0%")


COSTS = [
    ModelCost("sonnet", Usage(412_208, 18_402), Cost(2.184, "reported")),
    ModelCost("qwen3-coder:30b", Usage(20_077, 1_204), Cost(0.084, "estimated")),
    ModelCost("mistral-small", None, Cost()),
]


def spaced(text: str) -> str:
    """Figures with the narrow space that French groups thousands by."""
    for figure in ("412 208", "18 402", "20 077", "1 204", "432 285", "19 606"):
        text = text.replace(figure, figure.replace(" ", "\u202f"))
    return text


def test_costs_are_shown_with_who_says_so() -> None:
    assert shown(cost_lines(COSTS, Look(), FR)) == spaced(
        frame("""
Coût de la session               entrée    sortie       coût   source
sonnet                          412 208    18 402    $2.1840   fournisseur
qwen3-coder:30b                  20 077     1 204   ~$0.0840   estimé
mistral-small                         —         —          —   non communiqué
Total connu                     432 285    19 606   ~$2.2680
""")
    )


def test_costs_in_40_columns_drop_the_source_and_keep_the_tilde() -> None:
    assert shown(cost_lines(COSTS, Look(width=40), EN), 40) == frame("""
Cost of the session
                    in     out      cost
sonnet         412,208  18,402   $2.1840
qwen3-coder…    20,077   1,204  ~$0.0840
mistral-sma…         —       —         —
Known total    432,285  19,606  ~$2.2680
""")


def test_a_total_of_reported_costs_is_exact_and_an_unknown_cost_is_never_zero() -> None:
    rows = shown(cost_lines(COSTS[:1], Look(), EN)).split("\n")
    assert rows[-1].split() == ["Known", "total", "412,208", "18,402", "$2.1840"]
    rows = shown(cost_lines(COSTS[2:], Look(), EN)).split("\n")
    assert rows[-1].split() == ["Known", "total", "—", "—", "—"]
    unpriced = ModelCost("local", Usage(10, 2), Cost())
    assert shown(cost_lines([unpriced], Look(), EN)).split("\n")[1].split() == [
        "local",
        "10",
        "2",
        "—",
        "not",
        "reported",
    ]
    assert "$0" not in shown(cost_lines([unpriced], Look(), EN))


NOW = datetime(2026, 11, 30, 10, 20, tzinfo=UTC)


def ago(**values: float) -> float:
    return (NOW - timedelta(**values)).timestamp()


SESSIONS = [
    SessionChoice("session_2026-11-30_10_02_11__1", ago(minutes=8), 21_400, "arrondi des avoirs"),
    SessionChoice("session_2026-11-30_10_02_11", ago(minutes=8), 195_600, "arrondi des avoirs"),
    SessionChoice("migration-cles", ago(days=1), 58_100, "clés d'API"),
    SessionChoice("session_2026-11-27_17_20_45", ago(days=3), 9_900, "tests lents"),
]


def test_sessions_are_listed_as_specified() -> None:
    rows = shown(load_lines(SESSIONS, 0, Look(), FR, now=NOW, total=37)).replace("27\u00a0nov.", "27 nov.")
    assert rows == fr(
        frame("""
Charger une session                                              4 sur 37
  › session_2026-11-30_10_02_11__1   il y a 8 min    21.4k   arrondi des avoirs
    session_2026-11-30_10_02_11      il y a 8 min   195.6k   arrondi des avoirs
    migration-cles                   hier            58.1k   clés d'API
    session_2026-11-27_17_20_45      27 nov.          9.9k   tests lents
Entrée : charger · / : chercher · Échap : fermer
""")
    )


def test_sessions_in_40_columns_take_two_rows() -> None:
    rows = shown(load_lines(SESSIONS[1:3], 1, Look(width=40), EN, now=NOW, total=37), 40)
    assert rows == frame("""
Load a session                   2 of 37
    session_2026-11-30_10_02_11
    8 min ago · 195.6k
  › migration-cles
    yesterday · 58.1k
Enter: load · /: search · Esc: close
""")


def test_a_long_list_shows_the_rows_around_the_chosen_one() -> None:
    many = [SessionChoice(f"s{n}", ago(minutes=n), None, "") for n in range(50)]
    rows = shown(load_lines(many, 30, Look(), EN, now=NOW, total=50, rows=5)).split("\n")
    assert [row.split()[0] for row in rows[1:-1]] == ["s28", "s29", "›", "s31", "s32"]


def test_an_empty_list_says_why(say: Catalogue) -> None:
    assert shown(load_lines([], 0, Look(), say, now=NOW, total=0)) == say("term.load.none")
    assert shown(load_lines([], 0, Look(), say, now=NOW, total=9)) == say("term.load.no_match")


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (ago(seconds=5), "just now"),
        (ago(minutes=59), "59 min ago"),
        (ago(hours=3), "3 h ago"),
        (ago(hours=11), "yesterday"),
        (ago(days=2), "28\u00a0Nov"),
        (ago(days=400), "26\u00a0Oct\u00a02025"),
        (ago(seconds=-50), "just now"),
    ],
)
def test_times_are_told_as_people_do(moment: float, expected: str) -> None:
    assert when(moment, NOW, EN) == expected


def test_help_names_every_command_and_every_way_to_type(say: Catalogue) -> None:
    rows = shown(help_lines(Look(), say))
    assert all(f"  /{row.name}" in rows for row in COMMANDS)
    assert all(word in rows for word in ("! ", "@", "Tab", "Ctrl+C", "Ctrl+D"))


def test_tools_are_listed_with_the_first_sentence(say: Catalogue) -> None:
    tools = [ToolRow("Read", "Reads a file. Takes\nlines."), ToolRow("Addition", "Adds", "./.maia/tools")]
    assert shown(tools_lines(tools, Look(), say)).split("\n")[1:] == [
        "  Read       " + say("term.tool.read"),
        "  Addition   [./.maia/tools] Adds",
    ]
    assert shown(tools_lines([], Look(), say)) == say("term.tools.none")
    foreign = [ToolRow("Read", "Reads on a server.", "mcp"), ToolRow("Odd", "Does odd things. And more.")]
    assert shown(tools_lines(foreign, Look(), say)).split("\n")[1:] == [
        "  Read   [mcp] Reads on a server.",
        "  Odd    Does odd things.",
    ]


def test_every_tool_of_our_own_has_words_for_people() -> None:
    for tool in built_in_tools():
        assert all(say.has(f"term.tool.{tool.spec.name.lower()}") for say in (FR, EN)), tool.spec.name


def test_changes_are_shown_whole() -> None:
    big = DiffBlock("b.txt", "", "".join(f"{n}\n" for n in range(60)))
    rows = shown(changes_lines([EDIT, DiffBlock("same", "x", "x"), big], Look(), FR)).split("\n")
    assert rows[0] == "src/facturation/avoirs.py" + "+2 −1".rjust(55)
    assert rows[6:8] == ["", "b.txt" + "+60".rjust(75)]
    assert len(rows) == 8 + 60
    assert shown(changes_lines([], Look(), EN)) == "This session has changed no file."


@pytest.mark.parametrize("width", [1, 4, 9, 20, 33, 59])
@pytest.mark.parametrize("look", [Look(), Look(unicode=False), Look(level="none")], ids=["full", "ascii", "plain"])
def test_no_view_is_wider_than_the_screen(width: int, look: Look) -> None:
    from dataclasses import replace

    narrow = replace(look, width=width)
    for rows in (
        permissions_lines(FILES, narrow, FR),
        context_lines(VIEW, narrow, FR),
        cost_lines(COSTS, narrow, FR),
        load_lines(SESSIONS, 1, narrow, FR, now=NOW, total=37),
        help_lines(narrow, FR),
        tools_lines([ToolRow("Read", "x" * 90)], narrow, FR),
        changes_lines([EDIT], narrow, FR),
    ):
        shown(rows, width)


def test_agents_are_listed_with_nickname_name_and_who_runs_them(say: Catalogue) -> None:
    zed = AgentRow("critic", "🔥 Zed", "Finds what breaks.", "maia sonnet", "~/.maia/agents/critic/AGENT.md")
    plain = AgentRow("plain", "plain", "x" * 60, "codex", "./.maia/agents/plain/AGENT.md")
    rows = shown(agents_lines(AgentList((zed, plain), acting="critic"), Look(width=50), say)).split("\n")
    assert rows[1:4] == [
        "  🔥 Zed (critic)",
        "    Finds what breaks.",
        "    maia sonnet · ~/.maia/agents/critic/AGENT.md ·",
    ]
    assert "  plain" in rows
    assert all(cell_width(row) <= 50 for row in rows)
    assert shown(agents_lines(AgentList(), Look(), say)) == say("term.agents.none")
