"""`maia keys`: explain, list, set, remove and check keys; write and move the homes of Hermes agents (C4, C5)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from maia.app.usage import wrong_words
from maia.core.errors import UsageProblem
from maia.core.secret import Secret
from maia.core.text import visible
from maia.core.types import JsonObject
from maia.credentials import hermes, migrate
from maia.credentials.explain import after_refusal, as_json, listed, look_up, suggested_variable
from maia.credentials.find import MODEL_VAR, Request
from maia.credentials.hermes_home import CENTRAL, AgentHome, agent_home, agent_of, agents_root
from maia.credentials.prefixes import shown_name
from maia.credentials.problems import Problem
from maia.credentials.sources import Layer, agent_layer, process_layer, settings_layer
from maia.credentials.vault import Vault, open_vault
from maia.credentials.vote import Resolution
from maia.i18n.catalogue import Catalogue
from maia.launch import find_folders
from maia.terminal.options import Options

if TYPE_CHECKING:
    from maia.core.types import Failure
    from maia.llm.endpoint import Endpoint

MAX_TYPED: Final = 100_000
"""Bytes of standard input that are read for one key; a longer text is none."""

NOTHING_THERE: Final = 3
"""Exit code where no key is found at all (decisions §11)."""


@dataclass(frozen=True, slots=True)
class _Ground:
    """Where keys are looked for in this run."""

    options: Options
    env: Mapping[str, str]
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
        return (*found, process_layer(self.env), *((process_layer(kept, "keys"),) if kept else ()))

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


def keys(options: Options, say: Catalogue) -> int:
    """`maia keys ACTION …`. Raises `UsageProblem` where the words make no command."""
    _, *words = options.command
    action = _ACTIONS.get(words[0]) if words else None
    if action is None:
        raise wrong_words("keys")
    folders = find_folders({**os.environ, **({"MAIA_CWD": options.cwd} if options.cwd else {})})
    ground = _Ground(options, os.environ, say, folders.launch, open_vault(folders.config / "keys", os.environ))
    return action(ground, words[1:])


def _only(words: Sequence[str], most: int) -> str:
    """The one word that may follow. A key never stands there: it would be in the shell's history and in `ps`."""
    if len(words) > most:
        raise wrong_words("keys")
    word = words[0] if words else ""
    if word and word != "-" and shown_name(word) != word:
        raise UsageProblem("keys.not_an_argument")
    return word


# Explain --------------------------------------------------------------------------------------------------------------


def _explain(ground: _Ground, words: Sequence[str]) -> int:
    name = _only(words, 1)
    token = _typed(ground, name)
    found = look_up(ground.request("" if name == "-" else name, token))
    home = ground.home()
    files = hermes.agent_files(Path(home.path)) if home.path is not None and found.error is None else ()
    problems = tuple(p for p in home.problems if p.code != "NO_HOME")
    if ground.options.as_json:
        _print_json({**_with_words(as_json(found, files), ground.say), "agentHome": _problems(problems, ground.say)})
    else:
        for row in (*_rows(found, files, ground.say), *_told(problems, ground.say)):
            print(row)
    return _code(found)


def _typed(ground: _Ground, name: str) -> Secret | None:
    """The token on standard input: asked for by `-`, or read where no name and no settings file say where to look."""
    if name not in ("", "-"):
        return None
    if name == "-" or not (ground.settings or _at_terminal()):
        return _read_key(ground.say)
    if ground.settings and _is_fed():
        return Secret(text) if (text := _stdin_text()).strip() else None
    return None


def _at_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


def _is_fed() -> bool:
    """Whether somebody writes to standard input; one that stays open and silent is not waited for."""
    import select
    import stat

    if _at_terminal():
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and bool(select.select([sys.stdin], [], [], 0.3)[0]))
    except (OSError, ValueError):
        return False


def _read_key(say: Catalogue) -> Secret:
    """A key from standard input, or typed without being seen at a terminal."""
    if not _at_terminal():
        return Secret(_stdin_text())
    from getpass import getpass

    return Secret(getpass(say("keys.prompt") + " "))


def _stdin_text() -> str:
    data = sys.stdin.buffer.read(MAX_TYPED + 1)
    if len(data) > MAX_TYPED:
        raise UsageProblem("keys.too_long")
    return data.decode("utf-8", "replace")


def _code(found: Resolution) -> int:
    error = found.error
    return 0 if error is None else NOTHING_THERE if error.code == "NO_LLM_TOKEN" else 1


# Words ----------------------------------------------------------------------------------------------------------------


def words_of(problem: Problem, say: Catalogue) -> str:
    """The sentence of a problem."""
    values = dict(problem.values)
    if "reason" in values:
        values["reason"] = say(f"keys.reason.{values['reason']}")
    return visible(say(problem.words, **values))


