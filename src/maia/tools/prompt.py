"""Loads the prompt text that lies beside a tool, once, when a request is first assembled."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from maia.core.requests import ToolSpec
from maia.tools.arguments import Parameters

_LOADED: Final[dict[tuple[str, str], tuple[Parameters, ToolSpec]]] = {}


def load_spec(name: str, parameters: Parameters, described_in: str = "") -> ToolSpec:
    """The spec of the tool `name`, described by `<name in lower case>.md` in this folder unless another is named."""
    loaded = _LOADED.get((name, described_in))
    if loaded is not None and loaded[0] is parameters:  # a table is compared by looking at each of its rows
        return loaded[1]
    text = Path(__file__).with_name(f"{described_in or name.lower()}.md").read_text(encoding="utf-8")
    spec = ToolSpec(name, text.strip(), parameters.schema())
    _LOADED[name, described_in] = parameters, spec
    return spec
