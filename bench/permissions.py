"""Permission decisions: a typical command, the everyday list, a path, and loading the shell's grammar.

`python bench/harness.py permissions`
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import Row, at_most
from tests.permissions.everyday import EVERYDAY, RULES

from maia.core.permission import Need, Rule, RuleSource, Verdict
from maia.permissions import shell
from maia.permissions.decide import decide
from maia.permissions.paths import Place
from maia.permissions.rules import RuleSet, parse_rule

TYPICAL = (
    "ls -la src",
    "git status --short",
    'git commit -m "fix: the parser"',
    "npm run build 2>&1 | tail -20",
    "cd src && pytest -q",
    'grep -rn "foo" src | head -20',
    "python -m pytest -q tests/test_a.py",
    "find . -name '*.py' -not -path './.git/*'",
)
DENIED = ("Bash(rm -rf *)", "Bash(git push *)", "Read(.env)", "Redirect(.env)")


def rule_set() -> RuleSet:
    """The plain rules of a working person, with a few that forbid."""
    kinds = ((Verdict.ALLOW, RULES), (Verdict.DENY, DENIED))
    read = [parse_rule(text, verdict, RuleSource("bench")) for verdict, texts in kinds for text in texts]
    return RuleSet(tuple(rule for rule in read if isinstance(rule, Rule)))


def micros(action: Callable[[], object], repeat: int = 30) -> float:
    """Median CPU microseconds of one call."""
    taken: list[float] = []
    for _ in range(repeat):
        start = time.process_time_ns()
        action()
        taken.append((time.process_time_ns() - start) / 1_000)
    return statistics.median(taken)


def main() -> list[Row]:
    rules = rule_set()
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as folder:
        (Path(folder) / "src").mkdir()
        place = Place(Path(folder), Path(folder) / "home")
        start = time.process_time()
        shell.analyse("true")
        load = (time.process_time() - start) * 1_000

        def fresh(command: str) -> Callable[[], object]:
            def one() -> object:
                shell.analyse.cache_clear()
                return decide([Need("Bash", "command", command)], rules, place)

            return one

        typical = {command: micros(fresh(command)) for command in TYPICAL}
        everyday = [micros(fresh(command), 5) for command in EVERYDAY]
        slowest = max(typical, key=lambda command: typical[command])
        path = micros(lambda: decide([Need("Read", "path", "src/deep/a.py")], rules, place))
        known = micros(lambda: decide([Need("Bash", "command", TYPICAL[0])], rules, place))
    return [
        at_most("decide a typical command", statistics.median(typical.values()), "µs CPU", 300),
        at_most("decide the slowest of the typical ones", typical[slowest], "µs CPU", None, slowest),
        at_most("decide an everyday command", statistics.median(everyday), "µs CPU", 300, f"{len(EVERYDAY)} commands"),
        at_most("decide the slowest everyday command", max(everyday), "µs CPU", None),
        at_most("decide a command seen before", known, "µs CPU", None),
        at_most("decide a path", path, "µs CPU", None),
        at_most("load the shell's grammar", load, "ms CPU", None, "at the first command only"),
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
