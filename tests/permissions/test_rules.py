from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.permission import Need, NeedKind, Rule, RuleSource, Verdict
from maia.permissions import wildcard
from maia.permissions.decide import decide
from maia.permissions.rule_files import RuleFile, read_rule_file
from maia.permissions.rules import RuleProblem, parse_rule
from tests.permissions.made import NOWHERE, SOURCE, rule, rules, verdict

# (text, tool, pattern)
READ = (
    ("Bash", "Bash", None),
    ("Bash(git push *)", "Bash", "git push *"),
    ("  Read( src/** ) ", "Read", "src/**"),
    ("Bash(echo (x) y)", "Bash", "echo (x) y"),
    ("bash(ls)", "Bash", "ls"),
    ("webfetch(domain:x.org)", "WebFetch", "domain:x.org"),
    ("WebFetch(domain:*.example.org)", "WebFetch", "domain:*.example.org"),
    ("Addition(5)", "Addition", "5"),
    ("mcp__db__query(SELECT *)", "mcp__db__query", "SELECT *"),
    ("mcp__db__*", "mcp__db__*", None),
    ("Mcp(github,delete_*)", "Mcp", "github,delete_*"),
    ("Mcp(*)", "Mcp", "*"),
    ("élan(x)", "élan", "x"),
)


@pytest.mark.parametrize(("text", "tool", "pattern"), READ)
def test_a_rule_is_a_tool_with_or_without_a_pattern(text: str, tool: str, pattern: str | None) -> None:
    assert parse_rule(text, Verdict.ASK, SOURCE) == Rule(Verdict.ASK, tool, pattern, text.strip(), SOURCE)


# (what stands in the file, key of the problem)
WRONG: tuple[tuple[object, str], ...] = (
    ("", "perm.rule.empty"),
    ("   ", "perm.rule.empty"),
    ("Bash(git push", "perm.rule.no_close"),
    ("Bash(", "perm.rule.no_close"),
    ("Bash(ls) x", "perm.rule.after_close"),
    ("Bash()", "perm.rule.no_pattern"),
    ("Bash( )", "perm.rule.no_pattern"),
    ("Bash)", "perm.rule.no_open"),
    ("(ls)", "perm.rule.shape"),
    ("git push", "perm.rule.shape"),
    ("*", "perm.rule.shape"),
    ("Bash*", "perm.rule.shape"),
    ("9lives", "perm.rule.shape"),
    ("WebFetch(example.org)", "perm.rule.domain"),
    ("WebFetch(domain:)", "perm.rule.domain"),
    ("WebFetch(domain:https://x.org/a)", "perm.rule.domain"),
    ("Mcp(a,b,c)", "perm.rule.mcp"),
    ("Mcp(a,)", "perm.rule.mcp"),
    (5, "perm.rule.not_text"),
    (None, "perm.rule.not_text"),
    (["Bash"], "perm.rule.not_text"),
)


@pytest.mark.parametrize(("text", "key"), WRONG)
def test_a_malformed_rule_is_a_problem_that_says_what_is_wrong(text: object, key: str) -> None:
    read = parse_rule(text, Verdict.ALLOW, SOURCE)
    shown = text.strip() if isinstance(text, str) else repr(text)
    assert read == RuleProblem(key, {"rule": shown}, SOURCE)


