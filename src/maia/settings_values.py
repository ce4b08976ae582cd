"""What each key of the settings holds: the shape of its value, how it is read, and what a folder may do with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

from maia.core.agent import OWN_RUNNER, RealModel
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.requests import Effort
from maia.core.secret import Secret
from maia.settings_prices import TokenPrice, prices_of

SandboxMode: TypeAlias = Literal["off", "auto", "required"]
"""Ordered from free to strict."""

CliSandbox: TypeAlias = Literal["auto", "required"]
"""`required` is usual, since not every program asks before it acts (decisions §9)."""

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
    """What the person wants protected: `foreign_memory_paths` are memories and notes that no model may read.

    `cli_sandbox` says whether agent programs may run where the kernel offers no wall; None where nobody can read it.
    """

    foreign_memory_paths: tuple[str, ...] = ()
    cli_sandbox: CliSandbox | None = "required"


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


_FOREIGN, _CLI_SANDBOX = "foreignMemoryPaths", "cliSandbox"


def _security(value: JsonValue) -> Security:
    """An object of the parts. A path that does not fit takes no other with it: they protect."""
    if not isinstance(value, dict):
        raise Wrong("security")
    fields = cast(JsonObject, value)
    written = fields.get(_FOREIGN, [])
    paths = cast("list[JsonValue]", written) if isinstance(written, list) else [None]
    fitting = [each for each in paths if isinstance(each, str) and each.strip()]
    mode = fields.get(_CLI_SANDBOX, "required")
    cli_sandbox: CliSandbox | None = next((each for each in get_args(CliSandbox) if each == mode), None)
    wrong = (
        *(name for name in fields if name not in (_FOREIGN, _CLI_SANDBOX)),
        *([_FOREIGN] if len(fitting) < len(paths) else ()),
        *([_CLI_SANDBOX] if cli_sandbox is None else ()),
    )
    found = Security(tuple(fitting), cli_sandbox)
    if wrong:
        raise Wrong("security", wrong, found)
    return found


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


def _pricing(value: JsonValue) -> dict[str, TokenPrice]:
    """One price that does not fit takes no other with it."""
    if not isinstance(value, dict):
        raise Wrong("pricing")
    prices, wrong = prices_of(cast(JsonObject, value))
    if wrong:
        raise Wrong("pricing", wrong, prices)
    return prices


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
    "model.pricing": Known(_pricing, "pricing"),
    "permissions": Known(_object, "object", "own"),
    "sandbox": Known(_sandbox, "sandbox", "restrict"),
    "runs": Known(_runs, "runs"),
    "memory": Known(_memory, "memory"),
    "privacy": Known(_privacy, "privacy", "restrict", env="MAIA_PRIVACY"),
    "security": Known(_security, "security"),
    "model.cli.idleTimeoutMs": Known(_count, "count"),
    "model.cli.toolTimeoutMs": Known(_count, "count"),
    "lang": Known(_word("lang", ("fr", "en")), "lang", "trusted"),
    "notify": Known(_switch, "switch"),
}
"""Every key of a settings file. `docs/settings.md` is checked against this table."""
