"""The environment a command gets: nothing in it may ask a person, and maia's own keys are not in it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Final

from maia.core.providers import model_keys
from maia.sandbox.tree import MARK

_SECRET_ENDINGS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")

_QUIET: Final = {
    "CI": "1",  # watchers run once
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "GCM_INTERACTIVE": "never",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",  # else what Python prints to stdout comes after what it prints to stderr
    "SSH_ASKPASS_REQUIRE": "never",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "true",
}
"""Why none of them waits for a key: anchors-cli §5, Processes."""

_COLOURING: Final = ("CLICOLOR_FORCE", "FORCE_COLOR", "LESSOPEN", "LS_COLORS")


def is_withheld(name: str, shown: Collection[str] = ()) -> bool:
    """Whether a variable stays out of commands: a provider's key or one of maia's own, unless named in `shown`."""
    upper = name.upper()
    ours = upper.startswith("MAIA_") and upper.endswith(_SECRET_ENDINGS)
    return (upper in model_keys() or ours) and name not in shown


def command_environment(
    base: Mapping[str, str], extra: Mapping[str, str] | None, *, mark: str, cwd: str, shown: Collection[str] = ()
) -> dict[str, str]:
    """The environment of one command: `base` without withheld names, made quiet, with `extra` on top of all.

    `mark` lets its processes be found again; `shown` names withheld variables that the person's settings pass on.
    """
    env = {name: value for name, value in base.items() if name not in _COLOURING and not is_withheld(name, shown)}
    return {**env, **_QUIET, "PWD": cwd, **(extra or {}), MARK: mark}


def hide_own_environment() -> None:
    """Keep commands of the same user from reading maia's keys in `/proc/…/environ`, where no wall does.

    Linux only; root can always read it. The price: no core dump of maia, and a debugger needs root (prctl(2),
    PR_SET_DUMPABLE; what commands run is not touched, since the mark ends with `exec`).
    """
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
