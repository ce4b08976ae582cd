from __future__ import annotations

import copy
import json
import logging
import pickle
from typing import Any

import pytest

from maia.core.secret import Secret


def test_only_reveal_shows_a_secret() -> None:
    secret = Secret("my-key")
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>30}",
        logging.Formatter().format(logging.makeLogRecord({"msg": "%s", "args": (secret,)})),
        repr([secret]),
        repr({1: secret}),
    ]
    assert not any("my-key" in text for text in shown)
    assert secret.reveal() == "my-key"


def test_secrets_compare_by_what_they_hide() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert Secret("a")
    assert not Secret("")


@pytest.mark.parametrize("write", [pickle.dumps, json.dumps, copy.deepcopy])
def test_a_secret_is_not_written_anywhere(write: Any) -> None:
    with pytest.raises(TypeError):
        write(Secret("my-key"))
