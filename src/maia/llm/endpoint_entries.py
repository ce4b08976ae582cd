"""The setting `endpoints`: several endpoints by name, each an object; a known provider's name says the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast, get_args

from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.core.secret import Secret
from maia.llm.addresses import (
    checked_key,
    checked_max_output,
    checked_suffix,
    checked_url,
    is_loopback_url,
    same_host,
    usual_paths,
    warn_in_clear,
)
from maia.llm.endpoint import Endpoint
from maia.llm.loopback import local_url
from maia.llm.providers import BY_NAME, LOCAL_SERVERS, ListStyle, LocalServer, Served
from maia.llm.target import EffortControl, WireFormat, WireOptions, WireTarget

_FORMATS: Final[dict[str, WireFormat]] = {
    "openai": "openai-chat",
    "anthropic": "anthropic-messages",
    **{name: name for name in get_args(WireFormat)},
}

_FIELDS: Final = (
    "name",
    "format",
    "url",
    "chat",
    "models_path",
    "models",
    "key",
    "key_env",
    "headers",
    "max_output_tokens",
    "effort",
    "idle_timeout",
    "system",
)
"""What an entry of `endpoints` may hold; `keyEnv`, `key_env` and `key-env` are the same."""


def from_entries(settings: Mapping[str, object], env: Mapping[str, str], notices: list[Notice]) -> Iterator[Endpoint]:
    given = settings.get("endpoints")
    entries: list[tuple[str, object]] = []
    if isinstance(given, dict):
        entries = [(str(name), entry) for name, entry in cast(JsonObject, given).items()]
    elif isinstance(given, list):
        entries = [("", entry) for entry in cast("list[object]", given)]
    elif given is not None:
        notices.append(Notice("warn", "models.bad_endpoints", {}))
    for number, (name, entry) in enumerate(entries, 1):
        where = f"endpoints.{name or number}"
        if isinstance(entry, dict):
            yield from _one_listed(name, _fields(cast(JsonObject, entry), where, notices), where, env, notices)
        else:
            notices.append(Notice("warn", "models.bad_endpoint", {"setting": where}))


def _fields(entry: JsonObject, where: str, notices: list[Notice]) -> JsonObject:
    """The entry with its names in one spelling; unknown ones are named and left out."""
    known = {name.replace("_", ""): name for name in _FIELDS}
    fields: JsonObject = {}
    for raw, value in entry.items():
        name = known.get(re.sub(r"[_-]", "", raw).lower())
        if name is None:
            from difflib import get_close_matches  # only when a name is wrong

            close = get_close_matches(raw, _FIELDS, 1)
            values = {"setting": where, "name": raw, "close": close[0] if close else ", ".join(_FIELDS)}
            notices.append(Notice("warn", "models.unknown_field", values))
        else:
            fields[name] = value
    return fields


def _one_listed(
    name: str, fields: JsonObject, where: str, env: Mapping[str, str], notices: list[Notice]
) -> Iterator[Endpoint]:
    name = name or str(fields.get("name") or "")
    known = BY_NAME.get(name)
    local = next((server for server in LOCAL_SERVERS if server.name == name), None)
    if not re.fullmatch(r"[\w.-]+", name):
        notices.append(Notice("warn", "models.endpoint_without_name", {"setting": where}))
        return
    target_format = _format(fields, known, where, notices)
    url = fields.get("url", known.base_url if known else local_url(local, env) if local else None)
    base = checked_url(url, f"{where}.url", notices) if target_format != "other" or url else ""
    if target_format is None or base is None:
        return
    key = _listed_key(fields, known, local, base, where, env, notices)
    warn_in_clear(base, key, f"{where}.url", notices)
    chat, models = usual_paths(target_format, base, known)
    target = WireTarget(
        name,
        target_format,
        base,
        checked_suffix(fields, "chat", chat, notices),
        key,
        headers=_headers(fields, where, notices),
        idle_timeout=_seconds(fields, where, notices),
        max_output_tokens=checked_max_output({"MaxOutputTokens": fields.get("max_output_tokens")}, notices),
        options=_options(fields, known, where, notices),
    )
    style: ListStyle = local.style if local else "anthropic" if target_format == "anthropic-messages" else "openai"
    yield Endpoint(
        name,
        "settings",
        target,
        checked_suffix(fields, "models_path", models, notices),
        style if target_format != "other" else "none",
        _names(fields, where, notices),
        known.prefer if known else "",
    )


def _format(fields: JsonObject, known: Served | None, where: str, notices: list[Notice]) -> WireFormat | None:
    given = fields.get("format")
    if given is None:
        return known.format if known else "openai-chat"
    found = _FORMATS.get(given.strip().lower()) if isinstance(given, str) else None
    if found is None:
        values = {"setting": where, "value": str(given), "known": ", ".join(_FORMATS)}
        notices.append(Notice("warn", "models.bad_format", values))
    return found


def _listed_key(
    fields: JsonObject,
    known: Served | None,
    local: LocalServer | None,
    base: str,
    where: str,
    env: Mapping[str, str],
    notices: list[Notice],
) -> Secret | None:
    """The entry's key, else the variable it names, else the provider's own, which then goes to its own host only."""
    if fields.get("key"):
        return checked_key(fields["key"], f"{where}.key", notices)
    variable = fields.get("key_env")
    if isinstance(variable, str) and variable:
        if not env.get(variable):
            notices.append(Notice("warn", "models.key_variable_empty", {"setting": where, "variable": variable}))
        return checked_key(env.get(variable), variable, notices)
    if local and local.key_var:
        return checked_key(env.get(local.key_var), local.key_var, notices) if is_loopback_url(base) else None
    if known and same_host(base, known.base_url):
        found = next((name for name in (*known.key_vars, *known.bearer_vars) if env.get(name)), "")
        return checked_key(env.get(found), found, notices)
    return None


def _headers(fields: JsonObject, where: str, notices: list[Notice]) -> dict[str, str]:
    given = fields.get("headers", {})
    if isinstance(given, dict):
        pairs = cast("dict[str, Any]", given)
        if all(isinstance(value, str) and re.fullmatch(r"[\x20-\x7e]*", value) for value in pairs.values()):
            return {name: str(value) for name, value in pairs.items() if re.fullmatch(r"[\w-]+", name)}
    notices.append(Notice("warn", "models.bad_headers", {"setting": where}))
    return {}


def _seconds(fields: JsonObject, where: str, notices: list[Notice]) -> float:
    value = fields.get("idle_timeout", 120.0)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 3600:
        return float(value)
    notices.append(Notice("warn", "models.bad_timeout", {"setting": where, "value": str(value)}))
    return 120.0


def _options(fields: JsonObject, known: Served | None, where: str, notices: list[Notice]) -> WireOptions:
    options = WireOptions(effort=known.effort if known else None, system_name=str(fields.get("system", "")))
    control = fields.get("effort")
    if control is None:
        return options
    if control in get_args(EffortControl):
        return replace(options, effort=cast(EffortControl, control))
    values = {"setting": where, "value": str(control), "known": ", ".join(get_args(EffortControl))}
    notices.append(Notice("warn", "models.bad_effort_control", values))
    return options


def _names(fields: JsonObject, where: str, notices: list[Notice]) -> tuple[str, ...]:
    given = fields.get("models", [])
    if isinstance(given, list) and all(isinstance(name, str) and name.strip() for name in cast("list[Any]", given)):
        return tuple(str(name).strip() for name in cast("list[Any]", given))
    notices.append(Notice("warn", "models.bad_models", {"setting": where}))
    return ()