def _problems(problems: Sequence[Problem], say: Catalogue) -> list[JsonObject]:
    return [{"code": p.code, "level": p.level, "message": words_of(p, say), **p.values} for p in problems]


def _with_words(data: JsonObject, say: Catalogue) -> JsonObject:
    """The same data, with each problem's sentence in it."""

    def worded(row: JsonObject) -> JsonObject:
        values = {name: value for name, value in row.items() if name not in ("code", "level")}
        return {**row, "message": words_of(Problem(row["code"], row["level"], values), say)}

    return {
        **data,
        "warnings": [worded(row) for row in data["warnings"]],
        "error": worded(data["error"]) if data["error"] else None,
    }


def _told(problems: Sequence[Problem], say: Catalogue) -> Iterator[str]:
    for problem in problems:
        yield f"{problem.level.upper():<5} {words_of(problem, say)}"


def _rows(found: Resolution, files: Sequence[Path], say: Catalogue) -> Iterator[str]:
    if found.detection.length:
        yield say("keys.row.token", token=found.detection.masked, source=found.source or "stdin")
    for signal in found.signals:
        voice = say(f"keys.signal.{signal.voice}")
        named = signal.provider or say("keys.nobody")
        yield "  " + visible(
            say("keys.row.signal", voice=voice, origin=signal.origin, value=signal.shown, provider=named)
        )
    if found.key is not None:
        by = say(f"keys.signal.{found.decided_by}")
        confidence = say(f"keys.confidence.{found.confidence}")
        yield say("keys.row.provider", provider=found.provider, confidence=confidence, by=by)
        if found.region:
            yield say("keys.row.region", region=found.region)
        yield say("keys.row.host", host=found.host or say("keys.nowhere"))
        yield say("keys.row.vars", names=", ".join(found.env_vars))
    if files:
        yield say("keys.row.files", names=", ".join(map(str, files)))
    refused = [found.error] if found.error else []
    yield from _told([*(p for p in found.problems if p.level != "fail"), *refused], say)


def _print_json(value: JsonObject | list[JsonObject]) -> None:
    print(json.dumps(value, ensure_ascii=False))


# List, set, remove ----------------------------------------------------------------------------------------------------


def _list(ground: _Ground, words: Sequence[str]) -> int:
    _only(words, 0)
    found = list(listed(ground.layers()))
    if ground.options.as_json:
        _print_json(
            [
                {
                    "variable": row.variable,
                    "where": row.where,
                    "token": row.detection.masked,
                    "provider": row.provider,
                    "confidence": row.detection.confidence,
                    "warnings": _problems(row.problems, ground.say),
                }
                for row in found
            ]
        )
        return 0 if found else NOTHING_THERE
    for row in found:
        print(f"{row.variable:<28} {row.detection.masked:<20} {row.provider:<14} {visible(row.where)}")
    if not found:
        print(ground.say("keys.code.no_llm_token"))
    return 0 if found else NOTHING_THERE


def _set(ground: _Ground, words: Sequence[str]) -> int:
    """Keep a key under the named variable, or under the usual one of the provider that it shows."""
    name = _only(words, 1).removeprefix("-")
    token = _read_key(ground.say)
    found = look_up(ground.request(name, token))
    name = name or suggested_variable(found) or ""
    if found.detection.error or not name:
        for row in _told([found.error] if found.error else [], ground.say):
            print(row, file=sys.stderr)
        return 1
    kept = ground.vault.set(name, token)
    where = ground.say(f"keys.keeper.{kept.keeper}")
    print(ground.say("keys.kept", name=kept.name, token=kept.masked, where=where))
    for row in _rows(found, (), ground.say):
        print(row)
    if _at_terminal() and found.error is None:
        _try(ground, found)  # a person wants to know whether it works; the key is kept either way
    return 0


def _remove(ground: _Ground, words: Sequence[str]) -> int:
    name = _only(words, 1)
    if not name or name == "-":
        raise wrong_words("keys")
    if not ground.vault.remove(name):
        raise UsageProblem("keys.not_kept", name=name)
    print(ground.say("keys.removed", name=name))
    return 0


# Check ----------------------------------------------------------------------------------------------------------------


def _check(ground: _Ground, words: Sequence[str]) -> int:
    """Ask the provider for its models with the key that is meant; a refusal is explained. A refused key is not sent."""
    name = _only(words, 1)
    found = look_up(ground.request("" if name == "-" else name, _read_key(ground.say) if name == "-" else None))
    if found.error or found.key is None:
        return _refused(found.problems, ground.say)
    return _try(ground, found)


def _try(ground: _Ground, found: Resolution) -> int:
    """One call with the key, to where the vote sends it; the exit code."""
    import asyncio

    target = _target(found)
    if target is None:
        print(ground.say("keys.check_unknown", provider=found.provider), file=sys.stderr)
        return 1
    from maia.core.errors import ModelFailed
    from maia.llm.models import list_models
    from maia.llm.transport import get_json

    try:
        models = asyncio.run(list_models(target, get_json))
    except ModelFailed as failed:
        return _check_failed(ground, found, failed.failure)
    if ground.options.as_json:
        _print_json({"provider": found.provider, "host": found.host, "ok": True, "models": len(models)})
    else:
        print(ground.say("keys.check_ok", host=found.host, count=len(models)))
    return 0


