from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.terminal.live.fake import FakeConversation

from maia.engine.conversation import Conversation as RealConversation
from maia.terminal.app import App
from maia.terminal.ports import Conversation


def called(notify: str, quiet: float) -> list[str]:
    """What was written to call somebody who has not typed for `quiet` seconds."""
    written: list[str] = []
    app = SimpleNamespace(
        _loop=SimpleNamespace(time=lambda: 100.0),
        _dialogue=SimpleNamespace(last_key=100.0 - quiet),
        _options=SimpleNamespace(notify=notify),
        _screen=SimpleNamespace(call=written.append),
    )
    App._call(cast(Any, app), "Exécuter « rm\x1b]0;x\x07 » ?")
    return written


@pytest.mark.parametrize(
    ("notify", "quiet", "written"),
    [
        ("bell", 60.0, ["\a"]),
        ("bell", 1.0, []),
        ("off", 60.0, []),
        ("osc9", 60.0, ["\x1b]9;Exécuter « rm]0;x » ?\x1b\\"]),
    ],
)
def test_somebody_who_is_away_is_called(notify: str, quiet: float, written: list[str]) -> None:
    assert called(notify, quiet) == written


@pytest.mark.parametrize("made", [RealConversation, FakeConversation])
def test_the_engine_and_the_double_have_what_the_terminal_needs(made: type) -> None:
    needed = {name for name in vars(Conversation) if not name.startswith("_")}
    assert needed - set(dir(made)) - {"name", "model", "launch", "is_kept"} == set()
