"""Fake keys made at run time, and places in which keys are found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maia.core.secret import Secret
from maia.credentials.explain import look_up
from maia.credentials.find import Request
from maia.credentials.hermes_files import person_values
from maia.credentials.signals import Ballot, Policy
from maia.credentials.sources import Layer, agent_layer, process_layer, settings_layer
from maia.credentials.vote import Resolution, resolve


def fake(prefix: str = "", length: int = 40, filling: str = "Zq7x") -> str:
    """A token of that prefix, filled up with a pattern that no real key has."""
    body = filling * (length // len(filling) + 1)
    return prefix + body[: max(0, length - len(prefix))]


def hex_key(length: int = 32) -> str:
    return fake("", length, "0f")


ZAI = f"{hex_key()}.{fake('', 16)}"
MINIMAX = fake("sk-cp-")
ANTHROPIC = fake("sk-ant-api03-")


def vote(token: str, url: str = "", hint: str = "", variable: str = "", **policy: Any) -> Resolution:
    ballot = Ballot(
        Secret(token),
        variable,
        base_url=url,
        base_url_from="URL",
        hint=hint,
        hint_from="HINT",
        policy=Policy(**policy),
    )
    return resolve(ballot)


def settings_file(folder: Path, env: object, name: str = "settings_a.json") -> Path:
    path = folder / name
    path.write_text(env if isinstance(env, str) else json.dumps({"env": env}), "utf-8")
    path.chmod(0o600)
    return path


def layers(
    folder: Path, settings: object = None, env: Mapping[str, str] | None = None, dotenv: str = ""
) -> tuple[Layer, ...]:
    found: list[Layer] = []
    if settings is not None:
        found.append(settings_layer(settings_file(folder, settings), env or {}))
    if dotenv:
        found.append(agent_layer(folder / ".env", person_values(dotenv)))
    return (*found, process_layer(env or {}))


def found(
    folder: Path, settings: object = None, env: Mapping[str, str] | None = None, dotenv: str = "", **request: Any
) -> Resolution:
    """What the one function says of these places."""
    return look_up(Request(layers(folder, settings, env, dotenv), **request))


def codes(resolution: Resolution) -> list[str]:
    return [problem.code for problem in resolution.warnings]


def error(resolution: Resolution) -> str | None:
    return resolution.error.code if resolution.error else None
