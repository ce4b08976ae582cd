"""What the composition root gives for the turns of one conversation: tools, rules, words and models of its folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from maia.core.ports import Hands, Say
from maia.engine.setup import Bound, CallContext, Config, Models
from maia.engine.turn import Price
from maia.privacy.destination import Destination
from maia.workspace.colleagues import Role
from maia.workspace.folders import Room
from maia.workspace.models.catalogue import Pair


@dataclass(frozen=True, slots=True)
class WorkBench:
    """The parts of one conversation; an `engine.answering.Bench`. `configure` reads settings and rules again.

    `seen` hears (session, path, digest) of each file that the model knows from earlier turns. `destination` says
    where a message to a model goes. `open` reaches one model of one provider for one turn; it raises `MaiaError` where
    that is not there.
    """

    launch: Path
    say: Say
    models: Models
    hands: Callable[[Config, CallContext], Hands]
    price: Price
    configure: Callable[[], Config]
    seen: Callable[[str, str, str], None]
    destination: Callable[[Bound], Destination]
    open: Callable[[Pair], Awaitable[Bound]]


OpenBench = Callable[[Room, str, Role], WorkBench]
"""(its folders, language, its role) → the parts of a conversation. Blocks: it reads files. Raises `MaiaError`."""
