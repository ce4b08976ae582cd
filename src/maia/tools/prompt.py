"""Loads the prompt text that lies beside a tool, once, when a request is first assembled."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from maia.core.requests import ToolSpec
from maia.tools.arguments import Parameters


@cache
def load_spec(name: str, parameters: Parameters, described_in: str = "") -> ToolSpec:
    """The spec of the tool `name`, described by `<name in lower case>.md` in this folder unless another is named."""
    text = Path(__file__).with_name(f"{described_in or name.lower()}.md").read_text(encoding="utf-8")
    return ToolSpec(name, text.strip(), parameters.schema())
