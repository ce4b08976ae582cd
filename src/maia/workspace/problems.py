"""What the workspace refuses, each with its words; a door adds its own status to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from maia.core.errors import MaiaError
from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason
from maia.folders.lists import ListRefused
from maia.folders.refusals import FolderRefused

__all__ = [
    "BudgetStopped",
    "Busy",
    "Coded",
    "DiscoveryFailed",
    "EnteringFailed",
    "FileGone",
    "FileRefused",
    "FileTooLarge",
    "FolderRefused",
    "ListRefused",
    "ModelUnavailable",
    "NoRoomForFile",
    "NotAllowed",
    "NotThere",
    "NotYours",
    "Outdated",
    "PolicyChanged",
    "PolicyRefused",
    "PrivacyBlocked",
    "QuotaReached",
    "StorageError",
    "Taken",
    "TerminalRefused",
    "TooManyTries",
    "TrialFailed",
    "Unfit",
    "Unusable",
    "VerifyUnavailable",
    "WrongSignIn",
    "is_unwritable",
]

StorageError = SQLAlchemyError
"""The database refused: it is full, locked for long, or gone."""
_UNWRITABLE: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
_UNWRITABLE_STATES: Final = {"53100", "25006"}
"""PostgreSQL's for a full disk and for a server that only reads."""


def is_unwritable(error: BaseException) -> bool:
    """Whether a database that may still be read could not be written: its disk is full, failing or read-only."""
    cause = getattr(error, "orig", None)
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE or (
        getattr(cause, "sqlstate", None) in _UNWRITABLE_STATES
    )


class NotYours(MaiaError):
    """There is no such conversation for this person, whether it is somebody else's or nobody's (N-20.04)."""


class Busy(MaiaError):
    """An answer is being written in this conversation already."""


class Unusable(MaiaError):
    """What was sent cannot be used: an empty message, a title that is too long. `key` says what."""


class FileRefused(MaiaError):
    """A file cannot be taken: it is empty, or too many wait already."""


class FileTooLarge(FileRefused):
    """A file has more bytes than one may have."""


class NoRoomForFile(MaiaError):
    """Nothing can be kept: the disk is full, or the share of it that files may have, or it cannot be written."""


class FileGone(MaiaError):
    """A file does not wait any more: it was removed, or it was sent and stays with its message."""


class NotAllowed(MaiaError):
    """This person may see it, but has not the right to do it (N-20.03)."""


class Taken(MaiaError):
    """Somebody else has it already."""


class AlreadyDecided(MaiaError):
    """Somebody else decided before (R-2.241)."""


class NotThere(MaiaError):
    """There is no such provider, model, tier, project, type or stage."""


class Coded(MaiaError):
    """A refusal with a code of its own and, for machines, `more` beside it."""

    more: JsonObject

    def __init__(self, code: str, key: str, **values: object) -> None:
        super().__init__(key, **values)
        self.code = code
        self.more = {}


class Outdated(Coded):
    """What should be changed is another one by now; a door tells in `more` what is there."""


class ModelUnavailable(Coded):
    """No model can answer: `model_binding_unavailable` or `no_model_configured` (R-2.055, R-2.061)."""


class BudgetStopped(Coded):
    """The spending of a period reached its hard stop: nothing that costs something is begun (N-04.13)."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__("budget_stop", key, **values)


class QuotaReached(Coded):
    """An agent used up its tokens of this month: it answers again `until` then, or when it gets more (N-05.05)."""

    def __init__(self, name: str, used: int, limit: int, until: date) -> None:
        super().__init__("agent_quota", "quota.reached", name=name, n=limit, until=f"{until:%d/%m/%Y}")
        self.more = {"used": used, "limit": limit, "until": until.isoformat()}


class Unfit(Coded):
    """What was asked for cannot be set: a model that is off, a level that a model does not have (R-2.075, R-2.154)."""


class DiscoveryFailed(Coded):
    """The list of models could not be had, or was empty; nothing was changed (N-01.10)."""


class VerifyUnavailable(Coded):
    """The isolation of a program cannot be tried now, or not by a person (N-03.03)."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__("verifyUnavailable", key, **values)


class TrialFailed(Coded):
    """A call that a person asked for did not end well."""


class TerminalRefused(Coded):
    """No terminal can be opened: none is offered here, there is no folder for it, or too many are open."""


class PrivacyBlocked(MaiaError):
    """A message with protected data would leave for a model elsewhere: nothing of it is stored (R-2.266, R-2.274).

    `types` are slugs, `names` the same in the reader's words, `masked` is the text that may be sent instead.
    """

    code = "privacy_blocked"

    def __init__(self, types: tuple[str, ...], names: str, masked: str) -> None:
        super().__init__("privacy.blocked", types=names)
        self.types = types
        self.masked = masked


class PolicyRefused(MaiaError):
    """A privacy policy with mistakes, of which nothing is kept; `issues` are (place, what is wrong there)."""

    code = "invalid_policy"

    def __init__(self, issues: Sequence[tuple[str, Reason]]) -> None:
        super().__init__("privacy.invalid_policy", n=len(issues), places=", ".join(place for place, _ in issues))
        self.issues = tuple(issues)


class PolicyChanged(MaiaError):
    """Somebody saved another privacy policy since this one was read; nothing is kept."""


class WrongSignIn(MaiaError):
    """The e-mail or the password is not right; nobody is told which."""


class EnteringFailed(MaiaError):
    """Nobody comes in by what a provider said: it did not answer, it said something odd, or it is nobody of ours."""


class TooManyTries(MaiaError):
    """Signing in failed too often; it may be tried again after `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__("signin.too_many", n=seconds)
        self.seconds = seconds
