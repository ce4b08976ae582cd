"""One server on each database for the tests that leave it as it was, with its owner signed in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import new_database, postgres
from tests.web.serving import Serving, Visitor, serving

__all__ = ["postgres"]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def served(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Serving]:
    options: list[str] = []
    if request.param == "postgresql":
        options = ["--database", new_database(request.getfixturevalue("postgres"))]
    with serving(tmp_path_factory.mktemp("served") / "data", *options) as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server


@pytest.fixture
def owner(served: Serving) -> Iterator[Visitor]:
    with Visitor(served.url) as visitor:
        assert visitor.sign_in().status_code == 201
        yield visitor


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder of a server of the test's own."""
    return tmp_path / "data"
