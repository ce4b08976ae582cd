"""The table of a tool's parameters, with what models call the most usual one."""

from __future__ import annotations

from typing import Final

from maia.core.parameters import Parameter, Parameters, received_parameters

__all__ = ["PATH_ALIASES", "Parameter", "Parameters", "received_parameters"]

PATH_ALIASES: Final = ("file", "filename", "file_path", "filepath", "path_name", "target_file", "absolute_path")
"""What models call `path`."""
