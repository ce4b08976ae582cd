"""Settings in layers: the home file, the launch folder's file, the environment, the command line; later ones win.

Every value remembers where it was written. What is wrong becomes a WARN that names file, line and key, and only that
value is left out (T1.10). A folder may come from a stranger: its file never says where requests go or with which key,
and until the folder is trusted it can only restrict (decisions §9).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

from maia.core.agent import OWN_RUNNER, RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.secret import Secret
from maia.core.types import Effort, JsonObject, JsonValue
from maia.settings_file import SettingsFile, read_settings_file

SandboxMode: TypeAlias = Literal["off", "auto", "required"]
"""Ordered from free to strict."""

DEFAULT_MAX_ITERATIONS = 50
"""T1.04."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How commands are walled in. `network` False cuts them off from every network.

    `writable` are further folders that commands may write, `readable` hidden places (`~/.ssh`) that they may see, and
    `env` names of withheld variables that they get.
    """

    mode: SandboxMode = "auto"
    network: bool = True
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    env: tuple[str, ...] = ()

    def restricted(self, other: Sandbox) -> Sandbox:
        """This one, with the other's restrictions added; what the other would open stays closed."""
        modes = get_args(SandboxMode)
        mode: SandboxMode = self.mode if modes.index(self.mode) >= modes.index(other.mode) else other.mode
        return replace(self, mode=mode, network=self.network and other.network)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How runs of agents are hosted and kept (docs/runs.md): how many of one host work at once, how long an approval
    waits, and how long, and how many, runs that are over are kept.
    """

    at_once: int = 10
    approval_minutes: int = 10
    keep_days: int = 30
    keep: int = 500


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """Where private memories lie and how they are searched (C6.04).

    `on` gives one to maia itself, too, beside its agents. `url` is a PostgreSQL server in place of files, `embeddings`
    a model by `provider/model` or an endpoint as in `endpoints` with its `model`, for finding by meaning.
    """

    on: bool = False
    url: Secret | None = None
    embeddings: str | JsonObject | None = field(default=None, repr=False)


PrivacyMode: TypeAlias = Literal["off", "mask", "block"]
"""Ordered from free to strict."""


@dataclass(frozen=True, slots=True)
class PrivacyWish:
    """Whether personal data leave for models that run elsewhere (docs/privacy.md): `block` also refuses messages.

    `policy` is what else the object holds; the room of privacy reads it.
    """

    mode: PrivacyMode = "off"
    policy: JsonObject | None = None

    def restricted(self, other: PrivacyWish) -> PrivacyWish:
        """This one, in the other's mode where that is stricter."""
        modes = get_args(PrivacyMode)
        return self if modes.index(self.mode) >= modes.index(other.mode) else replace(self, mode=other.mode)


@dataclass(frozen=True, slots=True)
class Security:
    """What the person wants protected: `foreign_memory_paths` are memories and notes that no model may read."""

    foreign_memory_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was written: a settings file with its line, `$VARIABLE` or `--option`."""

    name: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A value in force and where it comes from. The value is not printed: headers of an endpoint may be secret."""

    value: Any = field(repr=False)
    place: Place


class Wrong(Exception):
    """A value does not fit; `expected` is a word of the table `settings.expected.…` of the catalogue.

    `parts` names the members of an object that do not fit where the `rest` of it is in force all the same.
    """

    def __init__(self, expected: str, parts: tuple[str, ...] = (), rest: Any = None) -> None:
        super().__init__(expected)
        self.expected = expected
        self.parts = parts
        self.rest = rest


# What each key holds ------------------------------------------------------------------------------------------------


def _text(value: JsonValue) -> str:
    """One line of text that can stand in a request or on a screen: no control characters, no lone surrogates."""
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value.strip()
    raise Wrong("text")


def _secret(value: JsonValue) -> Secret:
    try:
        return Secret(_text(value))
    except Wrong:
        raise Wrong("secret") from None


def _count(value: JsonValue) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53:
        return value
    raise Wrong("count")


def _tokens(value: JsonValue) -> int | str:
    """A number of tokens; `"200k"` and the like are read by the model rooms, which know every spelling."""
    try:
        return _text(value) if isinstance(value, str) else _count(value)
    except Wrong:
        raise Wrong("tokens") from None


