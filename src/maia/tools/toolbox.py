"""The built-in tools, in the order in which the model sees them (T5.01)."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from maia.core.tool import AnyTool

_TOOLS: Final = (
    ("read", "ReadTool"),
    ("write", "WriteTool"),
    ("edit", "EditTool"),
    ("bash", "BashTool"),
    ("glob", "GlobTool"),
    ("grep", "GrepTool"),
    ("todo", "TodoWriteTool"),
    ("current_model", "CurrentModelTool"),
    ("webfetch", "WebFetchTool"),
)
"""Module and class of each. They are imported when the first request is assembled, not at start."""


def built_in_tools() -> tuple[AnyTool, ...]:
    """One of each. Prompts and schemas are read when a tool's `spec` is first asked for."""
    return tuple(getattr(import_module(f"maia.tools.{module}"), name)() for module, name in _TOOLS)
