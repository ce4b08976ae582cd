"""Opens the wire for a target: the one door of this room for whoever talks to models."""

from __future__ import annotations

from typing import Protocol, assert_never

from maia.core.ports import Wire
from maia.llm.target import WireTarget


class OpenWire(Wire, Protocol):
    """A wire that keeps connections between calls; close it when no more calls will come."""

    async def aclose(self) -> None: ...


def open_wire(target: WireTarget) -> OpenWire:
    """A wire for the target. Imports only what its format needs; connects on the first call.

    Raises `NotConfigured` when the format is `other` and the extra `maia[providers]` is not installed.
    """
    match target.format:
        case "openai-chat":
            from maia.llm.wires.http import HttpWire
            from maia.llm.wires.openai_chat import OPENAI_CHAT

            return HttpWire(target, OPENAI_CHAT)
        case "anthropic-messages":
            from maia.llm.wires.anthropic_messages import ANTHROPIC_MESSAGES
            from maia.llm.wires.http import HttpWire

            return HttpWire(target, ANTHROPIC_MESSAGES)
        case "other":
            from maia.llm.wires.other import OtherWire

            return OtherWire(target)
        case _:
            assert_never(target.format)
