"""What stands in an agent's `.env` and `auth.json`, as text from text: no file is touched here (C4.01, C4.02)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from maia.core.jsonvalue import JsonObject
from maia.core.providers import BY_NAME
from maia.credentials.prefixes import mask
from maia.credentials.problems import Problem, fail, warn
from maia.credentials.sources import token_vars
from maia.credentials.vote import Resolution

BEGIN: Final = "# >>> maia writes these lines at each run"
END: Final = "# <<< maia"

AUTH_VERSION: Final = 1
"""The only layout of `auth.json` that hermes-agent 0.19 writes."""

OUR_ENTRY: Final = "maia"

_SECRET_NAME: Final = r"(?i)(?:key|token|secret|password|passwd|credential|fingerprint)s?$"


# .env -----------------------------------------------------------------------------------------------------------------


def agent_values(found: Resolution, model: str) -> dict[str, str]:
    """The variables of an agent: the four canonical fields, then those that its provider's plugin reads (C4.01)."""
    key = found.key.reveal() if found.key else ""
    base = _hermes_base(found)
    values = {
        "ANTHROPIC_MODEL": model,
        "ANTHROPIC_AUTH_TOKEN": key,
        "ANTHROPIC_PROVIDER": found.provider,
        "ANTHROPIC_BASE_URL": found.base_url,
        **dict.fromkeys(found.key_vars, key),
    }
    if found.base_var:
        values[found.base_var] = base
    return {name: value for name, value in values.items() if value}


def _hermes_base(found: Resolution) -> str:
    """Hermes's own address for a provider where nobody named one: its plugin may speak another format than ours."""
    provider = BY_NAME.get(found.provider)
    if provider and found.hermes and found.hermes.base_url and found.base_url == provider.base_url:
        return found.hermes.base_url
    return found.base_url


def person_values(text: str) -> dict[str, str]:
    """The variables that a person wrote into `.env`; our own lines are not among them."""
    values: dict[str, str] = {}
    for line in _without_ours(text):
        if found := re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", line.lstrip("\ufeff"), re.ASCII):
            values[found[1]] = _unquoted(found[2])
    return values


def _unquoted(text: str) -> str:
    if found := re.match(r"'((?:[^'\\]|\\.)*)'", text):
        return re.sub(r"\\(['\\])", r"\1", found[1])
    if found := re.match(r'"((?:[^"\\]|\\.)*)"', text):
        return re.sub(r'\\(["\\$])', r"\1", found[1])
    return re.split(r"\s+#", text, maxsplit=1)[0].strip()


def _without_ours(text: str) -> Iterator[str]:
    """The lines of a file, with their ends, between which ours are left out."""
    ours = False
    for line in text.splitlines(keepends=True):
        mark = line.strip()
        if mark == BEGIN:
            ours = True
        elif mark == END and ours:
            ours = False
        elif not ours:
            yield line


def env_text(before: str, values: Mapping[str, str]) -> str:
    """The file with our lines at its end, where they win over earlier ones; a person's lines and comments stay."""
    end = "\r\n" if "\r\n" in before else "\n"
    kept = "".join(_without_ours(before))
    if kept and not kept.endswith(("\n", "\r")):
        kept += end
    return kept + "".join(f"{line}{end}" for line in (BEGIN, *map(_assignment, values.items()), END))


def _assignment(pair: tuple[str, str]) -> str:
    name, value = pair
    if re.fullmatch(r"[\w./:@%+=,~-]*", value, re.ASCII):
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{escaped}'"


def unfit_value(values: Mapping[str, str]) -> Problem | None:
    """A value that would not stay on its line: a line end in a model's name could set any variable."""
    name = next((name for name, value in values.items() if not value.isprintable()), None)
    return fail("INVALID_VALUE", variable=name) if name else None


# auth.json ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AuthText:
    """The new `auth.json`. `keep_old` when the old one could not be read and must be kept beside it."""

    text: str = field(repr=False)
    keep_old: bool = False
    problems: tuple[Problem, ...] = ()


def auth_text(before: str | None, found: Resolution) -> AuthText:
    """The pool with the effective provider's bucket only, seeded with its key; all else of the file stays (C4.02).

    The entry's source is `manual`: of others, Hermes removes the secret when it saves.
    """
    store, keep_old = _store(before)
    version = store.get("version", AUTH_VERSION)
    if type(version) is not int or version != AUTH_VERSION:
        return AuthText("", problems=(fail("AUTH_VERSION", version=str(version)[:20], known=AUTH_VERSION),))
    pool = store.get("credential_pool")
    keep_old = keep_old or not (pool is None or isinstance(pool, dict))
    buckets = cast(JsonObject, pool) if isinstance(pool, dict) else {}
    bucket = found.hermes.provider if found.hermes else found.provider
    store.setdefault("version", AUTH_VERSION)
    store["providers"] = {} if store.get("providers") is None else store["providers"]
    store["credential_pool"] = {bucket: [_entry(found), *_siblings(buckets.get(bucket), found)]}
    problems = (warn("CORRUPT_KEPT", file="auth.json"),) if keep_old else ()
    return AuthText(json.dumps(store, indent=2) + "\n", keep_old, problems)


def _store(before: str | None) -> tuple[JsonObject, bool]:
    """The file as data, and whether it was something else."""
    if before is None or not before.strip():
        return {}, False
    try:
        data = json.loads(before.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}, True
    return (cast(JsonObject, data), False) if isinstance(data, dict) else ({}, True)


def _entry(found: Resolution) -> JsonObject:
    return {
        "id": OUR_ENTRY,
        "label": OUR_ENTRY,
        "auth_type": "api_key",
        "priority": 0,
        "source": "manual",
        "access_token": found.key.reveal() if found.key else "",
        "base_url": _hermes_base(found),
        "last_status": None,
        "request_count": 0,
    }


def _siblings(bucket: Any, found: Resolution) -> list[JsonObject]:
    """The other keys of the same provider; ours, and another entry with the very same key, are seeded anew."""
    key = found.key.reveal() if found.key else ""
    entries = cast("list[Any]", bucket) if isinstance(bucket, list) else []
    kept = [cast(JsonObject, entry) for entry in entries if isinstance(entry, dict)]
    return [entry for entry in kept if entry.get("id") != OUR_ENTRY and entry.get("access_token") != key]


# Shown without keys ---------------------------------------------------------------------------------------------------


def masked_env(text: str) -> list[str]:
    """The lines of `.env` with every value that may be a secret masked."""
    return [_masked_line(line) for line in text.splitlines()]


def _masked_line(line: str) -> str:
    found = re.match(r"(\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*)(.*)$", line, re.ASCII)
    if not found or not (found[2] in token_vars() or re.search(_SECRET_NAME, found[2])):
        return line
    return found[1] + mask(_unquoted(found[3]))


def masked_auth(text: str) -> list[str]:
    """The lines of `auth.json` with every secret masked; one line for a file that cannot be read."""
    store, broken = _store(text)
    if broken:
        return [f"…({len(text)})"]
    return json.dumps(_masked(store), indent=2).splitlines() if store else []


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _masked(inner, key) for key, inner in cast(JsonObject, value).items()}
    if isinstance(value, list):
        return [_masked(inner, name) for inner in cast("list[Any]", value)]
    return mask(value) if isinstance(value, str) and re.search(_SECRET_NAME, name) else value
