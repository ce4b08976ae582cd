"""What a person or an installation wants done about personal data: read from JSON, checked whole, written back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final, cast

from maia.core.errors import MaiaError
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.reason import Reason
from maia.core.text import kept_name
from maia.privacy.custom import MAX_PATTERNS, CustomPattern, check_pattern
from maia.privacy.kinds import ACTIONS, KINDS, SLUG, Action
from maia.privacy.recognisers import RULES_VERSION

MAX_HOSTS: Final = 32
_MAX_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class Policy:
    """What is done about each type. Types that `actions` leaves out have the action of `KINDS`.

    `local_hosts` count as this machine. With `audit` each request in which something was masked is noted. `number` goes
    up with each change that is saved.
    """

    enabled: bool = True
    actions: Mapping[str, Action] = field(default_factory=dict[str, Action])
    patterns: tuple[CustomPattern, ...] = ()
    local_hosts: tuple[str, ...] = ()
    audit: bool = True
    number: int = 1

    @property
    def version(self) -> str:
        """As it is shown beside a turn (R-2.113)."""
        return f"regex@{RULES_VERSION}/policy@{self.number}"

    def action(self, kind: str) -> Action:
        """What is done about a type; of custom patterns of one type the first says it (N-10.07)."""
        if kind in KINDS:
            return self.actions.get(kind, KINDS[kind])
        first = next((pattern for pattern in self.patterns if pattern.kind == kind), None)
        return first.action if first else "off"

    def to_json(self) -> JsonObject:
        """As `read_policy` takes it, every built-in type named."""
        return {
            "enabled": self.enabled,
            "actions": {kind: self.action(kind) for kind in KINDS},
            "customPatterns": [
                {"name": each.name, "pattern": each.pattern, "type": each.kind, "action": each.action}
                for each in self.patterns
            ],
            "localHosts": list(self.local_hosts),
            "audit": self.audit,
        }


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong at one place of a policy, such as `customPatterns[2].pattern`."""

    path: str
    reason: Reason


class InvalidPolicy(MaiaError):
    """A policy that cannot be used; nothing of it is. `issues` say everything that is wrong."""

    exit_code = 2

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        super().__init__("privacy.invalid_policy", n=len(issues), places=", ".join(issue.path for issue in issues))
        self.issues = issues


def read_policy(data: JsonValue, number: int = 1) -> Policy:
    """The policy that a JSON object holds; what it leaves out is as by default. Raises `InvalidPolicy`."""
    issues: list[Issue] = []
    if not isinstance(data, dict):
        raise InvalidPolicy((Issue("", Reason("privacy.issue.object")),))
    values: dict[str, Any] = {}
    for name, value in cast(JsonObject, data).items():
        if (part := _PARTS.get(name)) is None:
            issues.append(Issue(name, Reason("privacy.issue.unknown")))
        else:
            values[part[0]] = part[1](name, value, issues)
    if issues:
        raise InvalidPolicy(tuple(issues))
    return Policy(**values, number=number)


# The parts ------------------------------------------------------------------------------------------------------------


def _switch(path: str, value: JsonValue, issues: list[Issue]) -> bool:
    if isinstance(value, bool):
        return value
    issues.append(Issue(path, Reason("privacy.issue.switch")))
    return False


def _actions(path: str, value: JsonValue, issues: list[Issue]) -> dict[str, Action]:
    if not isinstance(value, dict):
        issues.append(Issue(path, Reason("privacy.issue.object")))
        return {}
    actions: dict[str, Action] = {}
    for kind, action in cast(JsonObject, value).items():
        where = f"{path}.{kind}"
        if kind not in KINDS:
            issues.append(Issue(where, Reason("privacy.issue.type")))
        elif (known := _action(where, action, issues)) is not None:
            actions[kind] = known
    return actions


def _action(path: str, value: JsonValue, issues: list[Issue]) -> Action | None:
    for action in ACTIONS:
        if action == value:
            return action
    issues.append(Issue(path, Reason("privacy.issue.action")))
    return None


def _patterns(path: str, value: JsonValue, issues: list[Issue]) -> tuple[CustomPattern, ...]:
    if not isinstance(value, list):
        issues.append(Issue(path, Reason("privacy.issue.list")))
        return ()
    entries = cast("list[JsonValue]", value)
    if len(entries) > MAX_PATTERNS:
        issues.append(Issue(path, Reason("privacy.issue.too_many", {"limit": MAX_PATTERNS})))
        return ()
    read = (_pattern(f"{path}[{place}]", entry, issues) for place, entry in enumerate(entries))
    return tuple(pattern for pattern in read if pattern is not None)


def _pattern(path: str, entry: JsonValue, issues: list[Issue]) -> CustomPattern | None:
    if not isinstance(entry, dict):
        issues.append(Issue(path, Reason("privacy.issue.object")))
        return None
    before = len(issues)
    fields = cast(JsonObject, entry)
    name, pattern, kind = fields.get("name"), fields.get("pattern"), fields.get("type")
    issues += (
        Issue(f"{path}.{other}", Reason("privacy.issue.unknown"))
        for other in fields.keys() - {"name", "pattern", "type", "action"}
    )
    if not isinstance(name, str) or not kept_name(name) or len(name) > _MAX_NAME or not name.isprintable():
        issues.append(Issue(f"{path}.name", Reason("privacy.issue.name")))
    if not isinstance(kind, str) or not SLUG.fullmatch(kind) or kind in KINDS:
        issues.append(Issue(f"{path}.type", Reason("privacy.issue.slug")))
    problem = check_pattern(pattern) if isinstance(pattern, str) else "privacy.issue.pattern_length"
    if problem:
        issues.append(Issue(f"{path}.pattern", Reason(problem)))
    action = _action(f"{path}.action", fields.get("action", "mask"), issues)
    if len(issues) > before or action is None:
        return None
    return CustomPattern(str(name).strip(), str(pattern), str(kind), action)


def _hosts(path: str, value: JsonValue, issues: list[Issue]) -> tuple[str, ...]:
    if not isinstance(value, list):
        issues.append(Issue(path, Reason("privacy.issue.list")))
        return ()
    entries = cast("list[JsonValue]", value)
    if len(entries) > MAX_HOSTS:
        issues.append(Issue(path, Reason("privacy.issue.too_many", {"limit": MAX_HOSTS})))
    hosts: list[str] = []
    for place, entry in enumerate(entries):
        if isinstance(entry, str) and is_host(entry.strip()):
            hosts.append(entry.strip().lower().rstrip("."))
        else:
            issues.append(Issue(f"{path}[{place}]", Reason("privacy.issue.host")))
    return tuple(dict.fromkeys(hosts))


def is_host(text: str) -> bool:
    """Whether it is one name or one address, without scheme, port or path."""
    try:
        ip_address(text)
    except ValueError:
        labels = text.rstrip(".").split(".")
        return 0 < len(text) <= 253 and all(
            0 < len(label) <= 63 and label.replace("-", "").replace("_", "").isalnum() for label in labels
        )
    return True


_PARTS: Final[dict[str, tuple[str, Callable[[str, JsonValue, list[Issue]], Any]]]] = {
    "enabled": ("enabled", _switch),
    "actions": ("actions", _actions),
    "customPatterns": ("patterns", _patterns),
    "localHosts": ("local_hosts", _hosts),
    "audit": ("audit", _switch),
}
