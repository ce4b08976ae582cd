"""Build hook: compiles the catalogues of words, which git does not keep, into the wheel."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Words(BuildHookInterface[Any]):
    """Runs before a wheel is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version
        source = Path(self.root) / "src"
        sys.path.insert(0, str(source))
        try:
            from maia.i18n.po import build_all
        finally:
            sys.path.remove(str(source))
        written = build_all(source / "maia" / "i18n")
        build_data["artifacts"] += [str(path.relative_to(self.root)) for path in written]
