"""`maia keys`: explain, list, keep, remove and try keys (C5)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from maia.app.hermes_homes import migrate_homes, write_home
from maia.app.keyground import (
    NOTHING_THERE,
    SETTINGS,
    STDIN,
    KeyGround,
    at_terminal,
    is_fed,
    only_word,
    place_words,
    print_json,
    problems_json,
    read_key,
    refused,
    stdin_text,
    told,
    words_of,
)
from maia.app.keytrial import count_models, endpoint_of
from maia.app.usage import wrong_words
from maia.core.errors import UsageProblem
from maia.core.jsonvalue import JsonObject
from maia.core.secret import Secret
from maia.core.text import visible
from maia.credentials import hermes
from maia.credentials.explain import Listed, after_refusal, as_json, listed, look_up, suggested_variable
from maia.credentials.problems import Problem
from maia.credentials.signals import Ballot, Policy
from maia.credentials.vault import open_vault
from maia.credentials.vote import Resolution, resolve
from maia.i18n.catalogue import Catalogue
from maia.launch import find_folders
from maia.terminal.options import Options

if TYPE_CHECKING:
    from maia.core.endings import Failure


def keys(options: Options, say: Catalogue) -> int:
    """`maia keys ACTION …`. Raises `UsageProblem` where the words make no command."""
    _, *words = options.command
    action = _ACTIONS.get(words[0]) if words else None
    if action is None:
        raise wrong_words("keys")
    folders = find_folders({**os.environ, **({"MAIA_CWD": options.cwd} if options.cwd else {})})
    ground = KeyGround(options, os.environ, say, folders.launch, open_vault(folders.config / "keys", os.environ))
    return action(ground, words[1:])


# Explain --------------------------------------------------------------------------------------------------------------


def _explain(ground: KeyGround, words: Sequence[str]) -> int:
    name = only_word(words, 1)
    token = _typed(ground, name)
    found = look_up(ground.request("" if name == "-" else name, token))
    home = ground.home()
    files = hermes.agent_files(Path(home.path)) if home.path is not None and found.error is None else ()
    problems = tuple(p for p in home.problems if p.code != "NO_HOME")
    if ground.options.as_json:
        print_json({**_with_words(as_json(found, files), ground.say), "agentHome": problems_json(problems, ground.say)})
    else:
        for row in (*_rows(found, files, ground.say), *told(problems, ground.say)):
            print(row)
    return _code(found)


def _typed(ground: KeyGround, name: str) -> Secret | None:
    """The token on standard input: asked for by `-`, or read where no name and no settings file say where to look."""
    if name not in ("", "-"):
        return None
    if name == "-" or not (ground.settings or at_terminal()):
        return read_key(ground.say)
    if ground.settings and is_fed():
        return Secret(text) if (text := stdin_text()).strip() else None
    return None


def _code(found: Resolution) -> int:
    error = found.error
    return 0 if error is None else NOTHING_THERE if error.code == "NO_LLM_TOKEN" else 1


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


def _rows(found: Resolution, files: Sequence[Path], say: Catalogue) -> Iterator[str]:
    if found.detection.length:
        yield say("keys.row.token", token=found.detection.masked, source=place_words(found.source or STDIN, say))
    for signal in found.signals:
        voice = say(f"keys.signal.{signal.voice}")
        named = signal.provider or say("keys.nobody")
        origin = place_words(signal.origin, say)
        yield "  " + visible(say("keys.row.signal", voice=voice, origin=origin, value=signal.shown, provider=named))
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
    why = [found.error] if found.error else []
    yield from told([*(p for p in found.problems if p.level != "fail"), *why], say)


# List, set, remove ----------------------------------------------------------------------------------------------------


def _list(ground: KeyGround, words: Sequence[str]) -> int:
    only_word(words, 0)
    found = [*listed(ground.layers()), *_of_settings(ground)]
    if ground.options.as_json:
        print_json(
            [
                {
                    "variable": row.variable,
                    "where": row.where,
                    "token": row.detection.masked,
                    "provider": row.provider,
                    "confidence": row.detection.confidence,
                    "warnings": problems_json(row.problems, ground.say),
                }
                for row in found
            ]
        )
        return 0 if found else NOTHING_THERE
    for row in found:
        where = place_words(row.where, ground.say)
        print(f"{row.variable:<28} {row.detection.masked:<20} {row.provider:<14} {visible(where)}")
    if not found:
        print(ground.say("keys.code.no_llm_token"))
    return 0 if found else NOTHING_THERE


def _of_settings(ground: KeyGround) -> Iterator[Listed]:
    """The keys that stand in the settings themselves, for the server that is written beside them."""
    from maia.app.build import lay_ground
    from maia.llm.endpoints import configured

    settings = lay_ground(ground.options, ground.env, ground.say).rules.settings.plain()
    for endpoint in configured(settings, {}).endpoints:
        target = endpoint.target
        if target is None or target.key is None:
            continue
        variable = "LiteLLM_API_Key" if endpoint.name == "litellm" else f"endpoints.{endpoint.name}"
        vote = resolve(Ballot(target.key, base_url=target.base_url, policy=Policy(allow_openrouter=True)))
        yield Listed(variable, SETTINGS, vote.detection, endpoint.name, vote.problems)


def _set(ground: KeyGround, words: Sequence[str]) -> int:
    """Keep a key under the named variable, or under the usual one of the provider that it shows."""
    name = only_word(words, 1).removeprefix("-")
    token = read_key(ground.say)
    found = look_up(ground.request(name, token))
    name = name or suggested_variable(found) or ""
    if found.detection.error or not name or (found.error and found.error.code == "VARIABLE_CONFLICT"):
        return refused([found.error] if found.error else [], ground.say)
    kept = ground.vault.set(name, token)
    where = ground.say(f"keys.keeper.{kept.keeper}")
    print(ground.say("keys.kept", name=kept.name, token=kept.masked, where=where))
    for row in _rows(found, (), ground.say):
        print(row)
    if at_terminal() and found.error is None:
        _try(ground, found)  # a person wants to know whether it works; the key is kept either way
    return 0


def _remove(ground: KeyGround, words: Sequence[str]) -> int:
    name = only_word(words, 1)
    if not name or name == "-":
        raise wrong_words("keys")
    if not ground.vault.remove(name):
        raise UsageProblem("keys.not_kept", name=name)
    print(ground.say("keys.removed", name=name))
    return 0


# Check ----------------------------------------------------------------------------------------------------------------


def _check(ground: KeyGround, words: Sequence[str]) -> int:
    """Ask the provider for its models with the key that is meant; a refusal is explained. A refused key is not sent."""
    name = only_word(words, 1)
    found = look_up(ground.request("" if name == "-" else name, read_key(ground.say) if name == "-" else None))
    if found.error or found.key is None:
        return refused(found.problems, ground.say)
    return _try(ground, found)


def _try(ground: KeyGround, found: Resolution) -> int:
    """One call with the key, to where the vote sends it; the exit code."""
    import asyncio

    endpoint = endpoint_of(found)
    if endpoint is None:
        print(ground.say("keys.check_unknown", provider=found.provider), file=sys.stderr)
        return 1
    from maia.core.errors import ModelFailed

    try:
        count = asyncio.run(count_models(endpoint))
    except ModelFailed as failed:
        return _check_failed(ground, found, failed.failure)
    if ground.options.as_json:
        print_json({"provider": found.provider, "host": found.host, "ok": True, "models": count})
    else:
        print(ground.say("keys.check_ok", host=found.host, count=count))
    return 0


def _check_failed(ground: KeyGround, found: Resolution, failure: Failure) -> int:
    refused_key = found.key if failure.kind == "auth" else None
    why = after_refusal(refused_key, found.base_url, found.source) if refused_key else None
    what = ground.say(f"failure.{failure.kind}", host=found.host, status=failure.status, model="")
    if ground.options.as_json:
        row: JsonObject = {"provider": found.provider, "host": found.host, "ok": False, "models": 0}
        row |= {"failure": failure.kind, "status": failure.status, "message": what}
        print_json({**row, "why": problems_json([why], ground.say)[0] if why else None})
    else:
        print(visible(ground.say("keys.check_failed", host=found.host, what=what)), file=sys.stderr)
        for line in told([why] if why else [], ground.say):
            print(line, file=sys.stderr)
        if why and ground.say.has(f"{why.words}.fix"):
            print("→ " + visible(ground.say(f"{why.words}.fix", **why.values)), file=sys.stderr)
    return 1


_ACTIONS: dict[str, Callable[[KeyGround, Sequence[str]], int]] = {
    "explain": _explain,
    "list": _list,
    "set": _set,
    "remove": _remove,
    "check": _check,
    "hermes": write_home,
    "migrate": migrate_homes,
}
