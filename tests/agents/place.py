"""A launch folder and a home with agents, for the tests of this room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from maia.agents.document import Outside
from maia.agents.shelf import Shelf

RUNNERS = ("claude-code", "codex")
SECTIONS = "# Instructions system\nBe careful.\n\n## Missions\nReview.\n\n### Output\nA list.\n"


def hides(name: str) -> bool:
    return any(char.isdigit() for char in name)


def written(header: str = "", sections: str = SECTIONS, description: str = "description: Reads code.\n") -> str:
    return f"---\n{description}{header}---\n{sections}"


@dataclass(frozen=True)
class World:
    project: Path
    home: Path

    def shelf(self, *, trusted: bool = True, **outside: Any) -> Shelf:
        known = replace(Outside(RUNNERS, hides), **outside)
        return Shelf.of(self.project, self.home, trusted=trusted, outside=known)

    def put(self, level: str, name: str, text: str) -> Path:
        root = self.project if level == "project" else self.home
        file = root / ".maia" / "agents" / name / "AGENT.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file
