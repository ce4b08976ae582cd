"""A page about the installation is told what somebody else changes of it, without asking again and again."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.web.serving import Visitor, parsed, serving

AGENT = {"nickname": "Basile", "type": "assistant", "group": "main"}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    with serving(tmp_path_factory.mktemp("elsewhere") / "data") as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        assert visitor.ask("POST", "/api/v1/agents", AGENT).status_code == 201
        yield visitor


def shown_first_and_after(owner: Visitor, stream: str, part: str, change: Callable[[], Any]) -> tuple[str, str]:
    """A part as its stream draws it at first, and when something has changed."""
    with owner.client.stream("GET", stream) as answer:
        frames = (json.loads(each.data)["parts"] for each in parsed(answer.iter_lines()) if each.data)
        first = next(each[part] for each in frames if part in each)
        assert change().status_code == 200
        return first, next(each[part] for each in frames if part in each)


def policy(owner: Visitor) -> Any:
    found = owner.ask("GET", "/api/v1/privacy/policy").json()
    return {**{name: value for name, value in found.items() if name not in ("version", "source")}, "audit": False}


CHANGES: dict[str, Callable[[Visitor], Any]] = {
    "/privacy": lambda owner: owner.ask("PUT", "/api/v1/privacy/policy", policy(owner)),
    "/agents": lambda owner: owner.ask("PATCH", "/api/v1/agents/basile", {"goal": "Walls"}),
    "/agents/basile": lambda owner: owner.ask("PATCH", "/api/v1/agents/basile", {"goal": "Piers"}),
}


@pytest.mark.parametrize("page", CHANGES)
def test_a_page_hears_that_it_shows_what_was(owner: Visitor, page: str) -> None:
    stream = f"/ui/nav/stream?here={page}"
    first, then = shown_first_and_after(owner, stream, "page-state", lambda: CHANGES[page](owner))
    html = owner.ask("GET", page).text
    stands_on = then.partition('data-is="')[2].partition('"')[0]
    assert first != then
    assert f'"{stands_on}"' in html, "and a page that is opened now stands on it"


def test_levels_that_somebody_else_sets_are_drawn_again(owner: Visitor) -> None:
    first, then = shown_first_and_after(
        owner,
        "/ui/autonomy/stream",
        "levels-list",
        lambda: owner.ask("PATCH", "/api/v1/autonomy/files", {"level": 3}),
    )
    chosen = 'id="level-files-3" name="level-files" value="3" data-level="files" checked'
    assert (chosen in first, chosen in then) == (False, True)
