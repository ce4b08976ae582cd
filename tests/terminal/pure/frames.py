"""What the tests of drawn rows share: words with French spaces, rows as text, and values to draw."""

from __future__ import annotations

import re
from collections.abc import Iterable

from maia.core.costs import Cost
from maia.core.events import Answered
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.permission import Decision, Rule, RuleSource, Verdict
from maia.core.reason import Reason
from maia.core.results import DiffBlock
from maia.i18n.catalogue import Catalogue
from maia.terminal.spans import Line, text_of, width_of

FR = Catalogue("fr", strict=True)
EN = Catalogue("en", strict=True)


def fr(text: str) -> str:
    """The text with the narrow no-break spaces that French has before ; : ! ? and inside « »."""
    return re.sub(r" ([;:!?»])", "\u202f\\1", text).replace("« ", "«\u202f")


def shown(rows: Iterable[Line], width: int = 80) -> str:
    """The rows as text, after checking that none is wider than the screen."""
    kept = list(rows)
    for row in kept:
        assert width_of(row) <= width, (width, text_of(row))
        assert "\n" not in text_of(row)
    return "\n".join(text_of(row) for row in kept)


def frame(text: str) -> str:
    """An expected picture written with a line end first and last; no-break spaces inside numbers stay as typed."""
    return text.removeprefix("\n").removesuffix("\n")


def answered(*calls: tuple[str, str], text: str = "") -> Answered:
    """An answer with some text and calls given as (id, name)."""
    parts = ([TextPart(text)] if text else []) + [ToolCallPart(call_id, name, {}) for call_id, name in calls]
    return Answered(AssistantMessage(tuple(parts), "sonnet", "fake"), "tool_calls", "tool_calls", None, Cost())


NO_RULE = Decision(Verdict.ASK, Reason("term.permissions.default"))


def ruled(text: str, verdict: Verdict = Verdict.ASK, source: str = "./.maia/settings.json") -> Decision:
    """A decision that a rule made."""
    rule = Rule(verdict, text.partition("(")[0], None, text, RuleSource(source, 3))
    return Decision(verdict, Reason("term.permissions.default"), rule)


HEAD = "".join(f"# line {n}\n" for n in range(1, 119))
BEFORE = HEAD + "        brut = self.ht * self.taux\n        return round(brut, 2)\n\n" + "# tail\n" * 20
AFTER = (
    HEAD
    + "        brut = self.ht * self.taux\n        pas = self.avoir.devise.pas\n"
    + "        return brut.quantize(pas, ROUND_HALF_UP)\n\n"
    + "# tail\n" * 20
)
EDIT = DiffBlock("src/facturation/avoirs.py", BEFORE, AFTER)
