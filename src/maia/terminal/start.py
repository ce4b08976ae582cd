"""Entry of the interactive terminal: the first paint, then everything else, and the terminal as it was at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from maia.terminal.firstpaint import Left, Prompt, has_screen

if TYPE_CHECKING:
    from maia.terminal.ports import Load
    from maia.terminal.words import Words


def interactive(env: Mapping[str, str], say: Words, version: str, load: Load) -> int:
    """Run the terminal until the person leaves. Returns the exit code.

    What `load` raises is raised here, with the terminal restored; `say` and `version` are for the first frame.
    """
    if not has_screen(env):
        from maia.terminal.plain import run_plain

        return run_plain(env, say, version, load)
    prompt = Prompt(env, say)
    try:
        prompt.open(version)
        run = prompt.run(lambda: _loaded(load))
        return run(prompt)
    except Left as left:
        return left.code
    finally:
        prompt.leave()


def _loaded(load: Load) -> Callable[[Prompt], int]:
    """Everything that takes time, done in the thread: imports, settings, the session."""
    from maia.terminal.app import App
    from maia.terminal.loop import run_to_end

    conversation, options = load()

    async def main(prompt: Prompt) -> int:
        return await App(prompt, conversation, options).run()

    return lambda prompt: run_to_end(main(prompt))
