"""What is wrong with a request, in its reader's words: by what the person calls a field, never by how it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.text import visible
from maia.i18n.formats import number

_FIELDS: Final[Mapping[str, str]] = {
    "title": "board.field.title",
    "priority": "board.field.priority",
    "projectId": "board.field.project",
    "stageId": "board.field.stage",
    "dueOn": "board.field.due",
    "labels": "board.field.labels",
    "owners": "board.field.owners",
    "prompt": "board.field.prompt",
    "folders": "bar.folders",
    "path": "folder.path",
    "name": "signin.name",
    "email": "signin.email",
    "password": "signin.password",
    "current": "signin.password",
    "role": "people.role",
    "content": "web.composer.label",
    "text": "web.body.text",
    "note": "history.note",
    "description": "plan.description",
    "wipLimit": "plan.wip",
    "effort": "effort.label",
    "model": "provider.model",
    "modelId": "provider.model",
    "url": "provider.add_url",
    "nickname": "agentpage.field.nickname",
    "instructions": "agentpage.field.instructions",
    "maxTurns": "agentpage.field.turns",
    "monthlyTokens": "quota.field",
    "capabilities": "agentpage.field.capabilities",
    "constraints": "agentpage.field.constraints",
    "type": "agentpage.field.type",
    "group": "agentpage.field.group",
}
"""What people call a field of the interface. Of any other only the fault itself is told; its path is in the issue."""
_FAULTS: Final[Mapping[str, str]] = {
    "missing": "web.body.missing",
    "string_too_short": "web.body.too_short",
    "string_too_long": "web.body.too_long",
    "too_short": "web.body.too_few",
    "too_long": "web.body.too_many",
    "greater_than": "web.body.too_small",
    "greater_than_equal": "web.body.too_small",
    "less_than": "web.body.too_large",
    "less_than_equal": "web.body.too_large",
    "literal_error": "web.body.none_of_these",
    "enum": "web.body.none_of_these",
    "json_invalid": "web.body.not_json",
}
_BOUNDS: Final = ("max_length", "min_length", "ge", "gt", "le", "lt")


def issues_of(found: Sequence[Mapping[str, Any]], say: Say, lang: str) -> list[JsonObject]:
    """Each fault as `{path, message}`: where it is for programs, what it is for people."""
    return [{"path": [str(part) for part in each["loc"]], "message": _words(each, say, lang)} for each in found]


def summary(issues: Sequence[JsonObject], say: Say) -> str:
    """One sentence for all: the first fault, and that there are more."""
    if not issues:
        return say("web.bad_body")
    more = len(issues) - 1
    return str(issues[0]["message"]) + (" " + say("web.body.more", n=more) if more else "")


def _words(issue: Mapping[str, Any], say: Say, lang: str) -> str:
    context: Mapping[str, Any] = issue.get("ctx") or {}
    bound = next((context[name] for name in _BOUNDS if isinstance(context.get(name), (int, float))), 0)
    fault = say(_FAULTS.get(str(issue["type"]), "web.body.wrong"), most=number(bound, lang))
    named = next((_FIELDS[part] for part in reversed([str(each) for each in issue["loc"]]) if part in _FIELDS), "")
    return visible(say("web.body.field", field=say(named), fault=fault) if named else fault[:1].upper() + fault[1:])
