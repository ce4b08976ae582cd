"""The words for what a model may do by itself: categories and levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maia.workspace.autonomy.categories import Category
from maia.workspace.autonomy.ruling import Level

CATEGORIES: Final[Mapping[Category, tuple[str, str]]] = {
    "looking": ("autonomy.category.looking", "autonomy.more.looking"),
    "memory": ("autonomy.category.memory", "autonomy.more.memory"),
    "planning": ("autonomy.category.planning", "autonomy.more.planning"),
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
