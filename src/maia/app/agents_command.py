"""`maia agents`: list, show, create, edit and delete agents, their prompts, and the nicknames of models (C6.03)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from maia.agents import change
from maia.agents.files import FILE
from maia.agents.prompts import prompt_names, read_prompt
from maia.agents.shelf import Shelf
from maia.agents.shown import config_of, row_of
from maia.agents.template import template
from maia.app.agents import agent_shelf, changing
from maia.app.build import Ground, lay_ground
from maia.app.usage import wrong_words
from maia.core.agent import AgentLevel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.jsonvalue import JsonValue
from maia.core.text import visible
from maia.i18n.catalogue import Catalogue
from maia.terminal.endings import notice_lines
from maia.terminal.headless import show, stream_look
from maia.terminal.options import Options
from maia.terminal.streams import literal


def agents(options: Options, say: Catalogue) -> int:
    """`maia agents ACTION …`. Raises `UsageProblem` where the words make no command."""
    _, *words = options.command
    run = _ACTIONS.get(words[0]) if words else None
    if run is None:
        raise wrong_words("agents")
    return run(lay_ground(options, os.environ, say), words[1:])


def list_agents(ground: Ground, words: Sequence[str]) -> int:
    """All agents with who runs them, and what is wrong with those that cannot be read."""
    _expect(words, 0, 0)
    shelf = agent_shelf(ground.folders)
    found = shelf.read()
    waiting = {"n": len(found.waiting), "names": ", ".join(found.waiting)}
    _tell(ground, (*found.notices, *((Notice("warn", "agents.waiting", waiting),) if found.waiting else ())))
    rows = [row_of(agent, shelf.outside) for agent in found.found]
    if ground.options.as_json:
        _print_json(rows)
        return 0
    if not rows:
        print(ground.say("agents.list.none"), file=sys.stderr)
    off = ground.say("agents.list.disabled")
    _print_table([[str(row["name"]), str(row["nickname"]), _by(row, off), str(row["description"])] for row in rows])
    return 0


def _by(row: Mapping[str, Any], off: str) -> str:
    """What runs it, or that nothing does."""
    return " ".join(filter(None, (str(row["runner"]), str(row["model"])))) if row["enabled"] else off


def _show(ground: Ground, words: Sequence[str]) -> int:
    """The file as the person wrote it, keys masked; as JSON what it means."""
    word = _expect(words, 1, 1)[0]
    shelf = agent_shelf(ground.folders)
    agent = shelf.read().find(word)
    if ground.options.as_json:
        _print_json({**config_of(agent, shelf.outside), "prompts": list(prompt_names(shelf, agent.name))})
        return 0
    place = shelf.place_of(agent)
    text, _ = place.read(place.agent(agent.name) / FILE)
    print(agent.shown, file=sys.stderr)
    print(_literal(shelf.outside.masked(text)), end="")
    return 0


def _create(ground: Ground, words: Sequence[str]) -> int:
    name = _expect(words, 1, 1)[0]
    level: AgentLevel = "home" if ground.options.everywhere else "project"
    text, fields = template(ground.say.lang, ground.env), fields_of(ground.options.fields)
    done = changing(ground.folders, lambda shelf: change.create(shelf, name, text, fields, level))
    return _done(ground, done.agent.shown, config_of(done.agent, agent_shelf(ground.folders).outside))


def _edit(ground: Ground, words: Sequence[str]) -> int:
    """Set fields; without any, open the file in the person's editor and say what is wrong with it afterwards."""
    word = _expect(words, 1, 1)[0]
    fields = fields_of(ground.options.fields)
    if not fields:
        return changing(ground.folders, lambda shelf: _in_editor(ground, shelf, word))
    done = changing(ground.folders, lambda shelf: change.update(shelf, word, fields))
    return _done(ground, done.agent.shown, config_of(done.agent, agent_shelf(ground.folders).outside))


