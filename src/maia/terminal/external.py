"""The line being typed, in the person's own editor (Ctrl+G)."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from maia.core.errors import UsageProblem


def edit_text(text: str, env: Mapping[str, str]) -> str:
    """Run VISUAL, EDITOR or vi on a private file with `text`; returns what was saved, without final line ends.

    Blocks until the editor ends. Raises `UsageProblem` when it cannot be started or fails; the text is then as it was.
    """
    command = env.get("VISUAL") or env.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="maia-") as folder:
        path = Path(folder) / "request.md"
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            subprocess.run([*shlex.split(command), str(path)], check=True)
            return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise UsageProblem("screen.editor.failed", command=command) from error
