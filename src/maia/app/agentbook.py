"""Agents and their prompts as the door of the orchestrator needs them, over the files of the folder and of the home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from maia.agents import change, prompts
from maia.agents.shelf import Shelf
from maia.agents.shown import config_of
from maia.agents.template import template
from maia.app.agents import agent_shelf, changing
from maia.app.build import Ground
from maia.core.agent import AgentDefinition, AgentLevel
from maia.core.jsonvalue import JsonObject
from maia.orchestrator.ports import AgentList, Prompt


class ClientsAgents:
    """Port `AgentBook` on the ground of this front. A model asks: what only a person may write is refused."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def _shelf(self) -> Shelf:
        return agent_shelf(self._ground.folders)

    def _masked(self, agent: AgentDefinition) -> JsonObject:
        return config_of(agent, self._shelf().outside)

    def listed(self) -> AgentList:
        agents = self._shelf().read()
        return AgentList([self._masked(agent) for agent in agents.found], agents.notices)

    def find(self, word: str) -> JsonObject:
        return self._masked(self._shelf().read().find(word))

    def create(self, name: str, fields: Mapping[str, Any], level: AgentLevel) -> JsonObject:
        text = template(self._ground.say.lang, self._ground.env)
        written = changing(
            self._ground.folders,
            lambda shelf: change.create(shelf, name, text, fields, level, by_person=False),
        )
        return self._masked(written.agent)

    def update(self, word: str, fields: Mapping[str, Any]) -> JsonObject:
        def update(shelf: Shelf) -> change.Written:
            given = dict(fields)
            if given.get("permissions"):  # kinds that were not given stay as they are
                rules = shelf.read().find(word).rules
                given["permissions"] = {**asdict(rules), **given["permissions"]}
            return change.update(shelf, word, given, by_person=False)

        return self._masked(changing(self._ground.folders, update).agent)

    def delete(self, word: str) -> str:
        moved = changing(self._ground.folders, lambda shelf: change.delete(shelf, word))
        return self._ground.folders.shown(moved)

    def prompts(self, word: str) -> Sequence[str]:
        return prompts.prompt_names(self._shelf(), word)

    def create_prompt(self, word: str, name: str, text: str) -> Prompt:
        made = changing(self._ground.folders, lambda shelf: prompts.create_prompt(shelf, word, name, text))
        return Prompt(word, made.name, made.text, made.shown)

    def edit_prompt(self, word: str, name: str, text: str, old: str = "") -> tuple[Prompt, str]:
        def edit(shelf: Shelf) -> tuple[prompts.Prompt, str]:
            if old:
                return prompts.edit_prompt(shelf, word, name, old=old, new=text)
            return prompts.edit_prompt(shelf, word, name, text=text)

        made, difference = changing(self._ground.folders, edit)
        return Prompt(word, made.name, made.text, made.shown), difference

    def filled_prompt(self, word: str, name: str, arguments: str, values: Mapping[str, str]) -> str:
        return prompts.read_prompt(self._shelf(), word, name).filled(arguments, values)
