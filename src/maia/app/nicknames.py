"""The person's own names for models (setting `ModelNicknames`): found in any spelling, resolved to the real one."""

from __future__ import annotations

from collections.abc import Mapping

from maia.app.acting import Acting
from maia.core.agent import OWN_RUNNER, RealModel
from maia.core.errors import UsageProblem
from maia.terminal.options import Options


def real_model(table: Mapping[str, RealModel], word: str) -> RealModel | None:
    """What a nickname stands for, None where the word is none."""
    if not table or not word.strip():
        return None
    from maia.agents.names import key_of  # only where somebody has nicknames

    wanted = key_of(word)
    return next((real for name, real in table.items() if key_of(name) == wanted), None)


def own_model(table: Mapping[str, RealModel], word: str) -> str:
    """The name of a model of maia's own for a word that may be a nickname; any other word stays as it is.

    Raises `UsageProblem` for a nickname of a model of an agent program, which has to be chosen at the start.
    """
    real = real_model(table, word)
    if real is None:
        return word
    if real.runner != OWN_RUNNER:
        raise UsageProblem("agents.model.other_runner", name=word, runner=real.runner)
    return real.model


def wished_runner(table: Mapping[str, RealModel], options: Options, acting: Acting) -> RealModel:
    """Which runner answers, and with which model where that is a program: options first, then the agent.

    Raises `UsageProblem` where `--model` names a nickname of a model that the wished runner does not have.
    """
    runner = options.runtime or ("" if acting.runner == OWN_RUNNER else acting.runner)
    real = real_model(table, options.model or "")
    if real is not None and runner and real.runner != runner:
        raise UsageProblem("agents.model.other_runner", name=options.model, runner=real.runner)
    if real is not None:
        return real
    model = options.model or ("" if options.runtime else acting.model)
    return RealModel(model, runner or OWN_RUNNER)


def near_nicknames(table: Mapping[str, RealModel], word: str) -> tuple[str, ...]:
    """Nicknames that were perhaps meant."""
    if not table:
        return ()
    from maia.agents.names import near

    return near(word, tuple(table))