def _sizes(value: JsonValue) -> dict[str, int | str]:
    if not isinstance(value, dict):
        raise Wrong("sizes")
    try:
        return {str(name): _tokens(size) for name, size in cast(JsonObject, value).items()}
    except Wrong:
        raise Wrong("sizes") from None


def _object(value: JsonValue) -> JsonObject:
    if isinstance(value, dict):
        return cast(JsonObject, value)
    raise Wrong("object")


def _endpoints(value: JsonValue) -> JsonValue:
    """As written, each `key` wrapped; what an entry means is read by the model rooms."""
    if isinstance(value, dict):
        return {name: _hide_key(entry) for name, entry in cast(JsonObject, value).items()}
    if isinstance(value, list):
        return [_hide_key(entry) for entry in cast("list[JsonValue]", value)]
    raise Wrong("endpoints")


def _hide_key(entry: JsonValue) -> JsonValue:
    if not isinstance(entry, dict):
        return entry
    fields = cast(JsonObject, entry)
    return {name: Secret(v) if name.lower() == "key" and isinstance(v, str) else v for name, v in fields.items()}


def _switch(value: JsonValue) -> bool:
    if isinstance(value, bool):
        return value
    raise Wrong("switch")


def _word(expected: str, choices: tuple[str, ...]) -> Callable[[JsonValue], str]:
    def read(value: JsonValue) -> str:
        if isinstance(value, str) and value.strip().lower() in choices:
            return value.strip().lower()
        raise Wrong(expected)

    return read


