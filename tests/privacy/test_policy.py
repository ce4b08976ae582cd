from __future__ import annotations

import pytest

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.privacy.custom import CustomPattern, check_pattern
from maia.privacy.kinds import KINDS
from maia.privacy.mask import Masker
from maia.privacy.policy import InvalidPolicy, Policy, read_policy


def test_the_defaults_are_those_of_the_specification() -> None:
    policy = read_policy({})
    assert policy == Policy()
    assert {kind for kind in KINDS if policy.action(kind) == "block"} == {
        *("iban", "bank_account", "tax_number", "personal_id", "credit_card", "ssn")
    }
    assert {kind for kind in KINDS if policy.action(kind) == "mask"} == {"email", "phone", "secret"}
    assert policy.action("taj_number") == "warn"
    assert policy.action("nothing_known") == "off"


def test_a_policy_is_written_as_it_is_read() -> None:
    data: JsonObject = {
        "enabled": False,
        "actions": dict.fromkeys(KINDS, "warn"),
        "customPatterns": [{"name": "Dossier", "pattern": r"D-\d{4}", "type": "dossier", "action": "block"}],
        "localHosts": ["gpu.lan", "10.0.0.7"],
        "audit": False,
    }
    policy = read_policy(data, 7)
    assert policy.to_json() == data
    assert policy.version == "regex@1/policy@7"


ENTRY: JsonObject = {"name": "D", "pattern": "D-[0-9]+", "type": "dossier"}


@pytest.mark.parametrize(
    ("data", "path", "key"),
    [
        ([], "", "privacy.issue.object"),
        ({"x": 1}, "x", "privacy.issue.unknown"),
        ({"enabled": 1}, "enabled", "privacy.issue.switch"),
        ({"actions": []}, "actions", "privacy.issue.object"),
        ({"actions": {"mail": "mask"}}, "actions.mail", "privacy.issue.type"),
        ({"actions": {"email": "hide"}}, "actions.email", "privacy.issue.action"),
        ({"actions": {"email": ["mask"]}}, "actions.email", "privacy.issue.action"),
        ({"customPatterns": {}}, "customPatterns", "privacy.issue.list"),
        ({"customPatterns": [ENTRY] * 51}, "customPatterns", "privacy.issue.too_many"),
        ({"customPatterns": [3]}, "customPatterns[0]", "privacy.issue.object"),
        ({"customPatterns": [{**ENTRY, "flags": "i"}]}, "customPatterns[0].flags", "privacy.issue.unknown"),
        ({"customPatterns": [ENTRY, {**ENTRY, "name": " "}]}, "customPatterns[1].name", "privacy.issue.name"),
        ({"customPatterns": [{**ENTRY, "type": "Dossier"}]}, "customPatterns[0].type", "privacy.issue.slug"),
        ({"customPatterns": [{**ENTRY, "type": "email"}]}, "customPatterns[0].type", "privacy.issue.slug"),
        ({"customPatterns": [{**ENTRY, "action": "no"}]}, "customPatterns[0].action", "privacy.issue.action"),
        ({"customPatterns": [{**ENTRY, "pattern": "("}]}, "customPatterns[0].pattern", "privacy.issue.pattern"),
        ({"localHosts": "gpu"}, "localHosts", "privacy.issue.list"),
        ({"localHosts": ["h"] * 33}, "localHosts", "privacy.issue.too_many"),
        ({"localHosts": ["http://gpu"]}, "localHosts[0]", "privacy.issue.host"),
        ({"localHosts": ["gpu:80"]}, "localHosts[0]", "privacy.issue.host"),
        ({"localHosts": [""]}, "localHosts[0]", "privacy.issue.host"),
        ({"audit": None}, "audit", "privacy.issue.switch"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(data: JsonValue, path: str, key: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        read_policy(data)
    assert [(issue.path, issue.reason.key) for issue in caught.value.issues] == [(path, key)]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidPolicy) as caught:
        read_policy({"enabled": 0, "customPatterns": [{"name": "", "pattern": "", "type": ""}], "audit": 1})
    assert [issue.path for issue in caught.value.issues] == [
        *("enabled", "customPatterns[0].name", "customPatterns[0].type", "customPatterns[0].pattern", "audit")
    ]


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        (r"(a)\1", "privacy.issue.pattern"),
        (r"(?=a)b", "privacy.issue.pattern"),
        (r"(?<=a)b", "privacy.issue.pattern"),
        (r"((a{100}){100}){100}", "privacy.issue.pattern"),
        (r"[", "privacy.issue.pattern"),
        ("\ud800", "privacy.issue.pattern"),
        (r"a*", "privacy.issue.pattern_empty"),
        (r"^", "privacy.issue.pattern_empty"),
        ("", "privacy.issue.pattern_length"),
        ("a" * 501, "privacy.issue.pattern_length"),
        (r"(a+)+$", ""),
        (r"(?i)dossier [A-Z]{2}-\d{4}", ""),
    ],
)
def test_a_pattern_that_is_no_expression_or_not_safe_is_refused(pattern: str, key: str) -> None:
    assert check_pattern(pattern) == key


def test_a_pattern_that_hangs_other_engines_is_run_in_a_moment() -> None:
    masker = Masker(Policy(patterns=(CustomPattern("Catastrophe", r"(a+)+$|(a|aa)+b", "x"),)))
    text = "a" * 50_000 + "!"
    assert masker.mask(text).text == text


@pytest.mark.parametrize(
    ("pattern", "text", "masked"),
    [
        (r"D-\d+", "é D-12 😀 D-3", "é [D] 😀 [D]"),
        (r"a[^x]b", "a\nb a.b", "a\nb [D]"),
        (r"\s+fin", "x\n fin", "x\n[D]"),
        (r"^ref .*$", "a\nref 12\nb", "a\n[D]\nb"),
        (r"b|", "abc", "a[D]c"),
        (r"É\w", "École", "[D]ole"),
        (r"x.y", "x\ud800y", "[D]"),
    ],
)
def test_a_pattern_finds_within_lines_and_in_code_points(pattern: str, text: str, masked: str) -> None:
    assert Masker(Policy(patterns=(CustomPattern("D", pattern, "d"),))).mask(text).text == masked


def test_of_patterns_of_one_type_the_first_says_what_is_done() -> None:
    policy = Policy(patterns=(CustomPattern("A", "aaa", "t", "block"), CustomPattern("B", "bbb", "t", "off")))
    assert Masker(policy).mask("aaa bbb", ("block",)).text == "[T] [T]"