# (rule, tool, kind, value, whether it matches)
VALUES: tuple[tuple[str, str, NeedKind, str, bool], ...] = (
    ("WebFetch", "WebFetch", "host", "x.org", True),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "x.org", True),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "X.ORG.", True),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "x.org:8443", True),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "https://user:pw@x.org/a?b", True),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "https://x.org@evil.net/", False),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "https://evil.net\\@x.org/", False),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "https://x.org\\@evil.net/", False),
    ("WebFetch(domain:*)", "WebFetch", "host", "https://evil%2enet/", False),
    ("WebFetch(domain:*)", "WebFetch", "host", "https:evil.net", False),
    ("WebFetch(domain:*)", "WebFetch", "host", "https://e\tvil.net", False),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "https://x\u3002org/", True),
    ("WebFetch(domain:169.254.169.254)", "WebFetch", "host", "http://2852039166/", True),
    ("WebFetch(domain:169.254.169.254)", "WebFetch", "host", "http://0xa9fea9fe/", True),
    ("WebFetch(domain:169.254.169.254)", "WebFetch", "host", "http://169.254.43518/", True),
    ("WebFetch(domain:169.254.169.254)", "WebFetch", "host", "http://[::ffff:169.254.169.254]/", True),
    ("WebFetch(domain:[::1])", "WebFetch", "host", "http://[0:0:0:0:0:0:0:1]/", True),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "a.x.org", False),
    ("WebFetch(domain:x.org)", "WebFetch", "host", "xx.org", False),
    ("WebFetch(domain:*.x.org)", "WebFetch", "host", "a.x.org", True),
    ("WebFetch(domain:*.x.org)", "WebFetch", "host", "a.b.x.org", True),
    ("WebFetch(domain:*.x.org)", "WebFetch", "host", "x.org", False),
    ("WebFetch(domain:*.x.org)", "WebFetch", "host", "evilx.org", False),
    ("WebFetch(domain:*)", "WebFetch", "host", "x.org", True),
    ("WebFetch(domain:bücher.de)", "WebFetch", "host", "xn--bcher-kva.de", True),
    ("WebFetch(domain:[::1])", "WebFetch", "host", "[::1]:80", True),
    ("Skill(pdf)", "Skill", "name", "pdf", True),
    ("Skill(pdf)", "Skill", "name", "pdfx", False),
    ("Skill(p*)", "Skill", "name", "pdf", True),
    ("Agent(Reviewer)", "Agent", "name", "reviewer", True),
    ("Addition(5)", "Addition", "text", "5", True),
    ("Addition(5)", "Addition", "text", "55", False),
    ("Addition", "Addition", "text", "55", True),
    ("mcp__db__query(SELECT *)", "mcp__db__query", "text", "SELECT a\nFROM b", True),
    ("mcp__db__query(SELECT *)", "mcp__db__query", "text", "DROP x", False),
    ("mcp__db__*", "mcp__db__query", "text", "x", True),
    ("Mcp(db)", "mcp__db__query", "text", "x", True),
    ("Mcp(db,*)", "mcp__db__query", "text", "x", True),
    ("Mcp(db,que*)", "mcp__db__query", "text", "x", True),
    ("Mcp(db,drop)", "mcp__db__query", "text", "x", False),
    ("Mcp(*)", "mcp__db__query", "text", "x", True),
    ("Mcp(*,query)", "mcp__db__query", "text", "x", True),
    ("Mcp(other)", "mcp__db__query", "text", "x", False),
    ("Mcp(db)", "Mcp", "name", "db,query", True),
    ("Mcp(db,query)", "Mcp", "name", "db,drop", False),
    ("TodoWrite", "TodoWrite", "none", "", True),
    ("Bash", "Read", "text", "x", False),
)


@pytest.mark.parametrize(("text", "tool", "kind", "value", "matches"), VALUES)
def test_hosts_names_and_texts_are_matched(text: str, tool: str, kind: NeedKind, value: str, matches: bool) -> None:
    decision = decide([Need(tool, kind, value)], rules(deny=[text]), NOWHERE)
    assert (decision.verdict is Verdict.DENY) == matches


def test_a_need_of_kind_none_is_allowed_unless_a_rule_names_the_tool() -> None:
    assert verdict("TodoWrite", "", rules()) == "allow"
    assert verdict("TodoWrite", "", rules(ask=["TodoWrite"])) == "ask"
    assert verdict("TodoWrite", "", rules(deny=["TodoWrite(*)"])) == "deny"
    assert decide([], rules(), NOWHERE).verdict is Verdict.ALLOW


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch", "Skill", "Agent", "Own"])
def test_without_a_rule_every_tool_asks(tool: str) -> None:
    assert verdict(tool, "x", rules()) == "ask"


def test_of_several_needs_the_strictest_decides_and_all_are_told() -> None:
    in_force = rules(allow=["Skill(a)"], deny=["Skill(c)"])
    needs = [Need("Skill", "name", name) for name in "abc"]
    decision = decide(needs, in_force, NOWHERE)
    assert decision.verdict is Verdict.DENY
    assert decision.rule == rule("Skill(c)", Verdict.DENY)
    assert [part.verdict.name for part in decision.parts] == ["ALLOW", "ASK", "DENY"]


SETTINGS = """{
  "LiteLLM_URL": "http://x",
  "permissions": {
    "allow": [
      "Read(**)",
      "Bash(git push",
      "Bash(ls)", "Bash(ls)"
    ],
    "deny": ["Bash(ls)",
      7],
    "denny": ["Bash"],
    "ask": "Bash"
  }
}
"""