def _names(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Wrong("sandbox")
    return tuple(_text(each) for each in cast("list[JsonValue]", value))


_SANDBOX_PARTS: dict[str, Callable[[JsonValue], Any]] = {
    "mode": _word("sandbox", get_args(SandboxMode)),
    "network": _switch,
    "writable": _names,
    "readable": _names,
    "env": _names,
}


def _sandbox(value: JsonValue) -> Sandbox:
    """`"required"`, or an object of the parts. One that does not fit takes no other with it: they restrict."""
    if not isinstance(value, dict):
        return Sandbox(mode=cast(SandboxMode, _SANDBOX_PARTS["mode"](value)))
    return _of_parts(cast(JsonObject, value), _SANDBOX_PARTS, "sandbox", Sandbox)


def _postgres(value: JsonValue) -> Secret:
    """The address of a PostgreSQL server, which may hold a password."""
    text = _text(value)
    if text.lower().startswith(("postgresql://", "postgres://")):
        return Secret(text)
    raise Wrong("memory")


def _model_or_endpoint(value: JsonValue) -> str | JsonObject:
    if isinstance(value, dict):
        return _hide_key(value)
    if "/" in (text := _text(value)):
        return text
    raise Wrong("memory")


_MEMORY_PARTS: dict[str, Callable[[JsonValue], Any]] = {
    "on": _switch,
    "url": _postgres,
    "embeddings": _model_or_endpoint,
}


def _memory(value: JsonValue) -> MemoryWish:
    """`true`, or an object of the parts."""
    if not isinstance(value, dict):
        return MemoryWish(on=_switch(value))
    return _of_parts(cast(JsonObject, value), _MEMORY_PARTS, "memory", MemoryWish)


_FOREIGN = "foreignMemoryPaths"


def _security(value: JsonValue) -> Security:
    """An object of the parts. A path that does not fit takes no other with it: they protect."""
    if not isinstance(value, dict):
        raise Wrong("security")
    fields = cast(JsonObject, value)
    written = fields.get(_FOREIGN, [])
    paths = cast("list[JsonValue]", written) if isinstance(written, list) else [None]
    fitting = [each for each in paths if isinstance(each, str) and each.strip()]
    wrong = (*(name for name in fields if name != _FOREIGN), *([_FOREIGN] if len(fitting) < len(paths) else ()))
    if wrong:
        raise Wrong("security", wrong, Security(tuple(fitting)))
    return Security(tuple(fitting))


PartsT = TypeVar("PartsT")


def _of_parts(
    value: JsonObject, parts: Mapping[str, Callable[[JsonValue], Any]], expected: str, make: Callable[..., PartsT]
) -> PartsT:
    """What the parts that fit make. Raises `Wrong` with it where others do not, so that they are named."""
    fitting: JsonObject = {}
    wrong: list[str] = []
    for name, part in value.items():
        try:
            fitting[name] = parts[name](part)
        except (Wrong, KeyError):
            wrong.append(name)
    if wrong:
        raise Wrong(expected, tuple(wrong), make(**fitting))
    return make(**fitting)


def _privacy(value: JsonValue) -> PrivacyWish:
    """A mode, or an object with a `mode` and a policy. What does not fit still masks: a slip must not uncover."""
    fields = cast(JsonObject, value) if isinstance(value, dict) else {"mode": value}
    mode, policy = fields.get("mode", "block"), {name: part for name, part in fields.items() if name != "mode"}
    for known in get_args(PrivacyMode):
        if isinstance(mode, str) and known == mode.strip().lower():
            return PrivacyWish(known, policy or None)
    raise Wrong("privacy", (), PrivacyWish("mask"))


_RUN_PARTS: dict[str, str] = {
    "atOnce": "at_once",
    "approvalMinutes": "approval_minutes",
    "keepDays": "keep_days",
    "keep": "keep",
}


def _runs(value: JsonValue) -> RunLimits:
    if not isinstance(value, dict):
        raise Wrong("runs")
    fitting: dict[str, int] = {}
    wrong: list[str] = []
    for name, part in cast(JsonObject, value).items():
        try:
            fitting[_RUN_PARTS[name]] = _count(part)
        except (Wrong, KeyError):
            wrong.append(name)
    if wrong:
        raise Wrong("runs", tuple(wrong), RunLimits(**fitting))
    return RunLimits(**fitting)


def _nicknames(value: JsonValue) -> dict[str, RealModel]:
    """Names that a person gives to models. One that does not fit takes no other with it."""
    if not isinstance(value, dict):
        raise Wrong("nicknames")
    named: dict[str, RealModel] = {}
    wrong: list[str] = []
    for name, model in cast(JsonObject, value).items():
        try:
            named[_text(name)] = _real_model(model)
        except Wrong:
            wrong.append(name)
    if wrong:
        raise Wrong("nicknames", tuple(wrong), named)
    return named


def _real_model(value: JsonValue) -> RealModel:
    if not isinstance(value, dict):
        return RealModel(_text(value))
    fields = cast(JsonObject, value)
    if not fields or not fields.keys() <= {"model", "runner"}:
        raise Wrong("nicknames")
    return RealModel(_text(fields["model"]) if "model" in fields else "", _text(fields.get("runner", OWN_RUNNER)))


@dataclass(frozen=True, slots=True)
class Known:
    """A key that may be set.

    `folder` says what the launch folder's file may do with it: nothing, only restrict, anything once it is trusted, or
    (permissions) be handed on to the room that decides by itself. `expected` names the type in the docs.
    """

    read: Callable[[JsonValue], Any]
    expected: str
    folder: Literal["never", "restrict", "trusted", "own"] = "never"
    env: str = ""
    option: str = ""


KEYS: dict[str, Known] = {
    "LiteLLM_URL": Known(_text, "text"),
    "OpenAI_EndPoint": Known(_text, "text"),
    "LiteLLM_Models": Known(_text, "text"),
    "LiteLLM_API_Key": Known(_secret, "secret", env="LITELLM_API_KEY"),
    "endpoints": Known(_endpoints, "endpoints"),
    "model": Known(_text, "text", "trusted", env="MAIA_MODEL", option="--model"),
    "effort": Known(_word("effort", get_args(Effort)), "effort", "trusted", env="MAIA_EFFORT"),
    "MaxOutputTokens": Known(_count, "count", "restrict"),
    "MaxIterations": Known(_count, "count", "restrict", option="--max-iterations"),
    "MaxContextTokens": Known(_tokens, "tokens", "trusted"),
    "ContextSizes": Known(_sizes, "sizes", "trusted"),
    "ModelNicknames": Known(_nicknames, "nicknames"),
    "permissions": Known(_object, "object", "own"),
    "sandbox": Known(_sandbox, "sandbox", "restrict"),
    "runs": Known(_runs, "runs"),
    "memory": Known(_memory, "memory"),
    "privacy": Known(_privacy, "privacy", "restrict", env="MAIA_PRIVACY"),
    "security": Known(_security, "security"),
    "lang": Known(_word("lang", ("fr", "en")), "lang", "trusted"),
    "notify": Known(_switch, "switch"),
}
"""Every key of a settings file. `docs/settings.md` is checked against this table."""

_SILENT = ("$schema",)
"""Written by editors; means nothing to us."""


# The layers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settings:
    """What is in force. `files` are those that were found, home first; `notices` are for the start log."""

    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    files: tuple[SettingsFile, ...] = ()
    notices: tuple[Notice, ...] = ()

    def get(self, key: str) -> Any:
        """The value of a known key, or None."""
        found = self.values.get(key)
        return None if found is None else found.value

    def place(self, key: str) -> Place | None:
        """Where it was written, or None where the default is in force."""
        found = self.values.get(key)
        return None if found is None else found.place

    def plain(self) -> dict[str, Any]:
        """Key and value of everything set, permissions left out; the key to the server stays a `Secret`."""
        return {key: found.value for key, found in self.values.items()}

    def walled_as(self, other: Settings) -> Settings:
        """These, with the sandbox at least as strict as the other's."""
        joined, place = self.sandbox.restricted(other.sandbox), other.place("sandbox")
        if joined == self.sandbox or place is None:
            return self
        return replace(self, values={**self.values, "sandbox": Value(joined, place)})

    @property
    def max_iterations(self) -> int:
        """Model calls in one turn before the person is asked (T5.08)."""
        return self.get("MaxIterations") or DEFAULT_MAX_ITERATIONS

    @property
    def max_output_tokens(self) -> int | None:
        return self.get("MaxOutputTokens")

    @property
    def model(self) -> str | None:
        return self.get("model")

    @property
    def effort(self) -> Effort | None:
        return self.get("effort")

    @property
    def nicknames(self) -> Mapping[str, RealModel]:
        """The person's own names for models (C6.03)."""
        return self.get("ModelNicknames") or {}

    @property
    def lang(self) -> str | None:
        return self.get("lang")

    @property
    def sandbox(self) -> Sandbox:
        return self.get("sandbox") or Sandbox()

    @property
    def runs(self) -> RunLimits:
        return self.get("runs") or RunLimits()

    @property
    def memory(self) -> MemoryWish:
        return self.get("memory") or MemoryWish()

    @property
    def privacy(self) -> PrivacyWish:
        return self.get("privacy") or PrivacyWish()

    @property
    def security(self) -> Security:
        return self.get("security") or Security()

    @property
    def notify(self) -> bool:
        """Whether the terminal is told (bell) when a question waits or a long turn ended."""
        return self.get("notify") is not False


def load_settings(
    launch: Path,
    home: Path,
    env: Mapping[str, str],
    options: Mapping[str, JsonValue] | None = None,
    *,
    folder_trusted: bool = False,
) -> Settings:
    """Read all layers. `options` holds what the command line set, by the keys of the files.

    Raises `UsageProblem` when an option's value does not fit; everything else that is wrong becomes a notice.
    """
    values: dict[str, Value] = {}
    notices: list[Notice] = []
    files: list[SettingsFile] = []
    home_path, folder_path = home / ".maia" / "settings.json", launch / ".maia" / "settings.json"
    if file := read_settings_file(home_path, "~/.maia/settings.json"):
        files.append(file)
        notices += file.problems
        values |= _read_values(file, notices)
        notices += close_if_secret(file, values)
    same = _is_same(home_path, folder_path)
    if not same and (file := read_settings_file(folder_path, "./.maia/settings.json")):
        files.append(file)
        notices += file.problems
        own = _read_values(file, notices)
        notices += close_if_secret(file, own)
        notices += _join_folder(values, own, file, folder_trusted)
    values |= _from_env(env, notices)
    values |= _from_options(options or {})
    return Settings(values, tuple(files), tuple(notices))


def close_if_secret(file: SettingsFile, values: Mapping[str, Value]) -> Sequence[Notice]:
    """A file of ours that holds a key is for its owner's eyes: closed to others, and told."""
    if not any(_holds_secret(value.value) for value in values.values()):
        return ()
    try:
        state = file.path.stat()
        if state.st_uid != os.geteuid() or not state.st_mode & 0o077:
            return ()
        file.path.chmod(stat.S_IMODE(state.st_mode) & 0o700)
    except OSError:
        return (Notice("warn", "settings.exposed", {"file": file.shown}),)
    return (Notice("warn", "settings.closed", {"file": file.shown}),)


def _holds_secret(value: object) -> bool:
    match value:
        case Secret():
            return True
        case dict():
            return any(map(_holds_secret, cast("dict[object, object]", value).values()))
        case list() | tuple():
            return any(map(_holds_secret, cast("Sequence[object]", value)))
        case _:
            return False


def _is_same(one: Path, other: Path) -> bool:
    """Started in the home folder, both names lead to one file: it is the user's own."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def _read_values(file: SettingsFile, notices: list[Notice]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, raw in file.values.items():
        line = file.line(key)
        where: JsonObject = {"file": file.shown, "line": line, "name": key}
        if key not in KEYS:
            if key not in _SILENT:
                notices.append(_unknown(where))
            continue
        try:
            value = KEYS[key].read(raw)
        except Wrong as wrong:
            name = ", ".join(f"{key}.{part}" for part in wrong.parts) or key
            notices.append(Notice("warn", f"settings.wrong.{wrong.expected}", {**where, "name": name}))
            if wrong.rest is None:
                continue
            value = wrong.rest
        if key != "permissions":  # read by their own room, with lines, from `files`
            values[key] = Value(value, Place(file.shown, line))
    return values


def _unknown(where: JsonObject) -> Notice:
    from difflib import get_close_matches  # only when something is misspelt

    by_lower = {key.lower(): key for key in KEYS}
    close = get_close_matches(str(where["name"]).lower(), by_lower, n=1, cutoff=0.7)
    if close:
        return Notice("warn", "settings.unknown_close", {**where, "close": by_lower[close[0]]})
    return Notice("warn", "settings.unknown", where)


def _join_folder(
    values: dict[str, Value], found: dict[str, Value], file: SettingsFile, trusted: bool
) -> Iterator[Notice]:
    """Lay the launch folder's values over the others as far as it may, and say what was left out."""
    waiting: list[str] = []
    for key, new in found.items():
        match KEYS[key].folder:
            case "never":
                values_of = {"file": file.shown, "line": new.place.line, "name": key}
                yield Notice("warn", "settings.not_from_folder", values_of)
            case "restrict":
                kept = _stricter(key, values.get(key), new, trusted)
                values[key] = kept
                if kept.value != new.value:
                    waiting.append(key)
            case "trusted" if not trusted:
                waiting.append(key)
            case _:
                values[key] = new
    if waiting:
        key = "settings.only_stricter" if trusted else "settings.untrusted"
        yield Notice("info", key, {"file": file.shown, "names": ", ".join(waiting)})


def _stricter(key: str, old: Value | None, new: Value, trusted: bool) -> Value:
    if isinstance(new.value, (Sandbox, PrivacyWish)):
        base: Any = old.value if old else type(new.value)()
        joined = base.restricted(new.value)
        return Value(joined, new.place if joined != base or old is None else old.place)
    limit = old.value if old else (DEFAULT_MAX_ITERATIONS if key == "MaxIterations" else new.value)
    if trusted or new.value <= limit:
        return new
    return old or Value(limit, Place("built-in"))


def _from_env(env: Mapping[str, str], notices: list[Notice]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, known in KEYS.items():
        raw = env.get(known.env, "") if known.env else ""
        if not raw.strip():
            continue
        try:
            values[key] = Value(known.read(raw), Place(f"${known.env}"))
        except Wrong as wrong:
            notices.append(Notice("warn", f"settings.env.{wrong.expected}", {"name": known.env}))
            if wrong.rest is not None:
                values[key] = Value(wrong.rest, Place(f"${known.env}"))
    return values


def _from_options(options: Mapping[str, JsonValue]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, raw in options.items():
        if raw is None:
            continue
        known = KEYS[key]
        try:
            values[key] = Value(known.read(raw), Place(known.option))
        except Wrong as wrong:
            raise UsageProblem(f"settings.option.{wrong.expected}", option=known.option, given=str(raw)) from None
    return values
