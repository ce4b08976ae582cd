"""Agents made, changed field by field and taken away: nothing overwritten, nothing lost, one process at a time."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from maia.agents.document import FIELDS, MAX_BYTES, Origin, read_document
from maia.agents.files import FILE, Place, one_writer
from maia.agents.header import CannotEdit, Invalid, Value, read_header, with_field
from maia.agents.names import checked_name, near
from maia.agents.sections import TITLES, lines_of, read_sections, with_section
from maia.agents.shelf import Agents, Shelf, taken_by, unusable
from maia.core.agent import AgentDefinition, AgentLevel
from maia.core.errors import SettingsProblem, UsageProblem, system_words
from maia.core.filewrite import FileChanged
from maia.core.jsonvalue import JsonObject
from maia.core.text import can_be_kept

CHANGEABLE: Final = (*(name for name in FIELDS if name != "name"), *TITLES)
"""Fields that can be set: those of the header, and the sections `instructions`, `missions`, `output`."""

SWITCHES: Final = ("trace", "memory", "asks_nothing", "enabled")
NUMBERS: Final = ("max_turns", "monthly_tokens")
LISTS: Final = ("tools", "skills", "folders", "capabilities", "constraints")
PROSE: Final = ("goal", "backstory")
"""Fields of the header that may have several lines."""

TRASH: Final = Path(".maia/.trash/agents")

_USUAL_SECTIONS: Final = {
    "missions": "Do the task that you are given, whole, and nothing beside it.",
    "output": "A short summary of what was done and found, with the files concerned.",
}
"""What an agent is told that somebody made by its instructions alone."""


class ChangedMeanwhile(SettingsProblem):
    """The file is not the one any more for which a change was thought."""


def revision_of(text: str) -> str:
    """What tells one content of a file from another."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Written:
    """An agent as it is after a change; `file` is where it lies."""

    agent: AgentDefinition
    file: Path


def create(
    shelf: Shelf, name: str, template: str, fields: Mapping[str, Any], level: AgentLevel, *, by_person: bool = True
) -> Written:
    """Make an agent from the commented template and the given fields (`CHANGEABLE`); nothing is ever overwritten.

    Without any field the template stays as it is, for a person to fill in. Else `description` and `instructions` are
    needed. Raises `UsageProblem` for a name or field that does not do, for a name or nickname that is taken, and where
    `by_person` is False for fields that only a person may set; `SettingsProblem` where nothing can be written.
    A client makes none in a folder that nobody trusts: it would lie there and could not be used.
    """
    name = checked_name(name, shelf.outside.runners)
    place = _place(shelf, level)
    given = _checked(fields)
    if missing := [field for field in ("description", "instructions") if given and not given.get(field)]:
        raise UsageProblem("agents.create.missing", fields=", ".join(missing))
    given = {**_USUAL_SECTIONS, **given} if given else {}
    if not by_person and place.level == "project" and not shelf.is_trusted:
        raise UsageProblem("agents.untrusted", name=name)
    with one_writer(place):
        agents = shelf.read()
        file = place.agent(name) / FILE
        if os.path.lexists(file):
            raise UsageProblem("agents.exists", file=place.shown(file))
        if (other := taken_by(agents.found, name)) is not None and (other.name, other.level) != (name, "home"):
            raise UsageProblem("agents.taken", name=name, other=other.name, file=other.shown)
        text = _edited(template, {"name": name, **given}, file, place)
        agent = _read(text, name, place, shelf)
        _refuse_taken(agent, agents.found, but=name)
        _refuse_widening(None, agent, by_person)
        _write(file, text, None, place)
        place.note(file, None, text.encode())
    return Written(agent, file)


def update(
    shelf: Shelf, word: str, fields: Mapping[str, Any], *, by_person: bool = True, revision: str = ""
) -> Written:
    """Change fields (`CHANGEABLE`) of the agent of that name or nickname; None takes a field of the header out.

    Comments, unknown fields, and everything that is not changed keep their bytes; entries of a list that stay keep
    their lines. `revision` is the `revision_of` the text that the change was thought for, empty for any. Raises as
    `create`, and `ChangedMeanwhile` where somebody else changed the file; it is then untouched.
    """
    given = _checked(fields)
    agent = shelf.read().find(word)
    place = shelf.place_of(agent)
    file = place.agent(agent.name) / FILE
    with one_writer(place):
        agents = shelf.read()
        before = agents.find(agent.name)
        try:
            text, state = place.read(file)
        except OSError as problem:
            raise unusable(problem, place.shown(file)) from problem
        if revision and revision != revision_of(text):
            raise ChangedMeanwhile("agents.changed", file=place.shown(file))
        new = _edited(text, given, file, place)
        after = _read(new, agent.name, place, shelf)
        _refuse_taken(after, agents.found, but=agent.name)
        _refuse_widening(before, after, by_person)
        if new != text:
            _write(file, new, state, place)
            place.note(file, text.encode(), new.encode())
    return Written(after, file)


