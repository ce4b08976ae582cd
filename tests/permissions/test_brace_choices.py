import shutil
import subprocess

import pytest

from maia.permissions.shell_words import MAX_CHOICES, brace_choices

SPANS = [
    "{1..3}",
    "{3..1}",
    "{-1..1}",
    "{+1..3}",
    "{01..3}",
    "{-01..1}",
    "{8..010}",
    "{a..e}",
    "{e..a}",
    "{1..a}",
    "{²..9}",
    "{1..٣}",
    "{_..c}",
    "x{1..2}y",
    "{9223372036854775806..9223372036854775807}",
    "{1..99999999999999999999}",
    "{1.." + "9" * 5_000 + "}",
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash to compare with")
@pytest.mark.parametrize("word", SPANS, ids=lambda word: word[:30])
def test_a_span_becomes_what_bash_makes_of_it(word: str) -> None:
    made = subprocess.run(["bash", "-c", f"printf '%s\\n' {word}"], capture_output=True, text=True, check=True)
    assert sorted(brace_choices(word)) == sorted(made.stdout.splitlines())


@pytest.mark.parametrize("word", ["{1..99}", "{1..10..2}", "{1..9999999999999999999}"])
def test_a_span_is_never_less_than_what_bash_makes_of_it(word: str) -> None:
    found = brace_choices(word)
    assert found == () or set("13579") <= set(found)
    assert len(found) <= MAX_CHOICES