def _target(found: Resolution) -> Endpoint | None:
    """The endpoint that asks this provider, made by the model room from the variables it knows; None for others."""
    from maia.llm.endpoints import configured
    from maia.llm.providers import BY_NAME

    key, row = found.key.reveal() if found.key else "", BY_NAME.get(found.provider)
    if row is None:
        entry = {"name": found.provider, "url": found.base_url, "key": key}
        endpoints = configured({"endpoints": [entry]}, {}).endpoints
    else:
        names = row.bearer_vars if found.detection.kind == "oauth" and row.bearer_vars else row.key_vars
        endpoints = configured({}, {names[0]: key, row.base_var: found.base_url}).endpoints
    return next((endpoint for endpoint in endpoints if endpoint.name == found.provider), None)


def _check_failed(ground: _Ground, found: Resolution, failure: Failure) -> int:
    refused = failure.kind == "auth" and found.key is not None
    why = after_refusal(found.key, found.base_url) if refused and found.key else None
    what = ground.say(f"failure.{failure.kind}", host=found.host, status=failure.status, model="")
    if ground.options.as_json:
        row: JsonObject = {"provider": found.provider, "host": found.host, "ok": False, "models": 0}
        row |= {"failure": failure.kind, "status": failure.status, "message": what}
        _print_json({**row, "why": _problems([why], ground.say)[0] if why else None})
    else:
        print(visible(ground.say("keys.check_failed", host=found.host, what=what)), file=sys.stderr)
        for line in _told([why] if why else [], ground.say):
            print(line, file=sys.stderr)
    return 1


# Agents of Hermes -----------------------------------------------------------------------------------------------------


def _hermes(ground: _Ground, words: Sequence[str]) -> int:
    """Write an agent's home, or show masked what would change."""
    if len(words) > 1:
        raise wrong_words("keys")
    agent = words[0] if words else ""
    home = ground.home(agent)
    request = ground.request(agent=agent or (agent_of(ground.settings.name) if ground.settings else "") or CENTRAL)
    found = look_up(request)
    if home.path is None or found.error:
        return _refused([*home.problems, *found.problems], ground.say)
    folder = Path(home.path)
    model = next((m for layer in request.layers if (m := layer.values.get(MODEL_VAR, ""))), "")
    act = hermes.plan if ground.options.dry_run else hermes.write
    planned = act(found, folder, model)
    for change in planned.changes:
        print(visible(str(change.path)))
        for line in change.shown():
            print(f"  {visible(line)}")
    for row in _told((*home.problems, *found.warnings, *planned.problems), ground.say):
        print(row, file=sys.stderr)
    return 1 if planned.error else 0


def _refused(problems: Sequence[Problem], say: Catalogue) -> int:
    for row in _told(problems, say):
        print(row, file=sys.stderr)
    return NOTHING_THERE if any(problem.code == "NO_LLM_TOKEN" for problem in problems) else 1


def _migrate(ground: _Ground, words: Sequence[str]) -> int:
    """Move old homes out of this workspace, or list what would move. Exit codes 0, 1 and 2 (C4.05)."""
    if words:
        raise wrong_words("keys")
    root = agents_root(ground.env, str(ground.launch))
    if root is None:
        return _refused([Problem("NO_HOME", "fail")], ground.say)
    act = migrate.preview if ground.options.dry_run else migrate.migrate
    done = act(ground.launch, Path(root))
    if ground.options.as_json:
        _print_json([_move_json(move, ground.say) for move in done.moves])
        return done.code
    for move in done.moves:
        print(
            visible(ground.say("keys.move", n=len(move.files), source=move.source, target=move.target, size=move.size))
        )
        for name in move.conflicts:
            print(visible(ground.say("keys.move_conflict", name=name)))
        for row in _told(move.problems, ground.say):
            print(row, file=sys.stderr)
    if not done.moves:
        print(ground.say("keys.nothing_to_move"))
    return done.code


def _move_json(move: migrate.Move, say: Catalogue) -> JsonObject:
    return {
        "agent": move.agent,
        "source": str(move.source),
        "target": str(move.target),
        "files": list(move.files),
        "bytes": move.size,
        "conflicts": list(move.conflicts),
        "problems": _problems(move.problems, say),
    }


_ACTIONS: dict[str, Callable[[_Ground, Sequence[str]], int]] = {
    "explain": _explain,
    "list": _list,
    "set": _set,
    "remove": _remove,
    "check": _check,
    "hermes": _hermes,
    "migrate": _migrate,
}
