"""Measures how many bytes the built-in tools add to each request, as the model's server receives them."""

from __future__ import annotations

import json

from harness import Row, at_most

from maia.core.requests import ToolSpec
from maia.tools.toolbox import built_in_tools

FILE_TOOLS = frozenset({"Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "CurrentModel"})


def size(spec: ToolSpec) -> int:
    """Bytes of one tool in the OpenAI chat format, the longer of the two that carry nearly all traffic."""
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    body = json.dumps({"type": "function", "function": function}, ensure_ascii=False, separators=(",", ":"))
    return len(body.encode())


def main() -> list[Row]:
    sizes = {tool.spec.name: size(tool.spec) for tool in built_in_tools()}
    rows = [at_most(f"prompt of {name}", value, "B", None) for name, value in sizes.items()]
    files = sum(value for name, value in sizes.items() if name in FILE_TOOLS)
    rows.append(at_most("prompt of the file tools", files, "B", 6000))
    rows.append(at_most("prompt of Bash and WebFetch", sum(sizes.values()) - files, "B", 2000))
    return rows
