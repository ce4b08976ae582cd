"""Reasons that several decisions share."""

from __future__ import annotations

from maia.core.permission import Rule
from maia.core.reason import Reason

NO_RULE = Reason("perm.no_rule")
NO_NEED = Reason("perm.no_need")


def waits_for_trust(rule: Rule) -> Reason:
    """The reason that names a folder's allow rule which does not count yet."""
    return Reason("perm.waits_for_trust", {"rule": rule.text, "source": rule.source.name})


def by_rule(rule: Rule) -> Reason:
    """The reason that names a rule and where it is written."""
    return Reason("perm.rule", {"verdict": rule.verdict.name.lower(), "rule": rule.text, "source": rule.source.name})
