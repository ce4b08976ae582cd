"""Whatever changes something and is shown to somebody is tried as them: no page offers what its route refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, Final, TypeAlias

import pytest

from tests.web.serving import Visitor, serving
from tests.web.test_access import OPEN, routes

Request: TypeAlias = tuple[str, str, Any]
"""Method, path and body. `{name}` in a path is what the control has there, or something of the person's own."""
CONVERSATION: Final = "/api/v1/conversations/{own}"
ASKED: Final[Mapping[str, Request | None]] = {
    # What writes, by the attribute or id that its script goes by.
    "#new-conversation": ("POST", "/api/v1/conversations", {}),
    "#new-card": ("POST", "/api/v1/conversations", {}),
    "data-new-card": ("POST", "/api/v1/conversations", {}),
    "#new-dialog": ("POST", "/api/v1/conversations", {}),
    "#title": ("PATCH", CONVERSATION, {"title": "Other"}),
    "#note-form": ("POST", f"{CONVERSATION}/notes", {"note": "Noted"}),
    "#folder-form": ("PATCH", CONVERSATION, {"priority": "high"}),
    "#stop": ("POST", f"{CONVERSATION}/stop", None),
    "data-stop": ("POST", f"{CONVERSATION}/stop", None),
    "data-composer": ("POST", f"{CONVERSATION}/messages", {"content": ""}),
    "data-say": ("POST", f"{CONVERSATION}/messages", {"content": ""}),
    "data-field": ("PATCH", CONVERSATION, {"priority": "high"}),
    "data-primary": ("PATCH", CONVERSATION, {"priority": "high"}),
    "data-effort": ("PATCH", CONVERSATION, {"effort": None}),
    "data-choose": ("PATCH", CONVERSATION, {"modelBinding": "auto"}),
    "data-folder": ("PATCH", CONVERSATION, {"priority": "high"}),
    "data-defaults": ("PUT", "/api/v1/projects/none/folders", {"folders": []}),
    "data-save": ("PATCH", CONVERSATION, {"labels": []}),
    "data-pin": ("PATCH", CONVERSATION, {"pinned": True}),
    "data-archive": ("PATCH", CONVERSATION, {"archived": False}),
    "data-delete": ("DELETE", "/api/v1/conversations/none", None),
    "data-attach": ("DELETE", "/api/v1/attachments/none", None),
    "data-decide": ("POST", "/api/v1/approvals/{data-ticket}", {"decision": "refuse"}),
    "data-session": ("POST", "/api/v1/terminal-sessions", {"folder": "/", "name": "none"}),
    "data-note": ("POST", "/api/v1/memory/notes", {"text": "Kept"}),
    "data-forget": ("DELETE", "{data-forget}none", None),
    "data-level": ("PATCH", "/api/v1/autonomy/{data-level}", {"level": 2}),
    "data-agent": ("PATCH", "{data-agent}", {"goal": "Other"}),
    "data-agent-new": ("POST", "/api/v1/agents", {"nickname": "Other", "type": "assistant"}),
    "#agent-new": ("POST", "/api/v1/agents", {"nickname": "Other", "type": "assistant"}),
    "data-enable": ("PATCH", "{data-url}", {"enabled": True}),
    "data-remove": ("DELETE", "{data-remove}none", None),
    "data-restore": ("POST", "/api/v1/agents/restore", {"kept": "none"}),
    "data-plan": ("GET", "/ui/projects/{data-plan}", None),
    "data-kind": ("POST", "/api/v1/stages", {"name": "Other"}),
    "data-step": ("PUT", "/api/v1/order/stages", {"ids": []}),
    "data-tier": ("PUT", "{data-url}", {}),
    "data-switch": ("{data-method}", "{data-url}", {"enabled": True, "allowed": True}),
    "data-act=role": ("PATCH", "{data-url}", {"role": "user"}),
    "data-act=archive": ("DELETE", "/api/v1/users/none", None),
    "data-act=sign-in": ("DELETE", "/api/v1/session/sign-ins/none", None),
    "data-method": ("{data-method}", "{data-url}", {}),
    "#budget-form": ("PUT", "/api/v1/routing/budget", {}),
    "#key-form": ("POST", "/api/v1/model/keys/look", {"key": "none"}),
    "#address-form": ("POST", "/api/v1/model/addresses", {"name": "x", "url": "ftp://x", "format": "openai"}),
    "#invite": ("POST", "/api/v1/users", {"name": "x", "email": "x@example.org", "role": "guest"}),
    "#own-name": ("PATCH", "/api/v1/session/name", {"name": "Other"}),
    "#own-password": ("PUT", "/api/v1/session/password", {"current": "x", "password": "another horse"}),
    "#policy": ("PUT", "/api/v1/privacy/policy", {}),
    "#try": ("POST", "/api/v1/privacy/scan", {"text": "Nothing"}),
    "data-prefer": ("PATCH", "/api/v1/session/preferences", {"theme": None}),
    "#opencode-open": ("POST", "/api/v1/opencode/sessions", {"conversationId": "{own}"}),
    # What only reads, or belongs to a form that is told by its own name.
    **dict.fromkeys(
        ("popovertarget", "role=tab", "role=combobox", "#find", "#sign-out", "#send", "#earlier", "readonly"), None
    ),
    **dict.fromkeys(
        ("data-record", "data-show", "data-close", "data-fold", "data-more", "data-rows", "data-bring-back"), None
    ),
    **dict.fromkeys(("data-privacy", "data-shell", "data-act=copy", "data-act=remove", "data-act=retry"), None),
    **dict.fromkeys(
        ("data-day-open", "data-act=theirs", "data-act=mine", "hx-get", "action", "data-files", "type=search"), None
    ),
}
UNSEEN: Final = {"#stop", "data-stop", "data-say", "data-session"}
"""What stands on no page of these people, since it needs a turn that runs, a question or a terminal."""
FORMS: Final = ("form", "tr", "dialog")
VOID: Final = ("input",)
Control: TypeAlias = dict[str, str]