def _in_editor(ground: Ground, shelf: Shelf, word: str) -> int:
    if not sys.stdin.isatty():
        raise UsageProblem("agents.edit.nothing")
    found = shelf.read()
    name, place = change.named(shelf, found, word)
    file = place.agent(name) / FILE
    command = ground.env.get("VISUAL") or ground.env.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(command), str(file)], check=True)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise UsageProblem("screen.editor.failed", command=command) from error
    shelf.read().find(name)
    print(place.shown(file))
    return 0


def _delete(ground: Ground, words: Sequence[str]) -> int:
    word = _expect(words, 1, 1)[0]
    there = ground.folders.shown(changing(ground.folders, lambda shelf: change.delete(shelf, word)))
    if ground.options.as_json:
        _print_json({"trash": there})
    else:
        print(visible(ground.say("agents.deleted", name=word, place=there)))
    return 0


def _prompts(ground: Ground, words: Sequence[str]) -> int:
    """The names of an agent's prompts, or one prompt's text."""
    word, *name = _expect(words, 1, 2)
    shelf = agent_shelf(ground.folders)
    if name:
        prompt = read_prompt(shelf, word, name[0])
        if ground.options.as_json:
            _print_json({"name": prompt.name, "file": prompt.shown, "text": shelf.outside.masked(prompt.text)})
        else:
            print(_literal(shelf.outside.masked(prompt.text)), end="" if prompt.text.endswith("\n") else "\n")
        return 0
    names = list(prompt_names(shelf, word))
    if ground.options.as_json:
        _print_json(names)
    else:
        print("\n".join(names), end="\n" if names else "")
    return 0


def _nicknames(ground: Ground, words: Sequence[str]) -> int:
    """The person's table of models."""
    _expect(words, 0, 0)
    table = ground.rules.settings.nicknames
    if ground.options.as_json:
        _print_json([{"nickname": name, "runner": real.runner, "model": real.model} for name, real in table.items()])
        return 0
    if not table:
        print(ground.say("agents.nicknames.none"), file=sys.stderr)
    _print_table([[name, real.runner, real.model] for name, real in table.items()])
    return 0


_ACTIONS: Mapping[str, Callable[[Ground, Sequence[str]], int]] = {
    "list": list_agents,
    "show": _show,
    "create": _create,
    "edit": _edit,
    "delete": _delete,
    "prompts": _prompts,
    "nicknames": _nicknames,
}

_SWITCHES = {"true": True, "false": False}


def fields_of(given: Sequence[str]) -> dict[str, Any]:
    """`--set FIELD=VALUE` as fields; nothing after `=` takes the field out. Lists may be JSON or have commas.

    Raises `UsageProblem` for what is not written so.
    """
    fields: dict[str, Any] = {}
    for each in given:
        name, equals, text = each.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UsageProblem("agents.set", given=each)
        try:
            fields[name] = _value(name, text)
        except ValueError:
            raise UsageProblem("agents.wrong_value", field=name) from None
    return fields


def _value(name: str, text: str) -> Any:
    if not text:
        return None
    if name == "permissions" or (name in change.LISTS and text.startswith("[")):
        return json.loads(text)
    if name in change.LISTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    return _SWITCHES.get(text.lower(), text) if name in change.SWITCHES else text


def _done(ground: Ground, shown: str, config: Mapping[str, Any]) -> int:
    if ground.options.as_json:
        _print_json(dict(config))
    else:
        print(visible(ground.say("agents.written", file=shown)))
    return 0


def _expect(words: Sequence[str], least: int, most: int) -> Sequence[str]:
    if not least <= len(words) <= most:
        raise wrong_words("agents")
    return words


def _tell(ground: Ground, notices: Sequence[Notice]) -> None:
    look = stream_look(ground.env, sys.stderr)
    for notice in notices:
        show(notice_lines(notice, look, ground.say), look, sys.stderr)


def _print_json(value: JsonValue) -> None:
    print(literal(json.dumps(value, ensure_ascii=False), sys.stdout))


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need, the last one as it is."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)] if shown else []
    for row in shown:
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        print(literal("  ".join([*cells, row[-1]]).rstrip(), sys.stdout))


def _literal(text: str) -> str:
    return literal(text.removeprefix("\ufeff"), sys.stdout)
