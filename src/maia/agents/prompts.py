"""Reusable task prompts of an agent: `prompts/<name>.md` beside its `AGENT.md`, with places to fill in (C6.01)."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.agents.document import MAX_BYTES
from maia.agents.files import Place, markdown_files, one_writer
from maia.agents.header import Invalid
from maia.agents.names import checked_prompt_name, near
from maia.agents.shelf import Shelf, unusable
from maia.core.errors import SettingsProblem, UsageProblem
from maia.core.text import can_be_kept

FOLDER: Final = "prompts"
ARGUMENTS: Final = "$ARGUMENTS"
_PLACE = re.compile(r"\{\{\s*([^\W\d]\w*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `placeholders` are the names in `{{…}}`, in order; `takes_arguments`: it has `$ARGUMENTS`."""

    name: str
    text: str
    shown: str

    @property
    def placeholders(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_PLACE.findall(self.text)))

    @property
    def takes_arguments(self) -> bool:
        return ARGUMENTS in self.text

    def filled(self, arguments: str = "", values: Mapping[str, str] | None = None) -> str:
        """The task it makes. Values are put in as they are, once. Arguments that have no place stand at the end.

        Raises `UsageProblem` for a place without a value, or a value without a place.
        """
        given = dict(values or {})
        missing = [name for name in self.placeholders if name not in given]
        stray = [name for name in given if name not in self.placeholders]
        if missing or stray:
            key = "agents.prompt.missing" if missing else "agents.prompt.stray"
            raise UsageProblem(key, prompt=self.name, names=", ".join(missing or stray))

        def value(found: re.Match[str]) -> str:
            return arguments if found.group() == ARGUMENTS else given[found.group(1)]

        text = re.sub(rf"{re.escape(ARGUMENTS)}(?!\w)|{_PLACE.pattern}", value, self.text)
        return text if self.takes_arguments or not arguments else f"{text.rstrip()}\n\n{arguments}"


def prompt_names(shelf: Shelf, agent: str) -> Sequence[str]:
    """The prompts of the agent of that name or nickname, sorted. Raises as `Agents.find`."""
    place, folder = _folder(shelf, agent)
    return () if place.level == "project" and folder.is_symlink() else tuple(markdown_files(folder))


def read_prompt(shelf: Shelf, agent: str, name: str) -> Prompt:
    """One prompt. Raises `UsageProblem` with the nearest names for one that is not there, `SettingsProblem`."""
    place, folder = _folder(shelf, agent)
    return _read(place, folder, name)[0]


def create_prompt(shelf: Shelf, agent: str, name: str, text: str) -> Prompt:
    """Keep a new prompt; one that is there is never overwritten. Raises `UsageProblem`, `SettingsProblem`."""
    name = checked_prompt_name(name)
    place, folder = _folder(shelf, agent)
    path = folder / f"{name}.md"
    prompt = Prompt(name, _checked(text), place.shown(path))
    with one_writer(place):
        if os.path.lexists(path):
            raise UsageProblem("agents.prompt.exists", prompt=name, file=prompt.shown)
        _write(place, path, prompt, None)
        place.note(path, None, prompt.text.encode())
    return prompt


def edit_prompt(
    shelf: Shelf, agent: str, name: str, *, text: str | None = None, old: str = "", new: str = ""
) -> tuple[Prompt, str]:
    """Replace the whole text, or exactly one place that reads `old`; returns the prompt and a unified diff.

    Raises `UsageProblem` where `old` is not there or there more than once, `SettingsProblem`; nothing is changed then.
    """
    place, folder = _folder(shelf, agent)
    with one_writer(place):
        before, state = _read(place, folder, name)
        prompt = Prompt(before.name, _checked(_replaced(before, old, new) if text is None else text), before.shown)
        if prompt.text != before.text:
            path = folder / f"{prompt.name}.md"
            _write(place, path, prompt, state)
            place.note(path, before.text.encode(), prompt.text.encode())
    rows = difflib.unified_diff(
        before.text.splitlines(keepends=True), prompt.text.splitlines(keepends=True), before.shown, before.shown
    )
    return prompt, "".join(row if row.endswith("\n") else f"{row}\n" for row in rows)


def _folder(shelf: Shelf, word: str) -> tuple[Place, Path]:
    agent = shelf.read().find(word)
    place = shelf.place_of(agent)
    return place, place.agent(agent.name) / FOLDER


def _read(place: Place, folder: Path, name: str) -> tuple[Prompt, os.stat_result]:
    name = checked_prompt_name(name)
    path = folder / f"{name}.md"
    shown = place.shown(path)
    try:
        text, state = place.read(path)
    except FileNotFoundError:
        names = tuple(markdown_files(folder))
        close = ", ".join(near(name, names) or names[:10])
        key = "agents.prompt.unknown" if close else "agents.prompt.none"
        raise UsageProblem(key, prompt=name, close=close) from None
    except Invalid as problem:
        raise SettingsProblem(problem.key, file=shown, line=problem.line) from None
    except OSError as problem:
        raise unusable(problem, shown) from problem
    return Prompt(name, text.removeprefix("\ufeff"), shown), state


def _replaced(prompt: Prompt, old: str, new: str) -> str:
    times = prompt.text.count(old) if old else 0
    if times != 1:
        key = "agents.prompt.not_found" if not times else "agents.prompt.several"
        raise UsageProblem(key, prompt=prompt.name, times=times)
    return prompt.text.replace(old, new)


def _checked(text: str) -> str:
    if not text.strip():
        raise UsageProblem("agents.prompt.empty")
    if not can_be_kept(text):
        raise UsageProblem("agents.prompt.characters")
    if len(text.encode()) > MAX_BYTES:
        raise UsageProblem("agents.prompt.too_big", kilobytes=MAX_BYTES // 1000)
    return text


def _write(place: Place, path: Path, prompt: Prompt, expected: os.stat_result | None) -> None:
    try:
        place.write(path, prompt.text, expected)
    except OSError as problem:
        raise unusable(problem, prompt.shown) from problem
