"""Where a Hermes agent keeps its state: one folder for each agent, the same on every start (C4.04)."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Final

from maia.credentials.problems import Problem, fail, info

CENTRAL: Final = "central"
"""The agent without a name."""

ROOT_VAR: Final = "OVERMIND_AGENT_HOME"

_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
)
"""Names that Windows gives to devices, with or without an ending."""


@dataclass(frozen=True, slots=True)
class AgentHome:
    """The folder, or None with the reason among `problems`."""

    path: PurePath | None
    problems: tuple[Problem, ...] = ()


def agent_name(given: str) -> str | None:
    """The name as it stands in the path, `central` for none; None when it is not allowed (INVALID_AGENT_NAME).

    Letters, digits, `.`, `_` and `-`, at most 64, beginning and ending with a letter or digit: no folder above, no
    hidden folder, no device.
    """
    name = unicodedata.normalize("NFC", given.strip())
    if not name:
        return CENTRAL
    fits = re.fullmatch(r"[^\W_](?:[\w.-]{0,62}[^\W_])?", name) and ".." not in name
    return name if fits and name.partition(".")[0].lower() not in _RESERVED else None


def agent_home(
    agent: str,
    env: Mapping[str, str],
    workspace: str,
    *,
    platform: str = sys.platform,
    exists: Callable[[PurePath], bool] = lambda path: Path(path).is_dir(),
) -> AgentHome:
    """The home of an agent: the root that the environment names, an old one in the workspace, else the user's (C4.04).

    `workspace` is an absolute folder; a relative root is taken from it. `platform` is `sys.platform`'s word.
    """
    name = agent_name(agent)
    if name is None:
        return AgentHome(None, (fail("INVALID_AGENT_NAME"),))
    kind = PureWindowsPath if platform == "win32" else PurePosixPath
    own = kind(f"agent_{name}", ".hermes")
    if env.get(ROOT_VAR, "").strip():
        root = agents_root(env, workspace, platform)
        return AgentHome(root / own if root else None)
    old = kind(workspace) / ".overmind" / "hermes" / own
    if exists(old):
        return AgentHome(old, (info("LEGACY_HOME", path=str(old)),))
    root = user_root(env, platform)
    return AgentHome(root / own) if root else AgentHome(None, (fail("NO_HOME"),))


def agents_root(env: Mapping[str, str], workspace: str, platform: str = sys.platform) -> PurePath | None:
    """The folder of all agents' homes, outside of any workspace; None where there is no home folder."""
    kind = PureWindowsPath if platform == "win32" else PurePosixPath
    if root := env.get(ROOT_VAR, "").strip():
        return kind(workspace) / kind(root)
    return user_root(env, platform)


def user_root(env: Mapping[str, str], platform: str = sys.platform) -> PurePath | None:
    """Where the homes of all agents lie for this user; Windows variables mean nothing elsewhere."""
    if platform != "win32":
        home = env.get("HOME", "")
        return PurePosixPath(home) / ".overmind" / "hermes" if home.startswith("/") else None
    for variable in ("LOCALAPPDATA", "USERPROFILE"):
        if base := env.get(variable, "").strip():
            return PureWindowsPath(base) / "overmind" / "hermes"
    return None


def agent_of(settings_file: str) -> str:
    """The agent that `settings_<agent>.json` is for; empty for any other name."""
    found = re.fullmatch(r"settings_(.+)\.json", PurePath(settings_file).name)
    return found[1] if found else ""
