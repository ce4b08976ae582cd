"""A name that comes on two lines is kept on one wherever names are given, and what was made of it is shown."""

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
