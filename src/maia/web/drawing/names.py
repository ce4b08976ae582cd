"""The names under which the workspace shows tools, the same whoever called them (R-2.176, decisions §2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMMON: Final[Mapping[str, str]] = {
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "edit_file",
    "Delete": "delete_file",
    "Bash": "run_command",
    "Glob": "glob",
    "Grep": "grep",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "TodoWrite": "todo_write",
    "CurrentModel": "current_model",
    "AskUser": "ask_user",
    "MemoryStore": "memory_store",
    "MemorySearch": "memory_search",
    "MemoryExpand": "memory_expand",
}


def common_name(name: str) -> str:
    """The shown name of a tool; one that is not in the table keeps its own."""
    return COMMON.get(name, name)
