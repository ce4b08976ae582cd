"""A session that an agent program answered goes on with a model: what the person is told of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from maia.core.events import Notice
from maia.llm.binding import Choice

_GONE: Final = "models.resumed_gone"


def told_of_program(choice: Choice, resumed: str) -> Choice:
    """The choice; where `resumed` (`provider/model`) is a program's, the notice names it and how it answers again.

    A terminal's session names a program as `--runtime` does, the workspace by the id of its provider.
    """
    if all(each.key != _GONE for each in choice.notices):
        return choice
    from maia.runtimes.programs import BY_NAME, PROVIDER_MARK  # a table that only such a session needs

    program = BY_NAME.get(resumed.partition("/")[0].removesuffix(PROVIDER_MARK))
    if program is None:
        return choice
    values = {"program": program.title, "name": program.name, "model": choice.model.full_name}
    notice = Notice("warn", "runtime.answered_session", values)
    return replace(choice, notices=tuple(notice if each.key == _GONE else each for each in choice.notices))
