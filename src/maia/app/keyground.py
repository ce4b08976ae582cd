"""What the `maia keys` commands share: where keys are looked for, how one is typed, how problems are told."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from maia.app.usage import wrong_words
from maia.core.errors import UsageProblem
from maia.core.jsonvalue import JsonObject
from maia.core.secret import Secret
from maia.core.text import visible
from maia.credentials import hermes
from maia.credentials.find import Request
from maia.credentials.hermes_home import AgentHome, agent_home, agent_of
from maia.credentials.prefixes import shown_name
from maia.credentials.problems import Problem
from maia.credentials.sources import ENVIRONMENT, Layer, agent_layer, process_layer, settings_layer
from maia.credentials.vault import Vault
from maia.i18n.catalogue import Catalogue
from maia.terminal.options import Options

MAX_TYPED: Final = 100_000
"""Bytes of standard input that are read for one key; a longer text is none."""

KEPT: Final = "keys"
SETTINGS: Final = "settings.json"
STDIN: Final = "stdin"
"""Where a key was, beside the environment and the files of an agent. These words are data; `place_words` reads them."""

NOTHING_THERE: Final = 3
"""Exit code where no key is found at all (decisions §11)."""


@dataclass(frozen=True, slots=True)
class KeyGround:
    """Where keys are looked for in this run."""

    options: Options
    env: Mapping[str, str] = field(repr=False)
    say: Catalogue
    launch: Path
    vault: Vault

    def layers(self, agent: str = "") -> tuple[Layer, ...]:
        """From the most special place to the most general; an agent's own `.env` where an agent is meant."""
        found: list[Layer] = []
        if self.settings:
            found.append(settings_layer(self.settings, self.env))
        home = self.home(agent).path if agent or self.settings else None
        if home is not None and (values := hermes.read_person_values(Path(home))):
            found.append(agent_layer(Path(home) / hermes.ENV_FILE, values))
        kept = {name: secret.reveal() for name, secret in self.vault.all().items()}
        return (*found, process_layer(self.env), *((process_layer(kept, KEPT),) if kept else ()))

    @property
    def settings(self) -> Path | None:
        if len(self.options.settings) > 1:
            raise wrong_words("keys")
        return self.launch / Path(self.options.settings[0]).expanduser() if self.options.settings else None

    def home(self, agent: str = "") -> AgentHome:
        """The home of the named agent, else of the one that the settings file is for."""
        named = agent or (agent_of(self.settings.name) if self.settings else "")
        return agent_home(named, self.env, str(self.launch))

    def request(self, variable: str = "", token: Secret | None = None, agent: str = "") -> Request:
        return Request(self.layers(agent), variable, token, self.options.base_url or "", self.options.hint or "")


def only_word(words: Sequence[str], most: int) -> str:
    """The one word that may follow. A key never stands there: it would be in the shell's history and in `ps`."""
    if len(words) > most:
        raise wrong_words("keys")
    word = words[0] if words else ""
    if word and word != "-" and shown_name(word) != word:
        raise UsageProblem("keys.not_an_argument")
    return word


def at_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


def is_fed() -> bool:
    """Whether somebody writes to standard input; one that stays open and silent is not waited for."""
    import select
    import stat

    if at_terminal():
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and bool(select.select([sys.stdin], [], [], 0.3)[0]))
    except (OSError, ValueError):
        return False


def read_key(say: Catalogue) -> Secret:
    """A key from standard input, or typed without being seen at a terminal."""
    if not at_terminal():
        return Secret(stdin_text())
    from getpass import getpass

    return Secret(getpass(say("keys.prompt") + " "))


def stdin_text() -> str:
    data = sys.stdin.buffer.read(MAX_TYPED + 1)
    if len(data) > MAX_TYPED:
        raise UsageProblem("keys.too_long")
    return data.decode("utf-8", "replace")


def words_of(problem: Problem, say: Catalogue) -> str:
    """The sentence of a problem."""
    values = dict(problem.values)
    if "reason" in values:
        values["reason"] = say(f"keys.reason.{values['reason']}")
    if isinstance(values.get("where"), str):
        values["where"] = place_words(values["where"], say)
    return visible(say(problem.words, **values))


def place_words(where: str, say: Catalogue) -> str:
    """The places that have words of ours in the reader's language; files and variables stay as they are."""
    words = {name: say(f"keys.place.{name}") for name in (ENVIRONMENT, KEPT, STDIN)}
    return ", ".join(words.get(part, part) for part in where.split(", "))


def problems_json(problems: Sequence[Problem], say: Catalogue) -> list[JsonObject]:
    return [{"code": p.code, "level": p.level, "message": words_of(p, say), **p.values} for p in problems]


def told(problems: Sequence[Problem], say: Catalogue) -> Iterator[str]:
    for problem in problems:
        yield f"{problem.level.upper():<5} {words_of(problem, say)}"


def print_json(value: JsonObject | list[JsonObject]) -> None:
    print(json.dumps(value, ensure_ascii=False))


def refused(problems: Sequence[Problem], say: Catalogue) -> int:
    for row in told(problems, say):
        print(row, file=sys.stderr)
    return NOTHING_THERE if any(problem.code == "NO_LLM_TOKEN" for problem in problems) else 1