def test_a_settings_file_gives_rules_with_their_lines_and_problems_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(SETTINGS)
    read = read_rule_file(path, "here")
    assert [(r.verdict.name, r.text, r.source.line) for r in read.rules] == [
        ("ALLOW", "Read(**)", 5),
        ("ALLOW", "Bash(ls)", 7),
        ("ALLOW", "Bash(ls)", 7),
        ("DENY", "Bash(ls)", 9),
    ]
    assert [(p.key, p.source.line) for p in read.problems] == [
        ("perm.rule.no_close", 6),
        ("perm.rule.not_text", 10),
        ("perm.file.list_name", 11),
        ("perm.file.list", 12),
    ]


# (content, state, keys of problems, rules)
FILES: tuple[tuple[bytes | None, str, list[str], int], ...] = (
    (None, "absent", [], 0),
    (b"", "loaded", [], 0),
    (b"{}", "loaded", [], 0),
    (b"[]", "loaded", [], 0),
    (b'\xef\xbb\xbf{"permissions": {"allow": ["Bash"]}}', "loaded", [], 1),
    (b'{"permissions": {"deny": ["A"], "deny": ["B"]}}', "loaded", [], 2),
    (b'{"permissions": []}', "loaded", ["perm.file.section"], 0),
    (b'{"permissions": {"allow": ["Bash",]}}', "broken", ["perm.file.json"], 0),
    (b'{"permissions": {"allow": ["Bash"]', "broken", ["perm.file.json"], 0),
    (b"\xff\xfe{}", "broken", ["perm.file.unreadable"], 0),
    (b"[" * 100_000, "broken", ["perm.file.json"], 0),
)


@pytest.mark.parametrize(("content", "state", "keys", "count"), FILES)
def test_any_settings_file_can_be_read(
    content: bytes | None, state: str, keys: list[str], count: int, tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    if content is not None:
        path.write_bytes(content)
    read = read_rule_file(path, "here")
    assert (read.state, [p.key for p in read.problems], len(read.rules)) == (state, keys, count)


def test_a_folder_in_place_of_the_file_is_a_problem(tmp_path: Path) -> None:
    read = read_rule_file(tmp_path, "here")
    assert (read.state, [p.key for p in read.problems]) == ("broken", ["perm.file.unreadable"])


def test_an_absent_file_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "none" / "settings.json"
    assert read_rule_file(path, "here") == RuleFile(path, "here")


PATTERNS = st.text(st.sampled_from("ab* \\"), max_size=8)
SUBJECTS = st.text(st.sampled_from("ab* \\"), max_size=10)


def slow_match(parts: tuple[str, ...], subject: str) -> bool:
    if len(parts) == 1:
        return subject == parts[0]
    if not subject.startswith(parts[0]):
        return False
    rest = subject[len(parts[0]) :]
    return any(slow_match(parts[1:], rest[i:]) for i in range(len(rest) + 1))


@given(PATTERNS, SUBJECTS)
def test_matching_agrees_with_trying_every_run(pattern: str, subject: str) -> None:
    parts = wildcard.segments(pattern)
    assert wildcard.matches(parts, subject) == slow_match(parts, subject)


@given(SUBJECTS)
def test_an_escaped_text_matches_itself_only(text: str) -> None:
    assert wildcard.segments(wildcard.escaped(text)) == (text,)


@given(PATTERNS, st.lists(st.sampled_from(["a", "b", wildcard.ANY, wildcard.ONE]), max_size=5))
def test_what_matches_for_sure_or_for_some_value_may_match(pattern: str, pieces: list[str]) -> None:
    parts = wildcard.segments(pattern)
    subject = "".join(pieces)
    known = subject.replace(wildcard.ANY, "").replace(wildcard.ONE, "a")
    if wildcard.ANY in subject or wildcard.ONE in subject:
        may = wildcard.may_match(parts, subject)
        assert may or not wildcard.matches(parts, subject)
        assert may or not wildcard.matches(parts, known)


def test_the_source_of_a_rule_is_kept() -> None:
    source = RuleSource("--allow")
    read = parse_rule("Bash", Verdict.ALLOW, source)
    assert isinstance(read, Rule)
    assert json.dumps(read.source.name) == '"--allow"'
