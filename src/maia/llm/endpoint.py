"""One place where models answer, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from maia.core.jsonvalue import JsonValue
from maia.llm.addresses import is_loopback_url
from maia.llm.providers import ListStyle
from maia.llm.target import WireTarget

GetJson: TypeAlias = Callable[[WireTarget, str], Awaitable[JsonValue]]
"""`maia.llm.transport.get_json`, or a fake."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`name` is the provider's name, the same everywhere; `source` says who configured it (`settings`, the variable's
    name, `loopback`, `built-in`).

    `target` is None for the built-in `offline`. `list_path` follows the target's base URL. `models` are named by the
    settings and need no list. `prefer` is the pattern of the default model.
    """

    name: str
    source: str
    target: WireTarget | None
    list_path: str = ""
    style: ListStyle = "openai"
    models: tuple[str, ...] = ()
    prefer: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine."""
        return self.target is None or is_loopback_url(self.target.base_url)


OFFLINE: Final = "offline"
"""Name of the built-in model and of its provider."""

OFFLINE_WINDOW: Final = 100_000

OFFLINE_ENDPOINT: Final = Endpoint(OFFLINE, "built-in", None, style="none", models=(OFFLINE,))
