from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.hosted import Place

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    place = Place.new(tmp_path)
    yield place
    place.kill_hosts()
    assert "Traceback" not in place.log()
