"""Wherever names are given: one on two lines is kept on one and shown, one of which nobody sees anything is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import pytest

from tests.web.serving import Visitor, serving

ACTS: Final = "\u202e"
"""Turns what follows around on a screen; a definition of an agent with such a sign is refused (test_agents_api)."""
GIVEN: Final = f" Clean\r\n\tslate {ACTS}now\n"
KEPT: Final = "Clean slate <U+202E>now"
Named: TypeAlias = tuple[str, str, dict[str, Any], str]
"""How it is given, and where it is read."""
PERSON: Final = {"name": GIVEN, "email": "slate@example.org", "role": "user"}
SERVER: Final = {"name": GIVEN, "url": "http://127.0.0.1:9/v1"}

NAMED: Final[dict[str, Named]] = {
    "conversation": ("POST", "/conversations", {"title": GIVEN}, "/conversations"),
    "label": ("PATCH", "/conversations/{one}", {"labels": [GIVEN]}, "/conversations/{one}"),
    "project": ("POST", "/projects", {"name": GIVEN}, "/projects"),
    "stage": ("POST", "/stages", {"name": GIVEN}, "/projects"),
    "kind of project": ("POST", "/project-types", {"name": GIVEN}, "/projects"),
    "agent": ("POST", "/agents", {"nickname": GIVEN.replace(ACTS, ""), "type": "assistant"}, "/agents"),
    "person": ("POST", "/users", PERSON, "/users"),
    "server of models": ("POST", "/model/addresses", SERVER, "/model/providers"),
}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    with serving(tmp_path_factory.mktemp("names") / "data") as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield visitor


def times_in(answer: str, kept: str) -> int:
    """How often it stands in the text of an answer, between the quotes of JSON."""
    return answer.count(f'"{kept}"')


@pytest.mark.parametrize("thing", NAMED)
def test_a_name_on_two_lines_is_kept_on_one_and_shown(owner: Visitor, thing: str) -> None:
    method, path, body, where = NAMED[thing]
    one = owner.conversation("Other") if "{one}" in path else ""
    path, where = (f"/api/v1{each}".format(one=one) for each in (path, where))
    kept = KEPT.replace("<U+202E>", "") if thing == "agent" else KEPT
    before = times_in(owner.ask("GET", where).text, kept)
    answer = owner.ask(method, path, body)
    assert answer.status_code in (200, 201), answer.text
    assert times_in(owner.ask("GET", where).text, kept) == before + 1


UNSEEN: Final = "\u202e\u200b\u2063 \u3164"
NAMES: Final = {"name", "title", "nickname", "labels"}
"""What names are called in the bodies of requests."""
NO_NAMES: Final = {
    ("POST", "/terminal-sessions"): "a terminal session that is there under that name",
    ("PATCH", "/agents/{agent_id}"): "as POST /agents, which checks the whole definition",
}
FOLDERS: Final = [{"name": UNSEEN, "path": "/tmp"}]
PATTERN: Final = {"name": UNSEEN, "pattern": "secret", "type": "own"}

UNSEEN_NAMES: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("POST", "/conversations", {"title": UNSEEN}),
    ("POST", "/conversations", {"labels": [UNSEEN]}),
    ("POST", "/conversations", {"folders": FOLDERS}),
    ("PATCH", "/conversations/{conversation_id}", {"title": UNSEEN}),
    ("PATCH", "/conversations/{conversation_id}", {"labels": ["seen", UNSEEN]}),
    ("PATCH", "/conversations/{conversation_id}", {"folders": FOLDERS}),
    ("POST", "/conversations/{conversation_id}/move", {"labels": [UNSEEN]}),
    ("POST", "/projects", {"name": UNSEEN}),
    ("PATCH", "/projects/{row_id}", {"name": UNSEEN}),
    ("POST", "/stages", {"name": UNSEEN}),
    ("PATCH", "/stages/{row_id}", {"name": UNSEEN}),
    ("POST", "/project-types", {"name": UNSEEN}),
    ("PATCH", "/project-types/{row_id}", {"name": UNSEEN}),
    ("POST", "/projects/{row_id}/conversations", {"title": UNSEEN}),
    ("PUT", "/{kind}/{row_id}/folders", {"folders": FOLDERS}),
    ("POST", "/agents", {"nickname": UNSEEN, "type": "assistant"}),
    ("POST", "/agents", {"name": UNSEEN, "nickname": "Seen", "type": "assistant"}),
    ("POST", "/users", {**PERSON, "name": UNSEEN, "email": "unseen@example.org"}),
    ("PATCH", "/session/name", {"name": UNSEEN}),
    ("POST", "/model/addresses", {**SERVER, "name": UNSEEN}),
    ("PUT", "/privacy/policy", {"patterns": [PATTERN]}),
]


@pytest.mark.parametrize(("method", "path", "body"), UNSEEN_NAMES)
def test_a_name_of_which_nothing_is_seen_is_refused_in_words(
    owner: Visitor, method: str, path: str, body: dict[str, Any]
) -> None:
    ids = {"conversation_id": "", "row_id": "", "kind": "projects"}
    if "{conversation_id}" in path:
        ids["conversation_id"] = owner.conversation("Named")
    if "{row_id}" in path:
        kind = path.split("/")[1].replace("{kind}", "projects")
        ids["row_id"] = owner.ask("POST", f"/api/v1/{kind}", {"name": "Named"}).json()["id"]
    answer = owner.ask(method, f"/api/v1{path.format(**ids)}", body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["message"]


def test_every_route_that_takes_a_name_is_in_the_table(owner: Visitor) -> None:
    page = owner.ask("GET", "/api/v1/openapi.json").json()

    def names_in(schema: Any) -> bool:
        match schema:
            case {"$ref": ref}:
                return names_in(page["components"]["schemas"][ref.rpartition("/")[2]])
            case {"properties": properties}:
                return bool(NAMES & properties.keys()) or any(map(names_in, properties.values()))
            case {"items": items}:
                return names_in(items)
            case {"anyOf": choices}:
                return any(map(names_in, choices))
            case _:
                return False

    found = {
        (method.upper(), path.removeprefix("/api/v1"))
        for path, methods in page["paths"].items()
        for method, told in methods.items()
        for content in told.get("requestBody", {}).get("content", {}).values()
        if names_in(content.get("schema", {}))
    }
    assert found <= {(method, path) for method, path, _ in UNSEEN_NAMES} | NO_NAMES.keys()