def delete(shelf: Shelf, word: str) -> Path:
    """Move an agent with its prompts to the trash of its place; returns where it is now. Raises as `update`."""
    name, place = named(shelf, shelf.read(), word)
    with one_writer(place):
        stamp = time.strftime("%Y-%m-%d_%H_%M_%S")
        trash = place.root / TRASH
        try:
            if place.level == "project":
                place.refuse_links(place.agent(name))
                place.refuse_links(trash)
            trash.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError), open(trash.parent / ".gitignore", "x", encoding="ascii") as ignore:
                ignore.write("*\n")
            target = _free(trash, f"{name}.{stamp}")
            os.rename(place.agent(name), target)
            place.note(place.agent(name), None, None)
        except FileNotFoundError:
            raise UsageProblem("agents.none", name=word) from None
        except OSError as problem:
            raise SettingsProblem("agents.folder", file=place.shown(trash), why=system_words(problem)) from problem
    return target


def removed(shelf: Shelf) -> Sequence[tuple[str, str]]:
    """What `delete` put aside of the home folder's agents, the last first: what it is kept as, and its name."""
    names = ((each, _KEPT.fullmatch(each)) for each in _listed(shelf.home.root / TRASH))
    found = [(each, match[1], match[2]) for each, match in names if match]
    return [(kept, name) for kept, name, _ in sorted(found, key=lambda row: row[2], reverse=True)]


def restore(shelf: Shelf, kept: str) -> str:
    """Put a removed agent of the home folder back to where it was; its name. Raises `UsageProblem`, `SettingsProblem`.

    Nothing is overwritten: where there is one of that name or nickname again, it stays aside.
    """
    place, name = shelf.home, dict(removed(shelf)).get(kept)
    if name is None:
        raise UsageProblem("agents.none_removed")
    with one_writer(place):
        agents, target = shelf.read(), place.agent(name)
        if os.path.lexists(target):
            raise UsageProblem("agents.exists", file=place.shown(target))
        if (other := taken_by(agents.found, name)) is not None and other.level == "home":
            raise UsageProblem("agents.taken", name=name, other=other.name, file=other.shown)
        try:
            os.rename(place.root / TRASH / kept, target)
        except OSError as problem:
            raise SettingsProblem("agents.folder", file=place.shown(target), why=system_words(problem)) from problem
    return name


_KEPT: Final = re.compile(r"([^\W_][\w-]*)\.(\d{4}-\d\d-\d\d_\d\d_\d\d_\d\d(?:_\d+)?)")


