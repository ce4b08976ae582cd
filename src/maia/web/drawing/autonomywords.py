"""The words for what a model may do by itself: categories, levels, risks, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maia.web.drawing.words import Sign
from maia.workspace.autonomy.categories import Category, Risk
from maia.workspace.autonomy.ruling import Level
from maia.workspace.autonomy.security import ForeignState

CATEGORIES: Final[Mapping[Category, tuple[str, str]]] = {
    "looking": ("autonomy.category.looking", "autonomy.more.looking"),
    "memory": ("autonomy.category.memory", "autonomy.more.memory"),
    "planning": ("autonomy.category.planning", "autonomy.more.planning"),
    "delegation": ("autonomy.category.delegation", "autonomy.more.delegation"),
    "files": ("autonomy.category.files", "autonomy.more.files"),
    "commands": ("autonomy.category.commands", "autonomy.more.commands"),
    "web": ("autonomy.category.web", "autonomy.more.web"),
    "other": ("autonomy.category.other", "autonomy.more.other"),
}
"""A word for each, and what its tools do."""
LEVELS: Final[Mapping[Level, tuple[str, str]]] = {
    1: ("autonomy.level.1", "autonomy.level.1.more"),
    2: ("autonomy.level.2", "autonomy.level.2.more"),
    3: ("autonomy.level.3", "autonomy.level.3.more"),
}
"""A word for each, and what happens at it."""
RISKS: Final[Mapping[Risk, Sign]] = {
    "green": Sign("check", "success", "tools.risk.green"),
    "yellow": Sign("alert", "warning", "tools.risk.yellow"),
    "red": Sign("flag", "danger", "tools.risk.red"),
}
"""A shape, a word, then a colour (principle 1)."""
ABOUT: Final[Mapping[str, str]] = {
    "Read": "tools.about.read",
    "Write": "tools.about.write",
    "Edit": "tools.about.edit",
    "Bash": "tools.about.bash",
    "Glob": "tools.about.glob",
    "Grep": "tools.about.grep",
    "TodoWrite": "tools.about.todo",
    "AskUser": "tools.about.ask",
    "CurrentModel": "tools.about.model",
    "WebFetch": "tools.about.fetch",
    "MemorySearch": "tools.about.search",
    "MemoryExpand": "tools.about.expand",
    "MemoryStore": "tools.about.store",
    "run_specialist": "tools.about.specialist",
    "assign_task": "tools.about.task",
    "create_sub_conversation": "tools.about.thread",
}
"""What a tool does, for people; of others they read what a model is told."""
CHECKPOINTS: Final[Mapping[str, str]] = {
    "deterministic": "security.at.deterministic",
    "judge": "security.at.judge",
    "lockout": "security.at.lockout",
}
REFUSALS: Final[Mapping[str, str]] = {
    "protected": "security.why.protected",
    "outside": "security.why.outside",
    "too_broad": "security.why.too_broad",
    "not_offered": "security.why.not_offered",
    "rule": "security.why.rule",
    "check": "security.why.check",
    "locked": "security.why.locked",
    "other": "security.why.other",
}
FOREIGN: Final[Mapping[ForeignState, Sign]] = {
    "found": Sign("lock", "success", "security.foreign.found"),
    "missing": Sign("clock", "muted", "security.foreign.missing"),
    "ignored": Sign("alert", "warning", "security.foreign.ignored"),
}