class Controls(HTMLParser):
    """Every control of a page, disabled ones as well; those within a form that is told by its own name belong to it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Control] = []
        self._open: list[tuple[str, Control]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: Control = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self._open.append((tag, given))
        if tag not in ("button", "input", "select", "textarea", "form") or given.get("type") == "hidden":
            return
        form = next((each for name, each in reversed(self._open) if named(name, each)), None)
        self.found.append(form if asked(given) is None and form is not None else given)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass


def named(tag: str, given: Control) -> bool:
    return tag in FORMS and asked(given) is not None


def asked(control: Control) -> str | None:
    """The key of what a control does."""
    for key in ASKED:
        name, _, value = key.partition("=")
        if key.startswith("#"):
            if control.get("id") == key[1:]:
                return key
        elif name in control and (not value or control[name] == value):
            return key
    return None


@dataclass
class Role:
    """Somebody with a conversation of their own that has something of everything."""

    name: str
    visitor: Visitor
    own: str
    approval: str


SCRIPT: Final = [{"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\n"}}}, {"text": "So far."}]
AGENT: Final = {"nickname": "Basile", "type": "assistant", "group": "main"}


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Role]]:
    data = tmp_path_factory.mktemp("offered") / "data"
    with serving(data, script=[*SCRIPT, *SCRIPT, *SCRIPT, *SCRIPT]) as server:
        people = {name: Visitor(server.url) for name in ("owner", "admin", "user", "guest")}
        owner = people["owner"]
        owner.become_owner(server.token)
        owner.sign_in()
        owner.ask("POST", "/api/v1/agents", AGENT)
        aside = owner.ask("POST", "/api/v1/agents", {**AGENT, "nickname": "Gone"}).json()["id"]
        owner.ask("DELETE", f"/api/v1/agents/{aside}")
        kind = owner.ask("POST", "/api/v1/project-types", {"name": "Works"}).json()["id"]
        project = owner.ask("POST", "/api/v1/projects", {"name": "Harbour", "typeId": kind, "agent": "basile"}).json()
        folders = [{"path": str(tmp_path_factory.mktemp(name))} for name in ("walls", "piers")]
        shared = {"projectId": project["id"], "folders": folders}
        found: dict[str, Role] = {}
        for name, visitor in people.items():
            if name != "owner":
                given = {"name": name, "email": f"{name}@example.org", "role": "admin" if name == "admin" else "user"}
                made = owner.ask("POST", "/api/v1/users", given).json()
                token = made["invitation"]["path"].partition("token=")[2]
                visitor.client.post("/join", data={"token": token, "password": "another horse"})
                visitor.csrf = visitor.ask("GET", "/api/v1/session").json()["csrf"]
            found[name] = Role(name, visitor, *belongings(visitor, shared))
        guest = people["guest"].ask("GET", "/api/v1/session").json()["id"]
        assert owner.ask("PATCH", f"/api/v1/users/{guest}", {"role": "guest"}).status_code == 200
        yield found
        for each in people.values():
            each.client.close()


def belongings(visitor: Visitor, shared: dict[str, Any]) -> tuple[str, str]:
    own = visitor.conversation("Harbour walls")
    assert visitor.ask("PATCH", f"/api/v1/conversations/{own}", shared).status_code == 200
    visitor.say(own, "Write it")
    visitor.until_done(own)
    visitor.ask("POST", "/api/v1/memory/notes", {"text": "The canary is kept in cage seven"})
    visitor.ask("GET", "/colleagues/basile")
    mine = visitor.ask("GET", "/api/v1/approvals").json()["approvals"]
    return own, next(each["id"] for each in mine if each["conversationId"] == own)


def pages(role: Role) -> Iterator[str]:
    """The address of every page and piece of a page, found by walking the routes."""
    known = {
        "conversation_id": (role.own,),
        "approval_id": (role.approval,),
        "agent_id": ("basile",),
        "name": ("basile",),
        "kind": ("projects", "types", "stages"),
        "row_id": ("new",),
    }
    for route in routes():
        if "GET" not in route.methods or route.path.startswith("/api/") or route.path.endswith("/stream"):
            continue
        if route.path in OPEN:
            continue
        paths = [route.path]
        for name in re.findall(r"{(\w+)(?::\w+)?}", route.path):
            paths = [path.replace(f"{{{name}}}", value) for path in paths for value in known[name]]
        yield from paths
    yield from ("/board?view=list", "/autonomy?show=decided", "/providers?tab=tiers", "/providers?tab=budget")


def shown(role: Role) -> dict[str, Control]:
    """What somebody can use on any page, once each kind; a page that they may not open shows nothing."""
    found: dict[str, Control] = {}
    unknown: list[tuple[str, Control]] = []
    for path in pages(role):
        answer = role.visitor.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
        assert answer.status_code in (200, 400, 403, 404), (path, answer.status_code)
        reader = Controls()
        if answer.status_code == 200:
            reader.feed(answer.text)
        for control in reader.found:
            if (key := asked(control)) is None:
                unknown.append((path, control))
            elif ASKED[key] is not None:
                found.setdefault(key, control)
    assert unknown == [], "say above what these ask, or that they only read"
    return found


def tried(role: Role, key: str, control: Control) -> int:
    """The status of what a control asks."""
    request = ASKED[key]
    assert request is not None
    method, path, body = (
        re.sub(r"{([\w-]+)}", lambda m: role.own if m[1] == "own" else control[m[1]], part)
        if isinstance(part, str)
        else part
        for part in (*request[:2], json.dumps(request[2]))
    )
    return role.visitor.ask(method, path, json.loads(body)).status_code


@pytest.mark.parametrize("name", ["guest", "user", "admin", "owner"])
def test_what_a_page_shows_to_somebody_is_never_refused_to_them(roles: dict[str, Role], name: str) -> None:
    role = roles[name]
    offered = shown(role)
    assert {key: status for key, control in offered.items() if (status := tried(role, key, control)) == 403} == {}


def test_what_somebody_is_not_shown_is_refused_to_them(roles: dict[str, Role]) -> None:
    everything = shown(roles["owner"])
    assert {key for key, request in ASKED.items() if request is not None} - set(everything) == UNSEEN
    for name in ("guest", "user"):
        hidden = {key for key in set(everything) - set(shown(roles[name])) if key != "data-act=sign-in"}  # their own
        assert {key for key in hidden if tried(roles[name], key, everything[key]) != 403} == set()