def _listed(folder: Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []


def widening(before: AgentDefinition | None, after: AgentDefinition) -> tuple[str, ...]:
    """The fields by which an agent may do more than before: what a model must not give to itself.

    Who trusted a program (`asks_nothing`) or lent a key did so for the runner and the model that stood there.
    """
    old = before or AgentDefinition(after.name, "", "", "")
    is_trusted = after.asks_nothing or bool(after.key)
    more = {
        "asks_nothing": after.asks_nothing and not old.asks_nothing,
        "enabled": after.is_enabled and not old.is_enabled,
        "permissions.allow": not set(after.rules.allow) <= set(old.rules.allow),
        "permissions.ask": not set(old.rules.ask) <= set(after.rules.ask),
        "permissions.deny": not set(old.rules.deny) <= set(after.rules.deny),
        "folders": not set(after.folders) <= set(old.folders),
        "key": after.key != old.key,
        "tools": not _is_within(after.tools, old.tools),
        "skills": not _is_within(after.skills, old.skills),
        "runner": is_trusted and after.runner != old.runner,
        "model": is_trusted and after.model != old.model,
    }
    return tuple(name for name, wider in more.items() if wider)


def _is_within(after: Sequence[str] | None, before: Sequence[str] | None) -> bool:
    """Whether a list of the only ones allowed, None for all, has none that the one before had not."""
    if before is None:
        return True
    return after is not None and set(map(str.casefold, after)) <= set(map(str.casefold, before))


def _refuse_widening(before: AgentDefinition | None, after: AgentDefinition, by_person: bool) -> None:
    if not by_person and (fields := widening(before, after)):
        raise UsageProblem("agents.person_only", fields=", ".join(fields), file=after.shown)


def _place(shelf: Shelf, level: AgentLevel) -> Place:
    return shelf.project if level == "project" and shelf.project is not None else shelf.home


def named(shelf: Shelf, agents: Agents, word: str) -> tuple[str, Place]:
    """The name and place of an agent, also of one whose file is invalid (by the name of its folder).

    Raises as `Agents.find` for one that is not there.
    """
    if word in agents.broken:
        places = (shelf.project, shelf.home) if shelf.is_trusted else (shelf.home,)
        return next((word, place) for place in places if place and os.path.lexists(place.agent(word) / FILE))
    agent = agents.find(word)
    return agent.name, shelf.place_of(agent)


def _free(folder: Path, name: str) -> Path:
    path, number = folder / name, 2
    while os.path.lexists(path):
        path, number = folder / f"{name}_{number}", number + 1
    return path


def _checked(fields: Mapping[str, Any]) -> dict[str, Value | None]:
    """The fields with values that can be written. Raises `UsageProblem` for an unknown one or a wrong kind of value."""
    checked: dict[str, Value | None] = {}
    for name, value in fields.items():
        if name not in CHANGEABLE:
            close = ", ".join(near(name, CHANGEABLE) or CHANGEABLE)
            raise UsageProblem("agents.unknown_field", field=name, close=close)
        if not _fits(name, value):
            raise UsageProblem("agents.wrong_value", field=name)
        checked[name] = tuple(cast("list[str]", value)) if isinstance(value, list) else value
    return checked


def _fits(name: str, value: object) -> bool:
    """Whether a value can stand in a file at all; what it means is for the reader of the file to say."""
    match value:
        case None:
            return name not in TITLES
        case bool():
            return name in SWITCHES
        case int():
            return name in NUMBERS
        case str():
            is_long = name in TITLES or name in PROSE
            return name != "permissions" and (is_long or "\n" not in value) and can_be_kept(value)
        case dict():
            parts = cast(JsonObject, value)
            known = all(part in ("allow", "ask", "deny") for part in parts)
            return name == "permissions" and known and all(map(_are_texts, parts.values()))
        case _:
            return name in LISTS and _are_texts(value)


def _are_texts(values: object) -> bool:
    if not isinstance(values, list | tuple):
        return False
    items = cast("Sequence[object]", values)
    return all(isinstance(item, str) and item.strip() and item.isprintable() for item in items)


def _edited(text: str, fields: Mapping[str, Value | None], file: Path, place: Place) -> str:
    """The text with all fields set. Raises `UsageProblem`, `SettingsProblem`."""
    name = ""
    try:
        for name, value in fields.items():
            text = _with_section(text, name, value) if name in TITLES else with_field(text, name, _joined(value))
    except Invalid as problem:
        raise UsageProblem(problem.key, **{"file": place.shown(file), "line": problem.line, **problem.values}) from None
    except CannotEdit:
        raise SettingsProblem("agents.cannot_edit", file=place.shown(file), field=name) from None
    return text


def _with_section(text: str, name: str, value: Value | None) -> str:
    section = read_sections(text, read_header(text).body)[name]
    told = "\n".join(lines_of(value)) if isinstance(value, str) else ""
    if section.text == told:
        return text
    new = with_section(text, section, told, "\r\n" if "\r\n" in text else "\n")
    if read_sections(new, read_header(new).body)[name].text != told:
        raise UsageProblem("agents.not_told", field=name)
    return new


def _joined(value: Value | None) -> Value | None:
    return {name: rules for name, rules in value.items() if rules} if isinstance(value, Mapping) else value


def _read(text: str, name: str, place: Place, shelf: Shelf) -> AgentDefinition:
    """What the new text says, before it is written. Raises `UsageProblem` with the line that is wrong."""
    shown = place.shown(place.agent(name) / FILE)
    if len(text.encode()) > MAX_BYTES:
        raise UsageProblem("agents.too_big", file=shown, kilobytes=MAX_BYTES // 1000)
    try:
        return read_document(text, Origin(name, place.level, shown), shelf.outside).agent
    except Invalid as problem:
        raise UsageProblem(problem.key, **{"file": shown, "line": problem.line, **problem.values}) from None


def _refuse_taken(agent: AgentDefinition, others: Iterable[AgentDefinition], but: str) -> None:
    other = taken_by((each for each in others if each.name != but), agent.nickname)
    if other is not None:
        raise UsageProblem("agents.taken", name=agent.nickname, other=other.name, file=other.shown)


def _write(file: Path, text: str, expected: os.stat_result | None, place: Place) -> None:
    try:
        place.write(file, text, expected)
    except FileChanged as problem:
        raise ChangedMeanwhile("agents.changed", file=place.shown(file)) from problem
    except OSError as problem:
        raise unusable(problem, place.shown(file)) from problem
