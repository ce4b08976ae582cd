"""The tree of errors that a person may see. Each knows its words (a key of the catalogue), its values and an exit code.

    MaiaError
    ├── UsageProblem        exit 2   the command line or a typed line is wrong
    ├── NotConfigured       exit 3   no model, no endpoint, no key
    ├── SettingsProblem     exit 2   a settings file cannot be used
    ├── SessionProblem      exit 1   a session file is missing, newer or cannot be written
    ├── RunProblem          exit 1   a run cannot be found, begun or controlled
    ├── ModelFailed         exit 1   a model call failed (carries the `Failure`)
    ├── ToolProblem         a tool cannot do what was asked; becomes an error result for the model, never ends a turn
    │   └── ArgumentProblem the arguments do not fit; lists what was received (T5.02)
    └── UnsafeText          a text cannot be written back in the file's own encoding

A message says what happened and what to do; `key` names it in `i18n`, where `key + ".fix"` may hold the remedy.
Inside a stream a failure is an event, not an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from maia.core.endings import Failure


class MaiaError(Exception):
    """Base of every error with words for a person. `values` fill the placeholders of the catalogue's sentence."""

    exit_code: ClassVar[int] = 1

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key, values)
        self.key = key
        self.values = values

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.key}({shown})"


class UsageProblem(MaiaError):
    """The command line, or a line typed in the terminal, asks for something that does not exist."""

    exit_code = 2


class SettingsProblem(MaiaError):
    """A settings file or value cannot be used; the sentence names the file and the place."""

    exit_code = 2


class NotConfigured(MaiaError):
    """No model can be asked: nothing is configured and nothing was found."""

    exit_code = 3


class SessionProblem(MaiaError):
    """A session cannot be found, read or written."""


class RunProblem(MaiaError):
    """A run of an agent cannot be found, begun or controlled (C6.05)."""


class ModelFailed(MaiaError):
    """A call to a model outside a turn failed (list of models, context size)."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"failure.{failure.kind}", host=failure.host, status=failure.status)
        self.failure = failure


class ToolProblem(MaiaError):
    """A tool cannot do what was asked. The sentence goes to the model as the error result of the call."""


class ArgumentProblem(ToolProblem):
    """Arguments that do not fit a tool's parameters."""


class UnsafeText(MaiaError):
    """Text that cannot be encoded in the encoding of the file it is meant for."""


def system_words(problem: OSError) -> str:
    """What the system says of a refusal, without its number and without the path, which our sentence names."""
    return problem.strerror or str(problem) or type(problem).__name__
