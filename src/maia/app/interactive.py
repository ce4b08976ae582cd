"""`maia`: the first frame at once, the engine while the first keys are typed, then the conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from maia import __version__
from maia.i18n.catalogue import Catalogue
from maia.terminal.options import Options
from maia.terminal.start import interactive

if TYPE_CHECKING:
    from maia.app.build import Ground
    from maia.terminal.ports import Conversation, KeyDesk, ScreenOptions


def run_interactive(options: Options, say: Catalogue) -> int:
    """Run the terminal until the person leaves; the exit code. Raises `MaiaError` where it cannot begin."""

    def load() -> tuple[Conversation, ScreenOptions]:
        from maia.app.build import build_conversation, endpoint_models, lay_ground
        from maia.app.keydesk import KeyringDesk

        ground = lay_ground(options, os.environ, say)
        if options.runtime is not None:
            return build_conversation(ground), _screen_options(ground)
        models = endpoint_models(ground)
        return build_conversation(ground, models), _screen_options(ground, KeyringDesk(ground, models))

    return interactive(os.environ, say, __version__, load)


def _screen_options(ground: Ground, keys: KeyDesk | None = None) -> ScreenOptions:
    from maia.terminal.ports import ScreenOptions

    notify = ground.rules.settings.notify
    return ScreenOptions(ground.folders.config / "history", ground.folders.home, "bell" if notify else "off", keys)
