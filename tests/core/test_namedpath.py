from pathlib import Path

import pytest

from maia.core.namedpath import named_path


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("a/b", Path("/base/a/b"), id="relative"),
        pytest.param("/a", Path("/a"), id="absolute"),
        pytest.param("../a", Path("/base/../a"), id="upwards is left to the system"),
        pytest.param("~/a", Path("/home/ada/a"), id="the home folder"),
        pytest.param("~no-such-user/a", "no_home", id="a user who is not there"),
        pytest.param("", "invalid", id="nothing"),
        pytest.param("a\0b", "invalid", id="a NUL"),
        pytest.param("a\ud800", "invalid", id="half a character"),
        pytest.param("a\udcff", Path("/base/a\udcff"), id="a name in no encoding is a name all the same"),
    ],
)
def test_a_text_names_a_path_or_says_why_not(text: str, named: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert named_path(text, Path("/base")) == named
