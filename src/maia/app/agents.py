"""Agents where every room meets: which there are for a launch folder, and changes that keep a folder's trust."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from maia.agents.document import Outside
from maia.agents.shelf import Shelf
from maia.launch import Folders
from maia.permissions.trust import remember, trust_state

T = TypeVar("T")


def outside() -> Outside:
    """What definitions are checked against: agent programs, and what a key looks like."""
    from maia.credentials.prefixes import shown_name
    from maia.credentials.scrub import without_keys
    from maia.runtimes.programs import BY_NAME

    return Outside(tuple(BY_NAME), lambda name: shown_name(name) != name, without_keys)


def agent_shelf(folders: Folders) -> Shelf:
    """The agents of the launch folder, once that is trusted, and of the home folder. Reads nothing yet."""
    trusted = trust_state(folders.launch, folders.home).verdict == "trusted"
    return Shelf.of(folders.launch, folders.home, trusted=trusted, outside=outside())


def changing(folders: Folders, change: Callable[[Shelf], T]) -> T:
    """Do a change of agents. What a person changes here in a folder that was trusted is no change by a stranger.

    `change` gets the shelf; what it raises is raised, and then nothing is remembered.
    """
    shelf = agent_shelf(folders)
    done = change(shelf)
    if shelf.is_trusted:
        after = trust_state(folders.launch, folders.home)
        if after.verdict != "trusted":
            remember(folders.launch, folders.home, after.digest)
    return done
